// SPDX-License-Identifier: MIT

//go:build linux && (amd64 || arm64)

package aspawn

// What the package has of its own.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"aspawn.example/bindings/go/action"
)

func init() {
	for name, of := range map[string]func(...string){"closed": withoutStreams, "crossed": crossed, "depth": depth, "parent": parent,
		"private": private, "scanner": scanner, "sleeps": sleeps, "terminals": terminals} {
		helpers[name] = of
	}
}

// helper parent: starts a program that dies with it, says which, and waits.
func parent(...string) {
	c := Command("sleep", "1000")
	c.DiesWithCaller = true
	exitIf(c.Start())
	pid, err := c.Process.PID()
	exitIf(err)
	fmt.Println(pid)
	io.ReadAll(os.Stdin)
}

// helper terminals: the leader of a session starts a program without its terminal, and one in the
// foreground.
func terminals(...string) {
	signal.Ignore(syscall.SIGTTOU)
	for _, attr := range []syscall.SysProcAttr{{Noctty: true}, {Foreground: true, Ctty: 0}} {
		c := withAttr(attr, "set -- $(cat /proc/$$/stat); test $7 = 0 && echo none; test $8 = $$ && echo foreground; true")
		if c.Stdout, c.Stderr = os.Stdout, os.Stderr; attr.Noctty {
			c.Stdin = os.Stdin // otherwise the terminal is this process's alone
		}
		exitIf(c.Run())
	}
}

func needsRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
}

// Waits for what another process does.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for i := 0; !is(); i++ {
		if i == 10000 {
			t.Fatal("never: " + what)
		}
		time.Sleep(time.Millisecond)
	}
}

func acting(actions []action.Action, script string, arg ...string) *Cmd {
	c := shell(script, arg...)
	c.Actions = actions
	return c
}

func TestActions(t *testing.T) {
	file := t.TempDir() + "/file"
	check(t, os.WriteFile(file, []byte("text"), 0o600))
	opened, err := os.Open(file)
	check(t, err)
	defer opened.Close()
	directory, err := os.Open("/usr")
	check(t, err)
	defer directory.Close()
	for name, of := range map[string]struct {
		actions []action.Action
		script  string
		want    string
	}{
		"number, path, flags": {[]action.Action{action.Open(3, file, os.O_RDONLY, 0)}, "cat <&3", "text"},
		"descriptor":          {[]action.Action{action.Dup2(opened, 7)}, "readlink /proc/self/fd/7", file + "\n"},
		"descriptor, path":    {[]action.Action{action.Openat(0, directory, "..", os.O_RDONLY, 0)}, "readlink /proc/self/fd/0", "/\n"},
		"cwd, path":           {[]action.Action{action.Chdir("/usr"), action.Openat(0, action.AtCwd, ".", os.O_RDONLY, 0)}, "readlink /proc/self/fd/0", "/usr\n"},
		"of the program":      {[]action.Action{action.Dup2(opened, 6), action.Dup2(action.FD(6), 7), action.Close(6)}, "readlink /proc/self/fd/7; test ! -e /proc/self/fd/6", file + "\n"},
		"strings":             {[]action.Action{action.Setenv("NAME", "value"), action.Unsetenv("HOME")}, "echo $NAME$HOME", "value\n"},
		"none":                {[]action.Action{action.Clearenv()}, "env | grep -v ^PWD | grep -v ^_ | wc -l", "0\n"},
		"mode":                {[]action.Action{action.Umask(0o27)}, "umask", "0027\n"},
		"resource, limits":    {[]action.Action{action.Rlimit(action.RLIMIT_CORE, 0, 0)}, "ulimit -c", "0\n"},
		"integer":             {[]action.Action{action.Nice(19)}, "nice", "19\n"},
		"signals":             {[]action.Action{action.SignalsIgnore(syscall.SIGUSR1, syscall.SIGTERM)}, "grep SigIgn /proc/self/status | tail -c 6", "04200\n"},
		"mask": {[]action.Action{action.Sigmask(syscall.SIGUSR2, syscall.SIGHUP)},
			"grep SigBlk /proc/self/status | tail -c 5", "0801\n"},
		"signal":           {[]action.Action{action.SignalIgnore(syscall.SIGHUP)}, "kill -HUP $$; echo here", "here\n"},
		"processors":       {[]action.Action{action.Affinity(0)}, "nproc", "1\n"},
		"closing":          {[]action.Action{action.Closefrom(1)}, "test ! -e /proc/self/fd/2; echo >&1 || exit 0", ""},
		"filter":           {filter(), "uname 2>&1 | grep -o permitted", "permitted\n"},
		"directory":        {[]action.Action{action.Fchdir(directory)}, "pwd -P", "/usr\n"},
		"no new privilege": {[]action.Action{action.NoNewPrivs()}, "grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := acting(of.actions, of.script)
			if name == "closing" {
				c.Run() // has no output
				equal(t, c.ProcessState.String(), "exit status 0")
				return
			}
			equal(t, output(t, c), of.want)
		})
	}
}

