// SPDX-License-Identifier: MIT
//! A child, as std::process has it.

use std::io::Read;
use std::marker::PhantomData;
use std::mem;
#[cfg(not(elsewhere))]
use std::os::unix::io::{FromRawFd, IntoRawFd};
use std::process::{ExitStatus, Output};
use std::thread;
use std::time::Duration;

use crate::consts::{SIGCONT, SIGKILL, SIGTERM};
#[cfg(elsewhere)]
use crate::elsewhere::Handle;
use crate::os::{AsFd, AsRawFd, BorrowedFd, ExitStatusExt, OwnedFd};
#[cfg(not(elsewhere))]
use crate::spec::Handle;
use crate::spec::{self, Exit, Limits, Mode, Outputs, Usage};
use crate::{ChildStderr, ChildStdin, ChildStdout, Error, Owner, Result, Step, Terminal};

/// A child, with the interface of [`std::process::Child`].
///
/// Dropped before it has been waited for, the program runs on, and is a zombie after its end unless
/// it is [`Owner::Private`]; with [`kill_on_drop`](crate::Command::kill_on_drop) it is killed, and
/// waited for during at most a tenth of a second.
///
/// `E` is the type of its errors: [`std::io::Error`] in [`process`](crate::process).
#[derive(Debug)]
pub struct Child<E = Error> {
    // First, so that it is killed before the pipes are closed.
    pub(crate) process: Process,
    /// The pipe to standard input, with [`Stdio::piped`](crate::Stdio::piped).
    pub stdin: Option<ChildStdin>,
    /// The pipe from standard output, with [`Stdio::piped`](crate::Stdio::piped).
    pub stdout: Option<ChildStdout>,
    /// The pipe from standard error, with [`Stdio::piped`](crate::Stdio::piped).
    pub stderr: Option<ChildStderr>,
    /// The terminal, of a [`Command::terminal`](crate::Command::terminal). If it is still here, `output`,
    /// `status` and [`wait_with_output`](Self::wait_with_output) read it, and end the program's input.
    pub terminal: Option<Terminal>,
    pipes: Vec<(i32, OwnedFd)>,
    pid: u32,
    error: PhantomData<fn() -> E>,
}

/// What Drop needs: a child itself has none, so that its pipes can be moved out.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) handle: Handle,
    pub(crate) end: Option<Result<Exit>>,
    pub(crate) limits: Limits,
    kill_on_drop: bool,
}

const ESRCH: i32 = 3;

/// Standard input, standard output, standard error, the terminal, and the pipes of actions, with
/// their numbers.
pub(crate) type Pipes = (
    Option<ChildStdin>,
    Option<ChildStdout>,
    Option<ChildStderr>,
    Option<Terminal>,
    Vec<(i32, OwnedFd)>,
);

#[cfg(not(elsewhere))]
impl Handle {
    fn take_pipes(&mut self) -> Pipes {
        // SAFETY: from now on the descriptors are owned here.
        let owned = |fd| unsafe { OwnedFd::from_raw_fd(fd) };
        let pipes = mem::take(&mut self.pipes).into_iter().filter(|(_, fd)| *fd >= 0);
        (
            self.take_pipe(0).map(|fd| owned(fd).into()),
            self.take_pipe(1).map(|fd| owned(fd).into()),
            self.take_pipe(2).map(|fd| owned(fd).into()),
            self.take_terminal().map(|fd| owned(fd).into()),
            pipes.map(|(number, fd)| (number, owned(fd))).collect(),
        )
    }

    /// Gives back what [`take_pipes`](Self::take_pipes) took, for [`communicate`](Self::communicate), which
    /// closes it.
    fn give_outputs(&mut self, out: Option<ChildStdout>, err: Option<ChildStderr>) {
        self.child.out_fd = out.map_or(-1, IntoRawFd::into_raw_fd);
        self.child.err_fd = err.map_or(-1, IntoRawFd::into_raw_fd);
    }
}

impl<E: From<Error>> Child<E> {
    pub(crate) fn new(mut handle: Handle, limits: Limits, kill_on_drop: bool) -> Self {
        let (stdin, stdout, stderr, terminal, pipes) = handle.take_pipes();
        Child {
            pipes,
            stdin,
            stdout,
            stderr,
            terminal,
            pid: 0,
            process: Process { handle, end: None, limits, kill_on_drop },
            error: PhantomData,
        }
    }

    /// The process ID. 0 if the child's helper has not cloned it yet, which is possible after
    /// [`start`](crate::Command::start) of a private child or one with `uid` and the like, or could not:
    /// [`wait_id`](Self::wait_id).
    pub fn id(&self) -> u32 {
        match self.pid {
            0 => self.process.handle.known_pid() as u32,
            pid => pid,
        }
    }

