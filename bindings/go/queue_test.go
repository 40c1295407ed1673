// SPDX-License-Identifier: MIT

//go:build linux && (amd64 || arm64)

package aspawn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aspawn.example/bindings/go/action"
)

var background = context.Background()

func newQueue(t *testing.T, options QueueOptions) *Queue {
	t.Helper()
	q, err := NewQueue(options)
	check(t, err)
	t.Cleanup(func() { q.Close() })
	return q
}

func TestQueue(t *testing.T) {
	q := newQueue(t, QueueOptions{})
	r := q.Run(background, &Job{Cmd: shell("cat; echo why >&2; exit 3"), Input: []byte("text")})
	exited := new(ExitError)
	if !errors.As(r.Err, &exited) || exited.ExitCode() != 3 || string(exited.Stderr) != "why\n" {
		t.Fatal(r.Err)
	}
	equal(t, string(r.Stdout), "text")
	equal(t, r.StdoutTotal, uint64(4))
	equal(t, r.Outcome, OutcomeRan)
	if r.ProcessState.Pid() <= 0 || r.Ran <= 0 || r.Waited < 0 {
		t.Fatalf("%+v", r)
	}
	r = q.Run(background, &Job{Cmd: shell("seq 10000"), KeepStdout: 6, Tail: true, KeepStderr: -1})
	check(t, r.Err)
	equal(t, string(r.Stdout), "10000\n")
	equal(t, r.StdoutTotal, uint64(48894))

	c := shell("pwd; echo $NAME; umask")
	c.Dir, c.Env, c.Actions = "/usr", []string{"NAME=value"}, []action.Action{action.Umask(0o77)}
	equal(t, string(q.Run(background, &Job{Cmd: c}).Stdout), "/usr\nvalue\n0077\n")
}

func TestQueueErrors(t *testing.T) {
	q := newQueue(t, QueueOptions{})
	for name, of := range map[string]struct {
		job *Job
		is  error
	}{
		"not found":   {&Job{Cmd: Command("no-such-program-at-all")}, ErrNotFound},
		"no file":     {&Job{Cmd: Command("/no/such")}, os.ErrNotExist},
		"an action":   {&Job{Cmd: acting([]action.Action{action.Chdir("/no/such")}, "")}, os.ErrNotExist},
		"priority":    {&Job{Cmd: shell(""), Priority: MostPriority + 1}, syscall.EINVAL},
		"too long":    {&Job{Cmd: shell(""), Input: make([]byte, 1<<20)}, syscall.E2BIG},
		"a pipe":      {&Job{Cmd: acting([]action.Action{action.OutputPipe(5, new(*os.File))}, "")}, syscall.EINVAL},
		"time limit":  {&Job{Cmd: limited("exec sleep 1000")}, context.DeadlineExceeded},
		"... is over": {&Job{Cmd: over()}, context.DeadlineExceeded},
		"... refused": {&Job{Cmd: limited(`trap "" TERM; exec sleep 1000`), Grace: -1}, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			if r := q.Run(background, of.job); !errors.Is(r.Err, of.is) || r.Job != of.job {
				t.Fatalf("%T: %v", r.Err, r.Err)
			}
		})
	}
	if err := q.Run(background, &Job{Cmd: onTerminal("")}).Err; err == nil || !strings.Contains(err.Error(), "Terminal") {
		t.Error(err)
	}
	for subject, job := range map[string]*Job{
		"Priority": {Cmd: shell(""), Priority: -1}, "JobBytes": {Cmd: shell(""), Input: make([]byte, 1<<20)},
	} {
		failed := new(SetupError)
		if err := q.Run(background, job).Err; !errors.As(err, &failed) || failed.Subject != subject {
			t.Errorf("%v, not %s", err, subject)
		}
	}
	failed := new(SetupError)
	r := q.Run(background, &Job{Cmd: acting([]action.Action{action.Umask(0), action.Chdir("/no/such")}, "")})
	if !errors.As(r.Err, &failed) || failed.Index != 1 || r.ProcessState != nil || r.Outcome != OutcomeNotStarted {
		t.Fatal(r.Err)
	}
	c := shell("")
	c.Stdout = new(bytes.Buffer)
	if _, err := q.Submit(background, &Job{Cmd: c}); err == nil {
		t.Fatal("it has a writer")
	}
}

