// SPDX-License-Identifier: MIT
//! What is below [`Command`](crate::Command), for programs without `std`: strings are bytes,
//! descriptors and statuses are numbers, and the pipes are the caller's to close.
//!
//! ```
//! use aspawn::spec::{Limits, Spec, Stream};
//!
//! let mut spec = Spec::new("uname");
//! spec.arg("-s").stdout(Stream::Pipe);
//! let (mut out, mut child) = (Vec::new(), spec.start()?);
//! let exit = child.communicate(b"", Some(&mut out), None, &Limits::default())?;
//! assert_eq!((exit.status, out.as_slice()), (0, &b"Linux\n"[..]));
//! # Ok::<(), aspawn::Error>(())
//! ```

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, UnsafeCell};
use core::mem;
use core::ptr;
use core::time::Duration;

use crate::action::{with_nul, Memory, Owner};
use crate::{sys, Error, Result, Step};

pub use crate::action::spec::{Action, Fd};

/// A standard stream of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stream {
    /// The caller's own.
    Inherit,
    /// /dev/null
    Null,
    /// A new pipe, whose other end is the [`Handle`]'s.
    Pipe,
    /// For standard error only: the same as standard output.
    ToStdout,
    /// A new pseudoterminal, pty(7), one for all such streams. It is the controlling terminal of
    /// the child, which leads a session. Its other end is the [`Handle`]'s.
    Terminal,
    /// A descriptor above 2.
    Fd(Fd),
}

impl Stream {
    fn number(self) -> i32 {
        match self {
            // which is inherited, except by a job
            Stream::Inherit => sys::ASPAWN_STREAM_DEFAULT,
            Stream::Null => sys::ASPAWN_STREAM_NULL,
            Stream::Pipe => sys::ASPAWN_STREAM_PIPE,
            Stream::ToStdout => sys::ASPAWN_STREAM_STDOUT,
            Stream::Terminal => sys::ASPAWN_STREAM_PTY,
            // 0 is ASPAWN_STREAM_DEFAULT, and other low numbers are invalid, as this is.
            Stream::Fd(fd) if fd.0 <= 2 => i32::MIN,
            Stream::Fd(fd) => fd.0,
        }
    }
}

/// The environment of a program: `NAME=value`, in one piece of memory.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    text: Vec<u8>,
    starts: Vec<usize>,
    pub(crate) has_nul: bool,
}

impl Environment {
    /// A copy: std's lock of the environment cannot be held during the start, and another thread
    /// may call std::env::set_var().
    #[cfg(feature = "std")]
    pub(crate) fn inherited() -> Self {
        let mut environment = Environment::default();
        environment.set(std::env::vars_os());
        UNTOLD.lock().unwrap().iter().for_each(|string| environment.push(&[string]));
        environment
    }

    #[cfg(feature = "std")]
    pub(crate) fn set<T: AsRef<std::ffi::OsStr>>(&mut self, of: impl Iterator<Item = (T, T)>) {
        use crate::os::OsStrExt;
        for (name, value) in of {
            self.push(&[name.as_ref().as_bytes(), b"=", value.as_ref().as_bytes()]);
        }
    }

    fn push(&mut self, parts: &[&[u8]]) {
        self.starts.push(self.text.len());
        for part in parts {
            self.has_nul |= part.contains(&0);
            self.text.extend_from_slice(part);
        }
        self.text.push(0);
    }
}

/// Strings of this process's first environment that name no variable. std passes them on in an
/// environment that is not changed, and does not tell them.
#[cfg(feature = "std")]
static UNTOLD: std::sync::Mutex<Vec<Vec<u8>>> = std::sync::Mutex::new(Vec::new());

/// Called before main(): later, another thread may change the environment.
#[cfg(all(feature = "std", not(elsewhere)))]
#[used]
#[link_section = ".init_array"]
static KEEP_UNTOLD: extern "C" fn() = {
    extern "C" fn keep_untold() {
        extern "C" {
            static mut environ: *const *const sys::c_char;
        }
        // SAFETY: NULL ends the pointers, each of a string that a NUL ends.
        let strings = (0..).map_while(|at| unsafe {
            let string = environ.as_ref().map(|_| *environ.add(at))?.as_ref()?;
            Some(std::ffi::CStr::from_ptr(string).to_bytes())
        });
        let untold = strings.filter(|string| !string.iter().skip(1).any(|&byte| byte == b'='));
        UNTOLD.lock().unwrap().extend(untold.map(<[u8]>::to_vec));
    }
    keep_untold
};

