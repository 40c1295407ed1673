// SPDX-License-Identifier: MIT

//go:build linux && (amd64 || arm64)

package aspawn

// C on the stacks of goroutines, and Go's runtime around it.

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"aspawn.example/bindings/go/action"
	"aspawn.example/bindings/go/internal/block"
)

// What starts differ in.
var kinds = []Cmd{
	{}, {Owner: OwnerPrivate}, {Owner: OwnerTree}, {DiesWithCaller: true}, {AwaitExec: true}, {Memory: MemorySuspended},
	{Actions: []action.Action{action.OnlyBelow(3), action.Chdir("/")}},
	{Actions: []action.Action{action.Closefrom(3), action.Rlimit(action.RLIMIT_CORE, 0, 0)}, Owner: OwnerTree},
	{SysProcAttr: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid()), NoSetGroups: true}}},
}

// one starts a program in one of these ways, or a tree that is killed.
func one(ctx context.Context, number int) error {
	if number %= len(kinds) + 1; number == len(kinds) {
		c := Command("sleep", "1000")
		c.Owner = OwnerTree
		if err := c.Start(); err != nil {
			return err
		}
		c.Process.KillTree(0)
		if c.Wait(); !c.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
			return fmt.Errorf("%v", c.ProcessState)
		}
		return nil
	}
	c, of := CommandContext(ctx, "sh", "-c", "exit 3"), &kinds[number]
	c.Owner, c.DiesWithCaller, c.AwaitExec = of.Owner, of.DiesWithCaller, of.AwaitExec
	c.Memory, c.Actions, c.SysProcAttr = of.Memory, of.Actions, of.SysProcAttr
	if err := c.Run(); c.ProcessState.ExitCode() != 3 {
		return fmt.Errorf("%d: %v", number, err)
	}
	return nil
}

// helper depth: how much of the frame for C the deepest call uses.
func depth(...string) {
	var deepest, entry int64
	call = func(of block.Entry, number int64, pointers ...unsafe.Pointer) int64 {
		block.Call(block.Depth, 1)
		r := block.Call(of, number, pointers...)
		used := block.Call(block.Depth, 0)
		if old := atomic.LoadInt64(&deepest); used > old && atomic.CompareAndSwapInt64(&deepest, old, used) {
			atomic.StoreInt64(&entry, int64(of))
		}
		return r
	}
	for i := 0; i <= len(kinds); i++ {
		exitIf(one(context.Background(), i))
	}
	c := shell("exit 0")
	if os.Getuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	exitIf(c.Run())
	queue, err := NewQueue(QueueOptions{})
	exitIf(err)
	exitIf(queue.Run(context.Background(), &Job{Cmd: Command("true"), Input: make([]byte, 9000)}).Err)
	for _, path := range []string{"/none", "/dev/null"} {
		Command(path).Run()
	}
	fmt.Println(deepest, entry)
}

// A quarter of the frame is left.
func TestFrameIsLargeEnoughForC(t *testing.T) {
	var deepest, entry int64
	fmt.Sscan(output(t, helper("depth")), &deepest, &entry)
	t.Log(deepest, entry)
	if deepest < 500 || deepest > 12<<10 {
		t.Fatalf("%d bytes, by the entry at %d", deepest, entry)
	}
}

// Signals of the profiler and of forced preemption arrive within C, and garbage is collected all
// the time.
func TestSignalsWithinC(t *testing.T) {
	goroutines, length := 1000, 3*time.Second
	if testing.Short() {
		goroutines, length = 40, 10*time.Second
	}
	profile, err := os.Create(t.TempDir() + "/profile")
	check(t, err)
	defer profile.Close()
	runtime.SetCPUProfileRate(2000) // pprof cannot change it any more, and says so
	check(t, pprof.StartCPUProfile(profile))
	defer pprof.StopCPUProfile()
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	over := time.After(length)
	done := make(chan struct{})
	go func() {
		<-over
		close(done)
	}()
	is := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	go func() {
		for !is() {
			syscall.Kill(os.Getpid(), syscall.SIGURG)
			time.Sleep(50 * time.Microsecond)
		}
	}()
	go func() {
		for !is() {
			runtime.GC()
		}
	}()
	var all sync.WaitGroup
	var starts int64
	limit := make(chan struct{}, 100)
	for i := 0; i < goroutines; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			if i%10 == 0 {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
			}
			for number := i; number == i || !is(); number++ {
				limit <- struct{}{}
				err := one(ctx, number)
				<-limit
				if err != nil {
					t.Error(err)
					return
				}
				atomic.AddInt64(&starts, 1)
			}
		}(i)
	}
	all.Wait()
	t.Log(starts, "starts")
}