func TestLandlockPassesItsFlagsToTheKernel(t *testing.T) {
	run := func(flags uint32) error {
		return acting([]action.Action{action.NoNewPrivs(), action.Landlock(os.Stdin, flags)}, "true").Run()
	}
	// EBADFD: no ruleset. Without Landlock both are ENOSYS or the like.
	if err := run(0); err == nil || errors.Is(err, syscall.EBADFD) && !errors.Is(run(1<<31), syscall.EINVAL) {
		t.Error(err)
	}
}

// uname(2) fails with EPERM.
func filter() []action.Action {
	statement := func(code int, k uint32) syscall.SockFilter {
		return syscall.SockFilter{Code: uint16(code), K: k}
	}
	jump := func(to uint8, k uint32) syscall.SockFilter {
		return syscall.SockFilter{Code: action.BPF_JMP | action.BPF_JEQ, Jt: to, K: k}
	}
	return []action.Action{action.NoNewPrivs(), action.Seccomp([]syscall.SockFilter{
		statement(action.BPF_LD|action.BPF_W|action.BPF_ABS, 0),
		jump(1, syscall.SYS_UNAME), statement(action.BPF_RET, uint32(action.SECCOMP_RET_ALLOW)),
		statement(action.BPF_RET, uint32(action.SECCOMP_RET_ERRNO)|uint32(syscall.EPERM)),
	})}
}

// A file of an action is the first above those of ExtraFiles, of which one has to give way.
func TestActionsBesideExtraFiles(t *testing.T) {
	directory, err := os.Open("/usr")
	check(t, err)
	defer directory.Close()
	above := func(fd int) *os.File {
		number, _, err := syscall.Syscall(syscall.SYS_FCNTL, directory.Fd(), syscall.F_DUPFD_CLOEXEC, uintptr(fd))
		equal(t, err, syscall.Errno(0))
		return os.NewFile(number, "/usr")
	}
	low := above(3)
	defer low.Close()
	high := above(int(low.Fd()) + 10)
	defer high.Close()
	next := above(int(high.Fd()) + 1)
	defer next.Close()
	c := acting([]action.Action{action.Fchdir(next)}, "pwd -P")
	for fd := 3; fd <= int(low.Fd()); fd++ {
		c.ExtraFiles = append(c.ExtraFiles, high)
	}
	c.ExtraFiles = append(c.ExtraFiles, low)
	equal(t, output(t, c), "/usr\n")
}

// As in os/exec the program does not have a file that is closed.
func TestClosedFiles(t *testing.T) {
	file, err := os.Open("/dev/null")
	check(t, err)
	check(t, file.Close())
	for _, actions := range [][]action.Action{nil, {action.Umask(0)}} {
		c := acting(actions, "test ! -e /proc/$$/fd/0 && test ! -e /proc/$$/fd/3 && test -e /proc/$$/fd/4")
		c.Stdin, c.ExtraFiles = file, []*os.File{file, os.Stdin}
		check(t, c.Run())
		theirs := exec.Command("sh", c.Args[1:]...)
		theirs.Stdin, theirs.ExtraFiles = c.Stdin, c.ExtraFiles
		check(t, theirs.Run())
	}
}

func TestPipeActions(t *testing.T) {
	var from, to *os.File
	c := acting([]action.Action{action.InputPipe(4, &to), action.OutputPipe(5, &from)}, "tr a-z A-Z <&4 >&5")
	check(t, c.Start())
	_, err := io.WriteString(to, "text")
	check(t, err)
	check(t, to.Close())
	text, err := io.ReadAll(from)
	check(t, err)
	equal(t, string(text), "TEXT")
	check(t, from.Close())
	check(t, c.Wait())
}

