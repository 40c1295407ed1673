// SPDX-License-Identifier: MIT
//! Declarations of the C library aspawn, and its sources: the build
//! script compiles them, so nothing needs to be installed.
//!
//! The names, structures and rules are those of `aspawn/command.h`, `aspawn/action.h` and
//! `aspawn/queue.h`; the crate `aspawn` is the safe interface. All functions are async-signal-safe and thread-safe, use
//! no heap, and return 0 or a negative error number. A structure that begins with `size` is zeroed
//! and has its own size stored there.
//!
//! ```
//! use aspawn_sys as sys;
//! use std::{mem, ptr};
//!
//! let argv = [b"true\0".as_ptr() as *mut sys::c_char, ptr::null_mut()];
//! unsafe {
//!     let mut command: sys::aspawn_command = mem::zeroed();
//!     command.size = mem::size_of_val(&command) as u64;
//!     command.argv = argv.as_ptr();
//!     let mut child = mem::zeroed();
//!     assert_eq!(sys::aspawn_start(&mut child, &command), 0);
//!     let mut status = -1;
//!     assert_eq!(sys::aspawn_wait(&mut child, &mut status, ptr::null_mut(), -1), 0);
//!     assert_eq!(status, 0);
//! }
//! ```
#![no_std]
#![allow(non_camel_case_types)]
#![warn(missing_docs)]

#[cfg(not(any(target_os = "linux", target_os = "android")))]
compile_error!("aspawn is for Linux");

pub use core::ffi::c_void;

/// `int`
pub type c_int = i32;
/// `unsigned`
pub type c_uint = u32;
/// `char`, whose sign is the architecture's.
#[cfg(any(
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "powerpc",
    target_arch = "powerpc64",
    target_arch = "riscv32",
    target_arch = "riscv64",
    target_arch = "s390x"
))]
pub type c_char = u8;
/// `char`, whose sign is the architecture's.
#[cfg(not(any(
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "powerpc",
    target_arch = "powerpc64",
    target_arch = "riscv32",
    target_arch = "riscv64",
    target_arch = "s390x"
)))]
pub type c_char = i8;
/// The kernel's `long`, which x32 and n32 have with 64 bits.
#[cfg(any(target_pointer_width = "64", target_arch = "x86_64", target_arch = "mips64"))]
pub type psys_kernel_long = i64;
/// The kernel's `long`.
#[cfg(not(any(target_pointer_width = "64", target_arch = "x86_64", target_arch = "mips64")))]
pub type psys_kernel_long = i32;
/// Microseconds of a [`psys_timeval`].
#[cfg(target_arch = "sparc64")]
pub type psys_suseconds = i32;
/// Microseconds of a [`psys_timeval`].
#[cfg(not(target_arch = "sparc64"))]
pub type psys_suseconds = psys_kernel_long;

/// A time of a [`psys_rusage`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct psys_timeval {
    pub tv_sec: psys_kernel_long,
    pub tv_usec: psys_suseconds,
}

/// getrusage(2)
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct psys_rusage {
    pub ru_utime: psys_timeval,
    pub ru_stime: psys_timeval,
    /// KiB
    pub ru_maxrss: psys_kernel_long,
    pub ru_ixrss: psys_kernel_long,
    pub ru_idrss: psys_kernel_long,
    pub ru_isrss: psys_kernel_long,
    pub ru_minflt: psys_kernel_long,
    pub ru_majflt: psys_kernel_long,
    pub ru_nswap: psys_kernel_long,
    pub ru_inblock: psys_kernel_long,
    pub ru_oublock: psys_kernel_long,
    pub ru_msgsnd: psys_kernel_long,
    pub ru_msgrcv: psys_kernel_long,
    pub ru_nsignals: psys_kernel_long,
    pub ru_nvcsw: psys_kernel_long,
    pub ru_nivcsw: psys_kernel_long,
}

/// An action, filled in by an `aspawn_action_` function. Owns nothing; zero is invalid.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct aspawn_action {
    own: [u64; 8],
}

/// Memory of ended children, for later ones. Zero before its first use; may not move while a
/// child runs in its memory.
#[repr(C, align(8))]
pub struct aspawn_pool {
    /// Zero at first, then the library's.
    pub own: [u8; 64],
}

