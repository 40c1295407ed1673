// SPDX-License-Identifier: MIT
//! A queue of commands: submitted without a system call, started so many at a time, their results
//! taken when they are there. The crate's page has [an example](crate#a-queue).
//!
//! The programs are started by a server: a process that shares this one's memory, and has a small
//! descriptor table of its own. So they raise no SIGCHLD here, no other wait sees them, they
//! inherit no descriptor, and a start costs the same however much memory this process has. If the
//! command changes its user or the like, the server waits until the child has
//! executed a small program.
//!
//! **Security:** the server keeps the credentials, namespaces, filters and limits that the thread
//! had when it made the queue. A process that restricts itself (setuid, seccomp, landlock) drops
//! its queues first: otherwise it would share its memory with a process that is not restricted.

use alloc::vec::Vec;
use core::fmt;
use core::ptr;
use core::task::Poll;
use core::time::Duration;

use crate::action::with_nul;
use crate::spec::{done, grace, milliseconds, number, time_limit, Limits, Raw, Spec, Usage};
use crate::{sys, Error, Result, Step};

/// How a queue is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(crate) raw: sys::aspawn_queue_options,
}

impl Options {
    /// 256 jobs, of which 16 run at the same time, with 32 KiB of memory each. 0 stands for these
    /// numbers in the methods below.
    pub fn new() -> Self {
        Options::default()
    }

    setters! {
        /// Jobs from their submission until their result is taken, at most 32768.
        jobs(jobs: u32) |options| options.raw.jobs = jobs;
        /// Jobs that run at the same time, at most 32768.
        running(running: u32) |options| options.raw.running = running;
        /// Memory of each job: copies of its command, environment and input, and the output that is
        /// kept. Address space only until it is used. At most 16 MiB.
        job_bytes(bytes: u32) |options| options.raw.job_bytes = bytes;
        /// The least time between two starts.
        delay(delay: Duration) |options| {
            options.raw.delay_ms = u32::try_from(milliseconds(Some(delay))).unwrap_or(u32::MAX)
        };
    }
}

/// A number of a job, for [`Queue::cancel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(i64);

/// A command that the queue has copied: [`Queue::prepare`].
#[derive(Clone, Copy, Debug)]
pub struct Prepared {
    number: i64,
    setup: usize,
}

#[derive(Clone, Debug)]
enum Source<'a> {
    #[cfg(feature = "std")]
    Command(&'a crate::Command),
    Spec(&'a Spec),
    Prepared(Prepared, Vec<Vec<u8>>),
}

/// A command for a queue, and what is to be kept of it. [`Queue::submit`] copies all of it.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    source: Source<'a>,
    /// Its pointers are set while it is submitted.
    pub(crate) raw: sys::aspawn_job,
    has_one_output: bool,
    input: &'a [u8],
    limits: Limits,
    has_nul: bool,
}

// SAFETY: the pointers are NULL.
unsafe impl Send for Job<'_> {}
// SAFETY: as of Send.
unsafe impl Sync for Job<'_> {}

/// Actions before the caller's, of which there are eight at most, have the lowest bits of a cookie.
const SETUP_BITS: u32 = 4;

impl<'a> Job<'a> {
    fn from(source: Source<'a>) -> Self {
        Job {
            source,
            raw: sys::aspawn_job::default(),
            has_one_output: false,
            input: &[],
            limits: Limits::default(),
            has_nul: false,
        }
    }

    /// Of a command, with its `timeout` and `grace`. Its streams are /dev/null or not set, or
    /// standard error goes to standard output. It may not have a `pre_exec`. [`Owner::Tree`](crate::Owner::Tree) has
    /// its effect, also at the end of the queue or of this process; other owners have none.
    #[cfg(feature = "std")]
    pub fn new(command: &'a crate::Command) -> Self {
        Job::from(Source::Command(command))
    }

    /// Of a [`Spec`], in the same way.
    pub fn of(spec: &'a Spec) -> Self {
        Job::from(Source::Spec(spec))
    }

    /// Of a prepared command, which has its arguments.
    pub fn prepared(prepared: Prepared) -> Self {
        Job::from(Source::Prepared(prepared, Vec::new()))
    }