func TestErrorsNameTheAction(t *testing.T) {
	c := acting([]action.Action{action.Umask(0), action.Chdir("/no/such")}, "exit 3")
	check(t, c.Start()) // before the child has tried
	err := c.Wait()
	failed := new(SetupError)
	if !errors.As(err, &failed) || failed.Index != 1 || failed.Name != "chdir" || failed.Subject != "/no/such" ||
		!errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%T: %v", err, err)
	}
	equal(t, err.Error(), `aspawn: action 1, chdir "/no/such": no such file or directory`)

	c = acting([]action.Action{action.Dup2(action.FD(-7), 3)}, "exit 3")
	if err := c.Start(); !errors.As(err, &failed) || failed.Index != 0 || !errors.Is(err, syscall.EINVAL) {
		t.Fatalf("%T: %v", err, err)
	}
	for _, of := range []action.Action{action.Sigmask(0), action.Sigmask(-1), action.Affinity(-1), action.Affinity(math.MaxInt)} {
		if err := acting([]action.Action{of}, "exit 3").Run(); !errors.As(err, &failed) || !errors.Is(err, syscall.EINVAL) {
			t.Fatalf("%T: %v", err, err)
		}
	}
	for text, of := range map[string]action.Action{
		`aspawn: action 1, chdir "a\x00b": invalid argument`: action.Chdir("a\x00b"),
		`aspawn: action 1, setenv "\x00": invalid argument`:  action.Setenv("NAME", "\x00"),
		`aspawn: action 1, empty: invalid argument`:          {},
	} {
		c = acting([]action.Action{action.Umask(0), of}, "exit 3")
		if err := c.Start(); err == nil || err.Error() != text || !errors.As(err, &failed) {
			t.Errorf("%T: %v, not %s", err, err, text)
		}
	}
	c = Command("true")
	c.Owner = 9
	if err := c.Start(); !errors.As(err, &failed) || failed.Index != -1 || failed.Subject != "Owner" {
		t.Fatalf("%T: %v", err, err)
	}
	for _, begin := range []func(*Cmd){func(c *Cmd) { c.Actions = []action.Action{action.Umask(0)} }, func(*Cmd) {}} {
		c = Command("true")
		c.Dir = "/no/such"
		begin(c)
		if err := c.Run(); err == nil || err.Error() != "chdir /no/such: no such file or directory" {
			t.Fatal(err)
		}
	}
	script := t.TempDir() + "/script"
	check(t, os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o755))
	if err := Command(script).Run(); err == nil || !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), "interpreter /no/such/interpreter:") {
		t.Fatal(err)
	}
	check(t, os.Chmod(script, 0o644))
	if err := Command(script).Start(); !errors.Is(err, os.ErrPermission) {
		t.Fatal(err)
	}
	if err := Command(t.TempDir() + "/.").Start(); !errors.Is(err, os.ErrPermission) {
		t.Fatal(err)
	}
}

func TestAwaitExec(t *testing.T) {
	script := t.TempDir() + "/script"
	check(t, os.WriteFile(script, []byte{1, 2, 3}, 0o755))
	before := descriptors(t)
	c := Command(script)
	var in, end *os.File
	c.AwaitExec, c.Actions = true, []action.Action{action.OutputPipe(5, &end), action.InputPipe(6, &in)}
	if err := c.Start(); !errors.Is(err, syscall.ENOEXEC) || c.Process != nil {
		t.Fatal(err)
	}
	for _, owner := range []Owner{OwnerCaller, OwnerPrivate} {
		c = Command("sleep", "1000")
		c.AwaitExec, c.Owner = true, owner
		check(t, c.Start())
		pid, err := c.Process.PID()
		check(t, err)
		eventually(t, "it is sleep", func() bool { // the kernel renames it last
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			return string(name) == "sleep\n"
		})
		check(t, c.Process.Kill())
		equal(t, c.Wait().Error(), "signal: killed")
		equal(t, c.Process.Kill(), os.ErrProcessDone)
	}
	equal(t, descriptors(t), before)
}

func TestConstantsHaveNames(t *testing.T) {
	equal(t, fmt.Sprint(OwnerTree, MemoryCopied, OutcomeNotStarted, OutcomeLost, Owner(9)), "OwnerTree MemoryCopied OutcomeNotStarted OutcomeLost Owner(9)")
}

func TestMemory(t *testing.T) {
	for _, memory := range []Memory{MemoryShared, MemorySuspended, MemoryCopied} {
		c := shell("exit 7")
		c.Memory = memory
		equal(t, c.Run().Error(), "exit status 7")
	}
}

func TestProgramsInheritSignalsAsOfOsExec(t *testing.T) {
	signal.Ignore(syscall.SIGALRM)
	defer func() { // Reset() leaves what Ignore() has done
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGALRM)
		signal.Stop(signals)
	}()
	theirs, err := exec.Command("grep", "Sig[BI]", "/proc/self/status").Output()
	check(t, err)
	ours, err := Command("grep", "Sig[BI]", "/proc/self/status").Output()
	check(t, err)
	equal(t, string(ours), string(theirs))
}

// helper private: no wait of a process that has no other child sees a private one.
func private(...string) {
	signals := make(chan os.Signal, 10)
	signal.Notify(signals, syscall.SIGCHLD)
	c := shell("exit 5")
	c.Owner = OwnerPrivate
	exitIf(c.Start())
	pid, err := syscall.Wait4(-1, nil, 0, nil)
	fmt.Println(pid, err, c.Wait(), len(signals), c.ProcessState.Pid() > 0)
}

func TestPrivate(t *testing.T) {
	equal(t, output(t, helper("private")), "-1 no child processes exit status 5 0 true\n")
}

// On one processor, so that the helper most often has not begun.
func TestAHelperThatIsKilledBeforeItsClone(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	processor, killed := [128]uint64{1}, false
	syscall.Syscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(processor), uintptr(unsafe.Pointer(&processor)))
	for i := 0; i < 20 && !killed; i++ {
		c := shell("exit 5")
		c.Owner = OwnerPrivate
		check(t, c.Start())
		// pidfd_send_signal
		syscall.Syscall6(424, uintptr(c.Process.child.endedFd), uintptr(syscall.SIGKILL), 0, 0, 0, 0)
		c.Wait()
		if c.ProcessState != nil && c.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
			killed = true
			equal(t, c.ProcessState.Pid(), 0)
		}
	}
	if !killed {
		t.Skip("each helper has cloned")
	}
}

