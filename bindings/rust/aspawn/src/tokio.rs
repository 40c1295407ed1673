// SPDX-License-Identifier: MIT
//! Children in tokio: each waits on a descriptor, with no signal handler and no thread. Needs
//! Linux 5.3.
//!
//! ```
//! # #[::tokio::main(flavor = "current_thread")]
//! # async fn main() -> aspawn::Result<()> {
//! let mut children = Vec::new();
//! for delay in ["0.2", "0.1"] {
//!     children.push(aspawn::tokio::Command::new("sleep").arg(delay).start()?);
//! }
//! for mut child in children {
//!     assert!(child.wait().await?.success());
//! }
//! # Ok(())
//! # }
//! ```

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::process::{ExitStatus, Output};
use std::task::{Context, Poll};
use std::time::Duration;

use ::futures_core::Stream as FuturesStream;
use ::tokio::io::{AsyncRead, AsyncReadExt};
use ::tokio::sync::Notify;

use self::child::{failed, watch_queue, Watched};
use crate::queue::{Counts, Job, Options, Outcome, Prepared, Ticket};
use crate::spec::Spec;
use crate::{sys, CommandOf, Error, Result, Stdio};

#[cfg_attr(not(elsewhere), path = "tokio_child.rs")]
#[cfg_attr(elsewhere, path = "tokio_elsewhere.rs")]
mod child;

pub use child::Child;

/// [`crate::Command`] for tokio, within a runtime with I/O, and with time for a
/// [`timeout`](CommandOf::timeout).
pub type Command = CommandOf<Tokio<Error>>;

/// The errors of a [`Command`] are `E`.
#[derive(Debug)]
pub struct Tokio<E>(PhantomData<fn() -> E>);

impl<E: From<Error>> CommandOf<Tokio<E>> {
    /// Runs the program to its end, which is awaited.
    pub fn status(&mut self) -> impl Future<Output = Result<ExitStatus, E>> {
        let child = self.start_without_terminal();
        async move {
            let mut child = child?;
            drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
            Ok(child.collect_within_limits().await?.status)
        }
    }

    /// Runs the program to its end, and collects what it writes. A [`timeout`](Self::timeout) is also that
    /// of other processes which hold its output.
    pub fn output(&mut self) -> impl Future<Output = Result<Output, E>> {
        self.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.start_without_terminal();
        async move { child?.wait_with_output().await }
    }

    fn start_without_terminal(&mut self) -> Result<Child<E>, E> {
        match self.has_terminal() && crate::SUPPORTED {
            true => Err(Error::argument("terminal").into()),
            false => self.start(),
        }
    }
}

impl<E: From<Error>> Child<E> {
    /// Closes standard input, collects both outputs, and awaits the end; within the command's
    /// [`timeout`](CommandOf::timeout).
    pub async fn wait_with_output(mut self) -> Result<Output, E> {
        self.collect_within_limits().await
    }

    async fn collect(&mut self) -> Result<Output, E> {
        drop(self.stdin.take());
        let read = read_both(&mut self.stdout, &mut self.stderr).await;
        let (stdout, stderr) = read.map_err(failed)?;
        Ok(Output { status: self.wait().await?, stdout, stderr })
    }

    /// Kills the child, and awaits its end.
    pub async fn kill(&mut self) -> Result<(), E> {
        self.start_kill()?;
        self.wait().await.map(|_| ())
    }
}

/// What `tokio::process` has, by the same names and with the same results, so that most programs
/// change nothing but their `use` lines. See also [`crate::process`].
///
/// What converts to or from the types of std and tokio is missing: `as_std`, `into_std`,
/// `from_std`, `into_owned_fd`, `TryInto<Stdio>`. A child that is dropped is reaped when another is
/// started or awaited, and not by a signal.
pub mod process {
    use std::io;

    /// [`super::Child`], with std's errors.
    pub type Child = super::Child<io::Error>;
    /// [`super::Command`], with std's errors.
    pub type Command = super::CommandOf<super::Tokio<io::Error>>;
    pub use super::child::{ChildStderr, ChildStdin, ChildStdout};
}

/// A [`Queue`](crate::Queue) whose results are awaited, with no thread.
///
/// ```
/// # #[::tokio::main(flavor = "current_thread")]
/// # async fn main() -> aspawn::Result<()> {
/// use aspawn::queue::{Job, Options};
/// use aspawn::{tokio::Queue, Command};
///
/// let queue = Queue::with(Options::new().running(2))?;
/// for text in ["a", "b", "c"] {
///     queue.submit(Job::new(Command::new("echo").arg(text)).stdout(100))?;
/// }
/// let mut bytes = 0;
/// while let Some(outcome) = queue.next().await? {
///     bytes += outcome.stdout.len();
/// }
/// assert_eq!(bytes, 6);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Queue {
    // Before the queue, which closes the descriptor.
    watched: Watched,
    taken: Notify,
    queue: crate::Queue,
}