/// A program and how to start it. Copied by [`aspawn_start`].
#[repr(C)]
#[cfg_attr(target_pointer_width = "32", repr(align(8)))]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct aspawn_command {
    pub size: u64,
    /// `ASPAWN_COMMAND_...`
    pub flags: u64,
    /// NULL: `argv[0]`
    pub file: *const c_char,
    /// Ends with NULL.
    pub argv: *const *mut c_char,
    /// Ends with NULL; NULL: the caller's environment.
    pub envp: *const *mut c_char,
    /// NULL: PATH of the program's environment.
    pub search_path: *const c_char,
    pub actions: *const aspawn_action,
    pub action_count: usize,
    pub pool: *mut aspawn_pool,
    /// `ASPAWN_STREAM_DEFAULT`, `_NULL`, `_PIPE`, `_STDOUT`, `_INHERIT`, or a descriptor above 2.
    pub std_in: c_int,
    pub std_out: c_int,
    pub std_err: c_int,
    /// `ASPAWN_OWNER_...`
    pub owner: c_int,
    /// `ASPAWN_MEMORY_...`
    pub memory: c_int,
}

/// Where a command failed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aspawn_failure {
    /// Index of the action, or `ASPAWN_STEP_...`
    pub step: c_int,
    /// Negative; 0: nothing failed.
    pub error: c_int,
    /// Number of the kind of action; 0 if no action failed.
    pub kind: u32,
    /// 0
    pub reserved: u32,
    /// The path, name or number that failed, with a NUL.
    pub subject: [c_char; 112],
}

/// Input, outputs, time limits and results of a run.
#[repr(C)]
#[cfg_attr(target_pointer_width = "32", repr(align(8)))]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct aspawn_io {
    pub size: u64,
    /// `ASPAWN_IO_...`
    pub flags: u64,
    pub input: *const c_void,
    pub input_size: usize,
    /// Buffers; without one, an output goes to the sink.
    pub out: *mut c_void,
    pub err: *mut c_void,
    pub out_size: usize,
    pub err_size: usize,
    /// Gets the stream, 1 or 2, and its bytes. Returns 0 to go on; a negative number ends the
    /// program. May not unwind.
    pub sink: Option<unsafe extern "C" fn(*mut c_void, c_int, *const c_void, usize) -> c_int>,
    pub arg: *mut c_void,
    /// Milliseconds until SIGTERM; 0: no limit.
    pub time_limit_ms: i64,
    /// Milliseconds from SIGTERM to SIGKILL; 0: one second.
    pub grace_ms: i64,
    /// `ASPAWN_OUTCOME_...`
    pub outcome: c_int,
    pub status: c_int,
    /// Bytes in the buffers, without the NUL behind them.
    pub out_length: usize,
    pub err_length: usize,
    /// Bytes that the program wrote.
    pub out_total: u64,
    pub err_total: u64,
    pub failure: aspawn_failure,
    pub usage: psys_rusage,
}

/// The handle of a child; may be moved between two calls.
#[repr(C, align(8))]
#[allow(missing_docs)]
pub struct aspawn_child {
    /// Readable when the child has ended, for polling only; the library closes it.
    pub ended_fd: c_int,
    pub started_fd: c_int,
    /// The caller's ends of pipes; the caller closes them, and [`aspawn_communicate`] does.
    pub in_fd: c_int,
    pub out_fd: c_int,
    pub err_fd: c_int,
    own_fd: c_int,
    own: [u8; 104],
}

/// A queue of commands: opaque.
#[repr(C)]
pub struct aspawn_queue {
    _own: [u8; 0],
}

/// For [`aspawn_queue_create`]; zero is a good default for everything but size.
#[repr(C)]
#[cfg_attr(target_pointer_width = "32", repr(align(8)))]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct aspawn_queue_options {
    pub size: u64,
    /// `ASPAWN_QUEUE_...`
    pub flags: u64,
    /// Jobs between submit and release; 0: 256.
    pub jobs: u32,
    /// Jobs that run at the same time; 0: 16.
    pub running: u32,
    /// Bytes for each job; 0: 32768.
    pub job_bytes: u32,
    /// Least time between two starts.
    pub delay_ms: u32,
}

