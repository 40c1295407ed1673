// SPDX-License-Identifier: MIT
//! Commands and children where the library does not work: std's. What std has not is an error.

use std::io::{self, Read};
use std::process::{self, ExitStatus};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::action::COMMAND_FLAGS;
use crate::child::Pipes;
use crate::consts::{SIGKILL, SIGTERM};
use crate::os::{ExitStatusExt, OsStrExt};
use crate::spec::{Exit, Limits, Mode, Raw, Stream, Usage};
use crate::{
    sys, Child, ChildStderr, ChildStdout, CommandOf, Error, Memory, Owner, Result, Stdio, Step,
};

#[cfg(unix)]
extern "C" {
    fn kill(pid: i32, signal: i32) -> i32;
    fn setpgid(pid: i32, group: i32) -> i32;
    fn setsid() -> i32;
}

impl<E> CommandOf<E> {
    pub(crate) fn start_as<F: From<Error>>(&mut self, defaults: [Stream; 3]) -> Result<Child<F>> {
        let child = self.to_std(defaults)?.spawn().map_err(|error| self.not_started(&error))?;
        let handle = Handle { child, leads_group: self.leads_group() };
        Ok(Child::new(handle, self.limits, self.kill_on_drop))
    }

    pub(crate) fn as_job<T>(&self, _: impl FnOnce(Raw<'_>) -> Result<T>) -> Result<T> {
        Err(Error::unsupported("Queue"))
    }

    pub(crate) fn not_started(&self, error: &io::Error) -> Error {
        Error::of_std(Step::Unknown, error).about(self.spec.program())
    }

    pub(crate) fn leads_group(&self) -> bool {
        self.setsid || self.process_group.or(self.limits.kill_group.then_some(0)) == Some(0)
    }

    pub(crate) fn to_std(&self, defaults: [Stream; 3]) -> Result<process::Command> {
        self.check_lost()?;
        self.check_supported()?;
        let mut command = self.to_same_of_std();
        #[cfg(unix)]
        self.set_of_unix(&mut command);
        let default = defaults.map(Stdio::of);
        let stream = |at: usize| self.streams[at].as_ref().unwrap_or(&default[at]).to_std();
        command.stdin(stream(0)?).stdout(stream(1)?).stderr(stream(2)?);
        Ok(command)
    }

    fn check_supported(&self) -> Result<()> {
        let spec = &self.spec;
        let of_linux = [
            ("owner", spec.raw.owner != sys::ASPAWN_OWNER_CALLER),
            ("memory", spec.raw.memory != sys::ASPAWN_MEMORY_SHARED),
            ("stop_signal", spec.raw.stop_signal != 0),
            ("action", !spec.actions.is_empty()),
            ("groups", self.groups.is_some()),
        ];
        let changed = spec.raw.flags ^ sys::ASPAWN_COMMAND_INHERIT_SIGNALS;
        let flags = COMMAND_FLAGS.iter().map(|(name, flag)| (*name, changed & flag != 0));
        if let Some((name, _)) = of_linux.into_iter().chain(flags).find(|(_, is_asked)| *is_asked) {
            return Err(Error::unsupported(name));
        }
        let of_unix = [
            ("uid", self.uid.is_some()),
            ("gid", self.gid.is_some()),
            ("arg0", spec.file.is_some()),
            ("process_group", self.process_group.is_some()),
            ("setsid", self.setsid),
            ("kill_group", self.limits.kill_group),
            ("pre_exec", !self.functions.is_empty()),
        ];
        match of_unix.into_iter().find(|(_, is_asked)| *is_asked && !cfg!(unix)) {
            Some((name, _)) => Err(Error::unsupported_on("on Unix only", name)),
            None => Ok(()),
        }
    }

    #[cfg(unix)]
    fn set_of_unix(&self, command: &mut process::Command) {
        use std::os::unix::process::CommandExt;
        command.arg0(self.get_arg0());
        if let Some(id) = self.gid {
            command.gid(id);
        }
        if let Some(id) = self.uid {
            command.uid(id);
        }
        let has_session = self.setsid;
        let group = self.process_group.or(self.limits.kill_group.then_some(0));
        if has_session || group.is_some() {
            // SAFETY: the functions are async-signal-safe.
            unsafe {
                command.pre_exec(move || {
                    let result = match group {
                        Some(group) if !has_session => setpgid(0, group),
                        _ => setsid(),
                    };
                    (result >= 0).then_some(()).ok_or_else(io::Error::last_os_error)
                })
            };
        }
        for function in &self.functions {
            let function = Arc::clone(function);
            // SAFETY: the caller of pre_exec() has promised it; each child has its own copy.
            unsafe { command.pre_exec(move || (*function.0.get())()) };
        }
    }
}

/// `stop` is what kills a process that leads no group where there are no signals.
pub(crate) fn send(
    pid: u32,
    signal: i32,
    to_group: bool,
    stop: impl FnOnce() -> io::Result<()>,
) -> Result<()> {
    /// Those that have the same number on each Unix.
    const SIGNALS: [i32; 9] = [0, 1, 2, 3, 6, SIGKILL, 13, 14, SIGTERM];
    if !SIGNALS.contains(&signal) {
        return Err(Error::unsupported(&format!("signal {}", signal)));
    }
    #[cfg(unix)]
    let sent = {
        let _ = stop;
        let pid = pid as i32;
        // SAFETY: the process has not been reaped.
        match unsafe { kill(if to_group { -pid } else { pid }, signal) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    #[cfg(not(unix))]
    let sent = match (signal, pid, to_group) {
        (SIGKILL, _, false) => stop(),
        _ => return Err(Error::unsupported_on("on Unix only", &format!("signal {}", signal))),
    };
    sent.map_err(|error| Error::of_std(Step::Run, &error))
}

pub(crate) fn timed_out() -> Error {
    Error::of_std(Step::Run, &io::ErrorKind::TimedOut.into())
}

/// [`crate::spec::Handle`], of a child of std.
#[derive(Debug)]
pub(crate) struct Handle {
    child: process::Child,
    leads_group: bool,
}

impl Handle {
    pub(crate) fn take_pipes(&mut self) -> Pipes {
        let child = &mut self.child;
        (child.stdin.take(), child.stdout.take(), child.stderr.take(), None, Vec::new())
    }

    pub(crate) fn give_outputs(&mut self, out: Option<ChildStdout>, err: Option<ChildStderr>) {
        self.child.stdout = out;
        self.child.stderr = err;
    }

    pub(crate) fn known_pid(&self) -> i32 {
        self.child.id() as i32
    }

    pub(crate) fn pid(&mut self) -> Result<i32> {
        Ok(self.known_pid())
    }

    pub(crate) fn owner(&self) -> Owner {
        Owner::Caller
    }

    pub(crate) fn mode(&self) -> Option<Mode> {
        None
    }

    pub(crate) fn wait_started(&mut self, _: Option<Duration>) -> Result<bool> {
        Ok(true)
    }

    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> Result<Option<Exit>> {
        let failed = |error| Error::of_std(Step::Run, &error);
        if timeout.is_none() {
            return self.child.wait().map(exit).map(Some).map_err(failed);
        }
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = self.child.try_wait().map_err(failed)? {
                return Ok(Some(exit(status)));
            }
            let left = end.map_or(pause, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(None);
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    pub(crate) fn communicate(
        &mut self,
        _: &[u8],
        out: Option<&mut Vec<u8>>,
        err: Option<&mut Vec<u8>>,
        limits: &Limits,
    ) -> Result<Exit> {
        let (sender, readers) = mpsc::channel();
        let read_out = read(self.child.stdout.take(), &sender);
        let read_err = read(self.child.stderr.take(), &sender);
        drop(sender);
        let grace = limits.grace.unwrap_or(Duration::from_secs(1));
        let exit = match self.wait(limits.timeout)? {
            Some(exit) => exit,
            None => {
                let is_told = cfg!(unix) && !grace.is_zero();
                let _ = is_told.then(|| self.send(SIGTERM, limits.kill_group));
                if !is_told || self.wait(Some(grace))?.is_none() {
                    self.send(SIGKILL, limits.kill_group)?;
                    self.wait(None)?;
                }
                return Err(timed_out());
            }
        };
        // Until the threads have dropped their ends of the channel.
        match limits.timeout.or(limits.grace) {
            Some(_) => drop(readers.recv_timeout(grace)),
            None => drop(readers.recv()),
        }
        for (to, from) in [(out, read_out), (err, read_err)] {
            if let Some(to) = to {
                to.append(&mut from.lock().unwrap());
            }
        }
        Ok(exit)
    }

    pub(crate) fn send(&mut self, signal: i32, to_group: bool) -> Result<()> {
        let (pid, to_group) = (self.child.id(), to_group && self.leads_group);
        send(pid, signal, to_group, || self.child.kill())
    }

    pub(crate) fn kill_tree(&mut self, _: Option<Duration>) -> Result<()> {
        Err(Error::unsupported("kill_tree"))
    }
}

fn exit(status: ExitStatus) -> Exit {
    #[cfg(unix)]
    let status = status.into_raw();
    #[cfg(not(unix))]
    let status = status.code().unwrap_or(-1);
    Exit { status, usage: Usage::default() }
}

/// By a thread, which may have to be left behind: another process can hold the pipe.
fn read(pipe: Option<impl Read + Send + 'static>, sender: &Sender<()>) -> Arc<Mutex<Vec<u8>>> {
    let bytes = Arc::default();
    if let Some(mut pipe) = pipe {
        let (to, sender) = (Arc::<Mutex<Vec<u8>>>::clone(&bytes), sender.clone());
        thread::spawn(move || {
            let mut part = [0; 8192];
            loop {
                match pipe.read(&mut part) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                    Ok(0) | Err(_) => break,
                    Ok(count) => to.lock().unwrap().extend_from_slice(&part[..count]),
                }
            }
            drop(sender);
        });
    }
    bytes
}