    setters! {
        /// Replaces the arguments of a prepared command, also the first, which is the program's
        /// name; of no others.
        argv<T: AsRef<[u8]>>(argv: impl IntoIterator<Item = T>) |job| match &mut job.source {
            Source::Prepared(_, words) => {
                let argv = argv.into_iter();
                *words = argv.map(|word| with_nul(word.as_ref(), &mut job.has_nul)).collect()
            }
            _ => job.has_nul = true,
        };
        /// A number of the caller's, below 2^60, which the [`Outcome`] has too.
        cookie(cookie: u64) |job| job.raw.cookie = cookie;
        /// Keeps so many bytes of standard output, which otherwise is /dev/null. More is dropped.
        stdout(size: usize) |job| job.raw.out_size = size.saturating_add(1);
        /// Keeps so many bytes of standard error.
        stderr(size: usize) |job| job.raw.err_size = size.saturating_add(1);
        /// Standard error goes where standard output goes. A prepared command says it itself.
        stderr_to_stdout() |job| job.has_one_output = true;
        /// Standard input, otherwise /dev/null.
        input(input: &'a [u8]) |job| job.input = input;
        /// The time from the start until the program and its group get the stop signal.
        timeout(timeout: Duration) |job| job.limits.timeout = Some(timeout);
        /// The time from the stop signal to SIGKILL, one second if not set; also the time after the
        /// program's end for another process that holds its output.
        grace(grace: Duration) |job| job.limits.grace = Some(grace);
        /// Of the jobs that wait, those of the highest priority start first: from 0,
        /// if not set, to 7.
        priority(priority: u8) |job| job.raw.priority = priority.into();
        /// Of the jobs with the same key at most `limit` run at the same time. Others pass those
        /// that have to wait. Key 0 is none, and limit 0 no limit.
        key(key: u32, limit: u32) |job| (job.raw.key, job.raw.key_limit) = (key, limit);
    }

    /// `defaults` are the command's own limits.
    fn raw(&self, setup: usize, defaults: &Limits) -> sys::aspawn_job {
        sys::aspawn_job {
            cookie: self.raw.cookie << SETUP_BITS | setup as u64,
            input: if self.input.is_empty() { ptr::null() } else { self.input.as_ptr().cast() },
            input_size: self.input.len(),
            time_limit_ms: time_limit(self.limits.timeout.or(defaults.timeout)),
            grace_ms: grace(self.limits.grace.or(defaults.grace)),
            ..self.raw
        }
    }
}

/// How a job ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum End {
    /// By itself, or by another process's signal.
    Ran,
    /// Never executed: why.
    NotStarted(Error),
    /// Its time was over.
    TimedOut,
    /// By [`Queue::cancel`].
    Cancelled,
    /// By the OOM killer, in the control group of its own.
    OutOfMemory,
    /// Not known: the server was killed, or, of a local queue, another wait has reaped it.
    Lost,
}

/// The result of a job.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The job's.
    pub cookie: u64,
    /// What [`Queue::submit`] returned.
    pub ticket: Ticket,
    /// How it ended.
    pub end: End,
    /// Of the ended process.
    pub pid: Option<u32>,
    /// As wait(2) stores it.
    pub status: Option<i32>,
    /// What was kept of standard output.
    pub stdout: Vec<u8>,
    /// What was kept of standard error.
    pub stderr: Vec<u8>,
    /// Bytes that the program wrote to standard output.
    pub stdout_total: u64,
    /// Bytes that the program wrote to standard error.
    pub stderr_total: u64,
    /// True if another process still held standard output after the grace.
    pub stdout_cut: bool,
    /// True if another process still held standard error after the grace.
    pub stderr_cut: bool,
    /// How many processes of a tree could not be ended; 1 for another program that
    /// may not be killed.
    pub survivors: u32,
    /// The most bytes of memory that the group of an `Action::new_cgroup` had at a time.
    pub memory_peak: Option<u64>,
    /// What the program, and its children that it waited for, used.
    pub usage: Usage,
    /// The time from the submission to the start; to the end if it was not started.
    pub waited: Duration,
    /// The time from the start to the end.
    pub ran: Duration,
}