/// A command for a queue. Copied by [`aspawn_queue_submit`].
#[repr(C)]
#[cfg_attr(target_pointer_width = "32", repr(align(8)))]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct aspawn_job {
    pub size: u64,
    /// `ASPAWN_JOB_...`
    pub flags: u64,
    /// The caller's: [`aspawn_result::cookie`].
    pub cookie: u64,
    pub command: *const aspawn_command,
    /// Ends with NULL; with `prepared` only.
    pub argv: *const *mut c_char,
    pub input: *const c_void,
    pub input_size: usize,
    /// Bytes to keep of each output, with a NUL; 0: none.
    pub out_size: usize,
    pub err_size: usize,
    /// Milliseconds until SIGTERM; 0: no limit.
    pub time_limit_ms: i64,
    /// Milliseconds from SIGTERM to SIGKILL; 0: one second.
    pub grace_ms: i64,
    /// From [`aspawn_queue_prepare`], in place of a command.
    pub prepared: i64,
    /// Of the jobs with the same key at most `key_limit` run at the same time; 0: no key.
    pub key: u32,
    pub key_limit: u32,
    /// From 0 to [`ASPAWN_MOST_PRIORITY`].
    pub priority: c_int,
    pub reserved: c_int,
}

/// How a job ended. The library's until [`aspawn_queue_release`]; later versions may add members.
#[repr(C)]
#[cfg_attr(target_pointer_width = "32", repr(align(8)))]
#[allow(missing_docs)]
pub struct aspawn_result {
    pub cookie: u64,
    pub ticket: i64,
    /// `ASPAWN_OUTCOME_RAN`, ...
    pub outcome: c_int,
    pub pid: c_int,
    pub status: c_int,
    pub reserved: c_int,
    pub out: *const c_char,
    pub err: *const c_char,
    pub out_length: usize,
    pub err_length: usize,
    pub out_total: u64,
    pub err_total: u64,
    /// Nanoseconds of `CLOCK_MONOTONIC`; 0: it has not come to that.
    pub submitted_ns: i64,
    pub started_ns: i64,
    pub executed_ns: i64,
    pub ended_ns: i64,
    pub failure: aspawn_failure,
    pub usage: psys_rusage,
}

/// A function for [`aspawn_action_call`], which runs in the child.
pub type aspawn_call = Option<unsafe extern "C" fn(arg: *mut c_void) -> c_int>;

macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$doc])* #[allow(missing_docs)] pub const $name: $type = $value;)*
    };
}