// Starts a program that leaves another one in a session of its own, whose number it returns.
func leavesAnother(t *testing.T, c *Cmd) int {
	t.Helper()
	out, err := c.StdoutPipe()
	check(t, err)
	check(t, c.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	check(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	check(t, err)
	return pid
}

const another = `setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 1000; done' & `

func TestTree(t *testing.T) {
	tree := func(script string) *Cmd {
		c := shell(another + script)
		c.Owner = OwnerTree
		return c
	}
	c := tree("read a") // ends by itself
	in, err := c.StdinPipe()
	check(t, err)
	pid := leavesAnother(t, c)
	equal(t, state(t, pid) != "", true)
	check(t, in.Close())
	c.Wait()
	equal(t, state(t, pid), "")

	c = tree("wait")
	pid = leavesAnother(t, c)
	check(t, c.Process.KillTree(0))
	equal(t, c.Wait().Error(), "signal: killed")
	equal(t, state(t, pid), "")

	ctx, cancel := context.WithCancel(context.Background())
	c = tree("wait")
	c.ctx, c.Cancel = ctx, func() error { return c.end(0) }
	pid = leavesAnother(t, c)
	cancel()
	if err := c.Wait(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	equal(t, state(t, pid), "")
}

func TestKillTreeOfNoTree(t *testing.T) {
	c := Command("sleep", "1000")
	check(t, c.Start())
	err := c.Process.KillTree(0)
	check(t, c.Process.Kill())
	c.Wait()
	if !errors.Is(err, syscall.EINVAL) || err.Error() != "aspawn: the child is not of OwnerTree: invalid argument" {
		t.Fatal(err)
	}
	equal(t, c.Process.KillTree(0), os.ErrProcessDone)
}

func TestStopSignal(t *testing.T) {
	for _, owner := range []Owner{OwnerCaller, OwnerTree} {
		c := shell(`trap "exit 7" INT; kill -STOP $$; while :; do sleep 0.01; done`)
		c.TimeLimit, c.WaitDelay, c.Owner, c.StopSignal = 2*time.Second, time.Hour, owner, os.Interrupt
		if err := c.Run(); !errors.Is(err, context.DeadlineExceeded) || c.ProcessState.ExitCode() != 7 {
			t.Fatal(err, c.ProcessState)
		}
	}
	c := Command("true")
	c.StopSignal = os.Kill
	if err := c.Run(); !errors.Is(err, syscall.EINVAL) {
		t.Fatal(err)
	}
	c = Command("true")
	c.StopSignal = noSignal{}
	equal(t, c.Run().Error(), "os: unsupported signal type")
}

type noSignal struct{}

func (noSignal) Signal()        {}
func (noSignal) String() string { return "none" }

func TestTimeLimit(t *testing.T) {
	c := shell(`trap "exit 0" TERM; while :; do sleep 0.01; done`)
	c.TimeLimit = 50 * time.Millisecond
	if err := c.Run(); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	for _, owner := range []Owner{OwnerCaller, OwnerTree} {
		c = Command("sleep", "1000")
		c.Actions = []action.Action{action.SignalIgnore(syscall.SIGTERM)}
		c.TimeLimit, c.WaitDelay, c.Owner = 20*time.Millisecond, 20*time.Millisecond, owner
		exited := new(ExitError)
		if err := c.Run(); !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &exited) {
			t.Fatal(err)
		}
		equal(t, exited.Error(), "signal: killed")
	}
	c = Command("true")
	c.TimeLimit = time.Hour
	check(t, c.Run())
	c = over()
	equal(t, c.Run(), context.DeadlineExceeded)
	if c.Process != nil {
		t.Fatal("it was started")
	}
	c = Command("sleep", "1000") // no SIGKILL follows
	c.TimeLimit, c.WaitDelay, c.Owner = 20*time.Millisecond, math.MaxInt64, OwnerTree
	if err := c.Run(); err == nil || err.Error() != "signal: terminated" {
		t.Fatal(err)
	}
}

func TestDiesWithCaller(t *testing.T) {
	c := helper("parent")
	in, err := c.StdinPipe()
	check(t, err)
	pid := leavesAnother(t, c)
	equal(t, state(t, pid) != "", true)
	check(t, in.Close())
	check(t, c.Wait())
	eventually(t, "its end", func() bool { return state(t, pid) == "" || state(t, pid) == "Z" })

	c = Command("sleep", "1000")
	// of the process, not the thread
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		done <- c.Start()
	}()
	check(t, <-done)
	time.Sleep(20 * time.Millisecond)
	pid, err = c.Process.PID()
	check(t, err)
	if of := state(t, pid); of == "" || of == "Z" {
		t.Fatal(of)
	}
	check(t, c.Process.Kill())
	c.Wait()
}

func TestAnActionCannotBeChanged(t *testing.T) {
	of := reflect.TypeOf(action.Action{})
	for i := 0; i < of.NumField(); i++ {
		if of.Field(i).IsExported() {
			t.Errorf("C trusts in %s", of.Field(i).Name)
		}
	}
}

func TestZeroValues(t *testing.T) {
	p, s := new(Process), new(ProcessState)
	equal(t, p.Release(), nil)
	_, pid := p.PID()
	_, pidfd := p.Pidfd()
	_, wait := p.Wait()
	equal(t, wait, syscall.EINVAL)
	for _, err := range []error{pid, pidfd, p.Kill(), p.KillTree(0), p.SignalGroup(os.Kill), p.Signal(syscall.Signal(0))} {
		equal(t, err.Error(), "os: process not initialized")
	}
	equal(t, fmt.Sprint(s, s.UserTime(), s.SystemTime(), s.Pid(), s.Success()), "exit status 0 0s 0s 0 true")
}

// An output that another process holds does not keep Output from reaping the child.
func TestOutputReapsAChildWhoseOutputIsHeld(t *testing.T) {
	file, done := filepath.Join(t.TempDir(), "pids"), make(chan error)
	go func() {
		_, err := shell("sleep 1000 & echo $$ $! >$1", file).Output()
		done <- err
	}()
	var child, holder int
	eventually(t, "the child is reaped", func() bool {
		text, _ := os.ReadFile(file)
		fmt.Sscan(string(text), &child, &holder)
		return holder != 0 && syscall.Kill(child, 0) == syscall.ESRCH
	})
	syscall.Kill(holder, syscall.SIGKILL)
	equal(t, <-done, nil)
}

// A program that closes its outputs may go on.
func TestOutputWaitsForAProgramWithoutOutputs(t *testing.T) {
	for _, run := range []func(*Cmd) ([]byte, error){(*Cmd).Output, (*Cmd).CombinedOutput} {
		out, err := run(shell("echo text; exec >&- 2>&-; sleep 0.1; exit 3"))
		equal(t, string(out), "text\n")
		equal(t, fmt.Sprint(err), "exit status 3")
	}
}

// Commands use the memory of earlier ones, which were longer.
func TestCommandAfterALongerCommand(t *testing.T) {
	for length := 1 << 16; length > 0; length /= 4 {
		text := strings.Repeat("x", length)
		c := shell("echo $1 $2 $a", text, text)
		c.Env = []string{"a=" + text}
		equal(t, output(t, c), text+" "+text+" "+text+"\n")
	}
}

// helper closed: starts a program without standard streams, whose numbers pipes must not get.
func withoutStreams(...string) {
	os.Pipe() // the runtime's poller has descriptors of its own
	for fd := 0; fd < 3; fd++ {
		syscall.Close(fd)
	}
	c := shell("read a; echo $a; exit 3")
	c.Stdin, c.Stderr = strings.NewReader("text"), new(bytes.Buffer)
	out, err := c.StdoutPipe()
	low := ""
	for fd := 0; fd < 3; fd++ {
		name, _ := os.Readlink(fmt.Sprint("/proc/self/fd/", fd))
		low += name
	}
	if err != nil || low != "" || c.Start() != nil {
		os.Exit(1)
	}
	text, _ := io.ReadAll(out)
	if err := c.Wait(); err == nil || err.Error() != "exit status 3" || string(text) != "text\n" {
		os.Exit(2)
	}
	var files [3]*os.File // with the numbers that their program needs, and closed at an exec
	for fd := range files {
		files[fd], _ = os.OpenFile("/dev/null", os.O_RDWR, 0)
	}
	c = shell("for fd in 0 1 2; do [ -e /proc/self/fd/$fd ] || exit 4; done")
	c.Stdin, c.Stdout, c.Stderr = files[0], files[1], files[2]
	if files[2].Fd() != 2 || c.Run() != nil {
		os.Exit(3)
	}
	os.Exit(0)
}

func TestNoPipeIsAStandardStream(t *testing.T) {
	c := helper("closed")
	equal(t, c.Run(), nil)
}

func withAttr(attr syscall.SysProcAttr, script string) *Cmd {
	c := shell(script)
	c.SysProcAttr = &attr
	return c
}

func TestSysProcAttr(t *testing.T) {
	const ids = "set -- $(sed 's/.*) //' /proc/$$/stat); test $3 = $$ && echo leads; test $4 = $$ && echo session; true"
	equal(t, output(t, withAttr(syscall.SysProcAttr{Setpgid: true}, ids)), "leads\n")
	equal(t, output(t, withAttr(syscall.SysProcAttr{Setsid: true}, ids)), "leads\nsession\n")
	equal(t, output(t, withAttr(syscall.SysProcAttr{}, ids)), "")
	for _, attr := range []syscall.SysProcAttr{{Ptrace: true}, {Cloneflags: syscall.CLONE_NEWPID},
		{Setctty: true, Setsid: true, Ctty: 3}} {
		err := withAttr(attr, "exit 3").Start()
		if failed := new(fs.PathError); !errors.As(err, &failed) || failed.Op != "fork/exec" || failed.Path != "/usr/bin/sh" {
			t.Fatalf("%T: %v", err, err)
		}
	}
	attr := new(syscall.SysProcAttr)
	if pidfd := reflect.ValueOf(attr).Elem().FieldByName("PidFD"); pidfd.IsValid() { // Go 1.22
		pidfd.Set(reflect.ValueOf(new(int)))
		if err := withAttr(*attr, "exit 3").Start(); err == nil || !strings.Contains(err.Error(), "SysProcAttr.PidFD") {
			t.Fatal(err)
		}
	}
	c := withAttr(syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}, "exit 4")
	runtime.LockOSThread()
	equal(t, c.Run().Error(), "exit status 4")
	runtime.UnlockOSThread()
}

