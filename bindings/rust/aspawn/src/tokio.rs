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
use std::mem::ManuallyDrop;
use std::os::unix::io::{AsRawFd, OwnedFd};
use std::pin::Pin;
use std::process::{ExitStatus, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use ::futures_core::Stream as FuturesStream;
use ::tokio::io::unix::AsyncFd;
use ::tokio::io::{AsyncReadExt, Interest};
use ::tokio::net::unix::pipe::{Receiver, Sender};
use ::tokio::sync::Notify;
use ::tokio::time::{sleep, timeout};

use crate::queue::{Counts, Job, Options, Outcome, Prepared, Ticket};
use crate::spec::{Spec, Stream};
use crate::{sys, CommandOf, Error, Result, Stdio, Step, Usage};

/// [`crate::Command`] for tokio, within a runtime with I/O, and with time for a
/// [`timeout`](CommandOf::timeout).
pub type Command = CommandOf<Tokio<Error>>;

/// The errors of a [`Command`] are `E`.
#[derive(Debug)]
pub struct Tokio<E>(PhantomData<fn() -> E>);

/// A child whose end is awaited.
///
/// Dropped before its end it goes on; with [`kill_on_drop`](CommandOf::kill_on_drop) it is killed. It
/// is reaped when another child is started or awaited. All methods can be cancelled.
///
/// `E` is the type of its errors: [`std::io::Error`] in [`process`].
#[derive(Debug)]
pub struct Child<E = Error> {
    /// The pipe to standard input.
    pub stdin: Option<Sender>,
    /// The pipe from standard output.
    pub stdout: Option<Receiver>,
    /// The pipe from standard error.
    pub stderr: Option<Receiver>,
    // Before the child, which closes the descriptors.
    started: Option<AsyncFd<i32>>,
    ended: Option<AsyncFd<i32>>,
    child: Own,
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

fn failed(error: io::Error) -> Error {
    Error::new(Step::Run, error.raw_os_error().unwrap_or(sys::PSYS_EINVAL))
}

/// The descriptor stays open as long as this.
#[allow(deprecated)] // from tokio 1.54 on; register_with_interest(), its unsafe successor, is not in older ones
fn watch<T: AsRawFd>(fd: T) -> Result<AsyncFd<T>> {
    AsyncFd::with_interest(fd, Interest::READABLE).map_err(failed)
}

impl<E: From<Error>> CommandOf<Tokio<E>> {
    /// Starts the program, and returns when the child exists, as [`crate::Command::start`] does.
    pub fn start(&mut self) -> Result<Child<E>, E> {
        Ok(self.start_tokio(false)?)
    }

    /// Starts the program, and returns when it has been executed, or with the error, as tokio's does.
    /// [`spawn_async`](Self::spawn_async) blocks no thread meanwhile.
    pub fn spawn(&mut self) -> Result<Child<E>, E> {
        Ok(self.nonblocking(false, |command| command.spawn_as([Stream::Inherit; 3]))?)
    }

    /// Done when the program has been executed, or with the error.
    pub async fn spawn_async(&mut self) -> Result<Child<E>, E> {
        let mut child: Child<E> = self.start_tokio(true)?;
        child.started().await?;
        let _ = child.child.0.wait_id();
        Ok(child)
    }

    /// Runs the program to its end, which is awaited.
    pub fn status(&mut self) -> impl Future<Output = Result<ExitStatus, E>> {
        let child = self.start_tokio(false);
        async move {
            let mut child: Child<E> = child?;
            drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
            Ok(child.collect_within_limits().await?.status)
        }
    }

    /// Runs the program to its end, and collects what it writes. A [`timeout`](Self::timeout) is also that
    /// of other processes which hold its output.
    pub fn output(&mut self) -> impl Future<Output = Result<Output, E>> {
        self.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.start_tokio(false);
        async move { child?.wait_with_output().await }
    }

    fn start_tokio(&mut self, with_started_fd: bool) -> Result<Child<E>> {
        self.nonblocking(with_started_fd, |command| command.start_as([Stream::Inherit; 3]))
    }

    fn nonblocking(
        &mut self,
        with_started_fd: bool,
        start: impl FnOnce(&mut Self) -> Result<crate::Child>,
    ) -> Result<Child<E>> {
        reap_orphans();
        let flags = self.spec.flags;
        self.spec.nonblock(true).started_fd(with_started_fd);
        let child = start(self);
        self.spec.flags = flags;
        Child::new(child?)
    }
}

impl<E: From<Error>> Child<E> {
    fn new(mut child: crate::Child) -> Result<Self> {
        let ended = child.handle().ended_fd();
        let ended = ended.ok_or_else(|| Error::new(Step::Run, sys::PSYS_ENOSYS))?;
        let receiver = |fd: OwnedFd| Receiver::from_file_unchecked(fd.into()).map_err(failed);
        let stdin = child.stdin.take().map(OwnedFd::from);
        let stdin = stdin.map(|fd| Sender::from_file_unchecked(fd.into()).map_err(failed));
        Ok(Child {
            stdin: stdin.transpose()?,
            stdout: child.stdout.take().map(OwnedFd::from).map(receiver).transpose()?,
            stderr: child.stderr.take().map(OwnedFd::from).map(receiver).transpose()?,
            started: child.handle().started_fd().map(watch).transpose()?,
            ended: Some(watch(ended)?),
            child: Own(ManuallyDrop::new(child)),
            error: PhantomData,
        })
    }

    /// The process ID; None once the end has been awaited, as the number may then be another's.
    pub fn id(&self) -> Option<u32> {
        self.child.0.pid()
    }

    /// Done when the program has been executed, or with the error; for `spawn_async()`, which asks
    /// for both descriptors.
    async fn started(&mut self) -> Result<()> {
        // The handle's, which reaps nothing: the runtime still watches the descriptors.
        while let Ok(false) = self.child.0.handle().wait_started(Some(Duration::ZERO)) {
            if let (Some(started), Some(ended)) = (&self.started, &self.ended) {
                // A process that another thread forked may hold the other end of `started`.
                let (mut first, mut second) = (Box::pin(ready(started)), Box::pin(ready(ended)));
                PollFn(|context: &mut Context<'_>| match first.as_mut().poll(context) {
                    Poll::Pending => second.as_mut().poll(context),
                    done => done,
                })
                .await?;
            }
        }
        self.started = None;
        self.ended = None; // and anew, as epoll(7) says only once that it is ready
        if self.child.0.handle().wait_started(Some(Duration::ZERO)).is_ok() {
            self.ended = self.child.0.handle().ended_fd().map(watch).transpose()?;
        }
        self.child.0.wait_started(None).map(|_| ())
    }

    /// Closes standard input, and awaits the end. May be repeated.
    pub async fn wait(&mut self) -> Result<ExitStatus, E> {
        self.wait_with_usage().await.map(|(status, _)| status)
    }

    /// [`wait`](Self::wait), and what the child used.
    pub async fn wait_with_usage(&mut self) -> Result<(ExitStatus, Usage), E> {
        Ok(self.reap().await?)
    }

    async fn reap(&mut self) -> Result<(ExitStatus, Usage)> {
        drop(self.stdin.take());
        self.ended().await?;
        // epoll(7) forgets them before the child closes them.
        self.started = None;
        self.ended = None;
        reap_orphans();
        self.child.0.wait_with_usage()
    }

    async fn ended(&mut self) -> Result<()> {
        if let Some(ended) = &self.ended {
            if stays_ready(ended).await.is_err() {
                // The runtime in which the child began has ended.
                let ended = watch(self.child.0.handle().ended_fd().unwrap())?;
                stays_ready(self.ended.insert(ended)).await?;
            }
            if let (Ok(false), Ok(own)) = (self.child.0.handle().has_ended(), self.child.0.pidfd())
            {
                // The descriptor was that of a helper, which somebody has killed.
                stays_ready(&watch(own)?).await?;
            }
        }
        Ok(())
    }

    /// The status if the child has ended.
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>, E> {
        if self.ended.is_some() && !self.child.0.handle().has_ended()? {
            return Ok(None);
        }
        self.started = None;
        self.ended = None;
        Ok(Some(self.child.0.wait()?))
    }

    /// Closes standard input, collects both outputs, and awaits the end; within the command's
    /// [`timeout`](CommandOf::timeout).
    pub async fn wait_with_output(mut self) -> Result<Output, E> {
        Ok(self.collect_within_limits().await?)
    }

    async fn collect_within_limits(&mut self) -> Result<Output> {
        const EAGAIN: i32 = 11;
        let limits = self.child.0.limits();
        let limit = match limits.timeout {
            None => return self.collect().await,
            Some(limit) => limit,
        };
        if let Ok(done) = timeout(limit, self.collect()).await {
            return done;
        }
        let grace = limits.grace.unwrap_or(Duration::from_secs(1));
        if !grace.is_zero() {
            let _ = self.child.0.terminate(false);
            let (mut out, mut err) = (self.stdout.take(), self.stderr.take());
            let (mut reads, mut reading) = (Box::pin(read_both(&mut out, &mut err)), true);
            let mut ended = Box::pin(self.ended());
            let ends = PollFn(|context: &mut Context<'_>| {
                reading = reading && reads.as_mut().poll(context).is_pending();
                ended.as_mut().poll(context)
            });
            let _ = timeout(grace, ends).await;
        }
        loop {
            match self.child.0.terminate(true) {
                // A helper has not cloned it yet.
                Err(error) if error.raw_os_error() == EAGAIN => {
                    sleep(Duration::from_millis(10)).await
                }
                done => break done?,
            }
        }
        let _ = self.reap().await;
        Err(Error::new(Step::Run, sys::PSYS_ETIMEDOUT))
    }

    async fn collect(&mut self) -> Result<Output> {
        drop(self.stdin.take());
        let (stdout, stderr) = read_both(&mut self.stdout, &mut self.stderr).await?;
        Ok(Output { status: self.reap().await?.0, stdout, stderr })
    }

    /// Sends SIGKILL. Ok if the child has ended.
    pub fn start_kill(&mut self) -> Result<(), E> {
        Ok(self.child.0.kill()?)
    }

    /// Kills the child, and awaits its end.
    pub async fn kill(&mut self) -> Result<(), E> {
        self.child.0.kill()?;
        self.wait().await.map(|_| ())
    }

    /// Sends a signal, never to another process of the same pid.
    pub fn kill_with(&mut self, signal: i32) -> Result<(), E> {
        Ok(self.child.0.kill_with(signal)?)
    }

    /// [`crate::Child::kill_group`]
    pub fn kill_group(&mut self, signal: i32) -> Result<(), E> {
        Ok(self.child.0.kill_group(signal)?)
    }

    /// [`crate::Child::kill_tree`]
    pub fn kill_tree(&mut self, grace: Option<Duration>) -> Result<(), E> {
        Ok(self.child.0.kill_tree(grace)?)
    }
}

