// SPDX-License-Identifier: MIT

//go:build linux && (amd64 || arm64)

package aspawn

import (
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"syscall"
	"unsafe"

	"aspawn.example/bindings/go/action"
	"aspawn.example/bindings/go/internal"
)

const keepCapabilities = 1 << 4 // SECBIT_KEEP_CAPS

// In place of a descriptor of the program.
const (
	null   = streamNull
	closed = -2
)

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
	waits, followsThread, copies, onlyBelow, closefrom bool
}

func (m *message) text(text string) {
	if strings.IndexByte(text, 0) >= 0 {
		m.refuse(syscall.EINVAL)
	}
	m.bytes = append(append(m.bytes, text...), 0)
}

// look notes what decides if a start waits.
func (m *message) look(of action.Action) {
	kind, _ := internal.Read(of)
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
		m.err = &SetupError{Index: origin, Name: "empty", Err: syscall.EINVAL}
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

// numbers are the descriptors of files, or null, the terminal, or closed. Those of other streams of
// this process are copied, as the program's streams replace them first.
func (c *Cmd) numbers(files []any) (numbers []int, err error) {
	free, hasTerminal := null, c.Terminal == nil
	if c.Terminal != nil {
		free = streamPty
	}
	for i, of := range files {
		fd := free
		if file, isFile := of.(*os.File); isFile {
			fd = descriptor(file)
		} else {
			hasTerminal = true
		}
		if fd >= 0 && fd <= 2 && fd != i && err == nil {
			fd, err = c.above(fd)
		}
		numbers = append(numbers, fd)
	}
	if !hasTerminal {
		err = &SetupError{Index: -1, Name: "Terminal", Err: syscall.EINVAL}
	}
	return numbers, err
}

// above copies a descriptor to one above the standard streams, until the start.
func (c *Cmd) above(fd int) (int, error) {
	fd, err := duplicate(fd)
	if err != nil {
		return fd, &fs.PathError{Op: "fork/exec", Path: c.Path, Err: err}
	}
	c.childEnds = append(c.childEnds, os.NewFile(uintptr(fd), "|"))
	return fd, nil
}

// newMessage describes the command, with these descriptors as 0, 1 and so on.
func newMessage(c *Cmd, files []int, env []string, isJob bool) *message {
	path, args := c.Path, c.Args
	if !strings.Contains(path, "/") {
		path = "./" + path // not searched for
	}
	if len(args) == 0 {
		args = []string{c.Path}
	}
	m := &message{
		path:  c.Path,
		words: append(make([]int64, 0, 64), int64(len(args)), int64(len(env))),
		bytes: make([]byte, 0, 4096),

		awaitsExec: c.AwaitExec,
	}
	for _, texts := range [][]string{{path}, args, env} {
		for _, text := range texts {
			m.text(text)
		}
	}
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
		if attr.Foreground && attr.Ctty <= 2 {         // as in numbers
			fd, err := c.above(attr.Ctty)
			if attr.Ctty = fd; err != nil {
				m.err = err
			}
		}
		m.identity(&attr)
	}
	if c.Dir != "" {
		m.action(ofDir, action.Chdir(c.Dir))
	}
	m.descriptors(files, c.Actions)
	m.attribute(attr.Noctty, action.Ioctl(action.FD(0), syscall.TIOCNOTTY, nil))
	m.attribute(attr.Setctty, action.ControllingTerminal(action.FD(attr.Ctty)))
	if attr.Setctty && attr.Ctty >= len(files) {
		m.refuse(errors.New("Setctty set but Ctty not valid in child"))
	}
	if soft, hard, raised := firstLimit(); raised {
		m.action(ofAttr, action.Rlimit(action.RLIMIT_NOFILE, soft, hard))
	}
	for _, of := range c.Actions {
		m.look(of)
	}
	m.waits = !isJob && !m.followsThread && m.mayWait(c, attr.Chroot)
	if m.waits { // on a thread that blocks all signals
		m.action(ofAttr, action.Sigmask(m.signalMask()...))
	}
	for i, of := range c.Actions {
		m.action(i, of)
	}
	m.command.actionCount = uint64(len(m.origins))
	return m
}

// descriptors makes the files 0, 1 and so on of the program. The library makes the standard
// streams; others are a matter of the order in which they are copied. Actions find their files,
// whose numbers no copy gets.
func (m *message) descriptors(files []int, actions []action.Action) {
	from, highest := append([]int(nil), files...), len(files)
	for _, of := range actions {
		_, operands := internal.Read(of)
		for _, operand := range operands {
			if file, is := operand.(action.Descriptor); is && int(file.Fd()) > highest {
				highest = int(file.Fd())
			}
		}
	}
	for _, fd := range files {
		if fd > highest {
			highest = fd
		}
	}
	for i, stream := range []*int32{&m.command.stdIn, &m.command.stdOut, &m.command.stdErr} {
		*stream = int32(files[i])
		if files[i] == i || files[i] == closed {
			*stream = streamInherit
		}
	}
	for i := 3; i < len(from); i++ {
		if from[i] >= 3 && from[i] < i { // replaced before its turn
			highest++
			m.action(ofFiles, action.Dup2(action.FD(from[i]), highest))
			from[i] = highest
		}
	}
	for i, fd := range from {
		if fd == closed {
			m.action(ofFiles, action.Close(i))
		} else if i >= 3 {
			m.action(ofFiles, action.Dup2(action.FD(fd), i))
		}
		if fd != files[i] {
			m.action(ofFiles, action.Close(fd))
		}
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
	step, name := int(failure.step), failure.name()
	e := &SetupError{Index: -1, Name: name, Subject: text(failure.subject[:]), Err: number}
	switch {
	case name == "argument":
		if member := members[e.Subject]; member != "" {
			e.Subject = member
		}
		return e
	case name == "interpreter":
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
