// SPDX-License-Identifier: MIT
//! What a new process does before it executes its program.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;
use core::mem::MaybeUninit;
use core::ptr;

use crate::spec::Bytes;
use crate::sys;

/// Something that the new process does before it executes its program: chdir(2), a limit, a mount.
///
/// A command performs its actions in their order; the first one that fails ends the child, and
/// the [`Error`](crate::Error) says which it was and what it was about. Actions are data: no code
/// of the caller runs in the child, so nothing can go wrong with locks or memory.
///
/// Each function names the system call that it stands for, whose manual page has the details.
/// Descriptors are the caller's, and must be open when the command is started. Those marked *copy*
/// let the child execute a small program of the library's first, which costs some time, whatever
/// the caller's memory; where that is not possible, and for `join_cgroup`, it begins in a copy of
/// the memory, as fork(2) makes it and at its cost.
#[derive(Clone)]
pub struct Action {
    raw: sys::aspawn_action,
    /// False if a string had a NUL.
    is_valid: bool,
    /// What `raw` points to.
    _data: Option<Arc<dyn Any + Send + Sync>>,
}

// SAFETY: what the raw action points to is owned by _data, never written, and Send and Sync.
unsafe impl Send for Action {}
unsafe impl Sync for Action {}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Action").field("is_valid", &self.is_valid).finish_non_exhaustive()
    }
}

/// With a NUL at the end; None if there is one within.
pub(crate) fn with_nul(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.contains(&0) {
        return None;
    }
    let mut text = Vec::with_capacity(bytes.len() + 1);
    text.extend_from_slice(bytes);
    text.push(0);
    Some(text)
}

