// SPDX-License-Identifier: MIT

//go:build linux && (amd64 || arm64)

package aspawn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"aspawn.example/bindings/go/action"
	"aspawn.example/bindings/go/internal/block"
)

// Stacks of children that have ended, for later children. C keeps pointers to it.
var pool = unsafe.Pointer(&block.Memory(64)[0])

// call calls an entry that does not wait. A test measures its stack.
var call = block.Call

// Supported is true if the library starts the programs: on Linux, on amd64 and arm64.
const Supported = true

// A Process is a running child, as os.Process is.
type Process struct {
	// Pid is 0 if Start has not waited until it was known: of OwnerPrivate and OwnerTree, with
	// DiesWithCaller, a user or a control group, where a helper process clones the child.
	// PID waits.
	Pid int

	mu      sync.Mutex
	child   *cChild
	over    error    // what calls fail with: it was waited for, or released
	ended   *os.File // readable at the child's end, made by the first Wait; nil: none
	path    string
	origins []int
}

// gone is nil if the child is there, and otherwise what os says.
func (p *Process) gone() error {
	if p.child == nil {
		return errors.New("os: process not initialized")
	}
	return p.over
}

func (child *cChild) describe(what int64) int {
	return int(call(block.Describe, what, unsafe.Pointer(child)))
}

// failure is what aspawn_wait_started() tells.
func (child *cChild) failure() *cFailure {
	failure := new(cFailure)
	call(block.WaitStarted, 0, unsafe.Pointer(child), unsafe.Pointer(failure))
	return failure
}

// call calls an entry that waits for the child's number, if that is not known yet: a helper clones
// the child.
func (child *cChild) call(entry block.Entry, number int64) int64 {
	if child.describe(factPid) > 0 {
		return call(entry, number, unsafe.Pointer(child))
	}
	return block.CallWaiting(entry, number, unsafe.Pointer(child))
}

func (c *Cmd) begin(files []any) (*Process, error) {
	env, err := c.environ()
	if err == nil {
		err = c.look()
	}
	if err != nil {
		return nil, err
	}
	m := newMessage(c, files, env)
	p, err := start(m)
	if err == nil && m.awaitsExec {
		if err = p.awaitExec(); err != nil {
			for _, end := range m.ends {
				(*end).Close()
			}
			p = nil
		}
	}
	messages.Put(m)
	return p, err
}

func (c *Cmd) environ() ([]string, error) {
	if c.Env == nil && c.Dir == "" {
		return os.Environ(), nil // has no name twice
	}
	texts := c.Env
	if texts == nil {
		texts = []string{c.Dir} // PWD
	}
	for _, text := range texts {
		if strings.IndexByte(text, 0) >= 0 {
			return nil, errors.New("exec: environment variable contains NUL")
		}
	}
	return c.Environ(), nil
}

// look reports at the start what the child would find missing: the directory and the program. What
// changes how the child sees them is left to the child.
func (c *Cmd) look() error {
	if c.SysProcAttr != nil || len(c.Actions) > 0 {
		return nil
	}
	path := c.Path
	if c.Dir != "" {
		if _, err := os.Stat(c.Dir); err != nil {
			return &fs.PathError{Op: "chdir", Path: c.Dir, Err: errors.Unwrap(err)}
		}
		if !strings.HasPrefix(path, "/") {
			path = c.Dir + "/" + path
		}
	}
	info, err := os.Stat(path)
	if err == nil && (info.IsDir() || info.Mode()&0o111 == 0) {
		err = &fs.PathError{Err: syscall.EACCES}
	}
	if err != nil {
		return &fs.PathError{Op: "fork/exec", Path: c.Path, Err: errors.Unwrap(err)}
	}
	return nil
}

