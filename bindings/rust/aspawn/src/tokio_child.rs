// SPDX-License-Identifier: MIT
//! A child in tokio, where the library works.

use std::io;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::os::unix::io::{AsRawFd, OwnedFd};
use std::process::ExitStatus;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::tokio::io::unix::AsyncFd;
use ::tokio::io::Interest;
use ::tokio::net::unix::pipe::{Receiver, Sender};

use super::{first, Tokio};
use crate::spec::{Limits, Stream};
use crate::{sys, CommandOf, Error, Result, Step, Terminal, Usage};

/// The pipe to a child's standard input.
pub type ChildStdin = Sender;
/// The pipe from a child's standard output.
pub type ChildStdout = Receiver;
/// The pipe from a child's standard error.
pub type ChildStderr = Receiver;

/// A child whose end is awaited.
///
/// Dropped before its end it goes on; with [`kill_on_drop`](CommandOf::kill_on_drop) it is killed. It
/// is reaped when another child is started or awaited. All methods can be cancelled.
///
/// `E` is the type of its errors: [`std::io::Error`] in [`process`](super::process).
#[derive(Debug)]
pub struct Child<E = Error> {
    /// The pipe to standard input.
    pub stdin: Option<ChildStdin>,
    /// The pipe from standard output.
    pub stdout: Option<ChildStdout>,
    /// The pipe from standard error.
    pub stderr: Option<ChildStderr>,
    /// The terminal, of a [`Command::terminal`](CommandOf::terminal), which does not block. Nothing
    /// here reads it, and `output` and `status` of such a command are errors.
    pub terminal: Option<Terminal>,
    // Before the child, which closes the descriptors.
    started: Option<AsyncFd<i32>>,
    ended: Option<AsyncFd<i32>>,
    child: Own,
    pub(super) limits: Limits,
    error: PhantomData<fn() -> E>,
}

#[derive(Debug)]
struct Own(ManuallyDrop<crate::Child>);

/// Children that were dropped before their end.
static ORPHANS: Mutex<Vec<crate::Child>> = Mutex::new(Vec::new());

fn orphans() -> MutexGuard<'static, Vec<crate::Child>> {
    ORPHANS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn reap_orphans() {
    orphans().retain_mut(|child| matches!(child.try_wait(), Ok(None)));
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        let mut child = unsafe { ManuallyDrop::take(&mut self.0) };
        if child.is_orphan() {
            orphans().push(child);
        }
    }
}

pub(crate) fn failed(error: io::Error) -> Error {
    Error::new(Step::Run, error.raw_os_error().unwrap_or(sys::PSYS_EINVAL))
}

pub(super) fn timed_out() -> Error {
    Error::new(Step::Run, sys::PSYS_ETIMEDOUT)
}

/// The descriptor stays open as long as this.
// from tokio 1.54 on; register_with_interest(), its unsafe successor, is not in older ones
#[allow(deprecated)]
fn watch<T: AsRawFd>(fd: T) -> Result<AsyncFd<T>> {
    AsyncFd::with_interest(fd, Interest::READABLE).map_err(failed)
}

impl<E: From<Error>> CommandOf<Tokio<E>> {
    /// Starts the program, and returns when the child exists, as [`crate::Command::start`] does.
    pub fn start(&mut self) -> Result<Child<E>, E> {
        Ok(self.nonblocking(false, Self::start_as)?)
    }

    /// Starts the program, and returns when it has been executed, or with the error, as tokio's
    /// does. [`spawn_async`](Self::spawn_async) blocks no thread meanwhile.
    pub fn spawn(&mut self) -> Result<Child<E>, E> {
        Ok(self.nonblocking(false, Self::spawn_as)?)
    }

    /// Done when the program has been executed, or with the error.
    pub async fn spawn_async(&mut self) -> Result<Child<E>, E> {
        let mut child = self.nonblocking(true, Self::start_as)?;
        child.started().await?;
        let _ = child.child.0.wait_id();
        Ok(child)
    }

    fn nonblocking(
        &mut self,
        with_started_fd: bool,
        start: fn(&mut Self, [Stream; 3]) -> Result<crate::Child>,
    ) -> Result<Child<E>> {
        reap_orphans();
        let flags = self.spec.raw.flags;
        self.spec.nonblock(true).started_fd(with_started_fd);
        let child = start(self, [Stream::Inherit; 3]);
        self.spec.raw.flags = flags;
        Child::new(child?)
    }
}