func TestGroupsAreSignalled(t *testing.T) {
	c := withAttr(syscall.SysProcAttr{Setpgid: true}, "sleep 1000 & echo $!; wait")
	pid := leavesAnother(t, c)
	check(t, c.Process.SignalGroup(syscall.SIGKILL))
	equal(t, c.Wait().Error(), "signal: killed")
	eventually(t, "its end", func() bool { return state(t, pid) == "" || state(t, pid) == "Z" })
}

func TestSysProcAttrOfRoot(t *testing.T) {
	needsRoot(t)
	credential := &syscall.Credential{Uid: 1234, Gid: 1235, Groups: []uint32{1236, 1237}}
	c := withAttr(syscall.SysProcAttr{Credential: credential}, "id -u; id -G")
	equal(t, output(t, c), "1234\n1235 1236 1237\n")
	c = withAttr(syscall.SysProcAttr{Credential: credential, AmbientCaps: []uintptr{10}}, "id -u; grep CapEff /proc/self/status")
	equal(t, output(t, c), "1234\nCapEff:\t0000000000000400\n")
	root := t.TempDir()
	c = Command("/inside")
	c.SysProcAttr, c.Dir = &syscall.SysProcAttr{Chroot: root}, "/"
	if err := c.Run(); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	check(t, os.Mkdir(root+"/below", 0o755))
	c.Process = nil
	c = Command("/below")
	c.SysProcAttr, c.Dir = &syscall.SysProcAttr{Chroot: root}, "/"
	if err := c.Run(); !errors.Is(err, os.ErrPermission) { // it is there
		t.Fatal(err)
	}
	c = withAttr(syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}, "readlink /proc/self/ns/mnt")
	own, err := os.Readlink("/proc/self/ns/mnt")
	check(t, err)
	out, err := c.Output()
	if exited := new(ExitError); err != nil && !errors.As(err, &exited) {
		t.Skip("no namespace of mounts:", err)
	}
	if strings.TrimSpace(string(out)) == own {
		t.Fatal(own)
	}
}