func start(m *message) (*Process, error) {
	if m.err != nil {
		return nil, m.err
	}
	p := &Process{child: new(cChild), path: m.path, origins: m.origins}
	if m.awaitsExec {
		m.command.flags |= commandStartedFd
	}
	by, results := call, make([]int32, len(m.ends)+1)
	if m.waits {
		by = block.CallWaiting
	}
	r := by(block.Start, 0, unsafe.Pointer(p.child), unsafe.Pointer(&m.command), unsafe.Pointer(&m.words[0]),
		unsafe.Pointer(&m.bytes[0]), unsafe.Pointer(&m.arrays()[0]), unsafe.Pointer(&results[0]), pool)
	runtime.KeepAlive(m.files)
	if r < 0 {
		return nil, failed(m.path, m.origins, int(r), p.child.failure())
	}
	p.Pid = p.child.describe(factPid)
	for i, end := range m.ends {
		*end = ownEnd(int(results[i]), "|")
	}
	if m.terminal != nil {
		m.terminal.File = ownEnd(int(p.child.ptyFd), "terminal")
		m.ends = append(m.ends, &m.terminal.File)
	}
	runtime.SetFinalizer(p, (*Process).Release)
	return p, nil
}

// newPipe returns the child's end of a pipe, and the other one.
func newPipe(child int) (*os.File, *os.File, error) {
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	for i, fd := range ends {
		if fd <= 2 { // this process's stream, which is closed
			copy, err := duplicate(fd, 3)
			syscall.Close(fd)
			if err != nil {
				syscall.Close(ends[1-i])
				return nil, nil, os.NewSyscallError("dup", err)
			}
			ends[i] = copy
		}
	}
	return os.NewFile(uintptr(ends[child]), "|"), ownEnd(ends[1-child], [...]string{"|1", "|0"}[child]), nil
}

// descriptor also makes the file block, as programs expect of what they begin with. A nil or closed
// file is closed in the program too, as in os/exec.
func descriptor(file *os.File) int {
	if fd := file.Fd(); fd != ^uintptr(0) {
		return int(fd)
	}
	return closed
}

// duplicate returns a copy with at least this number.
func duplicate(fd, least int) (int, error) {
	copy, _, err := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, uintptr(least))
	if err != 0 {
		return -1, err
	}
	return int(copy), nil
}

// polledFile is a copy of the descriptor on the runtime's poller; nil: there is none.
func polledFile(fd int32) *os.File {
	copy, err := duplicate(int(fd), 3)
	if err != nil {
		return nil
	}
	return ownEnd(copy, "aspawn")
}

// ownEnd makes a file for the runtime's poller, as of this process's end of a pipe.
func ownEnd(fd int, name string) *os.File {
	// no other flag is set
	syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_SETFL, syscall.O_NONBLOCK)
	return os.NewFile(uintptr(fd), name)
}

// Resize sets the size in characters. The program gets SIGWINCH.
func (t *Terminal) Resize(rows, columns uint16) error {
	raw, err := t.SyscallConn()
	if err != nil {
		return err
	}
	var number syscall.Errno
	err = raw.Control(func(fd uintptr) {
		size := [4]uint16{rows, columns}
		_, _, number = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size)))
	})
	if number != 0 {
		err = os.NewSyscallError("ioctl", number)
	}
	return err
}

// awaitReadable returns when the file is readable, or at its deadline; at once if there is no file.
func awaitReadable(file *os.File) {
	if raw, err := file.SyscallConn(); err == nil {
		raw.Read(isReadable)
	}
}

// isReadable is true if the descriptor is readable, hung up, or none.
func isReadable(fd uintptr) bool {
	of := [2]int32{int32(fd), 1} // struct pollfd, POLLIN
	var at_once syscall.Timespec
	count, _, _ := syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&of)), 1, uintptr(unsafe.Pointer(&at_once)), 0, 0, 0)
	return count != 0
}

// until calls try until it is done, a moment after the file is readable, or with no file.
func until(file *os.File, try func() bool) {
	awaitReadable(file)
	for pause := 100 * time.Microsecond; !try(); pause *= 2 {
		if pause > 20*time.Millisecond {
			pause = 20 * time.Millisecond
		}
		time.Sleep(pause)
	}
}