/// A program and how to start it.
pub struct Spec {
    pub(crate) file: Option<Vec<u8>>,
    pub(crate) argv: Vec<Vec<u8>>,
    environment: Option<Environment>,
    search_path: Option<Vec<u8>>,
    pub(crate) actions: Vec<Action>,
    pub(crate) streams: [Stream; 3],
    /// Its pointers are set while it is started.
    pub(crate) raw: sys::aspawn_command,
    has_nul: bool,
}

// SAFETY: the pointers are NULL.
unsafe impl Send for Spec {}
// SAFETY: as of Send.
unsafe impl Sync for Spec {}

shown! {
    Spec: |spec, f| {
        let argv = spec.argv.iter().map(|word| String::from_utf8_lossy(&word[..word.len() - 1]));
        f.debug_list().entries(argv).finish()
    };
    Handle: |handle, f|
        f.debug_struct("Handle").field("ended_fd", &handle.child.ended_fd).finish_non_exhaustive();
}

/// The memory of ended children, kept for later ones; all threads use it.
struct Pool(UnsafeCell<sys::aspawn_pool>);
// SAFETY: a pool may be used by any number of threads at the same time.
unsafe impl Sync for Pool {}
static POOL: Pool = Pool(UnsafeCell::new(sys::aspawn_pool { own: [0; 64] }));

/// A command, an end of a pipe for each action, and the number of actions before the caller's.
pub(crate) type Raw<'a> = (&'a sys::aspawn_command, &'a [Cell<i32>], usize);

impl Spec {
    /// A program: a path, or a name without a slash that the child looks for in PATH.
    pub fn new(program: impl AsRef<[u8]>) -> Self {
        let mut spec = Spec {
            file: None,
            argv: Vec::new(),
            environment: None,
            search_path: None,
            actions: Vec::new(),
            streams: [Stream::Inherit; 3],
            raw: Default::default(),
            has_nul: false,
        };
        spec.arg(program);
        spec
    }

    pub(crate) fn program(&self) -> &[u8] {
        let program = self.file.as_ref().unwrap_or(&self.argv[0]);
        &program[..program.len() - 1]
    }

    setters! {
        /// Adds an argument.
        arg(arg: impl AsRef<[u8]>) |spec| spec.argv.push(with_nul(arg.as_ref(), &mut spec.has_nul));
        /// Sets the first argument, which otherwise is the program.
        arg0(arg: impl AsRef<[u8]>) |spec| {
            let arg = with_nul(arg.as_ref(), &mut spec.has_nul);
            let program = mem::replace(&mut spec.argv[0], arg);
            spec.file.get_or_insert(program)
        };
        /// The environment, each string `NAME=value`. Without this call it is the caller's: without
        /// the feature `std` as it is during the start, which no other thread may change then.
        environment<T: AsRef<[u8]>>(variables: impl IntoIterator<Item = T>) |spec| {
            let environment = spec.environment.insert(Environment::default());
            variables.into_iter().for_each(|variable| environment.push(&[variable.as_ref()]))
        };
        /// The directories in which the program is looked for, in the format of PATH. Otherwise
        /// they are the PATH of the program's environment.
        search_path(path: impl AsRef<[u8]>)
            |spec| spec.search_path = Some(with_nul(path.as_ref(), &mut spec.has_nul));
        /// Adds an action.
        action(action: Action) |spec| spec.actions.push(action);
        /// Standard input.
        stdin(stream: Stream) |spec| spec.streams[0] = stream;
        /// Standard output.
        stdout(stream: Stream) |spec| spec.streams[1] = stream;
        /// Standard error.
        stderr(stream: Stream) |spec| spec.streams[2] = stream;
        /// The size of a terminal, in characters; 0 stands for 24 rows, and for 80 columns.
        terminal_size(rows: u16, columns: u16)
            |spec| (spec.raw.pty_rows, spec.raw.pty_columns) = (rows.into(), columns.into());
        /// Whose child it is.
        owner(owner: Owner) |spec| spec.raw.owner = owner as i32;
        /// In what memory the child begins.
        memory(memory: Memory) |spec| spec.raw.memory = memory as i32;
        /// The first signal of a time limit, of a tree's end and of what ends a job; 0: SIGTERM.
        /// The program begins with the default action for it, and SIGCONT follows it.
        stop_signal(signal: i32) |spec| spec.raw.stop_signal = signal;
    }