    /// The process ID, for which it may wait until a helper has cloned the child: on busy
    /// processors milliseconds.
    pub fn wait_id(&mut self) -> Result<u32, E> {
        if self.pid == 0 {
            self.pid = self.process.handle.pid()? as u32;
        }
        Ok(self.pid)
    }

    /// Readable when the child has ended, for poll(2) and epoll(7) alone: of a private child, and
    /// of one in the image, it is a descriptor of its helper. None before Linux 5.3, and after the
    /// child has been waited for.
    pub fn ended_fd(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the handle closes it in methods that borrow self mutably.
        #[cfg(not(elsewhere))]
        let fd = self.process.handle.ended_fd().map(|fd| unsafe { BorrowedFd::borrow_raw(fd) });
        #[cfg(elsewhere)]
        let fd = None;
        fd
    }

    /// A new pidfd of the child itself, for pidfd_send_signal(2), setns(2) and the like. `ESRCH` if
    /// the child is reaped, as a private one is at its end.
    pub fn pidfd(&mut self) -> Result<OwnedFd, E> {
        if self.process.end.is_some() {
            return Err(Error::new(Step::Run, ESRCH).into());
        }
        // SAFETY: nobody else has it.
        #[cfg(not(elsewhere))]
        let fd = self.process.handle.pidfd().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        #[cfg(elsewhere)]
        let fd = Err(Error::unsupported("pidfd"));
        Ok(fd?)
    }

    /// The caller's end of the pipe that an [`Action::output_pipe`](crate::Action::output_pipe) or
    /// [`input_pipe`](crate::Action::input_pipe) has made as descriptor `number` of the program.
    pub fn take_pipe(&mut self, number: i32) -> Option<OwnedFd> {
        let index = self.pipes.iter().position(|pipe| pipe.0 == number)?;
        Some(self.pipes.swap_remove(index).1)
    }

    /// Whose child it is.
    pub fn owner(&self) -> Owner {
        self.process.handle.owner()
    }

    /// How the child began: [`Mode::Image`] or [`Mode::Copied`] with `uid` and the like. Known when
    /// [`id`](Self::id) is.
    pub fn mode(&self) -> Option<Mode> {
        self.process.handle.mode()
    }

    /// As the limit of time of [`Handle::communicate`] does it, by the stop signal or SIGKILL.
    #[cfg(not(elsewhere))]
    pub(crate) fn terminate(&mut self, kills: bool) -> Result<(), E> {
        let Limits { grace, kill_group, .. } = self.process.limits;
        let stop_signal = match self.process.handle.stop_signal {
            0 => SIGTERM,
            signal => signal,
        };
        let grace = if kills { Some(Duration::ZERO) } else { grace };
        if self.owner() == Owner::Tree && self.kill_tree(grace).is_ok() {
            return Ok(());
        }
        if kills {
            if kill_group {
                let _ = self.kill_group(SIGKILL); // it may have left its group
            }
            return self.kill_with(SIGKILL);
        }
        let sent = self.send(stop_signal, kill_group);
        let _ = self.send(SIGCONT, kill_group); // a stopped program gets the first one only then
        sent
    }

    /// True if somebody has still to reap it, now that it is left.
    pub(crate) fn is_orphan(&mut self) -> bool {
        self.process.end_as_asked();
        self.process.end.is_none() && self.owner() == Owner::Caller
    }

    /// Waits until the program has been executed. Ok(false) if the time is over, and an error if it
    /// never will be: the child is reaped then.
    pub fn wait_started(&mut self, timeout: Option<Duration>) -> Result<bool, E> {
        let started = self.process.handle.wait_started(timeout);
        if let (Err(error), None) = (&started, &self.process.end) {
            // It has ended, or is about to; only a killed child has another status than 127.
            let _ = self.process.handle.wait(None);
            self.process.end = Some(Err(error.clone()));
        }
        Ok(started?)
    }

    fn reap(&mut self, timeout: Option<Duration>) -> Result<Option<Exit>> {
        if self.process.end.is_none() {
            // After the end it is not known any more.
            self.pid = self.id();
            if timeout.is_none() {
                let _ = self.wait_id();
            }
            self.process.end = self.process.handle.wait(timeout).transpose();
        }
        self.process.end.clone().transpose()
    }

    /// Closes standard input, waits for the end, and reaps the child. May be repeated.
    pub fn wait(&mut self) -> Result<ExitStatus, E> {
        Ok(self.wait_for_exit().map(Exit::into_status)?)
    }

    /// [`wait`](Self::wait), and what the child used.
    pub fn wait_with_usage(&mut self) -> Result<(ExitStatus, Usage), E> {
        if !crate::SUPPORTED {
            return Err(Error::unsupported("wait_with_usage").into());
        }
        Ok(self.wait_for_exit().map(|exit| (exit.into_status(), exit.usage))?)
    }

