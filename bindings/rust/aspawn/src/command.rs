// SPDX-License-Identifier: MIT
//! A command, as std::process has it.

use std::cell::UnsafeCell;
use std::collections::btree_map::{self, BTreeMap};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::iter::Map;
use std::marker::PhantomData;
use std::path::Path;
use std::process::{self, ExitStatus, Output};
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use crate::consts::SIGPIPE;
use crate::os::OsStrExt;
use crate::spec::{self, Limits, Raw, Spec, Stream};
use crate::{sys, Action, Child, Error, Memory, Owner, Resource, Result, Stdio};

/// A command, with the interface of [`std::process::Command`] and of its `CommandExt`.
///
/// [`spawn`](Self::spawn) returns when the program has been executed or has failed, as std's does;
/// [`start`](Self::start) returns when the child exists, in a fifth of that time, and the
/// [`Child`] tells the rest.
///
/// What differs from std: errors are an [`Error`], which names the step; the child never begins as
/// a copy of the memory because of `current_dir` or [`pre_exec`](Self::pre_exec); there is no
/// `exec`, for which std's is as good; a program's name without a slash is looked for in the PATH
/// that the program gets.
///
/// Where [`SUPPORTED`](crate::SUPPORTED) is false a command is std's: `start` is `spawn`, and a start fails with
/// [`Step::Unsupported`](crate::Step::Unsupported) if something was asked for that std has not. A program that has
/// had its [`timeout`](CommandOf::timeout) is killed at once on Windows, which has no stop signal.
pub type Command = CommandOf<Error>;

/// A command whose errors are `E`: [`Command`], [`process::Command`](crate::process::Command), and
/// those of `aspawn::tokio`, all of which have these methods.
pub struct CommandOf<E> {
    pub(crate) spec: Spec,
    pub(crate) env: CommandEnv,
    current_dir: Option<OsString>,
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) groups: Option<Vec<u32>>,
    pub(crate) process_group: Option<i32>,
    pub(crate) setsid: bool,
    pub(crate) streams: [Option<Stdio>; 3],
    pub(crate) limits: Limits,
    pub(crate) kill_on_drop: bool,
    pub(crate) functions: Vec<Arc<Function>>,
    /// Numbers that the actions have made in the program.
    made: Vec<i32>,
    /// A std Command had more than can be asked for.
    has_lost: bool,
    error: PhantomData<fn() -> E>,
}

/// Shown as std shows its own.
#[derive(Debug, Default)]
pub(crate) struct CommandEnv {
    pub(crate) clear: bool,
    vars: BTreeMap<OsString, Option<OsString>>,
}

impl CommandEnv {
    fn is_unchanged(&self) -> bool {
        !self.clear && self.vars.is_empty()
    }
}

impl<E> fmt::Debug for CommandOf<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            let argv = CommandArgs(self.spec.argv.iter());
            let mut shown = f.debug_struct("Command");
            shown.field("program", &self.get_program()).field("args", &argv);
            let mut show = |name, is_set: bool, value: &dyn fmt::Debug| {
                is_set.then(|| shown.field(name, value));
            };
            show("env", !self.env.is_unchanged(), &self.env);
            show("cwd", self.current_dir.is_some(), &self.current_dir);
            show("uid", self.uid.is_some(), &self.uid);
            show("gid", self.gid.is_some(), &self.gid);
            show("groups", self.groups.is_some(), &self.groups);
            for (name, stream) in ["stdin", "stdout", "stderr"].into_iter().zip(&self.streams) {
                show(name, stream.is_some(), stream);
            }
            show("pgroup", self.process_group.is_some(), &self.process_group);
            return shown.finish();
        }
        if let Some(directory) = &self.current_dir {
            write!(f, "cd {:?} && ", directory)?;
        }
        let (set, removed): (Vec<_>, Vec<_>) = self.get_envs().partition(|(_, to)| to.is_some());
        let unchanged = if removed.is_empty() { "" } else { "env " };
        f.write_str(if self.env.clear { "env -i " } else { unchanged })?;
        removed.iter().try_for_each(|(name, _)| write!(f, "-u {} ", name.to_string_lossy()))?;
        for (name, value) in set {
            write!(f, "{}={:?} ", name.to_string_lossy(), value.unwrap_or_default())?;
        }
        if self.get_arg0() != self.get_program() {
            write!(f, "[{:?}] ", self.get_program())?;
        }
        write!(f, "{:?}", self.get_arg0())?;
        self.get_args().try_for_each(|arg| write!(f, " {:?}", arg))
    }
}