// What has more than 32 bits.
func TestQueueRefusesWhatHasNoPlace(t *testing.T) {
	big := 1 << 16
	if big *= big; big == 0 {
		t.Skip("int has 32 bits")
	}
	big++
	for name, of := range map[string][]QueueOptions{
		"Running":     {{Running: big}, {Running: -1}, {Running: 1<<15 + 1}},
		"Jobs":        {{Jobs: big}, {Jobs: -1}, {Jobs: 1 << 30}},
		"JobBytes":    {{JobBytes: big}, {JobBytes: -1}, {JobBytes: 1<<24 + 1}},
		"Delay in ms": {{Delay: -time.Second}, {Delay: time.Duration(big) * time.Millisecond}},
	} {
		for _, options := range of {
			q, err := NewQueue(options)
			if err == nil {
				q.Close()
			}
			if !errors.Is(err, syscall.EINVAL) || !strings.HasPrefix(err.Error(), "aspawn: QueueOptions."+name+": ") {
				t.Errorf("%+v: %v", options, err)
			}
		}
	}
	newQueue(t, QueueOptions{Running: 1, Jobs: 1 << 15, JobBytes: 1})
	newQueue(t, QueueOptions{Running: 1, Jobs: 1, JobBytes: 1 << 24})
	if err := newQueue(t, QueueOptions{}).Run(background, &Job{Cmd: Command("true"), Priority: big}).Err; err == nil {
		t.Error("a priority of ", big)
	}
}

func TestQueueWithoutAJobOrContext(t *testing.T) {
	q := newQueue(t, QueueOptions{})
	for _, job := range []*Job{nil, {}} {
		if r := q.Run(background, job); r.Err == nil || r.Outcome != OutcomeNotStarted {
			t.Errorf("%+v", r)
		}
	}
	var none context.Context
	for _, call := range []func(){func() { q.Run(none, &Job{Cmd: Command("true")}) }, func() { q.Each(none, nil) }} {
		func() {
			defer func() { equal(t, recover(), "nil Context") }()
			call()
		}()
	}
}

func TestQueueTimesOfAnyLength(t *testing.T) {
	q := newQueue(t, QueueOptions{})
	c := Command("true")
	c.TimeLimit = math.MaxInt64
	check(t, q.Run(background, &Job{Cmd: c, Grace: math.MaxInt64}).Err)
}

func limited(script string) *Cmd {
	c := shell(script)
	c.TimeLimit = 20 * time.Millisecond
	return c
}

func over() *Cmd {
	c := Command("sleep", "1000")
	c.TimeLimit = time.Until(time.Now().Add(-time.Second))
	return c
}

// The open of a FIFO waits for the other end, so the child is killed before its exec.
func TestQueueEndsBeforeTheExec(t *testing.T) {
	fifo := t.TempDir() + "/fifo"
	check(t, syscall.Mkfifo(fifo, 0o600))
	q := newQueue(t, QueueOptions{})
	waiting := func() *Job {
		return &Job{Cmd: acting([]action.Action{action.Open(5, fifo, os.O_RDONLY, 0)}, ""), Grace: -1}
	}
	job := waiting()
	job.TimeLimit = 20 * time.Millisecond
	if r := q.Run(background, job); !errors.Is(r.Err, context.DeadlineExceeded) || r.Outcome != OutcomeTimedOut {
		t.Error(r.Outcome, r.Err)
	}
	ctx, cancel := context.WithCancel(background)
	time.AfterFunc(20*time.Millisecond, cancel)
	if r := q.Run(ctx, waiting()); !errors.Is(r.Err, context.Canceled) {
		t.Error(r.Outcome, r.Err)
	}
}

// A job is cancelled by the context of CommandContext too.
func TestQueueContextOfTheCommand(t *testing.T) {
	q := newQueue(t, QueueOptions{Running: 1, Jobs: 2})
	ctx, cancel := context.WithCancel(background)
	running, err := q.Submit(background, &Job{Cmd: CommandContext(ctx, "sleep", "1000")})
	check(t, err)
	time.AfterFunc(10*time.Millisecond, cancel)
	if r := <-running; !errors.Is(r.Err, context.Canceled) || r.Outcome != OutcomeCancelled {
		t.Fatal(r.Err)
	}
	equal(t, q.Run(background, &Job{Cmd: CommandContext(ctx, "true")}).Err, context.Canceled)

	for i := 0; i < 2; i++ {
		_, err := q.Submit(background, &Job{Cmd: Command("sleep", "1000")})
		check(t, err)
	}
	short, stop := context.WithTimeout(background, 10*time.Millisecond)
	defer stop()
	// full
	equal(t, q.Run(background, &Job{Cmd: CommandContext(short, "true")}).Err, context.DeadlineExceeded)
}

