// SPDX-License-Identifier: MIT

// Package aspawn starts programs as os/exec does, without suspending the caller. The package
// contains the C library of the same name.
//
//	out, err := aspawn.Command("uname", "-sr").Output()
//
// Names, results and errors are those of os/exec, with this difference: Start returns when the
// child exists. An exec that fails although the file is there and executable, or an action that
// fails, is an error of Wait, and of Start only with Cmd.AwaitExec. No goroutine and no thread
// waits for a child in C: pipes and ends are on the runtime's poller.
//
// Where Supported is false os/exec starts the programs.
package aspawn

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"aspawn.example/bindings/go/action"
)

// Error and the errors that errors.Is knows are those of os/exec.
type Error = exec.Error

// ErrNotFound and ErrDot are errors of LookPath.
var (
	ErrNotFound = exec.ErrNotFound
	ErrDot      = exec.ErrDot
)

// LookPath is that of os/exec.
func LookPath(file string) (string, error) { return exec.LookPath(file) }

// A Cmd is a command, as exec.Cmd is; those of its members that both have mean the same. It cannot
// be used again after Start.
type Cmd struct {
	Path         string
	Args         []string
	Env          []string
	Dir          string
	Stdin        io.Reader
	Stdout       io.Writer
	Stderr       io.Writer
	ExtraFiles   []*os.File
	Process      *Process
	ProcessState *ProcessState
	Err          error
	Cancel       func() error
	WaitDelay    time.Duration

	// SysProcAttr is performed by actions. Pdeathsig of SIGKILL is DiesWithCaller: it follows
	// the process, not the thread. Another one is AwaitExec, as it would be lost if the thread
	// ended before the child asks for it. Ptrace, Cloneflags,
	// PidFD and mappings of users are errors of Start.
	SysProcAttr *syscall.SysProcAttr

	// Terminal: the program leads a session on a new one, which is its streams that are nil.
	Terminal *Terminal
	// Actions of the child, in their order, after all that the other members ask for.
	Actions []action.Action
	// Owner: OwnerPrivate for a child that no other wait sees, OwnerTree for one that ends with
	// all that descends from it.
	Owner Owner
	// TreeOrGroup ends the process group where the kernel has no lists of children (OwnerTree).
	TreeOrGroup bool
	// DiesWithCaller: the child is killed when this process ends, and is private.
	DiesWithCaller bool
	// Memory that the child begins in.
	Memory Memory
	// StopSignal is the first signal of TimeLimit and Process.KillTree, and of what ends a job;
	// nil: SIGTERM. The program begins with the default action for it.
	StopSignal os.Signal
	// TimeLimit ends the command so long after Start, by StopSignal, and after WaitDelay (0:
	// one second) by SIGKILL. It is an error that is context.DeadlineExceeded. 0: none; if it
	// is negative nothing is started.
	TimeLimit time.Duration
	// AwaitExec makes Start wait until the program was executed, and return the error if not.
	AwaitExec bool

	ctx        context.Context
	called     int32
	waited     bool
	childEnds  []*os.File // to be closed when the child has them
	parentEnds []*os.File // to be closed by Wait
	copies     []func() error
	copied     chan error
	waits      bool          // Wait follows Start at once, and copies the last output itself
	ended      chan struct{} // closed by Wait, for watch
	watched    chan watched
}

// What watch has done.
type watched struct {
	at  time.Time // when the context was done; zero: it was not
	err error
}

// Command is that of os/exec: name is searched for in PATH if it has no slash.
func Command(name string, arg ...string) *Cmd {
	c := exec.Command(name, arg...)
	return &Cmd{Path: c.Path, Args: c.Args, Err: c.Err}
}

// CommandContext is that of os/exec: when the context is done Cancel is called, which kills the
// child, of OwnerTree with all of its tree.
func CommandContext(ctx context.Context, name string, arg ...string) *Cmd {
	if ctx == nil {
		panic("nil Context")
	}
	c := Command(name, arg...)
	c.ctx = ctx
	c.Cancel = func() error { return c.end(0) }
	return c
}

// end kills the child, or its tree; with a grace it begins with StopSignal,
// which a stopped child gets too.
func (c *Cmd) end(grace time.Duration) error {
	if c.Owner == OwnerTree {
		return c.Process.KillTree(grace)
	} else if grace <= 0 {
		return c.Process.Kill()
	}
	signal := c.StopSignal
	if signal == nil || signal == syscall.Signal(0) {
		signal = syscall.SIGTERM
	}
	return c.Process.stop(signal)
}