impl<E> CommandOf<E> {
    /// A program: a path, or a name without a slash that is looked for in PATH.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Self {
        let mut spec = Spec::new(program.as_ref().as_bytes());
        spec.inherit_signals(true); // as std
        CommandOf {
            spec,
            env: CommandEnv::default(),
            current_dir: None,
            uid: None,
            gid: None,
            groups: None,
            process_group: None,
            setsid: false,
            streams: [None, None, None],
            limits: Limits::default(),
            kill_on_drop: false,
            functions: Vec::new(),
            made: Vec::new(),
            has_lost: false,
            error: PhantomData,
        }
    }

    setters! {
        /// Adds an argument.
        arg<S: AsRef<OsStr>>(arg: S) |command| command.spec.arg(arg.as_ref().as_bytes());
        /// Adds arguments.
        args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(args: I) |command| for arg in args {
            command.arg(arg);
        };
        /// Sets the first argument, which otherwise is the program.
        arg0<S: AsRef<OsStr>>(arg: S) |command| command.spec.arg0(arg.as_ref().as_bytes());
        /// Sets a variable of the program's environment.
        env<K: AsRef<OsStr>, V: AsRef<OsStr>>(name: K, value: V) |command| {
            command.env.vars.insert(name.as_ref().into(), Some(value.as_ref().into()))
        };
        /// Sets variables.
        envs<I: IntoIterator<Item = (K, V)>, K: AsRef<OsStr>, V: AsRef<OsStr>>(variables: I)
            |command| for (name, value) in variables {
                command.env(name, value);
            };
        /// Removes a variable.
        env_remove<K: AsRef<OsStr>>(name: K) |command| match command.env.clear {
            true => command.env.vars.remove(name.as_ref()),
            false => command.env.vars.insert(name.as_ref().into(), None),
        };
        /// Removes all variables.
        env_clear() |command| command.env = CommandEnv { clear: true, vars: BTreeMap::new() };
        /// The directory in which the program begins.
        current_dir<P: AsRef<Path>>(directory: P)
            |command| command.current_dir = Some(directory.as_ref().into());
        /// Standard input; the caller's own if not set, and /dev/null for [`output`](Self::output).
        stdin<T: Into<Stdio>>(stream: T) |command| command.streams[0] = Some(stream.into());
        /// Standard output; the caller's own if not set, and a pipe for [`output`](Self::output).
        stdout<T: Into<Stdio>>(stream: T) |command| command.streams[1] = Some(stream.into());
        /// Standard error; the caller's own if not set, and a pipe for [`output`](Self::output).
        stderr<T: Into<Stdio>>(stream: T) |command| command.streams[2] = Some(stream.into());
        /// Starts the program on a new pseudoterminal, pty(7). The standard streams are this one,
        /// except those that are set after this call. Its size is in characters; 0 stands for 24
        /// rows, and for 80 columns.
        ///
        /// The program leads a session, whose controlling terminal it is. [`Child::terminal`] is
        /// this process's end. `/dev/pts/N` belongs to this process's user.
        terminal(rows: u16, columns: u16) |command| {
            command.spec.terminal_size(rows, columns);
            command.streams = [(); 3].map(|_| Some(Stdio::terminal()));
        };
        /// The program's user: all three user IDs. As with std, a caller who is root, and sets no
        /// groups, leaves its supplementary groups. The child begins by a small program of the
        /// library's, so that nothing of another user's shares the memory, or in a copy of the
        /// memory: [`Child::mode`]. `u32::MAX` is no ID, and the start fails with `EINVAL`.
        uid(id: u32) |command| command.uid = Some(id);
        /// The program's group: all three group IDs. The child begins as with [`uid`](Self::uid), and
        /// `u32::MAX` is no ID either.
        gid(id: u32) |command| command.gid = Some(id);
        /// The supplementary groups.
        groups(groups: &[u32]) |command| command.groups = Some(groups.to_vec());
        /// The process group; 0 makes a new one, which [`Child::kill_group`] ends.
        process_group(group: i32) |command| command.process_group = Some(group);
        /// A session of its own, without a controlling terminal; it is a process group too.
        setsid(setsid: bool) |command| command.setsid = setsid;
        /// Adds an action, which the child performs after what the other methods ask for, and in
        /// the order in which actions are added.
        action(action: Action) |command| {
            const EBADF: i32 = 9;
            let Action { mut raw, uses, makes } = action;
            if matches!(uses, Some((at, known)) if at > 2 && known != command.made.contains(&at)) {
                raw.fail(Some(EBADF));
            }
            command.made.extend(makes);
            command.spec.action(raw)
        };
        /// Adds actions.
        actions(actions: impl IntoIterator<Item = Action>) |command| for action in actions {
            command.action(action);
        };
        /// Sets a limit: [`Action::rlimit`].
        rlimit(resource: Resource, soft: u64, hard: u64)
            |command| command.action(Action::rlimit(resource, soft, hard));
        /// Closes all descriptors from `first` up: [`Action::closefrom`].
        closefrom(first: i32) |command| command.action(Action::closefrom(first));
        /// In what memory the child begins: [`Memory::Copied`] for security monitors that report
        /// programs without a file, as otherwise with `uid` and the like the library's own small
        /// program is one.
        memory(memory: Memory) |command| {
            let is_unsafe = crate::SUPPORTED && !command.functions.is_empty() && memory == Memory::Shared;
            command.spec.memory(if is_unsafe { Memory::Suspended } else { memory });
        };
        /// Whose child it is: with [`Owner::Private`] no other wait of this process sees it, not
        /// even `waitpid(-1)` of a library that takes every child for its own.
        owner(owner: Owner) |command| command.spec.owner(owner);
        /// The first signal of a [`timeout`](Self::timeout), of [`Child::kill_tree`] and of what ends a job of
        /// a queue, such as [`consts::SIGINT`](crate::consts::SIGINT); 0: SIGTERM. The program begins with the
        /// default action for it, and SIGCONT follows it.
        stop_signal(signal: i32) |command| command.spec.stop_signal(signal);
        /// The time that [`output`](Self::output), [`status`](Self::status) and
        /// [`Child::wait_with_output`] give the program: then it gets its stop signal, and after
        /// the [`grace`](Self::grace) SIGKILL, and the call fails with `ErrorKind::TimedOut`.
        timeout(timeout: Duration) |command| command.limits.timeout = Some(timeout);
        /// The time from the stop signal to SIGKILL, one second if not set. With a [`timeout`](Self::timeout) or a
        /// grace, `output` takes so long after the program's end what other processes write to the
        /// same pipes, and then no more; otherwise, as std, until none of them has the pipes.
        grace(grace: Duration) |command| command.limits.grace = Some(grace);
        /// The signals of a [`timeout`](Self::timeout) and of [`kill_on_drop`](Self::kill_on_drop) go
        /// to the process group, which the program then leads.
        kill_group(group: bool) |command| command.limits.kill_group = group;
        /// A [`Child`] that is dropped before its end is killed.
        kill_on_drop(kill: bool) |command| command.kill_on_drop = kill;
    }

    /// Calls a function in the child, as an action; prefer [`Action`]s, which are only data.
    ///
    /// The child is no copy of the memory: it shares the caller's, and the calling thread is
    /// suspended until the exec. So `errno` and memory from the allocator are safe to use, and
    /// what the function writes the caller reads. With an action that begins in a copy of the
    /// memory (`uid`, `gid`) it runs there, as with std. Not together with [`Owner::Private`].
    ///
    /// An error that the function returns is that of the command, at [`Step::Action`](crate::Step::Action).
    ///
    /// # Safety
    ///
    /// The function runs on 16 KiB of stack, beside the other threads of the process, with the
    /// thread-local variables of the caller and another process ID. It calls nothing that
    /// remembers a process or a thread (locks that know their owner, threads, timers), holds no
    /// lock when it returns, and does not exit, panic or execute a program itself.
    pub unsafe fn pre_exec<F>(&mut self, function: F) -> &mut Self
    where
        F: FnMut() -> io::Result<()> + Send + Sync + 'static,
    {
        let mut action = spec::Action::empty();
        let function = action.keep(Function(UnsafeCell::new(Box::new(function))));
        #[cfg(not(elsewhere))]
        {
            sys::aspawn_action_call(&mut action.raw, Some(run), Arc::as_ptr(&function) as *mut _);
            self.spec.action(action);
        }
        self.functions.push(function);
        if crate::SUPPORTED && self.spec.raw.memory == sys::ASPAWN_MEMORY_SHARED {
            self.memory(Memory::Suspended);
        }
        self
    }

    pub(crate) fn has_terminal(&self) -> bool {
        self.streams.iter().flatten().any(Stdio::is_terminal)
    }

    pub(crate) fn check_lost(&self) -> Result<()> {
        match self.has_lost {
            true => Err(Error::argument("std::process::Command")),
            false => Ok(()),
        }
    }

    /// The program, the arguments, the variables and the directory.
    pub(crate) fn to_same_of_std(&self) -> process::Command {
        let mut command = process::Command::new(self.get_program());
        command.args(self.get_args());
        if self.env.clear {
            command.env_clear();
        }
        for (name, value) in self.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = self.get_current_dir() {
            command.current_dir(directory);
        }
        command
    }

    /// The program.
    pub fn get_program(&self) -> &OsStr {
        OsStr::from_bytes(self.spec.program())
    }

    pub(crate) fn get_arg0(&self) -> &OsStr {
        CommandArgs(self.spec.argv.iter()).next().unwrap_or_default()
    }

    /// The arguments, without the first.
    pub fn get_args(&self) -> CommandArgs<'_> {
        CommandArgs(self.spec.argv[1..].iter())
    }

    /// The variables that were set, and, as None, removed.
    pub fn get_envs(&self) -> CommandEnvs<'_> {
        self.env.vars.iter().map(|(name, value)| (name, value.as_deref()))
    }

    /// The directory, if it was set.
    pub fn get_current_dir(&self) -> Option<&Path> {
        self.current_dir.as_deref().map(Path::new)
    }
}