constants! {
    ASPAWN_STREAM_DEFAULT: c_int = 0;
    ASPAWN_STREAM_NULL: c_int = -1;
    ASPAWN_STREAM_PIPE: c_int = -2;
    ASPAWN_STREAM_STDOUT: c_int = -3;
    ASPAWN_STREAM_INHERIT: c_int = -4;

    ASPAWN_COMMAND_STARTED_FD: u64 = 1;
    ASPAWN_COMMAND_SHELL_ON_ENOEXEC: u64 = 2;
    ASPAWN_COMMAND_RELATIVE_TO_CALLER: u64 = 4;
    ASPAWN_COMMAND_NO_PIDFD: u64 = 8;
    ASPAWN_COMMAND_NONBLOCK: u64 = 16;
    ASPAWN_COMMAND_DIES_WITH_CALLER: u64 = 32;

    ASPAWN_OWNER_CALLER: c_int = 0;
    ASPAWN_OWNER_PRIVATE: c_int = 1;
    ASPAWN_OWNER_TREE: c_int = 2;

    ASPAWN_MEMORY_SHARED: c_int = 0;
    ASPAWN_MEMORY_SUSPENDED: c_int = 1;
    ASPAWN_MEMORY_COPIED: c_int = 2;

    ASPAWN_MODE_NONE: c_int = 0;
    ASPAWN_MODE_CLONE3: c_int = 1;
    ASPAWN_MODE_CLONE: c_int = 2;
    ASPAWN_MODE_VFORK: c_int = 3;
    ASPAWN_MODE_FORK: c_int = 4;
    ASPAWN_MODE_IMAGE: c_int = 5;

    ASPAWN_FACT_PID: c_int = 1;
    ASPAWN_FACT_MODE: c_int = 2;
    ASPAWN_FACT_OWNER: c_int = 3;
    ASPAWN_FACT_HELPER: c_int = 4;
    ASPAWN_FACT_REASON: c_int = 5;

    ASPAWN_HELPER_NONE: c_int = 0;
    ASPAWN_HELPER_WAITED_FOR: c_int = 1;
    ASPAWN_HELPER_AUTOREAPED: c_int = 2;

    ASPAWN_REASON_NONE: c_int = 0;
    ASPAWN_REASON_COMMAND: c_int = 1;
    ASPAWN_REASON_CALLER: c_int = 2;
    ASPAWN_REASON_SYSTEM: c_int = 3;
    ASPAWN_REASON_BUILD: c_int = 4;

    ASPAWN_STEP_NONE: c_int = -1;
    ASPAWN_STEP_DESCRIPTORS: c_int = -2;
    ASPAWN_STEP_STREAMS: c_int = -3;
    ASPAWN_STEP_SEARCH: c_int = -4;
    ASPAWN_STEP_EXEC: c_int = -5;
    ASPAWN_STEP_INTERPRETER: c_int = -6;
    ASPAWN_STEP_ARGUMENT: c_int = -7;
    ASPAWN_STEP_CLONE: c_int = -8;

    ASPAWN_OUTCOME_NONE: c_int = 0;
    ASPAWN_OUTCOME_RAN: c_int = 1;
    ASPAWN_OUTCOME_NOT_STARTED: c_int = 2;
    ASPAWN_OUTCOME_TIMED_OUT: c_int = 3;
    ASPAWN_OUTCOME_FULL: c_int = 4;
    ASPAWN_OUTCOME_CANCELLED: c_int = 5;
    ASPAWN_OUTCOME_LOST: c_int = 6;

    /// `ECANCELED`: the program was never executed.
    PSYS_ECANCELED: c_int = if cfg!(any(target_arch = "mips", target_arch = "mips64")) {
        158
    } else if cfg!(target_arch = "sparc64") {
        127
    } else {
        125
    };
    /// `ETIMEDOUT`
    PSYS_ETIMEDOUT: c_int = if cfg!(any(target_arch = "mips", target_arch = "mips64")) {
        145
    } else if cfg!(target_arch = "sparc64") {
        60
    } else {
        110
    };
    PSYS_ECHILD: c_int = 10;
    PSYS_EINVAL: c_int = 22;
    PSYS_ENOMEM: c_int = 12;

    ASPAWN_GRACE_NONE: i64 = -1;

    ASPAWN_IO_KILL_GROUP: u64 = 1;
    ASPAWN_IO_DROP_EXCESS: u64 = 2;

    ASPAWN_QUEUE_LOCAL: u64 = 1;
    ASPAWN_QUEUE_FD: u64 = 2;

    ASPAWN_MOST_PRIORITY: c_int = 7;

    ASPAWN_JOB_TAIL: u64 = 1;
    ASPAWN_JOB_SAME_GROUP: u64 = 2;
    ASPAWN_COUNT_WAITING: c_int = 1;
    ASPAWN_COUNT_RUNNING: c_int = 2;
    ASPAWN_COUNT_ENDED: c_int = 3;
    ASPAWN_COUNT_SERVERS: c_int = 4;

}