// String is for people.
func (c *Cmd) String() string {
	if c.Err != nil || len(c.Args) == 0 {
		return strings.Join(c.Args, " ")
	}
	return strings.Join(append([]string{c.Path}, c.Args[1:]...), " ")
}

// Environ returns the environment of the program: without actions.
func (c *Cmd) Environ() []string { return (&exec.Cmd{Env: c.Env, Dir: c.Dir}).Environ() }

// Run starts the command and waits for it.
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// Start returns when the child exists, which has not executed the program yet. It waits for the
// exec with AwaitExec, MemorySuspended or MemoryCopied, and as the actions say.
func (c *Cmd) Start() error {
	if atomic.SwapInt32(&c.called, 1) != 0 {
		return errors.New("exec: already started")
	}
	err := c.start()
	closeAll(c.childEnds)
	if err != nil {
		closeAll(c.parentEnds)
		return err
	}
	c.copied = make(chan error, len(c.copies))
	c.waits = c.waits && c.ended == nil && c.WaitDelay == 0
	for i, copy := range c.copies {
		if !c.waits || i < len(c.copies)-1 {
			go func(copy func() error) { c.copied <- copy() }(copy)
		}
	}
	return nil
}

// context is that of CommandContext.
func (c *Cmd) context() context.Context {
	if c.ctx == nil {
		return context.Background()
	}
	return c.ctx
}

func (c *Cmd) start() error {
	ctx := c.context()
	switch {
	case c.Err != nil:
		return c.Err
	case c.Path == "":
		return errors.New("exec: no command")
	case c.Cancel != nil && c.ctx == nil:
		return errors.New("exec: command with a non-nil Cancel was not created with CommandContext")
	case c.Terminal != nil && c.Stdin != nil && c.Stdout != nil && c.Stderr != nil:
		return errors.New("aspawn: no stream is left for the Terminal")
	case ctx.Err() != nil:
		return ctx.Err()
	case c.TimeLimit < 0:
		return context.DeadlineExceeded
	}
	files, err := c.files()
	if err != nil {
		return err
	}
	if c.Process, err = c.begin(files); err != nil {
		return err
	}
	if c.TimeLimit > 0 || ctx.Done() != nil && (c.Cancel != nil || c.WaitDelay != 0) {
		c.ended, c.watched = make(chan struct{}), make(chan watched, 1)
		go func() { c.watched <- c.watch(ctx) }()
	}
	return nil
}

// watch ends the command when the context is done, or at its time limit.
func (c *Cmd) watch(ctx context.Context) (w watched) {
	if c.TimeLimit > 0 {
		limited, stop := context.WithTimeout(ctx, c.TimeLimit)
		defer stop()
		ctx = limited
	}
	select {
	case <-c.ended:
		return
	case <-ctx.Done():
	}
	w.at = time.Now()
	cancel, delay := c.Cancel, c.WaitDelay
	if c.context().Err() == nil {
		if delay == 0 {
			delay = time.Second
		}
		cancel = func() error { return c.end(delay) }
	}
	if cancel != nil {
		switch err := cancel(); {
		case err == nil:
			w.err = ctx.Err()
		case !errors.Is(err, os.ErrProcessDone):
			w.err = fmt.Errorf("exec: canceling Cmd: %w", err)
		}
	}
	if delay == 0 {
		return
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-c.ended:
	case <-timer.C:
		if err := c.end(0); err != nil && !errors.Is(err, os.ErrProcessDone) {
			w.err = fmt.Errorf("exec: killing Cmd: %w", err)
		}
	}
	return
}

// files are those that the program begins with. nil is the null device, or the terminal; a nil file
// is closed.
func (c *Cmd) files() (files []any, err error) {
	add := func(of any, child int, copy func(end *os.File) error) {
		if _, isFile := of.(*os.File); !isFile && of != nil && err == nil {
			var end *os.File
			of, end, err = c.pipe(child)
			c.copies = append(c.copies, func() error { return copy(end) })
		}
		files = append(files, of)
	}
	add(c.Stdin, 0, c.feed)
	add(c.Stdout, 1, collect(c.Stdout))
	if c.Stderr != nil && same(c.Stderr, c.Stdout) {
		files = append(files, files[1])
	} else {
		add(c.Stderr, 1, collect(c.Stderr))
	}
	for _, file := range c.ExtraFiles {
		files = append(files, file)
	}
	return files, err
}