impl<E> CommandOf<E> {
    pub(crate) fn spawn_as<F: From<Error>>(&mut self, streams: [Stream; 3]) -> Result<Child<F>, F> {
        let memory = self.spec.raw.memory;
        // Suspended, a user would always be set in a copy.
        let sets_user = self.uid.is_some() || self.gid.is_some() || self.groups.is_some();
        let is_private = self.spec.raw.owner != sys::ASPAWN_OWNER_CALLER
            || self.spec.raw.flags & sys::ASPAWN_COMMAND_DIES_WITH_CALLER != 0;
        if crate::SUPPORTED && memory == sys::ASPAWN_MEMORY_SHARED && !is_private && !sets_user {
            // It waits in any case, for which this costs least: the caller sleeps once.
            self.spec.memory(Memory::Suspended);
        }
        let child = self.start_as(streams);
        self.spec.raw.memory = memory;
        let mut child: Child<F> = child?;
        child.wait_started(None)?;
        let _ = child.wait_id();
        Ok(child)
    }
}

#[cfg(not(elsewhere))]
impl<E> CommandOf<E> {
    pub(crate) fn start_as<F: From<Error>>(&mut self, defaults: [Stream; 3]) -> Result<Child<F>> {
        let mut handle = self.with_raw(defaults, |raw| self.spec.start_raw(raw))?;
        if !self.functions.is_empty() {
            // a helper's child may have still to call the function
            let _ = handle.wait_started(None);
        }
        Ok(Child::new(handle, self.limits, self.kill_on_drop))
    }