/// What `tokio::process` has, by the same names and with the same results, so that most programs change
/// nothing but their `use` lines. See also [`crate::process`].
///
/// What converts to or from the types of std and tokio is missing: `as_std`, `into_std`, `from_std`,
/// `into_owned_fd`, `TryInto<Stdio>`. A child that is dropped is reaped when another is started or awaited,
/// and not by a signal.
///
/// ```
/// use aspawn::tokio::process::Command; // was tokio::process
///
/// # #[::tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// assert_eq!(Command::new("uname").output().await?.stdout, b"Linux\n");
/// # Ok(())
/// # }
/// ```
pub mod process {
    use std::io;

    /// [`super::Child`], with std's errors.
    pub type Child = super::Child<io::Error>;
    /// [`super::Command`], with std's errors.
    pub type Command = super::CommandOf<super::Tokio<io::Error>>;
    /// The pipe to a child's standard input.
    pub type ChildStdin = super::Sender;
    /// The pipe from a child's standard output.
    pub type ChildStdout = super::Receiver;
    /// The pipe from a child's standard error.
    pub type ChildStderr = super::Receiver;
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
    watched: AsyncFd<i32>,
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
        let watched = watch(queue.fd()?)?;
        Ok(Queue { watched, taken: Notify::new(), queue })
    }

    /// Awaits the next result. None if no job waits or runs. Can be cancelled: no result is lost.
    pub async fn next(&self) -> Result<Option<Outcome>> {
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
                // Before the second look, so that a result after it makes the descriptor ready again.
                match self.look()? {
                    Poll::Ready(outcome) => return Ok(outcome),
                    Poll::Pending => guard.clear_ready(),
                }
            }
        }
    }

    /// Takes a result without waiting. As this can make the descriptor unreadable before epoll(7) has
    /// told the tasks that wait for it, they look too.
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
        let outcome = match next.as_mut().poll(context) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => return Poll::Pending,
        };
        self.next = None;
        Poll::Ready(outcome.transpose())
    }
}

async fn read_both(
    out: &mut Option<Receiver>,
    err: &mut Option<Receiver>,
) -> Result<(Vec<u8>, Vec<u8>)> {
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

async fn read(from: &mut Option<Receiver>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        from.read_to_end(&mut bytes).await.map_err(failed)?;
    }
    Ok(bytes)
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

/// As std's poll_fn(), which Rust 1.63 does not have.
struct PollFn<F>(F);

impl<F> Unpin for PollFn<F> {}

impl<T, F: FnMut(&mut Context<'_>) -> Poll<T>> Future for PollFn<F> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        (self.0)(context)
    }
}