// same is true of equal writers; some cannot be compared.
func same(a, b any) bool {
	defer func() { recover() }()
	return a == b
}

// pipe returns the child's end of a new pipe, and the other one, whose copying a goroutine may do.
func (c *Cmd) pipe(child int) (*os.File, *os.File, error) {
	childEnd, end, err := newPipe(child)
	if err == nil {
		c.childEnds, c.parentEnds = append(c.childEnds, childEnd), append(c.parentEnds, end)
	}
	return childEnd, end, err
}

// A Terminal is this process's end of a new pseudo-terminal (pty(7)). Start sets the file, and the
// caller closes it, not Wait: then the program gets SIGHUP. A program waits until its output is
// read.
type Terminal struct {
	*os.File
	Rows, Columns uint16 // in characters, at the start; 0: 24 and 80
}

// Read returns io.EOF when no process has the terminal any more.
func (t *Terminal) Read(to []byte) (int, error) {
	count, err := t.File.Read(to)
	if errors.Is(err, syscall.EIO) {
		err = io.EOF
	}
	return count, err
}

// WriteTo is that of io.WriterTo.
func (t *Terminal) WriteTo(to io.Writer) (int64, error) {
	return io.Copy(to, struct{ io.Reader }{t})
}

func (c *Cmd) feed(end *os.File) error {
	_, err := io.Copy(end, c.Stdin)
	if failed := new(fs.PathError); errors.As(err, &failed) && failed.Path == end.Name() {
		switch failed.Err { // the program need not read all
		case syscall.EPIPE, syscall.Errno(109), syscall.Errno(232): // and on Windows
			err = nil
		}
	}
	end.Close()
	return err
}

func collect(w io.Writer) func(*os.File) error {
	return func(end *os.File) (err error) {
		if from, is := w.(io.ReaderFrom); is { // io.Copy would double the stack once more
			_, err = from.ReadFrom(end)
		} else {
			_, err = io.Copy(w, end)
		}
		end.Close() // the program may go on writing
		return err
	}
}

func closeAll(files []*os.File) {
	for _, file := range files {
		file.Close()
	}
}

// Wait waits for the end of the command, and of the copying of its input and outputs.
func (c *Cmd) Wait() (err error) {
	if c.Process == nil {
		return errors.New("exec: not started")
	}
	if c.waited {
		return errors.New("exec: Wait was already called")
	}
	c.waited = true
	var once sync.Once
	wait := func() { once.Do(func() { c.ProcessState, err = c.Process.Wait() }) }
	if c.waits { // the outputs of a short program end with it: then its end needs no poller
		timer := time.AfterFunc(10*time.Millisecond, wait)
		c.copied <- c.copies[len(c.copies)-1]()
		timer.Stop()
	}
	wait()
	var w watched
	if c.ended != nil {
		close(c.ended)
		w = <-c.watched
	}
	if err == nil && !c.ProcessState.Success() {
		err = &ExitError{ProcessState: c.ProcessState, canceled: w.err}
	}
	if err == nil {
		err = w.err
	}
	if copying := c.awaitCopies(w.at); err == nil {
		err = copying
	}
	closeAll(c.parentEnds)
	return err
}

// awaitCopies returns the first error of the copying. WaitDelay begins at the end, or when the
// context was done.
func (c *Cmd) awaitCopies(from time.Time) (err error) {
	var timeout <-chan time.Time
	if c.WaitDelay != 0 && len(c.copies) > 0 {
		if from.IsZero() {
			from = time.Now()
		}
		timer := time.NewTimer(time.Until(from.Add(c.WaitDelay)))
		defer timer.Stop()
		timeout = timer.C
	}
	for range c.copies {
		var copied error
		select {
		case copied = <-c.copied: // also if the time is over
		default:
			select {
			case copied = <-c.copied:
			case <-timeout:
				closeAll(c.parentEnds)
				<-c.copied
				timeout, err = nil, ErrWaitDelay
			}
		}
		if err == nil {
			err = copied
		}
	}
	return err
}

// An ExitError is that of os/exec, with the state of this package. It is also the context's error
// (errors.Is) if the command was ended for that.
type ExitError struct {
	*ProcessState
	Stderr   []byte
	canceled error
}

