// SPDX-License-Identifier: MIT

//go:build linux && (amd64 || arm64)

package aspawn

import (
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"aspawn.example/bindings/go/action"
	"aspawn.example/bindings/go/internal"
	"aspawn.example/bindings/go/internal/block"
	"aspawn.example/bindings/go/internal/first"
)

const keepCapabilities = 1 << 4 // SECBIT_KEEP_CAPS
const closed = -2               // in place of a descriptor of the program

// Whose action it is that failed.
const (
	ofDir   = -1 // Cmd.Dir
	ofAttr  = -2 // Cmd.SysProcAttr
	ofFiles = -3 // Cmd.ExtraFiles, and standard streams
)

// A message is a command as block.c takes it.
type message struct {
	command cCommand
	path    string
	words   []int64
	bytes   []byte
	files   []any // kept open
	ends    []**os.File

	terminal *Terminal
	origins  []int // of each action: its index in Cmd.Actions, or one of the above
	err      error

	awaitsExec bool
	// If the start may wait, and what decides that. copies: the child needs memory of its own.
	waits, followsThread, copies, leadsToSelf, onlyBelow, closefrom bool
}

// messages has those that C has no use for any more: newMessage takes their memory.
var messages = sync.Pool{New: func() any { return new(message) }}

func (m *message) text(text string) {
	if strings.IndexByte(text, 0) >= 0 {
		m.refuse(syscall.EINVAL)
	}
	m.bytes = append(append(m.bytes, text...), 0)
}

// look notes what decides if a start waits.
func (m *message) look(of action.Action) {
	kind, operands := internal.Read(of)
	for _, operand := range operands {
		if path, is := operand.(string); is {
			m.lookAt(path)
		}
	}
	switch actionNames[kind] {
	case "pdeathsig": // lost if this thread ends before
		m.awaitsExec, m.followsThread = true, true
	case "only_below":
		m.onlyBelow = true
	case "closefrom":
		m.closefrom = true
	case "setns", "write": // by their operands
		m.copies = true
	}
	m.copies = m.copies || actionCopies[kind]
}

func (m *message) action(origin int, of action.Action) {
	m.look(of)
	kind, operands := internal.Read(of)
	m.origins = append(m.origins, origin)
	m.words = append(m.words, int64(kind))
	if kind == 0 && m.err == nil {
		m.err = &SetupError{origin, actionNames[kind], "", syscall.EINVAL}
	}
	for _, operand := range operands {
		word := int64(len(m.bytes))
		switch operand := operand.(type) {
		case int64:
			word = operand
		case nil:
			word = -1
		case string:
			if strings.IndexByte(operand, 0) >= 0 && origin >= 0 && m.err == nil {
				m.err = &SetupError{origin, actionNames[kind], operand, syscall.EINVAL}
			}
			m.text(operand)
		case []byte:
			if len(operand) == 0 {
				word = -1 // 0, as the argument of an ioctl
				break
			}
			m.bytes = append(m.bytes, make([]byte, -len(m.bytes)&7)...)
			word = int64(len(m.bytes))
			m.bytes = append(m.bytes, operand...)
		case action.Descriptor:
			m.files = append(m.files, operand)
			word = int64(int(operand.Fd()))
		case **os.File:
			word = int64(len(m.ends))
			m.ends = append(m.ends, operand)
		}
		m.words = append(m.words, int64(word))
	}
}