// awaitExec waits until the program was executed, or returns why not, when the child is reaped.
func (p *Process) awaitExec() error {
	var r syscall.Errno
	started := polledFile(p.child.startedFd)
	defer started.Close()
	// a process that another thread forked may keep it from being readable
	until(nil, func() bool {
		started.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		awaitReadable(started)
		p.mu.Lock()
		defer p.mu.Unlock()
		r = syscall.Errno(-call(block.WaitStarted, 0, unsafe.Pointer(p.child), nil))
		return r != syscall.ETIMEDOUT
	})
	if r == 0 {
		return nil
	}
	_, err := p.Wait()
	return err
}

// Wait waits for the child's end. The error is not nil if the program was never executed, or the
// end is not known.
func (p *Process) Wait() (state *ProcessState, err error) {
	try := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		if err = p.gone(); err != nil {
			if err = syscall.EINVAL; p.over == os.ErrProcessDone {
				err = os.NewSyscallError("wait", syscall.ECHILD)
			}
			return true
		}
		pid, child := p.Pid, unsafe.Pointer(p.child)
		if pid == 0 && call(block.Ended, 0, child) != 0 {
			// a helper has cloned it by now, unless somebody has killed the helper
			call(block.Pid, 0, child)
			pid = p.child.describe(factPid)
		}
		var status int32
		state = &ProcessState{pid: pid}
		r := syscall.Errno(-call(block.Wait, 0, child, unsafe.Pointer(&status), unsafe.Pointer(&state.usage)))
		switch state.status = syscall.WaitStatus(status); r {
		case 0:
		case syscall.ETIMEDOUT:
			return false
		case syscall.ECANCELED:
			failure := p.child.failure()
			if failure.error == -int32(syscall.ECHILD) && state.status.Signaled() {
				break // by a signal, before the exec
			}
			state, err = nil, failed(p.path, p.origins, -int(r), failure)
		case syscall.ENOTEMPTY:
			err = fmt.Errorf("aspawn: %d processes of the tree survive: %w", p.child.describe(factSurvivors), r)
		default:
			state, err = nil, os.NewSyscallError("wait", r)
		}
		p.finish(os.ErrProcessDone)
		return true
	}
	if p.Pid != 0 && try() { // without a Pid there is a helper, for whose end C may wait
		return state, err
	}
	p.mu.Lock()
	if p.ended == nil && p.gone() == nil { // not for a child that has ended
		p.ended = polledFile(p.child.endedFd)
	}
	ended := p.ended // another Wait makes it if this one could not
	p.mu.Unlock()
	until(ended, try)
	return state, err
}

// finish closes what polls. The handle is of no child any more.
func (p *Process) finish(over error) {
	p.over = over
	p.ended.Close()
	runtime.SetFinalizer(p, nil)
}

// Release gives everything back except the process, for callers that do not wait.
func (p *Process) Release() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone() == nil {
		p.child.call(block.Release, 0)
		p.finish(errors.New("os: process already released"))
	}
	return nil
}

// call calls a function of the library with the handle, unless the child was waited for.
func (p *Process) call(entry block.Entry, number int64) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.gone(); err != nil {
		return 0, err
	}
	r := p.child.call(entry, number)
	if r == -int64(syscall.ESRCH) {
		return 0, os.ErrProcessDone
	} else if r < 0 {
		return 0, syscall.Errno(-r)
	}
	return int(r), nil
}

// Kill sends SIGKILL to the child, but not to its children.
func (p *Process) Kill() error { return p.Signal(os.Kill) }

// Signal sends a signal to the child, and never to another process that got its number.
func (p *Process) Signal(sig os.Signal) error { return p.signal(block.Kill, sig) }

// stop sends a signal that a stopped child gets too.
func (p *Process) stop(sig os.Signal) error {
	err := p.Signal(sig)
	p.Signal(syscall.SIGCONT)
	return err
}

// SignalGroup sends a signal to the process group that the child leads after Setpgid or Setsid; to
// the child alone if it leads none, or not yet.
func (p *Process) SignalGroup(sig os.Signal) error { return p.signal(block.KillGroup, sig) }