    fn with_raw<T>(
        &self,
        unset: [Stream; 3],
        call: impl FnOnce(Raw<'_>) -> Result<T>,
    ) -> Result<T> {
        self.check_lost()?;
        let stream = |at: usize| self.streams[at].as_ref().map_or(Ok(unset[at]), Stdio::stream);
        let streams = [stream(0)?, stream(1)?, stream(2)?];
        self.spec.with_raw(&self.setup(), Some(&self.environment()), streams, call)
    }

    /// Calls a function with the command, as a queue has it.
    pub(crate) fn as_job<T>(&self, call: impl FnOnce(Raw<'_>) -> Result<T>) -> Result<T> {
        if !self.functions.is_empty() {
            return Err(Error::argument("pre_exec")); // this may be dropped before the job begins
        }
        self.with_raw([Stream::Inherit; 3], call)
    }

    /// In std's order.
    fn setup(&self) -> Vec<spec::Action> {
        extern "C" {
            fn getuid() -> u32;
        }
        use spec::Action;
        let mut setup = Vec::with_capacity(8);
        // SAFETY: it never fails.
        let leaves_groups = || self.uid.is_some() && unsafe { getuid() } == 0;
        // resuid and resgid take it for "as it is".
        let checked = |id: u32, mut action: Action| {
            if id == u32::MAX {
                action.fail(None);
            }
            action
        };

        let groups = self.groups.as_deref().or_else(|| leaves_groups().then_some(&[]));
        setup.extend(groups.map(Action::groups));
        setup.extend(self.gid.map(|id| checked(id, Action::resgid(id, id, id))));
        setup.extend(self.uid.map(|id| checked(id, Action::resuid(id, id, id))));
        setup.extend(self.current_dir.as_ref().map(|path| Action::chdir(path.as_bytes())));
        setup.extend(self.setsid.then(Action::setsid));
        let leads_session = self.setsid || self.has_terminal();
        let own_group = (self.limits.kill_group && !leads_session).then_some(0);
        setup.extend(self.process_group.or(own_group).map(Action::setpgid));
        setup.push(Action::signal_default(SIGPIPE)); // Rust's runtime ignores it
        setup
    }

    fn environment(&self) -> spec::Environment {
        use spec::Environment;
        if self.env.is_unchanged() {
            return Environment::inherited();
        }
        let mut environment = Environment::default();
        let inherited = (!self.env.clear).then(std::env::vars_os).into_iter().flatten();
        environment.set(inherited.filter(|(name, _)| !self.env.vars.contains_key(name)));
        environment.set(self.get_envs().filter_map(|(name, value)| Some((name, value?))));
        environment
    }
}

impl<E: From<Error>> CommandOf<E> {
    /// Starts the program, and returns when it has been executed, or with the error.
    pub fn spawn(&mut self) -> Result<Child<E>, E> {
        self.spawn_as([Stream::Inherit; 3])
    }

    /// Starts the program, and returns when the child exists: after some microseconds, whatever the
    /// child then does. That the program could not be executed is an error of
    /// [`Child::wait_started`], [`Child::wait`] and all others that wait.
    ///
    /// It does not wait for the helper of a child that is [`Owner::Private`], or has `uid` and the
    /// like. The number of such a child is known later: [`Child::wait_id`].
    pub fn start(&mut self) -> Result<Child<E>, E> {
        Ok(self.start_as([Stream::Inherit; 3])?)
    }

    /// Runs the program to its end, and collects what it writes.
    pub fn output(&mut self) -> Result<Output, E> {
        self.start_as::<E>([Stream::Null, Stream::Pipe, Stream::Pipe])?.wait_with_output()
    }

    /// Runs the program to its end.
    pub fn status(&mut self) -> Result<ExitStatus, E> {
        let mut child = self.start_as::<E>([Stream::Inherit; 3])?;
        match self.limits.timeout.is_some() || child.terminal.is_some() {
            true => Ok(child.communicate([None, None])?),
            false => child.wait(),
        }
    }
}

/// Takes what std lets one read of a command: the program, the arguments, the variables and the
/// directory. **`pre_exec` is lost.** A command that has anything else, as far as std's `{:#?}`
/// shows it, fails to start, with `ErrorKind::InvalidInput`: without its `uid` a program would run
/// as root. Rust 1.63 shows `arg0` alone.
impl<E> From<process::Command> for CommandOf<E> {
    fn from(command: process::Command) -> Self {
        let mut copy = CommandOf::new(command.get_program());
        copy.args(command.get_args());
        let variables = command.get_envs();
        copy.env.vars =
            variables.map(|(name, value)| (name.into(), value.map(From::from))).collect();
        copy.current_dir = command.get_current_dir().map(From::from);
        copy.has_lost = format!("{:#?}", command) != format!("{:#?}", copy.to_same_of_std());
        copy
    }
}

/// What [`Command::get_args`] returns.
#[derive(Clone)]
pub struct CommandArgs<'a>(slice::Iter<'a, Vec<u8>>);

shown! { CommandArgs<'_>: |args, f| f.debug_list().entries(args.clone()).finish(); }

impl<'a> Iterator for CommandArgs<'a> {
    type Item = &'a OsStr;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|arg| OsStr::from_bytes(&arg[..arg.len() - 1]))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for CommandArgs<'_> {}

/// What [`Command::get_envs`] returns.
pub type CommandEnvs<'a> = Map<btree_map::Iter<'a, OsString, Option<OsString>>, Shown<'a>>;

type Shown<'a> = fn((&'a OsString, &'a Option<OsString>)) -> (&'a OsStr, Option<&'a OsStr>);

type Closure = Box<dyn FnMut() -> io::Result<()> + Send + Sync>;
pub(crate) struct Function(pub(crate) UnsafeCell<Closure>);
// SAFETY: only a command has such an action. It is no job, and a start, as &mut self,
// lasts until the exec.
unsafe impl Sync for Function {}

/// Runs in the child. A panic may not leave it.
#[cfg(not(elsewhere))]
unsafe extern "C" fn run(arg: *mut sys::c_void) -> sys::c_int {
    let function = &mut *(*(arg as *const Function)).0.get();
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(function)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            // 0 would be success, and the program would run.
            -error.raw_os_error().filter(|&number| number > 0).unwrap_or(sys::PSYS_EINVAL)
        }
        Err(_) => -sys::PSYS_ECANCELED,
    }
}