fn zeroed() -> sys::aspawn_action {
    // SAFETY: only numbers.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

impl Action {
    pub(crate) fn raw(&self) -> sys::aspawn_action {
        self.raw
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.is_valid
    }

    fn plain(make: impl FnOnce(*mut sys::aspawn_action)) -> Self {
        let mut raw = zeroed();
        make(&mut raw);
        Action { raw, is_valid: true, _data: None }
    }

    fn with<T: Any + Send + Sync>(data: T, make: impl FnOnce(*mut sys::aspawn_action, &T)) -> Self {
        let data = Arc::new(data);
        let mut raw = zeroed();
        make(&mut raw, &data);
        Action { raw, is_valid: true, _data: Some(data) }
    }

    /// One or several strings; a NUL within makes the action invalid, which the start reports.
    fn strings<const COUNT: usize>(
        texts: [&[u8]; COUNT],
        make: impl FnOnce(*mut sys::aspawn_action, [*const sys::c_char; COUNT]),
    ) -> Self {
        let texts = texts.map(with_nul);
        if texts.iter().any(Option::is_none) {
            return Action { raw: zeroed(), is_valid: false, _data: None };
        }
        Self::with(texts, |raw, texts| {
            let mut pointers = [ptr::null(); COUNT];
            for (pointer, text) in pointers.iter_mut().zip(texts) {
                *pointer = text.as_ref().map_or(ptr::null(), |text| text.as_ptr().cast());
            }
            make(raw, pointers)
        })
    }

    /// dup2(2): descriptor `to` of the program is a copy of `from`. If both are equal it stays
    /// open across the exec.
    pub fn dup2(from: i32, to: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_dup2(raw, from, to) })
    }

    /// open(2): `path` becomes descriptor `fd`. `flags` are the libc's `O_...`.
    pub fn open(fd: i32, path: impl Bytes, flags: i32, mode: u32) -> Self {
        Self::strings([path.bytes()], |raw, [path]| unsafe {
            sys::aspawn_action_open(raw, fd, path, flags, mode)
        })
    }

    /// openat(2)
    pub fn openat(fd: i32, dirfd: i32, path: impl Bytes, flags: i32, mode: u32) -> Self {
        Self::strings([path.bytes()], |raw, [path]| unsafe {
            sys::aspawn_action_openat(raw, fd, dirfd, path, flags, mode)
        })
    }

    /// openat2(2), with `RESOLVE_...`. Linux 5.6.
    pub fn openat2(fd: i32, dir: i32, path: impl Bytes, flags: i32, mode: u32, how: u64) -> Self {
        Self::strings([path.bytes()], |raw, [path]| unsafe {
            sys::aspawn_action_openat2(raw, fd, dir, path, flags, mode, how)
        })
    }

    /// Opens /dev/null as descriptor `fd`, for reading and writing.
    pub fn dev_null(fd: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_dev_null(raw, fd) })
    }

    /// Closes `fd`; one that is not open is ignored.
    pub fn close(fd: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_close(raw, fd) })
    }

    /// Closes all descriptors from `first` up. Most commands want `closefrom(3)` last. Where the
    /// caller has more than 1024 it is [`only_below`](Self::only_below).
    pub fn closefrom(first: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_closefrom(raw, first) })
    }

    /// Closes all descriptors from `first` up, which the child never has: for callers that write
    /// programs and execute them (`ETXTBSY`). The start returns when the child has had its turn.
    pub fn only_below(first: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_only_below(raw, first) })
    }

    /// Marks all descriptors from `first` up to be closed by the exec.
    pub fn cloexec_from(first: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_cloexec_from(raw, first) })
    }

    /// Sets a variable of the program's environment.
    pub fn setenv(name: impl Bytes, value: impl Bytes) -> Self {
        Self::strings([name.bytes(), value.bytes()], |raw, [name, value]| unsafe {
            sys::aspawn_action_setenv(raw, name, value)
        })
    }

    /// Removes a variable of the program's environment.
    pub fn unsetenv(name: impl Bytes) -> Self {
        Self::strings([name.bytes()], |raw, [name]| unsafe {
            sys::aspawn_action_unsetenv(raw, name)
        })
    }

    /// Empties the program's environment.
    pub fn clearenv() -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_clearenv(raw) })
    }

    /// chdir(2)
    pub fn chdir(path: impl Bytes) -> Self {
        Self::strings([path.bytes()], |raw, [path]| unsafe { sys::aspawn_action_chdir(raw, path) })
    }

    /// fchdir(2)
    pub fn fchdir(fd: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_fchdir(raw, fd) })
    }

    /// umask(2)
    pub fn umask(mask: u32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_umask(raw, mask) })
    }

    /// setsid(2): a session and process group of its own, without a controlling terminal.
    pub fn setsid() -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_setsid(raw) })
    }

    /// setpgid(2): joins the process group; 0 makes a new one.
    pub fn setpgid(group: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_setpgid(raw, group) })
    }

    /// After [`setsid`](Self::setsid): the terminal `fd` becomes the session's (TIOCSCTTY).
    pub fn controlling_terminal(fd: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_controlling_terminal(raw, fd) })
    }

    /// tcsetpgrp(3): the process's group becomes the foreground group of terminal `fd`.
    pub fn foreground(fd: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_foreground(raw, fd) })
    }

    /// The program begins with no signal blocked and none ignored.
    pub fn reset_signals() -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_reset_signals(raw) })
    }

    /// The program begins with these signals blocked, and no other.
    pub fn sigmask(signals: &[i32]) -> Self {
        Self::with(signal_set(signals), |raw, set| unsafe {
            sys::aspawn_action_sigmask(raw, set.as_ptr().cast())
        })
    }

    /// Resets a signal to its default.
    pub fn signal_default(signal: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_signal_default(raw, signal) })
    }

    /// Ignores a signal.
    pub fn signal_ignore(signal: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_signal_ignore(raw, signal) })
    }

    /// PR_SET_PDEATHSIG: the program gets the signal when the thread that started it ends.
    pub fn pdeathsig(signal: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_pdeathsig(raw, signal) })
    }

    /// setrlimit(2); [`Resource::UNLIMITED`] is no limit.
    pub fn rlimit(resource: Resource, soft: u64, hard: u64) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_rlimit(raw, resource.number(), soft, hard) })
    }

    /// setpriority(2), from -20 to 19.
    pub fn nice(value: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_nice(raw, value) })
    }

    /// sched_setscheduler(2)
    pub fn scheduler(policy: i32, priority: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_scheduler(raw, policy, priority) })
    }

    /// sched_setaffinity(2): the program runs on these processors only.
    pub fn affinity(processors: &[usize]) -> Self {
        const BITS: usize = usize::BITS as usize;
        let highest = processors.iter().copied().max().unwrap_or(0);
        let mut mask = alloc::vec![0usize; highest / BITS + 1];
        for processor in processors {
            mask[processor / BITS] |= 1 << (processor % BITS);
        }
        Self::with(mask, |raw, mask| unsafe {
            sys::aspawn_action_affinity(raw, mask.as_ptr().cast(), mask.len() * (BITS / 8))
        })
    }

    /// ioprio_set(2)
    pub fn ioprio(value: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_ioprio(raw, value) })
    }

    /// How soon the OOM killer chooses the process, from -1000 to 1000. *copy*
    pub fn oom_score_adj(value: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_oom_score_adj(raw, value) })
    }

    /// personality(2)
    pub fn personality(persona: u32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_personality(raw, persona) })
    }

    /// Joins the control group (version 2) whose directory is open as `fd`. *copy*
    pub fn join_cgroup(fd: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_join_cgroup(raw, fd) })
    }

    /// Becomes the user for good: supplementary groups, then all group IDs, then all user
    /// IDs. *copy*
    pub fn user(uid: u32, gid: u32, groups: &[u32]) -> Self {
        Self::with(groups.to_vec(), |raw, groups| unsafe {
            sys::aspawn_action_user(raw, uid, gid, groups.as_ptr(), groups.len())
        })
    }

    /// setresuid(2); `u32::MAX` leaves an ID unchanged. *copy*
    pub fn resuid(real: u32, effective: u32, saved: u32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_resuid(raw, real, effective, saved) })
    }

    /// setresgid(2); `u32::MAX` leaves an ID unchanged. *copy*
    pub fn resgid(real: u32, effective: u32, saved: u32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_resgid(raw, real, effective, saved) })
    }

    /// setgroups(2)
    pub fn groups(groups: &[u32]) -> Self {
        Self::with(groups.to_vec(), |raw, groups| unsafe {
            sys::aspawn_action_groups(raw, groups.as_ptr(), groups.len())
        })
    }

    /// Removes a `CAP_...` from the bounding set.
    pub fn cap_drop(capability: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_cap_drop(raw, capability) })
    }

    /// Adds a `CAP_...` to the inheritable and ambient sets, so that the program keeps it.
    pub fn cap_ambient(capability: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_cap_ambient(raw, capability) })
    }

    /// PR_SET_SECUREBITS
    pub fn securebits(bits: u32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_securebits(raw, bits) })
    }

    /// PR_SET_NO_NEW_PRIVS: from now on no exec grants privileges.
    pub fn no_new_privs() -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_no_new_privs(raw) })
    }

    /// seccomp(2): a filter of classic BPF, each instruction `(code, jt, jf, k)`. Needs an earlier
    /// [`no_new_privs`](Self::no_new_privs) or CAP_SYS_ADMIN, and has to allow write,
    /// rt_sigprocmask, exit_group and execve.
    pub fn seccomp(filter: &[(u16, u8, u8, u32)]) -> Self {
        #[repr(C)]
        struct Instruction(u16, u8, u8, u32);
        let filter: Vec<_> = filter.iter().map(|i| Instruction(i.0, i.1, i.2, i.3)).collect();
        Self::with(filter, |raw, filter| unsafe {
            sys::aspawn_action_seccomp(raw, filter.as_ptr().cast(), filter.len())
        })
    }

    /// landlock_restrict_self(2), Linux 5.13.
    pub fn landlock(ruleset: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_landlock(raw, ruleset) })
    }

    /// chroot(2), which does not change the directory.
    pub fn chroot(path: impl Bytes) -> Self {
        Self::strings([path.bytes()], |raw, [path]| unsafe { sys::aspawn_action_chroot(raw, path) })
    }

    /// pivot_root(2)
    pub fn pivot_root(new_root: impl Bytes, put_old: impl Bytes) -> Self {
        Self::strings([new_root.bytes(), put_old.bytes()], |raw, [new_root, put_old]| unsafe {
            sys::aspawn_action_pivot_root(raw, new_root, put_old)
        })
    }

    /// unshare(2): `CLONE_NEW...`
    pub fn unshare(flags: u64) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_unshare(raw, flags) })
    }

    /// setns(2). *copy* if `kind` is 0, or has a user or time namespace.
    pub fn setns(fd: i32, kind: i32) -> Self {
        Self::plain(|raw| unsafe { sys::aspawn_action_setns(raw, fd, kind) })
    }

    /// mount(2); an empty source, type or list of options is none.
    pub fn mount(
        source: impl Bytes,
        target: impl Bytes,
        kind: impl Bytes,
        flags: u64,
        options: impl Bytes,
    ) -> Self {
        let texts = [source.bytes(), target.bytes(), kind.bytes(), options.bytes()];
        let empty = texts.map(<[u8]>::is_empty);
        Self::strings(texts, |raw, pointers| {
            let or_null = |index: usize| if empty[index] { ptr::null() } else { pointers[index] };
            unsafe {
                let (source, kind, options) = (or_null(0), or_null(2), or_null(3));
                sys::aspawn_action_mount(raw, source, pointers[1], kind, flags, options)
            }
        })
    }

    /// sethostname(2)
    pub fn hostname(name: impl Bytes) -> Self {
        Self::strings([name.bytes()], |raw, [name]| unsafe {
            sys::aspawn_action_hostname(raw, name)
        })
    }

    /// Writes a string to an existing file by one write(2): files of /proc, /sys, control groups.
    pub fn write(path: impl Bytes, text: impl Bytes) -> Self {
        Self::strings([path.bytes(), text.bytes()], |raw, [path, text]| unsafe {
            sys::aspawn_action_write(raw, path, text)
        })
    }

    /// A function of the caller's, which may be called by one thread at a time.
    #[cfg(feature = "std")]
    pub(crate) fn call(
        function: impl FnMut() -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::with(
            Function(core::cell::UnsafeCell::new(std::boxed::Box::new(function))),
            |raw, f| {
                let arg = f as *const Function as *mut sys::c_void;
                unsafe { sys::aspawn_action_call(raw, Some(run), arg) }
            },
        )
    }
}