// The thread of a start that waits blocks all signals, which the program must not.
func TestProgramOfAStartThatWaitsHasTheUsualSignalMask(t *testing.T) {
	const blocked = "grep SigBlk /proc/self/status"
	want := output(t, shell(blocked))
	for name, c := range map[string]*Cmd{"only below": acting([]action.Action{action.OnlyBelow(3)}, blocked), "suspended": shell(blocked), "copied": shell(blocked)} {
		c.Memory = map[string]Memory{"suspended": MemorySuspended, "copied": MemoryCopied}[name]
		equal(t, name+output(t, c), name+want)
	}
	queue, err := NewQueue(QueueOptions{})
	check(t, err)
	defer queue.Close()
	equal(t, string(queue.Run(context.Background(), &Job{Cmd: shell(blocked)}).Stdout), want)
}

// The start waits until somebody opens the other end of a FIFO, which happens only after the
// collections. If they wait for the start, no goroutine runs: a process ends that after a minute.
func TestCollectionsDoNotWaitForAStartThatWaits(t *testing.T) {
	fifo := t.TempDir() + "/fifo"
	check(t, syscall.Mkfifo(fifo, 0o600))
	watchdog := shell(`sleep 60; : >"$1"`, fifo)
	watchdog.Owner = OwnerTree
	check(t, watchdog.Start())
	c := acting([]action.Action{action.Open(0, fifo, os.O_RDONLY, 0)}, "cat")
	c.Memory = MemorySuspended
	var returned atomicBool
	failed := make(chan error)
	go func() {
		err := c.Start()
		returned.set()
		failed <- err
	}()
	time.Sleep(20 * time.Millisecond)
	for i := 0; i < 3; i++ {
		runtime.GC()
	}
	watchdog.Process.KillTree(0)
	if watchdog.Wait() == nil || returned.is() {
		t.Fatal("the start has not waited, or the collections have waited for it")
	}
	end, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	check(t, err)
	end.Close()
	check(t, <-failed)
	check(t, c.Wait())
}

// helper sleeps: in how many of 20 runs a thread has slept in C, for each kind. While it sleeps,
// the world cannot stop.
func sleeps(...string) {
	var slept int64 // voluntary context switches
	call = func(of block.Entry, number int64, pointers ...unsafe.Pointer) int64 {
		const thisThread = 1 // RUSAGE_THREAD
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var before, after syscall.Rusage
		syscall.Getrusage(thisThread, &before)
		r := block.Call(of, number, pointers...)
		syscall.Getrusage(thisThread, &after)
		atomic.AddInt64(&slept, after.Nvcsw-before.Nvcsw)
		return r
	}
	for number := 0; number <= len(kinds); number++ {
		count := 0
		for i := 0; i < 20; i++ {
			atomic.StoreInt64(&slept, 0)
			exitIf(one(context.Background(), number))
			if atomic.LoadInt64(&slept) != 0 {
				count++
			}
		}
		fmt.Println(count)
	}
}

// A thread may sleep for a lock of the memory. A start that waits for its child sleeps in each run.
func TestCommandsDoNotSleepInC(t *testing.T) {
	counts := strings.Fields(output(t, helper("sleeps")))
	t.Log(counts)
	equal(t, len(counts), len(kinds)+1)
	for number, text := range counts {
		if count, err := strconv.Atoi(text); err != nil || count > 15 {
			t.Errorf("%d: %s of 20", number, text)
		}
	}
}

// What waits in C is on a thread of its own.
func TestStartsThatMayWait(t *testing.T) {
	user := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	for name, of := range map[string]struct {
		waits bool
		c     Cmd
	}{
		"plain":      {false, Cmd{}},
		"tree":       {false, Cmd{Owner: OwnerTree, AwaitExec: true, DiesWithCaller: true}},
		"few":        {false, Cmd{Actions: []action.Action{action.Closefrom(3)}}},
		"only below": {true, Cmd{Actions: []action.Action{action.OnlyBelow(3)}}},
		"user":       {false, Cmd{SysProcAttr: user}},
		"own":        {true, Cmd{SysProcAttr: user, Dir: "/proc/self"}},
		"write":      {true, Cmd{Actions: []action.Action{action.Write("/proc/self/oom_score_adj", "0")}}},
		"memory":     {true, Cmd{Memory: MemoryCopied}},
		"thread's":   {false, Cmd{SysProcAttr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}, Memory: MemoryCopied}},
	} {
		of.c.Path = "/bin/true"
		equal(t, fmt.Sprint(name, newMessage(&of.c, []any{nil, nil, nil}, nil).waits), fmt.Sprint(name, of.waits))
	}
}