func TestQueueContext(t *testing.T) {
	q := newQueue(t, QueueOptions{Running: 1, Jobs: 2})
	ctx, cancel := context.WithCancel(background)
	begun := t.TempDir() + "/begun"
	stops := shell(`: >"$1"; exec sleep 1000`, begun)
	stops.StopSignal = os.Interrupt
	running, err := q.Submit(ctx, &Job{Cmd: stops})
	check(t, err)
	waiting, err := q.Submit(ctx, &Job{Cmd: Command("sleep", "1000")})
	check(t, err)
	short, stop := context.WithTimeout(background, 10*time.Millisecond)
	defer stop()
	// full
	if _, err := q.Submit(short, &Job{Cmd: Command("true")}); err != context.DeadlineExceeded {
		t.Fatal(err)
	}
	eventually(t, "it runs", func() bool { _, err := os.Stat(begun); return err == nil })
	cancel()
	r := <-running
	equal(t, r.Err.Error(), "signal: interrupt")
	equal(t, errors.Is(r.Err, context.Canceled), true)
	if r := <-waiting; !errors.Is(r.Err, context.Canceled) { // it may have started meanwhile
		t.Fatal(r.Err)
	}
	check(t, q.Run(background, &Job{Cmd: Command("true")}).Err)
	for i := 0; i < 20; i++ { // though there are places
		if _, err := q.Submit(ctx, &Job{Cmd: Command("true")}); err != context.Canceled {
			t.Fatal(err)
		}
	}
}

func TestQueueOfManyJobs(t *testing.T) {
	const count = 500
	q := newQueue(t, QueueOptions{Running: 8, Jobs: 32})
	jobs := make(chan *Job)
	go func() {
		defer close(jobs)
		for i := 0; i < count; i++ {
			jobs <- &Job{Cmd: Command("echo", strconv.Itoa(i))}
		}
	}()
	seen := map[string]bool{}
	for r := range q.Each(background, jobs) {
		check(t, r.Err)
		equal(t, string(r.Stdout), r.Job.Args[1]+"\n")
		seen[r.Job.Args[1]] = true
	}
	equal(t, len(seen), count)
}

func TestQueueEachThatNobodyReads(t *testing.T) {
	for name, end := range map[string]func(q *Queue, cancel func()){
		"context": func(q *Queue, cancel func()) { cancel() },
		"Close":   func(q *Queue, cancel func()) { q.Close() },
	} {
		q := newQueue(t, QueueOptions{Jobs: 4})
		before := runtime.NumGoroutine()
		ctx, cancel := context.WithCancel(background)
		jobs := make(chan *Job, 20) // never closed
		for i := 0; i < cap(jobs); i++ {
			jobs <- &Job{Cmd: Command("true")}
		}
		<-q.Each(ctx, jobs)
		end(q, cancel)
		eventually(t, name+": its goroutines end", func() bool { return runtime.NumGoroutine() <= before })
		cancel()
	}
}

// A reader that goes on gets the results of all jobs that were taken.
func TestQueueEachAfterItsContext(t *testing.T) {
	q := newQueue(t, QueueOptions{Running: 2, Jobs: 4})
	ctx, cancel := context.WithCancel(background)
	jobs := make(chan *Job)
	results := q.Each(ctx, jobs)
	for i := 0; i < 4; i++ {
		jobs <- &Job{Cmd: Command("sleep", "1000")}
	}
	cancel()
	count := 0
	for r := range results {
		count++
		if !errors.Is(r.Err, context.Canceled) {
			t.Error(r.Err)
		}
	}
	equal(t, count, 4)
}

func TestQueueKeysAndPriorities(t *testing.T) {
	q := newQueue(t, QueueOptions{Running: 4})
	lock := t.TempDir() + "/lock"
	var results []<-chan *Result
	for i := 0; i < 10; i++ {
		r, err := q.Submit(background, &Job{Cmd: shell("mkdir $1 && sleep 0.005 && rmdir $1", lock), Key: 7, KeyLimit: 1})
		check(t, err)
		results = append(results, r)
	}
	for _, r := range results {
		check(t, (<-r).Err)
	}

	one := newQueue(t, QueueOptions{Running: 1})
	log := t.TempDir() + "/log"
	gate := t.TempDir() + "/gate"
	check(t, syscall.Mkfifo(gate, 0o600))
	first, err := one.Submit(background, &Job{Cmd: shell("read a <$1", gate)})
	check(t, err)
	low, err := one.Submit(background, &Job{Cmd: shell("echo low >>$1", log)})
	check(t, err)
	high, err := one.Submit(background, &Job{Cmd: shell("echo high >>$1", log), Priority: 5})
	check(t, err)
	check(t, os.WriteFile(gate, []byte("\n"), 0))
	for _, r := range []<-chan *Result{first, low, high} {
		check(t, (<-r).Err)
	}
	text, err := os.ReadFile(log)
	check(t, err)
	equal(t, string(text), "high\nlow\n")
}

