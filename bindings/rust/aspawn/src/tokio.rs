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

use std::future::{pending, Future};
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::process::{ExitStatus, Output};
use std::sync::Arc;
#[cfg(not(elsewhere))]
use std::sync::{
    atomic::{AtomicUsize, Ordering},
    Mutex, PoisonError,
};
use std::task::{Context, Poll};
#[cfg(not(elsewhere))]
use std::thread;
use std::time::Duration;

use ::futures_core::Stream as FuturesStream;
use ::tokio::io::{AsyncRead, AsyncReadExt};
use ::tokio::sync::Notify;
use ::tokio::time::{sleep, timeout};

use self::child::{failed, timed_out, watch_queue, Watched};
use crate::consts::SIGKILL;
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

    async fn collect_within_limits(&mut self) -> Result<Output, E> {
        const EAGAIN: i32 = 11;
        let limit = match self.limits.timeout {
            None => return self.collect().await,
            Some(limit) => limit,
        };
        if let Ok(done) = timeout(limit, self.collect()).await {
            return done;
        }
        let grace = self.limits.grace.unwrap_or(Duration::from_secs(1));
        if cfg!(unix) && !grace.is_zero() {
            let _ = self.terminate(false);
            let (mut out, mut err) = (self.stdout.take(), self.stderr.take());
            let reads = async {
                let _ = read_both(&mut out, &mut err).await;
                pending().await
            };
            let _ = timeout(grace, first(reads, self.ended())).await;
        }
        while let Err(error) = self.terminate(true) {
            // A helper has not cloned it yet.
            if error.raw_os_error() != EAGAIN {
                return Err(error.into());
            }
            sleep(Duration::from_millis(10)).await;
        }
        let _ = self.wait().await;
        Err(timed_out().into())
    }

    async fn collect(&mut self) -> Result<Output, E> {
        drop(self.stdin.take());
        let read = read_both(&mut self.stdout, &mut self.stderr).await;
        let (stdout, stderr) = read.map_err(failed)?;
        Ok(Output { status: self.wait().await?, stdout, stderr })
    }

    /// Sends SIGKILL. Ok if the child has ended.
    pub fn start_kill(&mut self) -> Result<(), E> {
        self.kill_with(SIGKILL)
    }

    /// Sends a signal, never to another process of the same pid.
    pub fn kill_with(&mut self, signal: i32) -> Result<(), E> {
        Ok(self.send(signal, false)?)
    }

    /// [`crate::Child::kill_group`]
    pub fn kill_group(&mut self, signal: i32) -> Result<(), E> {
        Ok(self.send(signal, true)?)
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

/// A [`Queue`](crate::Queue) whose results are awaited. A thread lasts as long as they are, and
/// continues a server that a job has stopped.
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
    #[cfg(not(elsewhere))]
    looks: Arc<Looks>,
    queue: Arc<crate::Queue>,
}