#[allow(missing_docs)]
extern "C" {
    pub fn aspawn_version() -> c_int;
    pub fn psys_errname(error: c_int) -> *const c_char;
    pub fn psys_strerror(error: c_int) -> *const c_char;

    pub fn aspawn_start(child: *mut aspawn_child, command: *const aspawn_command) -> c_int;
    pub fn aspawn_wait_started(
        child: *mut aspawn_child,
        failure: *mut aspawn_failure,
        timeout_ms: i64,
    ) -> c_int;
    pub fn aspawn_pid(child: *mut aspawn_child) -> c_int;
    pub fn aspawn_pidfd(child: *mut aspawn_child) -> c_int;
    pub fn aspawn_describe(child: *const aspawn_child, fact: c_int) -> c_int;
    pub fn aspawn_wait(
        child: *mut aspawn_child,
        status: *mut c_int,
        usage: *mut psys_rusage,
        timeout_ms: i64,
    ) -> c_int;
    pub fn aspawn_ended(child: *mut aspawn_child) -> c_int;
    pub fn aspawn_communicate(child: *mut aspawn_child, io: *mut aspawn_io) -> c_int;
    pub fn aspawn_release(child: *mut aspawn_child) -> c_int;
    pub fn aspawn_kill(child: *mut aspawn_child, signal: c_int) -> c_int;
    pub fn aspawn_kill_group(child: *mut aspawn_child, signal: c_int) -> c_int;
    pub fn aspawn_kill_cgroup(cgroup_fd: c_int) -> c_int;
    pub fn aspawn_run(command: *const aspawn_command, io: *mut aspawn_io) -> c_int;
    pub fn aspawn_pool_release(pool: *mut aspawn_pool) -> c_int;
    pub fn aspawn_failure_name(failure: *const aspawn_failure) -> *const c_char;
    pub fn aspawn_failure_text(
        to: *mut c_char,
        size: usize,
        failure: *const aspawn_failure,
    ) -> usize;
    pub fn aspawn_status_text(to: *mut c_char, size: usize, status: c_int) -> usize;
    pub fn aspawn_io_text(
        to: *mut c_char,
        size: usize,
        result: c_int,
        io: *const aspawn_io,
    ) -> usize;

    pub fn aspawn_queue_create(
        queue: *mut *mut aspawn_queue,
        options: *const aspawn_queue_options,
    ) -> c_int;
    pub fn aspawn_queue_close(queue: *mut aspawn_queue) -> c_int;
    pub fn aspawn_queue_submit(
        queue: *mut aspawn_queue,
        job: *const aspawn_job,
        failure: *mut aspawn_failure,
    ) -> i64;
    pub fn aspawn_queue_prepare(
        queue: *mut aspawn_queue,
        command: *const aspawn_command,
        failure: *mut aspawn_failure,
    ) -> i64;
    pub fn aspawn_queue_release_prepared(queue: *mut aspawn_queue, prepared: i64) -> c_int;
    pub fn aspawn_queue_cancel(queue: *mut aspawn_queue, ticket: i64) -> c_int;
    pub fn aspawn_queue_cancel_all(queue: *mut aspawn_queue) -> c_int;
    pub fn aspawn_queue_wait(
        queue: *mut aspawn_queue,
        results: *mut *const aspawn_result,
        count: c_int,
        timeout_ms: i64,
    ) -> c_int;
    pub fn aspawn_queue_release(
        queue: *mut aspawn_queue,
        results: *mut *const aspawn_result,
        count: c_int,
    ) -> c_int;
    pub fn aspawn_result_text(to: *mut c_char, size: usize, result: *const aspawn_result) -> usize;
    pub fn aspawn_queue_fd(queue: *mut aspawn_queue) -> c_int;
    pub fn aspawn_queue_drain(queue: *mut aspawn_queue, timeout_ms: i64) -> c_int;
    pub fn aspawn_queue_serve(queue: *mut aspawn_queue, timeout_ms: i64) -> c_int;
    pub fn aspawn_queue_count(queue: *mut aspawn_queue, what: c_int) -> c_int;

    pub fn aspawn_action_dup2(action: *mut aspawn_action, from: c_int, to: c_int);
    pub fn aspawn_action_open(
        action: *mut aspawn_action,
        fd: c_int,
        path: *const c_char,
        flags: c_int,
        mode: c_uint,
    );
    pub fn aspawn_action_openat(
        action: *mut aspawn_action,
        fd: c_int,
        dirfd: c_int,
        path: *const c_char,
        flags: c_int,
        mode: c_uint,
    );
    pub fn aspawn_action_openat2(
        action: *mut aspawn_action,
        fd: c_int,
        dirfd: c_int,
        path: *const c_char,
        flags: c_int,
        mode: c_uint,
        resolve: u64,
    );
    pub fn aspawn_action_dev_null(action: *mut aspawn_action, fd: c_int);
    pub fn aspawn_action_output_pipe(action: *mut aspawn_action, fd: c_int, read_end: *mut c_int);
    pub fn aspawn_action_input_pipe(action: *mut aspawn_action, fd: c_int, write_end: *mut c_int);
    pub fn aspawn_action_close(action: *mut aspawn_action, fd: c_int);
    pub fn aspawn_action_closefrom(action: *mut aspawn_action, first: c_int);
    pub fn aspawn_action_only_below(action: *mut aspawn_action, first: c_int);
    pub fn aspawn_action_cloexec_from(action: *mut aspawn_action, first: c_int);
    pub fn aspawn_action_setenv(
        action: *mut aspawn_action,
        name: *const c_char,
        value: *const c_char,
    );
    pub fn aspawn_action_unsetenv(action: *mut aspawn_action, name: *const c_char);
    pub fn aspawn_action_clearenv(action: *mut aspawn_action);
    pub fn aspawn_action_chdir(action: *mut aspawn_action, path: *const c_char);
    pub fn aspawn_action_fchdir(action: *mut aspawn_action, fd: c_int);
    pub fn aspawn_action_umask(action: *mut aspawn_action, mask: c_uint);
    pub fn aspawn_action_setsid(action: *mut aspawn_action);
    pub fn aspawn_action_setpgid(action: *mut aspawn_action, pgid: c_int);
    pub fn aspawn_action_controlling_terminal(action: *mut aspawn_action, fd: c_int);
    pub fn aspawn_action_foreground(action: *mut aspawn_action, fd: c_int);
    pub fn aspawn_action_reset_signals(action: *mut aspawn_action);
    pub fn aspawn_action_sigmask(action: *mut aspawn_action, set: *const c_void);
    pub fn aspawn_action_signals_default(action: *mut aspawn_action, set: *const c_void);
    pub fn aspawn_action_signals_ignore(action: *mut aspawn_action, set: *const c_void);
    pub fn aspawn_action_signal_default(action: *mut aspawn_action, signal: c_int);
    pub fn aspawn_action_signal_ignore(action: *mut aspawn_action, signal: c_int);
    pub fn aspawn_action_pdeathsig(action: *mut aspawn_action, signal: c_int);
    pub fn aspawn_action_rlimit(action: *mut aspawn_action, resource: c_int, soft: u64, hard: u64);
    pub fn aspawn_action_nice(action: *mut aspawn_action, value: c_int);
    pub fn aspawn_action_scheduler(action: *mut aspawn_action, policy: c_int, priority: c_int);
    pub fn aspawn_action_affinity(action: *mut aspawn_action, mask: *const c_void, size: usize);
    pub fn aspawn_action_ioprio(action: *mut aspawn_action, value: c_int);
    pub fn aspawn_action_oom_score_adj(action: *mut aspawn_action, value: c_int);
    pub fn aspawn_action_personality(action: *mut aspawn_action, persona: c_uint);
    pub fn aspawn_action_join_cgroup(action: *mut aspawn_action, fd: c_int);
    pub fn aspawn_action_user(
        action: *mut aspawn_action,
        uid: c_uint,
        gid: c_uint,
        groups: *const c_uint,
        count: usize,
    );
    pub fn aspawn_action_resuid(
        action: *mut aspawn_action,
        real: c_uint,
        effective: c_uint,
        saved: c_uint,
    );
    pub fn aspawn_action_resgid(
        action: *mut aspawn_action,
        real: c_uint,
        effective: c_uint,
        saved: c_uint,
    );
    pub fn aspawn_action_groups(action: *mut aspawn_action, groups: *const c_uint, count: usize);
    pub fn aspawn_action_cap_drop(action: *mut aspawn_action, capability: c_int);
    pub fn aspawn_action_cap_ambient(action: *mut aspawn_action, capability: c_int);
    pub fn aspawn_action_securebits(action: *mut aspawn_action, bits: c_uint);
    pub fn aspawn_action_no_new_privs(action: *mut aspawn_action);
    pub fn aspawn_action_seccomp(action: *mut aspawn_action, filter: *const c_void, count: usize);
    pub fn aspawn_action_landlock(action: *mut aspawn_action, ruleset_fd: c_int);
    pub fn aspawn_action_chroot(action: *mut aspawn_action, path: *const c_char);
    pub fn aspawn_action_pivot_root(
        action: *mut aspawn_action,
        new_root: *const c_char,
        put_old: *const c_char,
    );
    pub fn aspawn_action_unshare(action: *mut aspawn_action, flags: u64);
    pub fn aspawn_action_setns(action: *mut aspawn_action, fd: c_int, kind: c_int);
    pub fn aspawn_action_mount(
        action: *mut aspawn_action,
        source: *const c_char,
        target: *const c_char,
        kind: *const c_char,
        flags: u64,
        options: *const c_char,
    );
    pub fn aspawn_action_hostname(action: *mut aspawn_action, name: *const c_char);
    pub fn aspawn_action_write(
        action: *mut aspawn_action,
        path: *const c_char,
        text: *const c_char,
    );
    pub fn aspawn_action_call(action: *mut aspawn_action, function: aspawn_call, arg: *mut c_void);
}