func (p *Process) signal(entry block.Entry, sig os.Signal) error {
	number, is := sig.(syscall.Signal)
	if !is {
		return errors.New("os: unsupported signal type")
	}
	_, err := p.call(entry, int64(number))
	return err
}

// KillTree ends a tree (OwnerTree): Cmd.StopSignal, and after the grace SIGKILL, until nothing is
// left. Does not wait: Wait does. Without a grace it is SIGKILL at once.
func (p *Process) KillTree(grace time.Duration) error {
	of := milliseconds(grace)
	if grace <= 0 {
		of = graceNone
	}
	_, err := p.call(block.KillTree, of)
	if err == syscall.EINVAL {
		err = fmt.Errorf("aspawn: the child is not of OwnerTree: %w", err)
	}
	return err
}

// Rounded up.
func milliseconds(time_ time.Duration) int64 {
	return int64(time_/time.Millisecond + (time_%time.Millisecond+time.Millisecond-1)/time.Millisecond)
}

// PID returns the number of the child, and waits for the helper, if there is one, that clones it.
// Other methods may be called meanwhile.
func (p *Process) PID() (pid int, err error) {
	if p.Pid != 0 {
		return p.Pid, nil
	}
	until(nil, func() bool {
		p.mu.Lock()
		waits := p.gone() == nil && p.child.describe(factPid) <= 0 &&
			call(block.WaitStarted, 0, unsafe.Pointer(p.child), nil) == -int64(syscall.ETIMEDOUT)
		p.mu.Unlock()
		if !waits {
			pid, err = p.call(block.Pid, 0)
		}
		return pid > 0 || err != nil
	})
	return
}

// Pidfd returns a new descriptor of the child, which the caller closes.
func (p *Process) Pidfd() (*os.File, error) {
	fd, err := p.call(block.Pidfd, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "pidfd"), nil
}

// KillCgroup kills every process of the control group whose directory is open, and of those below.
func KillCgroup(directory action.Descriptor) error {
	r := call(block.KillCgroup, int64(int(directory.Fd())))
	runtime.KeepAlive(directory)
	if r < 0 {
		return os.NewSyscallError("cgroup.kill", syscall.Errno(-r))
	}
	return nil
}

// A ProcessState says how a process has ended, as os.ProcessState does.
type ProcessState struct {
	pid    int
	status syscall.WaitStatus
	usage  syscall.Rusage
}

// ExitCode returns the status of exit(2), or -1 if a signal ended the program, or it has not ended.
func (s *ProcessState) ExitCode() int {
	if s == nil {
		return -1
	}
	return s.status.ExitStatus()
}

// Exited is true if the program has ended by exit(2).
func (s *ProcessState) Exited() bool { return s.status.Exited() }

// Pid returns the number that the process had; 0: not known.
func (s *ProcessState) Pid() int { return s.pid }

// Success is true after exit(0).
func (s *ProcessState) Success() bool { return s.status.ExitStatus() == 0 }

// Sys returns a syscall.WaitStatus.
func (s *ProcessState) Sys() any { return s.status }

// SysUsage returns a *syscall.Rusage. Its Maxrss is at least the peak of this process.
func (s *ProcessState) SysUsage() any { return &s.usage }

// SystemTime returns the processor time that the kernel took for the process and its children.
func (s *ProcessState) SystemTime() time.Duration { return time.Duration(s.usage.Stime.Nano()) }

// UserTime returns the processor time of the process and its children.
func (s *ProcessState) UserTime() time.Duration { return time.Duration(s.usage.Utime.Nano()) }

func (s *ProcessState) String() string {
	if s == nil {
		return "<nil>"
	}
	text := fmt.Sprintf("exit status %d", s.status.ExitStatus())
	if s.status.Signaled() {
		text = "signal: " + s.status.Signal().String()
	}
	if s.status.CoreDump() {
		text += " (core dumped)"
	}
	return text
}