impl Outcome {
    /// A copy of a result that the queue still has.
    fn new(result: &sys::aspawn_result) -> Self {
        let setup = (result.cookie & ((1 << SETUP_BITS) - 1)) as usize;
        let bytes = |at: *const sys::c_char, size: usize| match at.is_null() {
            true => Vec::new(),
            // SAFETY: the library's bytes, until the result is released.
            false => unsafe { core::slice::from_raw_parts(at.cast::<u8>(), size) }.to_vec(),
        };
        let between =
            |from: i64, to: i64| Duration::from_nanos(u64::try_from(to - from).unwrap_or(0));
        let started = if result.started_ns == 0 { result.ended_ns } else { result.started_ns };
        Outcome {
            cookie: result.cookie >> SETUP_BITS,
            ticket: Ticket(result.ticket),
            end: match result.outcome {
                sys::ASPAWN_OUTCOME_RAN => End::Ran,
                sys::ASPAWN_OUTCOME_NOT_STARTED => {
                    End::NotStarted(Error::from_failure(&result.failure, setup))
                }
                sys::ASPAWN_OUTCOME_TIMED_OUT => End::TimedOut,
                sys::ASPAWN_OUTCOME_CANCELLED => End::Cancelled,
                sys::ASPAWN_OUTCOME_OUT_OF_MEMORY => End::OutOfMemory,
                _ => End::Lost,
            },
            pid: if result.pid > 0 { Some(result.pid as u32) } else { None },
            status: if result.status < 0 { None } else { Some(result.status) },
            stdout: bytes(result.out, result.out_length),
            stderr: bytes(result.err, result.err_length),
            stdout_total: result.out_total,
            stderr_total: result.err_total,
            stdout_cut: result.cut & 1 != 0,
            stderr_cut: result.cut & 2 != 0,
            survivors: result.survivors as u32,
            memory_peak: Some(result.memory_peak).filter(|&bytes| bytes > 0),
            usage: Usage::from(&result.usage),
            waited: between(result.submitted_ns, started),
            ran: between(started, result.ended_ns),
        }
    }

    /// True if the program ran and its status is 0.
    pub fn success(&self) -> bool {
        matches!(self.end, End::Ran) && self.status == Some(0)
    }

    /// Status and output, as of [`Command::output`](crate::Command::output), or the error: of the step that failed, or
    /// `TimedOut`, `ECANCELED`, `ENOMEM`, and `ECHILD` of a job that is lost.
    #[cfg(feature = "std")]
    pub fn into_output(self) -> Result<std::process::Output> {
        use crate::os::ExitStatusExt;
        let Outcome { stdout, stderr, .. } = self;
        let error = match (self.end, self.status) {
            (End::Ran, Some(status)) => {
                let status = std::process::ExitStatus::from_raw(status as _);
                return Ok(std::process::Output { status, stdout, stderr });
            }
            (End::NotStarted(error), _) => return Err(error),
            (End::TimedOut, _) => sys::PSYS_ETIMEDOUT,
            (End::Cancelled, _) => sys::PSYS_ECANCELED,
            (End::OutOfMemory, _) => sys::PSYS_ENOMEM,
            _ => sys::PSYS_ECHILD,
        };
        Err(Error::new(Step::Run, error))
    }
}

/// "exit 3", "timed out, killed by SIGTERM", "not started: ..."
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.end {
            End::NotStarted(error) => return write!(f, "not started: {}", error),
            End::Cancelled => return f.write_str("cancelled"),
            End::Lost => return f.write_str("lost"),
            End::TimedOut => f.write_str("timed out, ")?,
            End::OutOfMemory => f.write_str("out of memory, ")?,
            End::Ran => (),
        }
        let mut bytes = [0u8; 64];
        // SAFETY: the buffer has this size, which includes the NUL.
        let length = unsafe {
            sys::aspawn_status_text(
                bytes.as_mut_ptr().cast(),
                bytes.len(),
                self.status.unwrap_or(-1),
            )
        };
        f.write_str(core::str::from_utf8(&bytes[..length.min(bytes.len() - 1)]).unwrap_or(""))
    }
}

/// Numbers of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub struct Counts {
    /// Submitted, and not started.
    pub waiting: u32,
    pub running: u32,
    /// Whose results were not taken.
    pub ended: u32,
    /// That were made: more than one if a server was killed.
    pub servers: u32,
}