    /// Starts the program, and returns when the child exists. What the child does and fails in
    /// comes later: [`Handle::wait_started`].
    pub fn start(&self) -> Result<Handle> {
        if !crate::SUPPORTED {
            return Err(Error::unsupported("spec::Spec"));
        }
        self.as_job(|raw| self.start_raw(raw))
    }

    pub(crate) fn start_raw(&self, (command, ends, setup): Raw<'_>) -> Result<Handle> {
        let command = sys::aspawn_command { pool: POOL.0.get(), ..*command };
        let mut child = sys::aspawn_child::default();
        // SAFETY: the call copies the command and all that it points to; the pool is static.
        let result = unsafe { sys::aspawn_start(&mut child, &command) };
        let ends = self.actions.iter().zip(&ends[setup..]);
        let pipes = ends.filter_map(|(action, end)| Some((action.pipe?.1, end.get()))).collect();
        let mut handle = Handle { child, setup, pipes, stop_signal: command.stop_signal };
        match result {
            0 => Ok(handle),
            // It may name an invalid member or action.
            error => Err(handle.why_not_started(Step::Start, error)),
        }
    }

    /// Calls a function with the command, as a queue has it.
    pub(crate) fn as_job<T>(&self, call: impl FnOnce(Raw<'_>) -> Result<T>) -> Result<T> {
        self.with_raw(&[], None, self.streams, call)
    }

    /// Calls a function with the command, which lives until its end.
    pub(crate) fn with_raw<T>(
        &self,
        setup: &[Action],
        environment: Option<&Environment>,
        streams: [Stream; 3],
        call: impl FnOnce(Raw<'_>) -> Result<T>,
    ) -> Result<T> {
        let environment = environment.or(self.environment.as_ref());
        #[cfg(feature = "std")]
        let inherited = environment.is_none().then(Environment::inherited);
        #[cfg(feature = "std")]
        let environment = environment.or(inherited.as_ref());
        if self.has_nul || environment.map_or(false, |environment| environment.has_nul) {
            return Err(Error::argument("a string with a NUL"));
        }
        let argv = self.argv.iter().map(|word| word.as_ptr() as *mut sys::c_char);
        let argv: Vec<*mut sys::c_char> = argv.chain([ptr::null_mut()]).collect();
        let envp: Option<Vec<*mut sys::c_char>> = environment.map(|environment| {
            let texts =
                environment.starts.iter().map(|&at| environment.text[at..].as_ptr() as *mut _);
            texts.chain([ptr::null_mut()]).collect()
        });
        let actions = || setup.iter().chain(&self.actions);
        let ends = alloc::vec![Cell::new(-1); actions().count()];
        let steps = setup.iter().map(|_| Step::Setup).chain((0..).map(Step::Action));
        let actions = actions().zip(&ends).zip(steps);
        let actions = actions.map(|((action, end), step)| action.raw(step, end));
        let actions: Vec<_> = actions.collect::<Result<_>>()?;
        let or_null =
            |text: &Option<Vec<u8>>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr().cast());
        let command = sys::aspawn_command {
            file: or_null(&self.file),
            argv: argv.as_ptr(),
            envp: envp.as_ref().map_or(ptr::null(), |envp| envp.as_ptr()),
            search_path: or_null(&self.search_path),
            actions: if actions.is_empty() { ptr::null() } else { actions.as_ptr() },
            action_count: actions.len(),
            std_in: streams[0].number(),
            std_out: streams[1].number(),
            std_err: streams[2].number(),
            ..self.raw
        };
        call((&command, &ends, setup.len()))
    }
}

/// When and how a command is ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// After this time the program gets its stop signal.
    pub timeout: Option<Duration>,
    /// And this much later SIGKILL; None: one second. Also the time after the program's end in
    /// which another process may hold its output; with neither time given, that has no limit.
    pub grace: Option<Duration>,
    /// The signals go to the process group that the program leads.
    pub kill_group: bool,
}

