// SPDX-License-Identifier: MIT

//go:build !linux || !(amd64 || arm64)

package aspawn

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"aspawn.example/bindings/go/action"
	"aspawn.example/bindings/go/internal"
)

// Supported is false: os/exec starts the programs. What it lacks is a *SetupError when it is asked
// for, and from Go 1.21 on errors.ErrUnsupported.
const Supported = false

// A Process is that of os.
type Process struct{ *process }

type process = os.Process

// ProcessState is that of os.
type ProcessState = os.ProcessState

// lacking is the error of what only the library has.
func lacking(index int, name string) error {
	why := "on Linux only"
	if runtime.GOOS == "linux" {
		why = "on amd64 and arm64 only, and not on " + runtime.GOARCH
	}
	return &SetupError{Index: index, Name: name, Err: fmt.Errorf("%s: %w", why, syscall.ENOTSUP)}
}

func (c *Cmd) begin(files []any) (*Process, error) {
	for _, of := range []struct {
		name    string
		isAsked bool
	}{{"Owner", c.Owner != OwnerCaller}, {"Memory", c.Memory != MemoryShared}, {"DiesWithCaller", c.DiesWithCaller},
		{"TreeOrGroup", c.TreeOrGroup}, {"StopSignal", c.StopSignal != nil}, {"Terminal", c.Terminal != nil}} {
		if of.isAsked {
			return nil, lacking(-1, of.name)
		}
	}
	if len(c.Actions) > 0 {
		kind, _ := internal.Read(c.Actions[0])
		return nil, lacking(0, actionNames[kind])
	}
	theirs := &exec.Cmd{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, ExtraFiles: c.ExtraFiles, SysProcAttr: c.SysProcAttr}
	theirs.Stdin, _ = files[0].(io.Reader)
	theirs.Stdout, _ = files[1].(io.Writer)
	theirs.Stderr, _ = files[2].(io.Writer)
	if err := theirs.Start(); err != nil {
		return nil, err
	}
	return &Process{theirs.Process}, nil
}

func newPipe(child int) (*os.File, *os.File, error) {
	read, write, err := os.Pipe()
	if child == 1 {
		return write, read, err
	}
	return read, write, err
}

// stop sends a signal, or kills where there are none.
func (p *Process) stop(sig os.Signal) error {
	if runtime.GOOS == "windows" {
		return p.Kill()
	}
	return p.Signal(sig)
}

// PID returns the number of the child.
func (p *Process) PID() (int, error) { return p.Pid, nil }

// Pidfd is on Linux only.
func (p *Process) Pidfd() (*os.File, error) { return nil, lacking(-1, "Pidfd") }

// SignalGroup is on Linux only.
func (p *Process) SignalGroup(os.Signal) error { return lacking(-1, "SignalGroup") }

// KillTree is on Linux only.
func (p *Process) KillTree(time.Duration) error { return lacking(-1, "KillTree") }

// Resize is on Linux only.
func (t *Terminal) Resize(rows, columns uint16) error { return lacking(-1, "Terminal") }

// KillCgroup is on Linux only.
func KillCgroup(action.Descriptor) error { return lacking(-1, "KillCgroup") }

// NewQueue is on Linux only.
func NewQueue(QueueOptions) (*Queue, error) { return nil, lacking(-1, "Queue") }

// Submit is on Linux only.
func (q *Queue) Submit(context.Context, *Job) (<-chan *Result, error) {
	return nil, lacking(-1, "Queue")
}

// Close is on Linux only.
func (q *Queue) Close() error { return lacking(-1, "Queue") }