func (e *ExitError) Error() string { return e.ProcessState.String() }

// Unwrap returns the context's error.
func (e *ExitError) Unwrap() error { return e.canceled }

// A SetupError is an action that failed, or a member of Cmd that the library does not accept. What
// Dir, Path, SysProcAttr, the files and the exec fail with is an *fs.PathError, as of os/exec.
// Where Supported is false, a SetupError says what os/exec lacks.
type SetupError struct {
	Index   int    // in Cmd.Actions, or -1
	Name    string // of the action, as "rlimit", or of the step, as "streams"
	Subject string // the path, name or number that failed
	Err     error
}

func (e *SetupError) Error() string {
	text := "aspawn: " + e.Name
	if e.Index >= 0 {
		text = fmt.Sprintf("aspawn: action %d, %s", e.Index, e.Name)
	}
	if e.Subject != "" {
		text += fmt.Sprintf(" %q", e.Subject)
	}
	return text + ": " + e.Err.Error()
}

func (e *SetupError) Unwrap() error { return e.Err }

// Output runs the command and returns its standard output. An ExitError has the standard error.
func (c *Cmd) Output() ([]byte, error) {
	if c.Stdout != nil {
		return nil, errors.New("exec: Stdout already set")
	}
	var out bytes.Buffer
	c.Stdout = &out
	ends := &excerpt{most: 32 << 10}
	buffer := bufio.NewWriterSize(ends, 1<<10) // not the 32 KiB of io.Copy
	if c.Stderr == nil {
		c.Stderr, c.waits = buffer, true
	}
	err := c.Run()
	if exited, is := err.(*ExitError); is && buffer.Flush() == nil {
		exited.Stderr = ends.Bytes()
	}
	return out.Bytes(), err
}

// CombinedOutput runs the command and returns its standard output and standard error.
func (c *Cmd) CombinedOutput() ([]byte, error) {
	if c.Stdout != nil {
		return nil, errors.New("exec: Stdout already set")
	} else if c.Stderr != nil {
		return nil, errors.New("exec: Stderr already set")
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr, c.waits = &out, &out, true
	err := c.Run()
	return out.Bytes(), err
}

// An excerpt keeps the first and the last bytes of what is written to it, so many of each.
type excerpt struct {
	most, dropped int
	text          []byte
}

func (e *excerpt) Write(text []byte) (int, error) {
	if e.text = append(e.text, text...); len(e.text) > 6*e.most {
		e.cut()
	}
	return len(text), nil
}

func (e *excerpt) cut() {
	if excess := len(e.text) - 2*e.most; excess > 0 {
		e.text = append(e.text[:e.most], e.text[e.most+excess:]...)
		e.dropped += excess
	}
}

func (e *excerpt) Bytes() []byte {
	if e.cut(); e.dropped == 0 {
		return e.text
	}
	return []byte(fmt.Sprintf("%s\n... omitting %d bytes ...\n%s", e.text[:e.most], e.dropped, e.text[e.most:]))
}

// wanted makes a pipe that the caller asks for, in place of a stream.
func (c *Cmd) wanted(name string, isSet bool, child int) (*os.File, *os.File, error) {
	if isSet {
		return nil, nil, fmt.Errorf("exec: %s already set", name)
	} else if c.called != 0 {
		return nil, nil, fmt.Errorf("exec: %sPipe after process started", name)
	}
	return c.pipe(child)
}

// StdinPipe returns a pipe to the program, which Wait closes.
func (c *Cmd) StdinPipe() (io.WriteCloser, error) {
	childEnd, end, err := c.wanted("Stdin", c.Stdin != nil, 0)
	if err != nil {
		return nil, err
	}
	c.Stdin = childEnd
	return end, nil
}

// StdoutPipe returns a pipe from the program, which Wait closes: read it first.
func (c *Cmd) StdoutPipe() (io.ReadCloser, error) { return c.outPipe("Stdout", &c.Stdout) }

// StderrPipe is as StdoutPipe.
func (c *Cmd) StderrPipe() (io.ReadCloser, error) { return c.outPipe("Stderr", &c.Stderr) }

func (c *Cmd) outPipe(name string, stream *io.Writer) (io.ReadCloser, error) {
	childEnd, end, err := c.wanted(name, *stream != nil, 1)
	if err != nil {
		return nil, err
	}
	*stream = childEnd
	return end, nil
}