/// A queue of commands. All methods may be called by any number of threads.
///
/// Dropped, it kills all jobs with their process groups, and ends the server, before it returns:
/// within a millisecond or so. After fork(2) the new process has no queue: all calls fail with
/// `ESTALE` there.
pub struct Queue(*mut sys::aspawn_queue);

// SAFETY: every function of a queue is thread-safe, but close, which needs the queue alone.
unsafe impl Send for Queue {}
// SAFETY: as of Send.
unsafe impl Sync for Queue {}

shown! { Queue: |queue, f| f.debug_tuple("Queue").field(&queue.counts()).finish(); }

/// The number, or the error with what is invalid.
fn submitted(setup: usize, call: impl FnOnce(*mut sys::aspawn_failure) -> i64) -> Result<i64> {
    let mut failure = sys::aspawn_failure::default();
    match call(&mut failure) {
        error if error < 0 && failure.error != 0 => Err(Error::from_failure(&failure, setup)),
        error if error < 0 => Err(Error::new(Step::Start, error as i32)),
        number => Ok(number),
    }
}

impl Queue {
    /// A queue as [`Options::new`] has it.
    pub fn new() -> Result<Self> {
        Self::with(&Options::new())
    }

    /// A queue. Fails with `EOPNOTSUPP` where no process can share memory: [`Options::local`].
    pub fn with(options: &Options) -> Result<Self> {
        Self::with_flags(options, 0)
    }

    pub(crate) fn with_flags(options: &Options, flags: u64) -> Result<Self> {
        if !crate::SUPPORTED {
            return Err(Error::unsupported("Queue"));
        }
        let options = sys::aspawn_queue_options { flags: flags | options.raw.flags, ..options.raw };
        let mut queue = ptr::null_mut();
        // SAFETY: both are valid.
        match unsafe { sys::aspawn_queue_create(&mut queue, &options) } {
            0 => Ok(Queue(queue)),
            error => Err(Error::new(Step::Start, error)),
        }
    }

