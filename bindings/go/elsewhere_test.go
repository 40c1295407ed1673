// SPDX-License-Identifier: MIT

//go:build linux && !(amd64 || arm64)

package aspawn

// What is an error where os/exec starts the programs, and what the package adds to it.

import (
	"bufio"
	"context"
	"errors"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"aspawn.example/bindings/go/action"
)

// isLacking fails unless the error says what is lacking, and where.
func isLacking(t *testing.T, err error, text string) {
	t.Helper()
	if failed := new(SetupError); !errors.As(err, &failed) || !errors.Is(err, syscall.ENOTSUP) {
		t.Fatalf("%T: %v", err, err)
	}
	equal(t, err.Error(), "aspawn: "+text+": on amd64 and arm64 only, and not on "+runtime.GOARCH+": operation not supported")
}

func TestRefusesWhatOsExecLacks(t *testing.T) {
	if Supported {
		t.Fatal("it is supported")
	}
	file := t.TempDir() + "/file"
	for text, ask := range map[string]func(*Cmd){
		"Owner":           func(c *Cmd) { c.Owner = OwnerTree },
		"Memory":          func(c *Cmd) { c.Memory = MemoryCopied },
		"DiesWithCaller":  func(c *Cmd) { c.DiesWithCaller = true },
		"TreeOrGroup":     func(c *Cmd) { c.TreeOrGroup = true },
		"StopSignal":      func(c *Cmd) { c.StopSignal = os.Interrupt },
		"Terminal":        func(c *Cmd) { c.Terminal = new(Terminal) },
		"action 0, umask": func(c *Cmd) { c.Actions = []action.Action{action.Umask(0), action.Chdir("/")} },
	} {
		c := Command("touch", file)
		ask(c)
		isLacking(t, c.Run(), text)
		if _, err := os.Stat(file); err == nil || c.Process != nil {
			t.Fatal(text, "was ignored")
		}
	}
	_, err := NewQueue(QueueOptions{})
	isLacking(t, err, "Queue")
	queue := new(Queue)
	isLacking(t, queue.Run(context.Background(), &Job{Cmd: Command("true")}).Err, "Queue")
	isLacking(t, queue.Close(), "Queue")
	isLacking(t, new(Terminal).Resize(1, 1), "Terminal")
	isLacking(t, KillCgroup(os.Stdin), "KillCgroup")
}

func TestProcessIsOfOs(t *testing.T) {
	c := Command("sleep", "1000")
	c.AwaitExec = true // os/exec always does
	check(t, c.Start())
	isLacking(t, c.Process.SignalGroup(os.Kill), "SignalGroup")
	isLacking(t, c.Process.KillTree(0), "KillTree")
	_, err := c.Process.Pidfd()
	isLacking(t, err, "Pidfd")
	pid, err := c.Process.PID()
	check(t, err)
	equal(t, pid, c.Process.Pid)
	check(t, c.Process.Kill())
	equal(t, c.Wait().Error(), "signal: killed")
	equal(t, c.ProcessState.Pid(), pid)
	equal(t, c.Process.Kill(), os.ErrProcessDone)
}

func TestTimeLimit(t *testing.T) {
	for script, want := range map[string]string{
		`trap "exit 7" TERM; echo; while :; do sleep 0.01; done`: "exit status 7",
		`trap "" TERM; echo; while :; do sleep 0.01; done`:       "signal: killed",
	} {
		c := shell(script)
		c.TimeLimit, c.WaitDelay = 2*time.Second, 2*time.Second
		out, err := c.StdoutPipe()
		check(t, err)
		check(t, c.Start())
		_, err = bufio.NewReader(out).ReadString('\n') // the trap is there
		check(t, err)
		if err := c.Wait(); !errors.Is(err, context.DeadlineExceeded) || err.Error() != want {
			t.Fatal(err)
		}
	}
	c := Command("true")
	c.TimeLimit = -1
	equal(t, c.Run(), context.DeadlineExceeded)
}