/// How a child ended, and what it used.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Exit {
    /// As wait(2) stores it.
    pub status: i32,
    /// What the child, and its children that it waited for, used.
    pub usage: Usage,
}

/// What a child, and its children that it waited for, used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Processor time in the program.
    pub user: Duration,
    /// Processor time in the kernel.
    pub system: Duration,
    /// The most memory that was resident: KiB. At least the peak of this process, as the kernel
    /// keeps that over an exec.
    pub max_resident: u64,
}

converted! {
    Usage: |usage: &sys::psys_rusage| {
        let time = |time: sys::psys_timeval| {
            Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
        };
        let (user, system) = (time(usage.ru_utime), time(usage.ru_stime));
        Usage { user, system, max_resident: usage.ru_maxrss as u64 }
    };
}

/// How a child began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// In the caller's memory, at no cost.
    Shared,
    /// In the caller's memory, and the thread was suspended until the exec.
    Suspended,
    /// By the library's own small program: an action is marked *copy*.
    Image,
    /// In a copy of the memory, as fork(2) makes it.
    Copied,
}

/// A child. It may be moved, and passed to another thread.
///
/// Dropped before [`wait`](Self::wait) it lets the child run on, as a zombie when it has ended,
/// unless it is private. The pipes are not closed.
pub struct Handle {
    pub(crate) child: sys::aspawn_child,
    setup: usize,
    /// Of actions: the program's number, the caller's end.
    pub(crate) pipes: Vec<(i32, i32)>,
    pub(crate) stop_signal: i32,
}

/// -1: no limit.
pub(crate) fn milliseconds(time: Option<Duration>) -> i64 {
    // A part of a millisecond counts as a whole one: otherwise waits would be busy at their end.
    let up = |time: Duration| (time.as_nanos() + 999_999) / 1_000_000;
    time.map_or(-1, |time| i64::try_from(up(time)).unwrap_or(i64::MAX))
}

/// 0: no limit.
pub(crate) fn time_limit(time: Option<Duration>) -> i64 {
    time.map_or(0, |_| milliseconds(time).max(1))
}

/// 0: one second.
pub(crate) fn grace(time: Option<Duration>) -> i64 {
    match time {
        None => 0,
        Some(Duration::ZERO) => sys::ASPAWN_GRACE_NONE.into(),
        time => milliseconds(time),
    }
}

/// Where standard output and standard error go.
pub(crate) type Outputs<'a> = [Option<&'a mut Vec<u8>>; 2];

unsafe extern "C" fn append(
    outputs: *mut sys::c_void,
    stream: i32,
    bytes: *const sys::c_void,
    size: usize,
) -> i32 {
    let outputs = &mut *outputs.cast::<Outputs>();
    if let Some(to) = &mut outputs[stream as usize - 1] {
        if to.try_reserve(size).is_err() {
            return -sys::PSYS_ENOMEM;
        }
        to.extend_from_slice(core::slice::from_raw_parts(bytes.cast(), size));
    }
    0
}

fn open(fd: i32) -> Option<i32> {
    (fd >= 0).then_some(fd)
}

impl Handle {
    /// The process ID, until the child has been waited for. Waits until a helper has cloned the
    /// child, if it is private or begins in the image; an error if it cannot.
    pub fn pid(&mut self) -> Result<i32> {
        // SAFETY: there is a child, or was one.
        number(unsafe { sys::aspawn_pid(&mut self.child) })
    }

    /// The process ID, or 0 if it is not known yet, or no more. Does not wait.
    pub(crate) fn known_pid(&self) -> i32 {
        self.describe(sys::ASPAWN_FACT_PID).max(0)
    }

    fn describe(&self, fact: i32) -> i32 {
        // SAFETY: there is a child, or was one.
        unsafe { sys::aspawn_describe(&self.child, fact) }
    }

    /// A new pidfd of the child itself, the caller's to close, for pidfd_send_signal(2), setns(2)
    /// and the like; an error if the child is reaped, as a private one is at its end. May wait as
    /// [`pid`](Self::pid) does.
    pub fn pidfd(&mut self) -> Result<i32> {
        // SAFETY: there is a child, or was one.
        number(unsafe { sys::aspawn_pidfd(&mut self.child) })
    }