/// Methods of the crate's queue, except those that wait: only `next()` takes results.
macro_rules! methods_of_queue {
    ($($name:ident($($argument:ident: $type:ty)?) -> $result:ty;)*) => {
        $(#[doc = concat!("[`crate::Queue::", stringify!($name), "`]")]
        pub fn $name(&self, $($argument: $type)?) -> Result<$result> {
            self.queue.$name($($argument)?)
        })*
    };
}

impl Queue {
    methods_of_queue! {
        submit(job: &Job<'_>) -> Ticket;
        prepare(command: &crate::Command) -> Prepared;
        prepare_spec(spec: &Spec) -> Prepared;
        cancel(ticket: Ticket) -> ();
        cancel_all() -> ();
        counts() -> Counts;
    }

    /// A queue as [`Options::new`] has it. Called within a runtime with I/O.
    pub fn new() -> Result<Self> {
        Self::with(&Options::new())
    }

    /// A queue. Called within a runtime with I/O. A [local](Options::local) one needs another
    /// thread that waits for results.
    pub fn with(options: &Options) -> Result<Self> {
        let queue = crate::Queue::with_flags(options, sys::ASPAWN_QUEUE_FD)?;
        let watched = watch_queue(&queue)?;
        Ok(Queue { watched, taken: Notify::new(), queue })
    }

    /// Awaits the next result. None if no job waits or runs. Can be cancelled: no result is lost.
    pub async fn next(&self) -> Result<Option<Outcome>> {
        #[cfg(elsewhere)]
        match self.watched {}
        #[cfg(not(elsewhere))]
        loop {
            // Before the look, after which another task may take what has woken this one.
            let mut taken = Box::pin(self.taken.notified());
            if let Poll::Ready(outcome) = self.look()? {
                return Ok(outcome);
            }
            let mut readable = Box::pin(self.watched.readable());
            let woken = PollFn(|context: &mut Context<'_>| match readable.as_mut().poll(context) {
                Poll::Ready(guard) => Poll::Ready(Some(guard)),
                Poll::Pending => taken.as_mut().poll(context).map(|_| None),
            });
            if let Some(mut guard) = woken.await.transpose().map_err(failed)? {
                // Before the second look, so that a result after it makes
                // the descriptor ready again.
                match self.look()? {
                    Poll::Ready(outcome) => return Ok(outcome),
                    Poll::Pending => guard.clear_ready(),
                }
            }
        }
    }

    /// Takes a result without waiting. As this can make the descriptor unreadable before epoll(7)
    /// has told the tasks that wait for it, they look too.
    fn look(&self) -> Result<Poll<Option<Outcome>>> {
        let taken = self.queue.take(Some(Duration::ZERO));
        if !matches!(taken, Ok(Poll::Pending)) {
            self.taken.notify_waiters();
        }
        taken
    }

    /// The results as a [`Stream`](FuturesStream), which ends when no job waits or runs.
    pub fn stream(&self) -> Outcomes<'_> {
        Outcomes { queue: self, next: None }
    }
}

type Next<'a> = Pin<Box<dyn Future<Output = Result<Option<Outcome>>> + Send + 'a>>;

/// What [`Queue::stream`] returns.
pub struct Outcomes<'a> {
    queue: &'a Queue,
    next: Option<Next<'a>>,
}

impl std::fmt::Debug for Outcomes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Outcomes").field(&self.queue).finish()
    }
}

impl FuturesStream for Outcomes<'_> {
    type Item = Result<Outcome>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let queue = self.queue;
        let next = self.next.get_or_insert_with(|| Box::pin(queue.next()));
        let outcome = ::futures_core::ready!(next.as_mut().poll(context));
        self.next = None;
        Poll::Ready(outcome.transpose())
    }
}

type Reader = dyn AsyncRead + Unpin + Send;

/// Reads both at the same time, as whoever writes may fill either of them first.
pub(crate) async fn read_both(
    out: &mut Option<impl AsyncRead + Unpin + Send + 'static>,
    err: &mut Option<impl AsyncRead + Unpin + Send + 'static>,
) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (out, err) =
        (out.as_mut().map(|out| out as &mut Reader), err.as_mut().map(|err| err as &mut Reader));
    let mut reads = [(Box::pin(read(out)), None), (Box::pin(read(err)), None)];
    PollFn(|context: &mut Context<'_>| {
        for (read, done) in reads.iter_mut().filter(|(_, done)| done.is_none()) {
            if let Poll::Ready(bytes) = read.as_mut().poll(context) {
                *done = Some(bytes);
            }
        }
        match reads.iter().all(|(_, done)| done.is_some()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    let [stdout, stderr] = reads.map(|(_, done)| done.unwrap());
    Ok((stdout?, stderr?))
}

async fn read(from: Option<&mut Reader>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        from.read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

/// As std's poll_fn(), which Rust 1.63 does not have.
pub(crate) struct PollFn<F>(pub(crate) F);

impl<F> Unpin for PollFn<F> {}

impl<T, F: FnMut(&mut Context<'_>) -> Poll<T>> Future for PollFn<F> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        (self.0)(context)
    }
}
