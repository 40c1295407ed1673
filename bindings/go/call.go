// SPDX-License-Identifier: MIT

//go:build linux && (amd64 || arm64)

package aspawn

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"aspawn.example/bindings/go/internal"
	"aspawn.example/bindings/go/internal/block"
	"aspawn.example/bindings/go/internal/first"
)

// Stacks of children that have ended, for later children. C keeps pointers to it.
var pool = block.Memory(64)

// A way to call C: block.Call, or block.CallWaiting for what may wait.
type way func(block.Entry, *block.Arguments) int64

// What calls an entry that does not wait. A test measures its stack.
var direct way = block.Call

func (by way) call(entry block.Entry, number int64, pointers ...unsafe.Pointer) int64 {
	of := &block.Arguments{Number: [4]int64{number}}
	copy(of.Pointer[:], pointers)
	return by(entry, of)
}

// call calls an entry that does not wait.
func call(entry block.Entry, number int64, pointers ...unsafe.Pointer) int64 {
	return direct.call(entry, number, pointers...)
}

// start is aspawn_start().
func (m *message) start(child *cChild, results []int32) int64 {
	by := direct
	if m.waits {
		by = block.CallWaiting
	}
	r := by.call(block.Start, 0, unsafe.Pointer(child), unsafe.Pointer(&m.command), unsafe.Pointer(&m.words[0]),
		unsafe.Pointer(&m.bytes[0]), unsafe.Pointer(&m.arrays()[0]), unsafe.Pointer(&results[0]), pool)
	runtime.KeepAlive(m.files)
	return r
}

// arrays is memory for the actions, argv and envp of C.
func (m *message) arrays() []uint64 {
	return make([]uint64, int(m.command.actionCount)*8+int(m.words[0]+m.words[1])+2)
}

// mayWait is true if the start may wait for the child: until its exec, as with vfork(2), until it
// is copied, as with fork(2), or until it has copied the low descriptors of this process, to which
// it begins (OnlyBelow, and Closefrom with more than 1024 descriptors).
func (m *message) mayWait(c *Cmd, chroot string) bool {
	return m.command.memory != int32(MemoryShared) || m.copies && !hasHelper(c, chroot) || m.onlyBelow ||
		m.closefrom && descriptorsAreMany()
}

// hasHelper is true if nobody waits for a child that needs memory of its own: it executes the
// library's image, and a helper waits for that. A path that leads to the process itself is for a
// copy of the memory alone.
func hasHelper(c *Cmd, chroot string) bool {
	paths := []string{c.Path, c.Dir, chroot}
	for _, of := range c.Actions {
		_, operands := internal.Read(of)
		for _, operand := range operands {
			if path, is := operand.(string); is {
				paths = append(paths, path)
			}
		}
	}
	for _, path := range paths {
		parts := strings.Split(path, "/")
		for _, part := range parts {
			switch part {
			case "proc", "fd", "self", "thread-self", "stdin", "stdout", "stderr", "..":
				return false
			}
		}
		if _, err := strconv.Atoi(parts[len(parts)-1]); err == nil && parts[0] != "" {
			return false
		}
	}
	return syscall.Access("/proc/thread-self/ns/pid_for_children", 0) == nil
}

// descriptorsAreMany asks as C does: from Linux 6.2 on the size is the number of descriptors.
func descriptorsAreMany() bool {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil && limit.Cur <= 1024 {
		return false
	}
	var status syscall.Stat_t
	return syscall.Stat("/proc/self/fd", &status) != nil || status.Size == 0 || status.Size > 1024
}

var pidfds struct {
	sync.Once
	exist bool
}

// havePidfds is true if the kernel gives pidfds to this process.
func havePidfds() bool {
	pidfds.Do(func() {
		fd, _, err := syscall.Syscall(434, uintptr(os.Getpid()), 0, 0) // pidfd_open(2)
		if pidfds.exist = err == 0; pidfds.exist {
			syscall.Close(int(fd))
		}
	})
	return pidfds.exist
}

// signalMask returns the calling thread's blocked signals.
func signalMask() (mask uint64) {
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, 0, 0, uintptr(unsafe.Pointer(&mask)), 8, 0, 0)
	return mask
}

// signalMask returns the signals that the program begins with blocked. StopSignal is none of them.
func (m *message) signalMask() (blocked []syscall.Signal) {
	stop := syscall.Signal(m.command.stopSignal)
	if stop == 0 {
		stop = syscall.SIGTERM
	}
	mask := signalMask()
	for signal := syscall.Signal(1); signal <= 64; signal++ {
		if mask>>(signal-1)&1 != 0 && signal != stop {
			blocked = append(blocked, signal)
		}
	}
	return
}

// firstLimit is the limit of descriptors that the process was started with, if the runtime has
// raised it to the hard one, or to one less.
func firstLimit() (soft, hard uint64, raised bool) {
	var now syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now) != nil || now.Cur < now.Max-1 || now.Max != first.Hard || now.Cur <= first.Soft {
		return 0, 0, false
	}
	return first.Soft, first.Hard, true
}

// text is a string of C.
func text(of []byte) string {
	for i, b := range of {
		if b == 0 {
			return string(of[:i])
		}
	}
	return string(of)
}

// name is aspawn_failure_name().
func (f *cFailure) name() string {
	name := make([]byte, 64)
	call(block.FailureName, int64(len(name)), unsafe.Pointer(f), unsafe.Pointer(&name[0]))
	return text(name)
}

// describe is aspawn_describe().
func (child *cChild) describe(what int64) int {
	return int(call(block.Describe, what, unsafe.Pointer(child)))
}

// failure is what aspawn_wait_started() tells.
func (child *cChild) failure() *cFailure {
	failure := new(cFailure)
	call(block.WaitStarted, 0, unsafe.Pointer(child), unsafe.Pointer(failure))
	return failure
}

// knows returns the way to call a function that waits for the child's number, if it does not know
// that yet: a helper clones the child.
func (child *cChild) knows() way {
	if child.describe(factPid) > 0 {
		return direct
	}
	return block.CallWaiting
}
