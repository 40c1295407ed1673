// SPDX-License-Identifier: MIT
//! A struct around a [`crate::Command`], with the methods of std's that return the command.

macro_rules! wraps_command {
    ($name:ident) => {
        $crate::wraps::wraps_command! { $name:
            fn arg<S: AsRef<OsStr>>(arg: S);
            fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(args: I);
            fn arg0<S: AsRef<OsStr>>(arg: S);
            fn env<K: AsRef<OsStr>, V: AsRef<OsStr>>(name: K, value: V);
            fn envs<I: IntoIterator<Item = (K, V)>, K: AsRef<OsStr>, V: AsRef<OsStr>>(variables: I);
            fn env_remove<K: AsRef<OsStr>>(name: K);
            fn env_clear();
            fn current_dir<P: AsRef<Path>>(directory: P);
            fn stdin<T: Into<Stdio>>(stream: T);
            fn stdout<T: Into<Stdio>>(stream: T);
            fn stderr<T: Into<Stdio>>(stream: T);
            fn uid(uid: u32);
            fn gid(gid: u32);
            fn groups(groups: &[u32]);
            fn process_group(group: i32);
            fn kill_on_drop(kill: bool);
        }
    };
    ($name:ident: $(
        fn $method:ident$(<$($generic:ident: $bound:path),*>)?($($arg:ident: $type:ty),*);
    )*) => {
        const _: () = {
            use std::ffi::OsStr;
            use std::path::Path;
            use std::{fmt, io, ops, process};

            use $crate::Stdio;

            impl $name {
                /// A program: a path, or a name without a slash that is looked for in PATH.
                pub fn new<S: AsRef<OsStr>>(program: S) -> Self {
                    $name($crate::Command::new(program))
                }

                $(
                    #[doc = concat!("As [`crate::Command::", stringify!($method), "`].")]
                    pub fn $method$(<$($generic: $bound),*>)?(
                        &mut self, $($arg: $type),*
                    ) -> &mut Self {
                        self.0.$method($($arg),*);
                        self
                    }
                )*

                /// As [`crate::Command::pre_exec`].
                ///
                /// # Safety
                ///
                /// The same.
                pub unsafe fn pre_exec<F>(&mut self, function: F) -> &mut Self
                where
                    F: FnMut() -> io::Result<()> + Send + Sync + 'static,
                {
                    self.0.pre_exec(function);
                    self
                }
            }

            impl ops::Deref for $name {
                type Target = $crate::Command;

                fn deref(&self) -> &$crate::Command {
                    &self.0
                }
            }

            impl ops::DerefMut for $name {
                fn deref_mut(&mut self) -> &mut $crate::Command {
                    &mut self.0
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(f)
                }
            }

            impl From<$crate::Command> for $name {
                fn from(command: $crate::Command) -> Self {
                    $name(command)
                }
            }

            impl From<process::Command> for $name {
                fn from(command: process::Command) -> Self {
                    $name(command.into())
                }
            }
        };
    };
}
pub(crate) use wraps_command;