    fn wait_for_exit(&mut self) -> Result<Exit> {
        drop(self.stdin.take());
        self.reap(None).map(|exit| exit.expect("a wait without a limit"))
    }

    /// The status if the child has ended. Does not block.
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>, E> {
        self.wait_timeout(Duration::ZERO)
    }

    /// The status if the child ends within this time. Leaves standard input open.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Result<Option<ExitStatus>, E> {
        Ok(self.reap(Some(timeout))?.map(Exit::into_status))
    }

    /// Closes standard input, collects both outputs without a thread, waits and reaps; within the
    /// command's [`timeout`](crate::Command::timeout). After [`wait`](Self::wait) and the like there is
    /// no limit of time: it reads until no process holds the pipes, as std does.
    pub fn wait_with_output(mut self) -> Result<Output, E> {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let (out, err) = (self.stdout.take(), self.stderr.take());
        if self.process.end.is_some() {
            // Nothing but what is in the pipes, which processes of the child's may hold. Both at
            // the same time, as whoever writes may fill either of them first.
            let read_err = || err.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut stderr));
            let read = thread::scope(|scope| {
                let other = thread::Builder::new().spawn_scoped(scope, read_err)?;
                let first = out.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut stdout));
                first.and(other.join().unwrap())
            });
            read.map_err(|error| Error::of_std(Step::Run, &error))?;
        } else {
            self.process.handle.give_outputs(out, err);
        }
        let status = self.communicate([Some(&mut stdout), Some(&mut stderr)])?;
        Ok(Output { status, stdout, stderr })
    }

    pub(crate) fn communicate(&mut self, [out, err]: Outputs<'_>) -> Result<ExitStatus> {
        drop(self.stdin.take());
        let Process { handle, end, limits, .. } = &mut self.process;
        #[cfg(not(elsewhere))]
        if let (Some(terminal), None) = (self.terminal.take(), &end) {
            handle.child.pty_fd = terminal.into_raw_fd();
        }
        let end = end.get_or_insert_with(|| handle.communicate(b"", out, err, limits));
        end.clone().map(Exit::into_status)
    }

    /// Sends SIGKILL. Ok if the child has ended.
    pub fn kill(&mut self) -> Result<(), E> {
        self.kill_with(SIGKILL)
    }

    /// Sends a signal, never to another process of the same pid. Ok if the child has ended.
    pub fn kill_with(&mut self, signal: i32) -> Result<(), E> {
        self.send(signal, false)
    }

    /// Sends a signal to the process group that the child leads, after
    /// [`process_group(0)`](crate::Command::process_group) or [`setsid`](crate::Command::setsid);
    /// until the child has been waited for. After the end of a private child only if it was
    /// signalled before. A child that leads no group gets the signal alone.
    pub fn kill_group(&mut self, signal: i32) -> Result<(), E> {
        self.send(signal, true)
    }

    /// Ends a child of [`Owner::Tree`] and all that descends from it: its stop signal, and after
    /// the grace (None: one second) SIGKILL. Does not wait. Of another child an
    /// error about its `owner`.
    pub fn kill_tree(&mut self, grace: Option<Duration>) -> Result<(), E> {
        self.unless_ended(|handle| handle.kill_tree(grace))
    }

    pub(crate) fn send(&mut self, signal: i32, to_group: bool) -> Result<(), E> {
        self.unless_ended(|handle| handle.send(signal, to_group))
    }

    /// A private child that has ended is reaped already.
    fn unless_ended(&mut self, kill: impl FnOnce(&mut Handle) -> Result<()>) -> Result<(), E> {
        if self.process.end.is_none() {
            kill(&mut self.process.handle).or_else(|error| match error.raw_os_error() {
                ESRCH => Ok(()),
                _ => Err(error),
            })?;
        }
        Ok(())
    }
}

impl Exit {
    fn into_status(self) -> ExitStatus {
        ExitStatus::from_raw(self.status as _)
    }
}

/// Sends SIGKILL to every process of the control group (version 2) whose directory is open as
/// `cgroup`, and of all groups below. Linux 5.14. See
/// [`Action::join_cgroup`](crate::Action::join_cgroup).
pub fn kill_cgroup(cgroup: impl AsFd) -> Result<()> {
    spec::kill_cgroup(spec::Fd(cgroup.as_fd().as_raw_fd()))
}

impl Process {
    fn end_as_asked(&mut self) {
        if mem::take(&mut self.kill_on_drop) && self.end.is_none() {
            let _ = self.handle.send(SIGKILL, self.limits.kill_group);
            self.end = self.handle.wait(Some(Duration::from_millis(100))).transpose();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end_as_asked();
    }
}