/// What a queue shares with its thread. A task never takes the lock, as it would wait for the
/// thread's turn.
#[cfg(not(elsewhere))]
#[derive(Debug, Default)]
struct Looks {
    /// How often a task has begun to wait; 0 without a thread.
    asked: AtomicUsize,
    is_dropped: Mutex<bool>,
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
        Ok(Queue {
            watched,
            taken: Notify::new(),
            #[cfg(not(elsewhere))]
            looks: Arc::default(),
            queue: Arc::new(queue),
        })
    }

    /// Starts a thread that counts the jobs each second until there are none: that continues a
    /// server which a job has stopped. The user's runtime may be built without tokio's timers.
    #[cfg(not(elsewhere))]
    fn look_each_second(&self) {
        if self.looks.asked.fetch_add(1, Ordering::SeqCst) != 0 {
            return; // there is a thread, which finds that it was asked again
        }
        let (looks, queue) = (self.looks.clone(), Arc::downgrade(&self.queue));
        let look = move || loop {
            let asked = looks.asked.load(Ordering::SeqCst);
            thread::sleep(Duration::from_secs(1));
            let is_dropped = looks.is_dropped.lock().unwrap_or_else(PoisonError::into_inner);
            let queue = if *is_dropped { None } else { queue.upgrade() };
            let counts = queue.and_then(|queue| queue.counts().ok());
            let has_jobs = counts.map_or(false, |counts| counts.waiting + counts.running > 0);
            let order = Ordering::SeqCst;
            if *is_dropped
                || !has_jobs && looks.asked.compare_exchange(asked, 0, order, order).is_ok()
            {
                return;
            }
        };
        if thread::Builder::new().name("aspawn-queue".into()).spawn(look).is_err() {
            self.looks.asked.store(0, Ordering::SeqCst);
        }
    }

    /// Awaits the next result. None if no job waits or runs. Can be cancelled: no result is lost.
    pub async fn next(&self) -> Result<Option<Outcome>> {
        #[cfg(elsewhere)]
        match self.watched {}
        #[cfg(not(elsewhere))]
        loop {
            // Before the look, after which another task may take what has woken this one.
            let taken = self.taken.notified();
            // As the look can make the descriptor unreadable before epoll(7) has told the tasks
            // that wait for it, they look too.
            let outcome = self.queue.take(Some(Duration::ZERO));
            if !matches!(outcome, Ok(Poll::Pending)) {
                self.taken.notify_waiters();
            }
            if let Poll::Ready(outcome) = outcome? {
                return Ok(outcome);
            }
            self.look_each_second();
            let readable = async { self.watched.readable().await.map(Some) };
            let taken = async {
                taken.await;
                Ok(None)
            };
            let woken = first(readable, taken);
            if let Some(mut guard) = woken.await.map_err(failed)? {
                // This comes before the next look at the queue, as a result that arrives after the
                // look must make the descriptor ready again.
                guard.clear_ready();
            }
        }
    }

    /// The results as a [`Stream`](FuturesStream), which ends when no job waits or runs.
    pub fn stream(&self) -> Outcomes<'_> {
        Outcomes { queue: self, next: None }
    }
}

/// The thread does not use the queue any more, and so does not close it later.
#[cfg(not(elsewhere))]
impl Drop for Queue {
    fn drop(&mut self) {
        *self.looks.is_dropped.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

type Next<'a> = Pin<Box<dyn Future<Output = Result<Option<Outcome>>> + Send + 'a>>;

/// What [`Queue::stream`] returns.
pub struct Outcomes<'a> {
    queue: &'a Queue,
    next: Option<Next<'a>>,
}

shown! { Outcomes<'_>: |own, f| f.debug_tuple("Outcomes").field(&own.queue).finish(); }

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

/// Reads both at the same time, as whoever writes may fill either of them first.
async fn read_both(
    out: &mut Option<impl AsyncRead + Unpin>,
    err: &mut Option<impl AsyncRead + Unpin>,
) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    first(read(out, &mut stdout), read(err, &mut stderr)).await?;
    read(out, &mut stdout).await?;
    read(err, &mut stderr).await?;
    Ok((stdout, stderr))
}

/// To the end, at which it may be called again. Can be cancelled: no byte is lost.
async fn read(from: &mut Option<impl AsyncRead + Unpin>, to: &mut Vec<u8>) -> io::Result<()> {
    if let Some(from) = from {
        while from.read_buf(to).await? > 0 {}
    }
    Ok(())
}

/// What [`first`] returns.
struct First<A, B>(Pin<Box<A>>, Pin<Box<B>>);

impl<A: Future, B: Future<Output = A::Output>> Future for First<A, B> {
    type Output = A::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.0.as_mut().poll(context) {
            Poll::Pending => self.1.as_mut().poll(context),
            done => done,
        }
    }
}

/// The output of the one that is done first; the other is dropped.
fn first<A: Future, B: Future<Output = A::Output>>(one: A, other: B) -> First<A, B> {
    First(Box::pin(one), Box::pin(other))
}