// A terminal: this end, and that of the program.
func terminal(t *testing.T) (*os.File, *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close() })
	var number, locked int32
	for request, of := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &locked} {
		if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(of))); err != 0 {
			t.Skip(err)
		}
	}
	slave, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

func TestTerminal(t *testing.T) {
	_, slave := terminal(t)
	c := withAttr(syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}, "set -- $(cat /proc/$$/stat); echo $7; test $8 = $$ && echo front")
	c.ExtraFiles = []*os.File{slave}
	out := strings.Fields(output(t, c))
	if len(out) < 1 || out[0] == "0" {
		t.Fatal(out)
	}
	const flush = 0x540b // TCFLSH, except on MIPS and PowerPC; of 0, the input
	c = acting([]action.Action{action.Ioctl(action.FD(3), flush, nil)}, "echo flushed")
	c.ExtraFiles = []*os.File{slave}
	equal(t, output(t, c), "flushed\n")
	c = helper("terminals")
	c.Stdin = slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	equal(t, output(t, c), "none\nforeground\n")
}

func onTerminal(script string) *Cmd {
	c := shell(script)
	c.Terminal = new(Terminal)
	return c
}

func TestAProgramOnATerminalLeadsItsSession(t *testing.T) {
	for name, begin := range map[string]func(*Cmd){
		"":        func(*Cmd) {},
		"private": func(c *Cmd) { c.Owner = OwnerPrivate },
		"copied":  func(c *Cmd) { c.Memory = MemoryCopied },
		"awaited": func(c *Cmd) { c.AwaitExec = true },
		"setsid":  func(c *Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} },
	} {
		c := onTerminal("stty size; tty <&2; set -- $(sed 's/.*) //' /proc/$$/stat); test $3 = $4 -a $3 = $6 -a $5 != 0 && echo leads")
		begin(c)
		check(t, c.Start())
		text, err := io.ReadAll(c.Terminal)
		check(t, err)
		check(t, c.Wait())
		if !regexp.MustCompile("^24 80\r\n/dev/pts/\\d+\r\nleads\r\n$").Match(text) {
			t.Errorf("%s: %q", name, text)
		}
		check(t, c.Terminal.Close())
	}
}