    /// Whose child it is.
    pub fn owner(&self) -> Owner {
        match self.describe(sys::ASPAWN_FACT_OWNER) {
            sys::ASPAWN_OWNER_PRIVATE => Owner::Private,
            sys::ASPAWN_OWNER_TREE => Owner::Tree,
            _ => Owner::Caller,
        }
    }

    /// How the child began; None until a helper has cloned it, as after [`pid`](Self::pid) or
    /// [`wait_started`](Self::wait_started).
    pub fn mode(&self) -> Option<Mode> {
        match self.describe(sys::ASPAWN_FACT_MODE) {
            sys::ASPAWN_MODE_CLONE3 | sys::ASPAWN_MODE_CLONE => Some(Mode::Shared),
            sys::ASPAWN_MODE_VFORK => Some(Mode::Suspended),
            sys::ASPAWN_MODE_IMAGE => Some(Mode::Image),
            sys::ASPAWN_MODE_FORK => Some(Mode::Copied),
            _ => None,
        }
    }

    /// Readable when the child has ended, and for polling only; closed by [`wait`](Self::wait). None
    /// before Linux 5.3.
    pub fn ended_fd(&self) -> Option<i32> {
        open(self.child.ended_fd)
    }

    /// With [`Spec::started_fd`]: readable, or hung up, when the program may have been
    /// executed, which [`wait_started`](Self::wait_started) tells. Not to be read.
    pub fn started_fd(&self) -> Option<i32> {
        open(self.child.started_fd)
    }

    /// The caller's end of the pipe that the program has as descriptor `number`: a standard stream,
    /// or that of an [`Action::output_pipe`]. From now on it is the caller's to close.
    pub fn take_pipe(&mut self, number: i32) -> Option<i32> {
        let fd = match number {
            0 => &mut self.child.in_fd,
            1 => &mut self.child.out_fd,
            2 => &mut self.child.err_fd,
            _ => &mut self.pipes.iter_mut().find(|pipe| pipe.0 == number)?.1,
        };
        open(mem::replace(fd, -1))
    }

    /// The caller's end of the terminal, which from now on is the caller's to close. Reading it
    /// fails with `EIO` when no process has the terminal any more.
    pub fn take_terminal(&mut self) -> Option<i32> {
        open(mem::replace(&mut self.child.pty_fd, -1))
    }

    /// Sets the size of the terminal that [`take_terminal`](Self::take_terminal) gave, in characters.
    /// If it changes, the foreground process group gets SIGWINCH.
    pub fn resize(&mut self, terminal: Fd, rows: u16, columns: u16) -> Result<()> {
        let own = mem::replace(&mut self.child.pty_fd, terminal.0);
        // SAFETY: there is a child, or was one.
        let result = unsafe { sys::aspawn_resize(&mut self.child, rows.into(), columns.into()) };
        self.child.pty_fd = own;
        done(result)
    }

    /// Waits until the program has been executed. Ok(false) if the time is over.
    pub fn wait_started(&mut self, timeout: Option<Duration>) -> Result<bool> {
        let mut failure = sys::aspawn_failure::default();
        let timeout = milliseconds(timeout);
        // SAFETY: there is a child.
        match -unsafe { sys::aspawn_wait_started(&mut self.child, &mut failure, timeout) } {
            0 => Ok(true),
            sys::PSYS_ETIMEDOUT => Ok(false),
            sys::PSYS_ECANCELED => Err(Error::from_failure(&failure, self.setup)),
            error => Err(Error::new(Step::Unknown, error)),
        }
    }