func TestQueueSendsFiles(t *testing.T) {
	q := newQueue(t, QueueOptions{})
	file, err := os.CreateTemp(t.TempDir(), "")
	check(t, err)
	c := acting([]action.Action{action.Dup2(file, 5)}, "echo text >&5; ls /proc/$$/fd | wc -l")
	result, err := q.Submit(background, &Job{Cmd: c})
	check(t, err)
	file.Close()
	r := <-result
	check(t, r.Err)
	text, err := os.ReadFile(file.Name())
	check(t, err)
	equal(t, string(text), "text\n")
}

func TestQueueClose(t *testing.T) {
	before := descriptors(t)
	q := newQueue(t, QueueOptions{Running: 1})
	running, err := q.Submit(background, &Job{Cmd: Command("sleep", "1000")})
	check(t, err)
	waiting, err := q.Submit(background, &Job{Cmd: Command("sleep", "1000")})
	check(t, err)
	check(t, q.Close())
	equal(t, (<-running).Err, ErrQueueClosed)
	equal(t, (<-waiting).Err, ErrQueueClosed)
	equal(t, q.Close(), ErrQueueClosed)
	equal(t, q.Run(background, &Job{Cmd: Command("true")}).Err, ErrQueueClosed)
	equal(t, descriptors(t), before)
}

func TestQueueIsClosedMeanwhile(t *testing.T) {
	for i := 0; i < 10; i++ {
		q := newQueue(t, QueueOptions{Running: 2, Jobs: 4})
		ctx, cancel := context.WithCancel(background)
		var all sync.WaitGroup
		for worker := 0; worker < 4; worker++ {
			all.Add(1)
			go func() {
				defer all.Done()
				for {
					err := q.Run(ctx, &Job{Cmd: Command("true")}).Err
					if err == ErrQueueClosed || errors.Is(err, context.Canceled) {
						return
					} else if err != nil {
						t.Error(err)
					}
				}
			}()
		}
		time.Sleep(time.Duration(i) * time.Millisecond)
		if i%2 == 0 {
			cancel()
		}
		q.Close()
		cancel()
		all.Wait()
	}
}

// Children of this process.
func children(t *testing.T) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	check(t, err)
	for _, entry := range entries {
		text, _ := os.ReadFile("/proc/" + entry.Name() + "/stat")
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if pid, err := strconv.Atoi(entry.Name()); err == nil && len(fields) > 1 && fields[1] == fmt.Sprint(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return
}

// The process that the queue makes.
func newQueueAndServer(t *testing.T, options QueueOptions) (*Queue, int) {
	t.Helper()
	others := map[int]bool{}
	for _, pid := range children(t) {
		others[pid] = true
	}
	q := newQueue(t, options)
	for _, pid := range children(t) {
		if !others[pid] {
			return q, pid
		}
	}
	t.Fatal("no server")
	return nil, 0
}

// A server that takes no descriptors keeps a submission waiting, until its context is done.
func TestQueueWhoseSocketIsFull(t *testing.T) {
	q, server := newQueueAndServer(t, QueueOptions{Jobs: 2048})
	check(t, syscall.Kill(server, syscall.SIGSTOP))
	defer syscall.Kill(server, syscall.SIGCONT)
	file, err := os.Open("/dev/null")
	check(t, err)
	defer file.Close()
	ctx, cancel := context.WithCancel(background)
	time.AfterFunc(100*time.Millisecond, cancel)
	for i := 0; i < 2000; i++ {
		_, err := q.Submit(ctx, &Job{Cmd: acting([]action.Action{action.Dup2(file, 5)}, "")})
		if err != nil {
			equal(t, err, context.Canceled)
			return
		}
	}
	t.Skip("room for all descriptors")
}

func TestQueueWhoseServerIsKilled(t *testing.T) {
	q, server := newQueueAndServer(t, QueueOptions{})
	result, err := q.Submit(background, &Job{Cmd: shell("echo; exec sleep 1000")})
	check(t, err)
	check(t, syscall.Kill(server, syscall.SIGKILL))
	if r := <-result; !errors.Is(r.Err, ErrLost) || r.Outcome != OutcomeLost {
		t.Fatalf("%+v: %v", r, r.Err)
	}
	check(t, q.Run(background, &Job{Cmd: Command("true")}).Err) // by a new one
}

func TestQueueWhoseServerIsStopped(t *testing.T) {
	q := newQueue(t, QueueOptions{})
	result, err := q.Submit(background, &Job{Cmd: shell("kill -STOP $PPID")})
	check(t, err)
	select {
	case r := <-result:
		check(t, r.Err)
	case <-time.After(time.Minute):
		t.Fatal("the server is not continued")
	}
}