func TestTerminalIsAFileThatEndsAndIsResized(t *testing.T) {
	c := onTerminal("stty size; read line; stty size; exit 3")
	c.Terminal.Rows, c.Terminal.Columns = 7, 9
	if err := c.Terminal.Resize(1, 1); !errors.Is(err, os.ErrInvalid) {
		t.Fatal(err)
	}
	check(t, c.Start())
	check(t, c.Terminal.SetReadDeadline(time.Now().Add(time.Minute))) // of the poller
	line := make([]byte, 5)
	_, err := io.ReadFull(c.Terminal, line)
	check(t, err)
	equal(t, string(line), "7 9\r\n")
	check(t, c.Terminal.Resize(30, 65535))
	_, err = c.Terminal.WriteString("\n")
	check(t, err)
	equal(t, c.Wait().Error(), "exit status 3")
	rest := new(bytes.Buffer)
	_, err = io.Copy(rest, c.Terminal) // after the end too
	check(t, err)
	equal(t, rest.String(), "\r\n30 65535\r\n")
	_, err = c.Terminal.Read(line)
	equal(t, err, io.EOF)
	check(t, c.Terminal.Close())
	if c.Terminal.Resize(1, 1) == nil {
		t.Fatal("it was resized")
	}
}

func TestClosingATerminalHangsTheProgramUp(t *testing.T) {
	c := Command("sleep", "1000")
	c.Terminal = new(Terminal)
	check(t, c.Start())
	check(t, c.Terminal.Close())
	equal(t, c.Wait().Error(), "signal: hangup")
}

func TestATerminalIsTheStreamsThatAreNil(t *testing.T) {
	equal(t, output(t, onTerminal("test -t 0 && test ! -t 1 && test ! -t 2 && echo text")), "text\n")
	c := onTerminal("test -t 0 && test ! -t 1 && test -t 2 && echo text")
	out := new(bytes.Buffer)
	c.Stdout = out
	check(t, c.Run())
	equal(t, out.String(), "text\n")
	check(t, c.Terminal.Close())
	c = onTerminal("exit 3")
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, out, out
	equal(t, c.Run().Error(), "aspawn: no stream is left for the Terminal")
	c = onTerminal("exit 3")
	c.Path, c.AwaitExec, c.Actions = "/no/such/program", true, []action.Action{action.Umask(0)}
	if err := c.Run(); !errors.Is(err, os.ErrNotExist) || !errors.Is(c.Terminal.Close(), os.ErrClosed) {
		t.Fatal(err)
	}
}

// helper crossed: streams of this process as others of a program, one of which is a terminal.
func crossed(...string) {
	c := onTerminal("echo out; echo err >&2; test -t 0 && read a && echo $a")
	c.Stdout, c.Stderr, c.ExtraFiles = os.Stderr, os.Stdout, []*os.File{os.Stdin}
	exitIf(c.Start())
	c.Terminal.WriteString("typed\n")
	exitIf(c.Wait())
	c = shell("cat <&3")
	c.Stdout, c.ExtraFiles = os.Stdout, []*os.File{os.Stdin}
	exitIf(c.Run())
}

func TestStreamsAreCrossed(t *testing.T) {
	c := helper("crossed")
	var out, err bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader("input"), &out, &err
	check(t, c.Run())
	equal(t, out.String(), "err\ninput")
	equal(t, err.String(), "out\ntyped\n")
}

func TestControlGroup(t *testing.T) {
	needsRoot(t)
	mounts, err := os.ReadFile("/proc/self/mounts")
	check(t, err)
	found := regexp.MustCompile(`(?m)^\S+ (\S+) cgroup2 rw`).FindSubmatch(mounts)
	if found == nil {
		t.Skip("no control groups of version 2")
	}
	path := fmt.Sprintf("%s/aspawn-go-%d", found[1], os.Getpid())
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Skip(err)
	}
	defer os.Remove(path)
	group, err := os.Open(path)
	check(t, err)
	defer group.Close()
	c := acting([]action.Action{action.JoinCgroup(group)}, another+"wait")
	pid := leavesAnother(t, c)
	if err := KillCgroup(group); errors.Is(err, os.ErrNotExist) {
		c.Process.Kill()
		syscall.Kill(pid, syscall.SIGKILL)
		t.Skip("before Linux 5.14")
	}
	equal(t, c.Wait().Error(), "signal: killed")
	eventually(t, "the group is empty", func() bool { return os.Remove(path) == nil })
}