    /// Submits a job: copies it, and returns without waiting. The error is `WouldBlock` if the
    /// queue has no place until a result is taken, `E2BIG` if the job needs more than
    /// [`Options::job_bytes`], at [`Step::Argument`] of the invalid member, which is its subject,
    /// and `EBADF` if an action uses a descriptor of this process that is not open. The job gets a
    /// copy of such a descriptor now: this process may close its own.
    pub fn submit(&self, job: &Job<'_>) -> Result<Ticket> {
        if job.has_nul {
            return Err(Error::argument("job.argv"));
        }
        if job.raw.cookie >> (u64::BITS - SETUP_BITS) != 0 {
            return Err(Error::argument("job.cookie"));
        }
        let submit = |(command, _, setup): Raw<'_>, limits: &Limits| {
            let mut command = *command;
            if job.has_one_output {
                command.std_err = sys::ASPAWN_STREAM_STDOUT;
            }
            let raw = sys::aspawn_job { command: &command, ..job.raw(setup, limits) };
            self.submit_raw(&raw, setup)
        };
        match &job.source {
            #[cfg(feature = "std")]
            Source::Command(command) => command.as_job(|raw| submit(raw, &command.limits)),
            Source::Spec(spec) => spec.as_job(|raw| submit(raw, &Limits::default())),
            Source::Prepared(..) if job.has_one_output => Err(Error::argument("std_err")),
            Source::Prepared(prepared, words) => {
                let mut raw = job.raw(prepared.setup, &Limits::default());
                let words = words.iter().map(|word| word.as_ptr() as *mut sys::c_char);
                let argv: Vec<_> = words.chain([ptr::null_mut()]).collect();
                raw.prepared = prepared.number;
                if argv.len() > 1 {
                    raw.argv = argv.as_ptr();
                }
                self.submit_raw(&raw, prepared.setup)
            }
        }
    }

    fn submit_raw(&self, job: &sys::aspawn_job, setup: usize) -> Result<Ticket> {
        // SAFETY: the call copies the job and all that it points to, which lives until its end.
        submitted(setup, |failure| unsafe { sys::aspawn_queue_submit(self.0, job, failure) })
            .map(Ticket)
    }

    /// Copies a command once for many jobs, above all for their environment. It has the place of
    /// a job until the queue is dropped.
    #[cfg(feature = "std")]
    pub fn prepare(&self, command: &crate::Command) -> Result<Prepared> {
        command.as_job(|raw| self.prepare_raw(raw))
    }

    /// [`prepare`](Self::prepare) of a [`Spec`].
    pub fn prepare_spec(&self, spec: &Spec) -> Result<Prepared> {
        spec.as_job(|raw| self.prepare_raw(raw))
    }

    fn prepare_raw(&self, (command, _, setup): Raw<'_>) -> Result<Prepared> {
        // SAFETY: as of a job.
        submitted(setup, |failure| unsafe { sys::aspawn_queue_prepare(self.0, command, failure) })
            .map(|number| Prepared { number, setup })
    }

    /// Cancels a job: if it runs, its group gets its stop signal, and SIGKILL after its grace. Its
    /// [`Outcome`] comes nevertheless. Fails with `ESRCH` if the job has ended.
    pub fn cancel(&self, ticket: Ticket) -> Result<()> {
        // SAFETY: the queue is open.
        done(unsafe { sys::aspawn_queue_cancel(self.0, ticket.0) })
    }

    /// Cancels all jobs that were submitted before.
    pub fn cancel_all(&self) -> Result<()> {
        // SAFETY: the queue is open.
        done(unsafe { sys::aspawn_queue_cancel_all(self.0) })
    }

    /// Ready(None) if no job waits or runs, and Pending if the time is over.
    pub(crate) fn take(&self, timeout: Option<Duration>) -> Result<Poll<Option<Outcome>>> {
        let mut result = ptr::null();
        // SAFETY: there is room for one result, which is valid until its release.
        unsafe {
            match sys::aspawn_queue_wait(self.0, &mut result, 1, milliseconds(timeout)) {
                0 => Ok(Poll::Pending),
                error if error == -sys::PSYS_ECHILD => Ok(Poll::Ready(None)),
                error if error < 0 => Err(Error::new(Step::Run, error)),
                _ => {
                    let outcome = Outcome::new(&*result);
                    done(sys::aspawn_queue_release(self.0, &mut result, 1))?;
                    Ok(Poll::Ready(Some(outcome)))
                }
            }
        }
    }

    /// Waits for the next result. None if the time is over, or if no job waits or runs.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<Option<Outcome>> {
        self.take(timeout).map(|taken| match taken {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => None,
        })
    }

    /// Results, until no job waits or runs; it goes on after later submissions.
    pub fn results(&self) -> Results<'_> {
        Results(self)
    }

    /// Waits until no job waits or runs. False if the time is over.
    pub fn drain(&self, timeout: Option<Duration>) -> Result<bool> {
        // SAFETY: the queue is open.
        match unsafe { sys::aspawn_queue_drain(self.0, milliseconds(timeout)) } {
            error if error == -sys::PSYS_ETIMEDOUT => Ok(false),
            result => done(result).map(|_| true),
        }
    }

    /// Numbers of jobs, each exact, but not all of the same moment.
    pub fn counts(&self) -> Result<Counts> {
        let count = |what| {
            // SAFETY: only a number.
            number(unsafe { sys::aspawn_queue_count(self.0, what) }).map(|count| count as u32)
        };
        Ok(Counts {
            waiting: count(sys::ASPAWN_COUNT_WAITING)?,
            running: count(sys::ASPAWN_COUNT_RUNNING)?,
            ended: count(sys::ASPAWN_COUNT_ENDED)?,
            servers: count(sys::ASPAWN_COUNT_SERVERS)?,
        })
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn fd(&self) -> Result<i32> {
        // SAFETY: the queue is open.
        number(unsafe { sys::aspawn_queue_fd(self.0) })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: nobody else has the queue.
        unsafe { sys::aspawn_queue_close(self.0) };
    }
}

/// What [`Queue::results`] returns.
#[derive(Debug)]
pub struct Results<'a>(&'a Queue);

impl Iterator for Results<'_> {
    type Item = Result<Outcome>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.wait(None).transpose()
    }
}

#[cfg(test)]
mod tests;