// The parent's thread ends with the start, the process does not.
func TestProgramsOutliveTheThreadOfTheirStart(t *testing.T) {
	for _, memory := range []Memory{MemorySuspended, MemoryCopied} {
		c := Command("sleep", "1000")
		c.Memory, c.DiesWithCaller = memory, memory == MemoryCopied
		check(t, c.Start())
		_, err := c.Process.PID()
		check(t, err)
		time.Sleep(20 * time.Millisecond)
		check(t, c.Process.Kill())
		equal(t, fmt.Sprint(c.Wait()), "signal: killed")
	}
}

// helper scanner: lets programs execute the file after 20 ms, as a virus scanner does
// (fanotify(7)).
func scanner(file ...string) {
	const class, mark, openExecPerm, allow = 4, 1, 0x40000, 1
	numbers := map[string]uintptr{"amd64": 300, "arm64": 262}
	events, _, err := syscall.Syscall(numbers[runtime.GOARCH], class|1, syscall.O_RDONLY, 0)
	path, _ := syscall.BytePtrFromString(file[0])
	if err == 0 {
		_, _, err = syscall.Syscall6(numbers[runtime.GOARCH]+1, events, mark, openExecPerm, ^uintptr(99), uintptr(unsafe.Pointer(path)), 0)
	}
	if err != 0 {
		exitIf(err)
	}
	fmt.Println("ready")
	for {
		var event struct {
			length uint32
			_      uint32
			mask   uint64
			fd     int32
			pid    int32
		}
		_, err := syscall.Read(int(events), (*[24]byte)(unsafe.Pointer(&event))[:])
		exitIf(err)
		go func() {
			time.Sleep(20 * time.Millisecond)
			answer := [2]int32{event.fd, allow}
			syscall.Write(int(events), (*[8]byte)(unsafe.Pointer(&answer))[:])
			syscall.Close(int(event.fd))
		}()
	}
}

// stops returns how long the world took to stop, each time, while 50 goroutines called run for a
// second, with pauses: a goroutine that waits for a processor is no measure.
func stops(t *testing.T, run func(number int) error) (all []time.Duration) {
	var running sync.WaitGroup
	var over atomicBool
	for i := 0; i < 50; i++ {
		running.Add(1)
		go func(i int) {
			defer running.Done()
			for time.Sleep(time.Duration(i) * 4 * time.Millisecond); !over.is(); time.Sleep(200 * time.Millisecond) {
				if err := run(i); err != nil {
					t.Error(err)
					return
				}
			}
		}(i)
	}
	var stats runtime.MemStats
	for begin := time.Now(); time.Since(begin) < time.Second; time.Sleep(300 * time.Microsecond) {
		stopped := time.Now()
		runtime.ReadMemStats(&stats)
		all = append(all, time.Since(stopped))
	}
	over.set()
	running.Wait()
	return
}

// os/exec waits for the exec without telling the runtime, so a goroutine seldom has its turn to
// stop the world. Here it has its turn at least twice as often, on busy processors too, where
// chance decides how long the longest stop takes.
func TestSlowExecsDoNotStopTheWorld(t *testing.T) {
	needsRoot(t)
	if testing.Short() {
		t.Skip("some seconds")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one would stop nobody else
	directory, err := os.MkdirTemp("", "aspawn")
	check(t, err)
	defer os.RemoveAll(directory)
	check(t, os.Chmod(directory, 0o755))
	program := directory + "/program"
	content, err := os.ReadFile("/bin/true")
	check(t, err)
	check(t, os.WriteFile(program, content, 0o755))
	scans := helper("scanner", program)
	scans.DiesWithCaller = true
	ready, err := scans.StdoutPipe()
	check(t, err)
	check(t, scans.Start())
	defer scans.Wait()
	defer scans.Process.Kill()
	if line, _ := bufio.NewReader(ready).ReadString('\n'); line != "ready\n" {
		t.Skip("no fanotify")
	}
	for round := 1; ; round++ {
		theirs := stops(t, func(int) error { return exec.Command(program).Run() })
		ours := stops(t, func(number int) error {
			c := Command(program)
			switch number % 5 {
			case 0:
				c.Owner = OwnerPrivate
			case 1:
				c.Owner = OwnerTree
			case 2:
				c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			case 3:
				c.AwaitExec = true
			}
			return c.Run()
		})
		t.Logf("%d stops, at most %v; by os/exec %d, at most %v", len(ours), longest(ours), len(theirs), longest(theirs))
		if len(ours) >= 2*len(theirs) {
			return
		} else if round == 3 {
			t.Fatal("the world stops too seldom")
		}
	}
}

func longest(of []time.Duration) (most time.Duration) {
	for _, one := range of {
		if one > most {
			most = one
		}
	}
	return
}

type atomicBool struct{ of int32 }

func (b *atomicBool) set()     { atomic.StoreInt32(&b.of, 1) }
func (b *atomicBool) is() bool { return atomic.LoadInt32(&b.of) != 0 }