#[cfg(feature = "std")]
type Closure = std::boxed::Box<dyn FnMut() -> std::io::Result<()> + Send + Sync>;
#[cfg(feature = "std")]
struct Function(core::cell::UnsafeCell<Closure>);
// SAFETY: only Command has such an action, and starts it as &mut self, or in a copy of the memory.
#[cfg(feature = "std")]
unsafe impl Sync for Function {}

/// Runs in the child. A panic may not leave it.
#[cfg(feature = "std")]
unsafe extern "C" fn run(arg: *mut sys::c_void) -> sys::c_int {
    let function = &mut *(*(arg as *const Function)).0.get();
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(function)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => -error.raw_os_error().unwrap_or(sys::PSYS_EINVAL),
        Err(_) => -sys::PSYS_ECANCELED,
    }
}

/// 128 signals, as MIPS has them; the kernel's long words.
fn signal_set(signals: &[i32]) -> [usize; 128 / usize::BITS as usize] {
    let mut set = [0; 128 / usize::BITS as usize];
    for &signal in signals {
        let bit = (signal as usize).wrapping_sub(1);
        if let Some(word) = set.get_mut(bit / usize::BITS as usize) {
            *word |= 1 << (bit % usize::BITS as usize);
        }
    }
    set
}

/// A resource of setrlimit(2), with the unit of its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Resource {
    /// Processor time: seconds.
    Cpu,
    /// Size of a file: bytes.
    FileSize,
    /// Data segment: bytes.
    Data,
    /// Stack of the first thread: bytes.
    Stack,
    /// Size of a core dump: bytes.
    Core,
    /// Resident memory, which Linux ignores: bytes.
    Resident,
    /// Threads of the user.
    Processes,
    /// Number above the highest descriptor.
    Files,
    /// Locked memory: bytes.
    Locked,
    /// Address space: bytes.
    AddressSpace,
    /// Locks of files, which Linux ignores.
    FileLocks,
    /// Signals that are pending for the user.
    PendingSignals,
    /// Message queues of the user: bytes.
    MessageQueues,
    /// 20 minus the lowest nice value.
    Nice,
    /// Highest real-time priority.
    RealTimePriority,
    /// Processor time of a real-time thread without a pause: microseconds.
    RealTime,
}

impl Resource {
    /// No limit.
    pub const UNLIMITED: u64 = u64::MAX;

    fn number(self) -> i32 {
        use Resource::*;
        let mips = cfg!(any(target_arch = "mips", target_arch = "mips64"));
        let sparc = cfg!(any(target_arch = "sparc", target_arch = "sparc64"));
        match self {
            Cpu => 0,
            FileSize => 1,
            Data => 2,
            Stack => 3,
            Core => 4,
            Resident => [5, 7][usize::from(mips)],
            Processes if mips => 8,
            Processes => [6, 7][usize::from(sparc)],
            Files if mips => 5,
            Files => [7, 6][usize::from(sparc)],
            Locked if mips => 9,
            Locked => 8,
            AddressSpace => [9, 6][usize::from(mips)],
            FileLocks => 10,
            PendingSignals => 11,
            MessageQueues => 12,
            Nice => 13,
            RealTimePriority => 14,
            RealTime => 15,
        }
    }
}