// newMessage describes the command, with these files as 0, 1 and so on; a job has none.
func newMessage(c *Cmd, files []any, env []string) *message {
	path, args := c.Path, c.Args
	if !strings.Contains(path, "/") {
		path = "./" + path // not searched for
	}
	if len(args) == 0 {
		args = []string{c.Path}
	}
	m := messages.Get().(*message)
	*m = message{path: c.Path, words: append(m.words[:0], int64(len(args)), int64(len(env))), bytes: m.bytes[:0],
		awaitsExec: c.AwaitExec}
	for _, texts := range [][]string{{path}, args, env} {
		for _, text := range texts {
			m.text(text)
		}
	}
	m.lookAt(c.Path)
	m.command.size = uint64(unsafe.Sizeof(m.command))
	m.command.owner, m.command.memory = int32(c.Owner), int32(c.Memory)
	m.command.flags = commandInheritSignals // as os/exec
	if number, is := c.StopSignal.(syscall.Signal); is {
		m.command.stopSignal = int32(number)
	} else if c.StopSignal != nil {
		m.err = errors.New("os: unsupported signal type")
	}
	if c.DiesWithCaller || c.SysProcAttr != nil && c.SysProcAttr.Pdeathsig == syscall.SIGKILL {
		m.command.flags |= commandDiesWithCaller
		m.followsThread = !havePidfds() // then it dies with the thread
	}
	if c.TreeOrGroup {
		m.command.flags |= commandTreeOrGroup
	}
	if m.terminal = c.Terminal; m.terminal != nil {
		m.command.ptyRows, m.command.ptyColumns = uint32(m.terminal.Rows), uint32(m.terminal.Columns)
	}
	var attr syscall.SysProcAttr
	if c.SysProcAttr != nil {
		attr = *c.SysProcAttr
		attr.Setsid = attr.Setsid && m.terminal == nil // that of the terminal
		if attr.Foreground && attr.Ctty <= 2 {         // which the streams replace before
			attr.Ctty = m.above(c, 3, attr.Ctty)
		}
		m.identity(&attr)
	}
	if c.Dir != "" {
		m.action(ofDir, action.Chdir(c.Dir))
	}
	m.descriptors(c, files)
	m.attribute(attr.Noctty, action.Ioctl(action.FD(0), syscall.TIOCNOTTY, nil))
	m.attribute(attr.Setctty, action.ControllingTerminal(action.FD(attr.Ctty)))
	if attr.Setctty && attr.Ctty > 2 && attr.Ctty >= len(files) {
		m.refuse(errors.New("Setctty set but Ctty not valid in child"))
	}
	m.firstLimit()
	for _, of := range c.Actions {
		m.look(of)
	}
	m.waits = files != nil && !m.followsThread && m.mayWait()
	if m.waits { // on a thread that blocks all signals
		m.action(ofAttr, action.Sigmask(m.signalMask()...))
	}
	for i, of := range c.Actions {
		m.action(i, of)
	}
	m.command.actionCount = uint64(len(m.origins))
	return m
}

// descriptors makes the files 0, 1 and so on of the program; the library makes the streams. A
// number that another file would replace before its turn is copied above all.
func (m *message) descriptors(c *Cmd, files []any) {
	streams := []*int32{&m.command.stdIn, &m.command.stdOut, &m.command.stdErr}
	for i, of := range files {
		fd := streamNull
		if file, isFile := of.(*os.File); isFile {
			fd = descriptor(file)
		} else if c.Terminal != nil {
			fd = streamPty
		}
		if fd >= 0 && fd < len(files) && fd != i {
			fd = m.above(c, len(files), fd)
		}
		if fd == closed {
			m.action(ofFiles, action.Close(i))
		} else if i < 3 && fd != i {
			*streams[i] = int32(fd)
		} else { // the action also clears close-on-exec where the numbers are equal
			m.action(ofFiles, action.Dup2(action.FD(fd), i))
		}
	}
}

// above copies a descriptor, until the start.
func (m *message) above(c *Cmd, least, fd int) int {
	fd, err := duplicate(fd, least)
	if err != nil {
		m.refuse(err)
	} else {
		c.childEnds = append(c.childEnds, os.NewFile(uintptr(fd), "|"))
	}
	return fd
}

// arrays is memory for the actions, argv and envp of C.
func (m *message) arrays() []uint64 {
	return make([]uint64, int(m.command.actionCount)*8+int(m.words[0]+m.words[1])+2)
}

// mayWait is true if the start may wait for the child: until its exec, as with vfork(2), until it
// is copied, as with fork(2), or until it has copied the low descriptors of this process, to which
// it begins (OnlyBelow, and Closefrom with more than 1024 descriptors). Nobody waits for a child
// that needs memory of its own: it executes the library's image, and a helper waits for that. But
// a path that leads to the process itself makes it a copy of the memory.
func (m *message) mayWait() bool {
	return m.command.memory != int32(MemoryShared) || m.onlyBelow || m.closefrom && descriptorsAreMany() ||
		m.copies && (m.leadsToSelf || syscall.Access("/proc/thread-self/ns/pid_for_children", 0) != nil)
}