// The runtime raises the limit of this process at its start.
func TestDescriptorLimitIsRestored(t *testing.T) {
	var limit syscall.Rlimit
	check(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if limit.Max < 300 {
		t.Skip("a low limit")
	}
	if version := runtime.Version(); strings.HasPrefix(version, "go1.19") || strings.HasPrefix(version, "go1.20") {
		t.Skip("before Go 1.21 the limit may be raised before it can be read")
	}
	exe, err := os.Executable()
	check(t, err)
	c := Command("sh", "-c", `ulimit -S -n 256; exec "$@"`, "sh", exe, "-test.run", "^TestShowsItsLimit$", "-test.v")
	if text := output(t, c); !strings.Contains(text, "its child has 256") {
		t.Fatal(text)
	}
}

func TestShowsItsLimit(t *testing.T) {
	fmt.Print("its child has ", output(t, shell("ulimit -n")))
}

func TestPidfd(t *testing.T) {
	c := Command("sleep", "1000")
	check(t, c.Start())
	pidfd, err := c.Process.Pidfd()
	check(t, err)
	defer pidfd.Close()
	check(t, c.Process.Kill())
	c.Wait()
	if c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL || c.ProcessState.Exited() ||
		c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss == 0 {
		t.Fatal(c.ProcessState)
	}
}

func threads(t *testing.T) (count int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	check(t, err)
	_, rest, _ := strings.Cut(string(text), "\nThreads:")
	fmt.Sscan(rest, &count)
	return
}

// Goroutines that wait for children keep no thread in C.
func TestWaitsTakeNoThread(t *testing.T) {
	const count = 100
	output(t, Command("true"))
	before := threads(t)
	var all sync.WaitGroup
	commands := make([]*Cmd, count)
	for i := range commands {
		c := Command("sleep", "1000")
		c.Stdout = new(strings.Builder)
		if i%2 == 1 {
			c.Owner = OwnerPrivate
		}
		commands[i] = c
		check(t, c.Start())
		all.Add(1)
		go func() {
			c.Wait()
			all.Done()
		}()
	}
	time.Sleep(20 * time.Millisecond)
	if now := threads(t); now > before+count/2 {
		t.Errorf("%d threads, before %d", now, before)
	}
	for _, c := range commands {
		check(t, c.Process.Kill())
	}
	all.Wait()
}

// As on a kernel without pidfds, or after somebody has killed a helper.
func TestWaitsWithoutPidfd(t *testing.T) {
	c := shell("sleep 0.03; exit 6")
	m := newMessage(c, []any{nil, nil, nil}, os.Environ())
	m.command.flags |= 8 // ASPAWN_COMMAND_NO_PIDFD
	p, err := start(m)
	check(t, err)
	state, err := p.Wait()
	check(t, err)
	if p.ended != nil {
		t.Fatal("it has one")
	}
	equal(t, state.String(), "exit status 6")
}

// With no descriptor left either.
func TestWaitsOfManyGoroutines(t *testing.T) {
	var limit syscall.Rlimit
	check(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	for i := 0; i < 200; i++ {
		c := Command("sleep", "0.005")
		check(t, c.Start())
		check(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: limit.Max}))
		states, begin := make(chan *ProcessState), make(chan struct{})
		for j := 0; j < 6; j++ {
			go func() {
				<-begin
				state, err := c.Process.Wait()
				if err != nil {
					state = nil
				}
				states <- state
			}()
		}
		close(begin)
		ends := 0
		for j := 0; j < 6; j++ {
			if state := <-states; state != nil {
				ends++
			}
		}
		check(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
		equal(t, ends, 1)
	}
}

// Handles that nobody waits for are collected, with their descriptors.
func TestCollected(t *testing.T) {
	before := descriptors(t)
	for i := 0; i < 50; i++ {
		check(t, Command("true").Start())
	}
	for i := 0; i < 50; i++ {
		_, err := Command("true").StdoutPipe() // never started
		check(t, err)
	}
	eventually(t, "descriptors are closed", func() bool {
		runtime.GC()
		return descriptors(t) <= before+1
	})
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil {
			break
		}
	}
}

// While os/exec does the same.
func TestManyBesideOsExec(t *testing.T) {
	var all sync.WaitGroup
	for worker := 0; worker < 16; worker++ {
		all.Add(1)
		go func(worker int) {
			defer all.Done()
			for i := 0; i < 20; i++ {
				want := fmt.Sprintf("%d %d\n", worker, i)
				var out []byte
				var err error
				if worker%4 == 0 {
					out, err = exec.Command("echo", fmt.Sprint(worker), fmt.Sprint(i)).Output()
				} else {
					c := Command("echo", fmt.Sprint(worker), fmt.Sprint(i))
					c.Owner = Owner(worker%4 - 1)
					out, err = c.Output()
				}
				if err != nil || string(out) != want {
					t.Errorf("%q, want %q: %v", out, want, err)
				}
			}
		}(worker)
	}
	all.Wait()
}

// A program that was just written is executed, although others start meanwhile: golang/go#22315.
func TestTextIsNotBusy(t *testing.T) {
	directory := t.TempDir()
	stop := make(chan bool)
	var all sync.WaitGroup
	starts := func() *Cmd { return acting([]action.Action{action.OnlyBelow(3)}, "") }
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for {
				select {
				case <-stop:
					return
				default:
					starts().Run()
				}
			}
		}()
	}
	for i := 0; i < 50; i++ {
		path := fmt.Sprint(directory, "/program", i)
		check(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755))
		c := Command(path)
		c.Actions = []action.Action{action.OnlyBelow(3)}
		check(t, c.Run())
	}
	close(stop)
	all.Wait()
}