    /// Waits for the end, and reaps the child. Ok(None) if the time is over.
    ///
    /// If the program was never executed the error says why.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Option<Exit>> {
        let mut status = -1;
        let mut usage = sys::psys_rusage::default();
        let timeout = milliseconds(timeout);
        // SAFETY: there is a child, or was one.
        match -unsafe { sys::aspawn_wait(&mut self.child, &mut status, &mut usage, timeout) } {
            0 => Ok(Some(Exit { status, usage: Usage::from(&usage) })),
            sys::PSYS_ETIMEDOUT => Ok(None),
            error @ sys::PSYS_ECANCELED => Err(self.why_not_started(Step::Unknown, error)),
            error => Err(Error::new(Step::Run, error)),
        }
    }

    fn why_not_started(&mut self, step: Step, error: i32) -> Error {
        match self.wait_started(Some(Duration::ZERO)) {
            Err(why) if why.step() != Step::Unknown => why,
            _ => Error::new(step, error),
        }
    }

    /// Writes `input`, collects outputs, waits for the end within the limits, and reaps. The
    /// pipes are closed, also after an error, which ends the child. An output of None is dropped
    /// if there is a pipe; without a pipe there is no output.
    pub fn communicate(
        &mut self,
        input: &[u8],
        out: Option<&mut Vec<u8>>,
        err: Option<&mut Vec<u8>>,
        limits: &Limits,
    ) -> Result<Exit> {
        let mut outputs: Outputs = [out, err];
        let has_limit = limits.timeout.or(limits.grace).is_some();
        let mut io = sys::aspawn_io {
            flags: if limits.kill_group { sys::ASPAWN_IO_KILL_GROUP } else { 0 },
            input: if input.is_empty() { ptr::null() } else { input.as_ptr().cast() },
            input_size: input.len(),
            sink: Some(append),
            arg: (&mut outputs as *mut Outputs).cast(),
            time_limit_ms: time_limit(limits.timeout),
            grace_ms: if has_limit { grace(limits.grace) } else { i64::MAX },
            ..Default::default()
        };
        // SAFETY: all that io points to lives during the call, and is used by nobody else.
        match -unsafe { sys::aspawn_communicate(&mut self.child, &mut io) } {
            0 => Ok(Exit { status: io.status, usage: Usage::from(&io.usage) }),
            sys::PSYS_ECANCELED => Err(Error::from_failure(&io.failure, self.setup)),
            error => Err(Error::new(Step::Run, error)),
        }
    }

    /// True if the child has ended; it is not reaped.
    pub fn has_ended(&mut self) -> Result<bool> {
        // SAFETY: there is a child, or was one.
        number(unsafe { sys::aspawn_ended(&mut self.child) }).map(|ended| ended != 0)
    }

    /// Sends a signal to the child, never to another process of the same pid.
    pub fn kill(&mut self, signal: i32) -> Result<()> {
        self.send(signal, false)
    }

    /// Sends a signal to the process group that the child leads;
    /// to the child alone if it leads none.
    pub fn kill_group(&mut self, signal: i32) -> Result<()> {
        self.send(signal, true)
    }

    pub(crate) fn send(&mut self, signal: i32, to_group: bool) -> Result<()> {
        let kill = if to_group { sys::aspawn_kill_group } else { sys::aspawn_kill };
        // SAFETY: there is a child, or was one.
        done(unsafe { kill(&mut self.child, signal) })
    }

    /// Ends a child that is [`Owner::Tree`] and all that descends from it: its stop signal, and
    /// after the grace SIGKILL. Does not wait. None: one second.
    /// Of another child an error about its `owner`.
    pub fn kill_tree(&mut self, time: Option<Duration>) -> Result<()> {
        // SAFETY: there is a child, or was one.
        match unsafe { sys::aspawn_kill_tree(&mut self.child, grace(time)) } {
            error if error == -sys::PSYS_EINVAL => Err(Error::argument("owner")),
            result => done(result),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the memory goes back to the pool, which waits until the child has left it.
        unsafe { sys::aspawn_release(&mut self.child) };
    }
}

pub(crate) fn number(result: i32) -> Result<i32> {
    match result {
        error if error < 0 => Err(Error::new(Step::Run, error)),
        result => Ok(result),
    }
}

pub(crate) fn done(result: i32) -> Result<()> {
    number(result).map(|_| ())
}

/// [`crate::kill_cgroup`], of a number.
pub fn kill_cgroup(cgroup: Fd) -> Result<()> {
    if !crate::SUPPORTED {
        return Err(Error::unsupported("kill_cgroup"));
    }
    // SAFETY: only a number, which is open.
    done(unsafe { sys::aspawn_kill_cgroup(cgroup.0) })
}