impl<E: From<Error>> Child<E> {
    fn new(mut child: crate::Child) -> Result<Self> {
        let ended = match child.process.handle.ended_fd() {
            Some(ended) => ended,
            None => {
                child.kill()?;
                child.wait()?;
                return Err(Error::unsupported_on("needs Linux 5.3 or newer", "tokio"));
            }
        };
        let receiver = |fd: OwnedFd| Receiver::from_file_unchecked(fd.into()).map_err(failed);
        let stdin = child.stdin.take().map(OwnedFd::from);
        let stdin = stdin.map(|fd| Sender::from_file_unchecked(fd.into()).map_err(failed));
        Ok(Child {
            stdin: stdin.transpose()?,
            stdout: child.stdout.take().map(OwnedFd::from).map(receiver).transpose()?,
            stderr: child.stderr.take().map(OwnedFd::from).map(receiver).transpose()?,
            terminal: child.terminal.take(),
            started: child.process.handle.started_fd().map(watch).transpose()?,
            ended: Some(watch(ended)?),
            limits: child.process.limits,
            child: Own(ManuallyDrop::new(child)),
            error: PhantomData,
        })
    }

    /// The process ID; None once the end has been awaited, as the number may then be another's.
    pub fn id(&self) -> Option<u32> {
        let child = &self.child.0;
        Some(child.id()).filter(|id| *id != 0 && child.process.end.is_none())
    }

    /// Done when the program has been executed, or with the error; for `spawn_async()`, which asks
    /// for both descriptors.
    async fn started(&mut self) -> Result<()> {
        // The handle's, which reaps nothing: the runtime still watches the descriptors.
        while let Ok(false) = self.child.0.process.handle.wait_started(Some(Duration::ZERO)) {
            if let (Some(started), Some(ended)) = (&self.started, &self.ended) {
                // A process that another thread forked may hold the other end of `started`.
                first(ready(started), ready(ended)).await?;
            }
        }
        // And anew, as epoll(7) says only once that it is ready.
        (self.started, self.ended) = (None, None);
        if self.child.0.process.handle.wait_started(Some(Duration::ZERO)).is_ok() {
            self.ended = self.child.0.process.handle.ended_fd().map(watch).transpose()?;
        }
        self.child.0.wait_started(None).map(|_| ())
    }

    /// Closes standard input, and awaits the end. May be repeated.
    pub async fn wait(&mut self) -> Result<ExitStatus, E> {
        self.wait_with_usage().await.map(|(status, _)| status)
    }

    /// [`wait`](Self::wait), and what the child used.
    pub async fn wait_with_usage(&mut self) -> Result<(ExitStatus, Usage), E> {
        drop(self.stdin.take());
        self.ended().await?;
        // epoll(7) forgets them before the child closes them.
        (self.started, self.ended) = (None, None);
        reap_orphans();
        Ok(self.child.0.wait_with_usage()?)
    }

    pub(super) async fn ended(&mut self) -> Result<()> {
        if let Some(ended) = &self.ended {
            if stays_ready(ended).await.is_err() {
                // The runtime in which the child began has ended.
                let ended = watch(self.child.0.process.handle.ended_fd().unwrap())?;
                stays_ready(self.ended.insert(ended)).await?;
            }
            if let (Ok(false), Ok(own)) =
                (self.child.0.process.handle.has_ended(), self.child.0.pidfd())
            {
                // The descriptor was that of a helper, which somebody has killed.
                stays_ready(&watch(own)?).await?;
            }
        }
        Ok(())
    }

    /// The status if the child has ended.
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>, E> {
        if self.ended.is_some() && !self.child.0.process.handle.has_ended()? {
            return Ok(None);
        }
        (self.started, self.ended) = (None, None);
        Ok(Some(self.child.0.wait()?))
    }

    pub(super) fn terminate(&mut self, kills: bool) -> Result<()> {
        self.child.0.terminate(kills)
    }

    pub(super) fn send(&mut self, signal: i32, to_group: bool) -> Result<()> {
        self.child.0.send(signal, to_group)
    }

    /// [`crate::Child::kill_tree`]
    pub fn kill_tree(&mut self, grace: Option<Duration>) -> Result<(), E> {
        Ok(self.child.0.kill_tree(grace)?)
    }
}

pub(crate) type Watched = AsyncFd<i32>;

pub(crate) fn watch_queue(queue: &crate::Queue) -> Result<Watched> {
    watch(queue.fd()?)
}

/// Each time anew: whoever awaits it asks the library what has happened.
async fn ready(fd: &AsyncFd<i32>) -> Result<()> {
    fd.readable().await.map_err(failed)?.clear_ready();
    Ok(())
}

/// What is ready once is so for ever.
async fn stays_ready(fd: &AsyncFd<impl AsRawFd>) -> Result<()> {
    fd.readable().await.map_err(failed)?.retain_ready();
    Ok(())
}