// lookAt notes if a path may lead to the process itself.
func (m *message) lookAt(path string) {
	parts := strings.Split(path, "/")
	for _, part := range parts {
		switch part {
		case "proc", "fd", "self", "thread-self", "stdin", "stdout", "stderr", "..":
			m.leadsToSelf = true
		}
	}
	if _, err := strconv.Atoi(parts[len(parts)-1]); err == nil && parts[0] != "" {
		m.leadsToSelf = true
	}
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

// havePidfds is true if the kernel gives pidfds to this process.
func havePidfds() bool {
	fd, _, err := syscall.Syscall(434, uintptr(os.Getpid()), 0, 0) // pidfd_open(2)
	if err == 0 {
		syscall.Close(int(fd))
	}
	return err == 0
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

// firstLimit gives the program the limit of descriptors that the process was started with, if the
// runtime has raised it to the hard one, or to one less.
func (m *message) firstLimit() {
	var now syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now) == nil && now.Cur >= now.Max-1 && now.Max == first.Hard && now.Cur > first.Soft {
		m.action(ofAttr, action.Rlimit(action.RLIMIT_NOFILE, first.Soft, first.Hard))
	}
}

// known are the members of syscall.SysProcAttr, of any version, that become actions or flags.
var known = map[string]bool{"Chroot": true, "Credential": true, "Setsid": true, "Setpgid": true, "Setctty": true,
	"Noctty": true, "Ctty": true, "Foreground": true, "Pgid": true, "Pdeathsig": true, "Unshareflags": true,
	"AmbientCaps": true, "GidMappingsEnableSetgroups": true, "UseCgroupFD": true, "CgroupFD": true}

func (m *message) identity(attr *syscall.SysProcAttr) {
	of := reflect.ValueOf(attr).Elem()
	for i := 0; i < of.NumField(); i++ {
		if name := of.Type().Field(i).Name; !of.Field(i).IsZero() && !known[name] {
			m.refuse(errors.New("SysProcAttr." + name + " is not supported by aspawn"))
		}
	}
	if attr.Setctty && attr.Foreground {
		m.refuse(errors.New("both Setctty and Foreground set in SysProcAttr"))
	}
	if use := of.FieldByName("UseCgroupFD"); use.IsValid() && use.Bool() { // Go 1.20
		m.action(ofAttr, action.JoinCgroup(action.FD(of.FieldByName("CgroupFD").Int())))
	}
	m.attribute(attr.Setsid, action.Setsid())
	m.attribute(attr.Setpgid || attr.Foreground, action.Setpgid(attr.Pgid))
	m.attribute(attr.Foreground, action.Foreground(action.FD(attr.Ctty)))
	m.attribute(attr.Unshareflags != 0, action.Unshare(uint64(attr.Unshareflags)))
	m.attribute(attr.Unshareflags&syscall.CLONE_NEWNS != 0, action.Mount("none", "/", "", action.MS_REC|action.MS_PRIVATE, ""))
	m.attribute(attr.Chroot != "", action.Chroot(attr.Chroot))
	m.attribute(len(attr.AmbientCaps) > 0 && attr.Credential != nil, action.Securebits(keepCapabilities))
	if user := attr.Credential; user != nil && user.NoSetGroups {
		m.action(ofAttr, action.Resgid(user.Gid, user.Gid, user.Gid))
		m.action(ofAttr, action.Resuid(user.Uid, user.Uid, user.Uid))
	} else if user != nil {
		m.action(ofAttr, action.User(user.Uid, user.Gid, user.Groups))
	}
	for _, capability := range attr.AmbientCaps {
		m.action(ofAttr, action.CapAmbient(int(capability)))
	}
	m.attribute(attr.Pdeathsig != 0 && attr.Pdeathsig != syscall.SIGKILL, action.Pdeathsig(attr.Pdeathsig))
}

// attribute adds the action of a member of SysProcAttr that is set.
func (m *message) attribute(isSet bool, of action.Action) {
	if isSet {
		m.action(ofAttr, of)
	}
}

// refuse keeps the first error of what os/exec has too.
func (m *message) refuse(why error) {
	if m.err == nil {
		m.err = &fs.PathError{Op: "fork/exec", Path: m.path, Err: why}
	}
}

// members that the library calls otherwise.
var members = map[string]string{"owner": "Owner", "memory": "Memory", "job.priority": "Priority", "job_bytes": "JobBytes"}

// failed is the error of a start that returned result and left a failure.
func failed(path string, origins []int, result int, failure *cFailure) error {
	if failure.error != 0 {
		result = int(failure.error)
	}
	number := syscall.Errno(-result)
	name := make([]byte, 64)
	name = name[:call(block.FailureName, int64(len(name)), unsafe.Pointer(failure), unsafe.Pointer(&name[0]))]
	subject, _, _ := strings.Cut(string(failure.subject[:]), "\x00")
	e := &SetupError{Index: -1, Name: string(name), Subject: subject, Err: number}
	step := int(failure.step)
	switch {
	case e.Name == "argument":
		if member := members[e.Subject]; member != "" {
			e.Subject = member
		}
		return e
	case e.Name == "interpreter":
		if e.Subject == "" {
			e.Subject = "of its ELF header"
		}
		return &fs.PathError{Op: "fork/exec " + path + ": interpreter", Path: e.Subject, Err: number}
	case step < 0 || step >= len(origins) || origins[step] == ofAttr || origins[step] == ofFiles:
		return &fs.PathError{Op: "fork/exec", Path: path, Err: number}
	case origins[step] == ofDir:
		return &fs.PathError{Op: "chdir", Path: e.Subject, Err: number}
	}
	e.Index = origins[step]
	return e
}
