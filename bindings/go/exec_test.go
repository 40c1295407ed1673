// SPDX-License-Identifier: MIT

//go:build linux

package aspawn

// The cases of os/exec's own tests, under their names: CASES.md.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test program is also the programs that tests start: its first argument is "helper".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		helpers[os.Args[2]](os.Args[3:]...)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var helpers = map[string]func(...string){
	"pwd": func(...string) {
		directory, err := os.Getwd()
		fmt.Println(directory)
		exitIf(err)
	},
	"listener": func(...string) {
		listener, err := net.FileListener(os.NewFile(3, "3"))
		exitIf(err)
		fmt.Print(listener.Addr())
	},
	"files": func(...string) { // those from 3 up, but of the runtime
		for fd := 3; fd < 100; fd++ {
			name, err := os.Readlink(fmt.Sprint("/proc/self/fd/", fd))
			if err == nil && !strings.HasPrefix(name, "anon_inode:[event") && !strings.HasPrefix(name, "/proc") &&
				!strings.HasPrefix(name, "/sys") {
				fmt.Println(fd, name)
			}
		}
	},
	"interrupted": func(...string) {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt)
		fmt.Println("ready")
		<-signals
	},
}

func exitIf(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func helper(name string, arg ...string) *Cmd {
	path, err := os.Executable()
	exitIf(err)
	return Command(path, append([]string{"helper", name}, arg...)...)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func shell(script string, arg ...string) *Cmd {
	return Command("sh", append([]string{"-c", script, "sh"}, arg...)...)
}

func output(t *testing.T, c *Cmd) string {
	t.Helper()
	out, err := c.Output()
	if exited := new(ExitError); errors.As(err, &exited) {
		t.Fatalf("%v: %s", err, exited.Stderr)
	}
	check(t, err)
	return string(out)
}

func TestEcho(t *testing.T) {
	equal(t, output(t, Command("echo", "one two", "three")), "one two three\n")
}

func TestCommandRelativeName(t *testing.T) {
	directory := t.TempDir()
	check(t, os.Mkdir(directory+"/bin", 0o755))
	check(t, os.Symlink("/bin/echo", directory+"/bin/program"))
	c := Command("bin/program", "found")
	c.Dir = directory
	equal(t, output(t, c), "found\n")
}

func TestCatStdin(t *testing.T) {
	c := Command("cat")
	c.Stdin = strings.NewReader("a line\nand a rest")
	equal(t, output(t, c), "a line\nand a rest")
}

func TestEchoFileRace(t *testing.T) {
	c := Command("true")
	in, err := c.StdinPipe()
	check(t, err)
	check(t, c.Start())
	wrote := make(chan bool)
	go func() {
		fmt.Fprintln(in, "text")
		close(wrote)
	}()
	check(t, c.Wait())
	<-wrote
}

func TestCatGoodAndBadFile(t *testing.T) {
	good := t.TempDir() + "/good"
	check(t, os.WriteFile(good, []byte("good text"), 0o600))
	out, err := Command("cat", "/no/such/file", good).CombinedOutput()
	if _, is := err.(*ExitError); !is {
		t.Fatalf("%T: %v", err, err)
	}
	line, rest, _ := strings.Cut(string(out), "\n")
	if !strings.Contains(line, "/no/such/file") || rest != "good text" {
		t.Fatalf("%q", out)
	}
}

func TestNoExistExecutable(t *testing.T) {
	for _, start := range []func(*Cmd) error{(*Cmd).Run, (*Cmd).Start} {
		if err := start(Command("/no/such/program")); !errors.Is(err, os.ErrNotExist) ||
			err.Error() != "fork/exec /no/such/program: no such file or directory" {
			t.Fatal(err)
		}
	}
}

func TestExitStatus(t *testing.T) {
	err := shell("exit 42").Run()
	if _, is := err.(*ExitError); !is {
		t.Fatalf("%T: %v", err, err)
	}
	equal(t, err.Error(), "exit status 42")
	equal(t, shell("kill -TERM $$").Run().Error(), "signal: terminated")
}

func TestExitCode(t *testing.T) {
	for _, code := range []int{42, 255, 0} {
		c := shell("exit $1", strconv.Itoa(code))
		c.Run()
		equal(t, c.ProcessState.ExitCode(), code)
	}
	c := Command("true")
	equal(t, c.ProcessState.ExitCode(), -1)
	equal(t, c.ProcessState.String(), "<nil>")
}

func TestPipes(t *testing.T) {
	c := shell("read a; echo out $a; read b; echo err $b >&2; read c; echo out $c")
	in, err := c.StdinPipe()
	check(t, err)
	out, err := c.StdoutPipe()
	check(t, err)
	errors, err := c.StderrPipe()
	check(t, err)
	check(t, c.Start())
	outLines, errLines := bufio.NewReader(out), bufio.NewReader(errors)
	for _, step := range []struct {
		write string
		read  *bufio.Reader
		want  string
	}{{"1", outLines, "out 1\n"}, {"2", errLines, "err 2\n"}, {"3", outLines, "out 3\n"}} {
		_, err = fmt.Fprintln(in, step.write)
		check(t, err)
		line, err := step.read.ReadString('\n')
		check(t, err)
		equal(t, line, step.want)
	}
	check(t, in.Close())
	check(t, c.Wait())
}

func TestStdinClose(t *testing.T) {
	c := shell(`test "$(cat)" = "all of it"`)
	in, err := c.StdinPipe()
	check(t, err)
	if _, has := in.(interface{ Fd() uintptr }); !has {
		t.Error("no method of the file")
	}
	check(t, c.Start())
	go func() {
		if _, err := io.WriteString(in, "all of it"); err != nil {
			t.Error(err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}()
	check(t, c.Wait())
}

func TestStdinCloseRace(t *testing.T) {
	c := shell(`test "$(cat)" = "all of it"`)
	in, err := c.StdinPipe()
	check(t, err)
	check(t, c.Start())
	go c.Process.Kill()
	go func() {
		io.WriteString(in, "something else")
		// by Wait, as from Go 1.23 on
		if err := in.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	}()
	if c.Wait() == nil {
		t.Fatal("it succeeded")
	}
}

// Descriptors of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	return len(files)
}

func TestPipeLookPathLeak(t *testing.T) {
	output(t, Command("true")) // the runtime's poller
	before := descriptors(t)
	for i := 0; i < 5; i++ {
		c := Command("no-such-program-at-all")
		for _, pipe := range []func() (io.ReadCloser, error){c.StdoutPipe, c.StderrPipe} {
			_, err := pipe()
			check(t, err)
		}
		_, err := c.StdinPipe()
		check(t, err)
		if err := c.Run(); !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
	}
	equal(t, descriptors(t), before)
}

// Many orders of descriptors, whose numbers overlap those of the program.
func TestExtraFilesFDShuffle(t *testing.T) {
	const count = 12
	inherited := map[string]bool{}
	for _, fd := range strings.Fields(output(t, shell("ls /proc/$$/fd"))) {
		inherited[fd] = true
	}
	for _, step := range []int{1, 5, 7, 11} { // each reaches all files
		script, want := "", ""
		files := make([]*os.File, count)
		for i := range files {
			read, write, err := os.Pipe()
			check(t, err)
			defer read.Close()
			fmt.Fprintln(write, i)
			write.Close()
			files[i] = read
		}
		c := Command("bash", "-c", "")
		for at := range files {
			i := count - 1 - at*step%count
			c.ExtraFiles = append(c.ExtraFiles, files[i])
			script += fmt.Sprintf("read a <&%d; echo $a; ", 3+at)
			want += fmt.Sprintln(i)
		}
		for fd := 3 + count; fd < 100; fd++ { // no copy is left
			if !inherited[fmt.Sprint(fd)] {
				script += fmt.Sprintf("test ! -e /proc/self/fd/%d || echo %d; ", fd, fd)
			}
		}
		c.Args[2] = script
		equal(t, output(t, c), want)
	}
	// The streams in another order, too.
	c := shell("echo to 1; echo to 2 >&2")
	read, write, err := os.Pipe()
	check(t, err)
	defer read.Close()
	saved, err := syscall.Dup(2)
	check(t, err)
	check(t, syscall.Dup3(int(write.Fd()), 2, 0))
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	check(t, err)
	c.Stdout, c.Stderr = os.Stderr, null
	err = c.Run()
	syscall.Dup3(saved, 2, 0)
	syscall.Close(saved)
	write.Close()
	check(t, err)
	text, err := io.ReadAll(read)
	check(t, err)
	equal(t, string(text), "to 1\n")
}

func TestExtraFiles(t *testing.T) {
	inherited := output(t, helper("files"))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer listener.Close()
	copied, err := listener.(*net.TCPListener).File()
	check(t, err)
	defer copied.Close()
	file, err := os.CreateTemp(t.TempDir(), "")
	check(t, err)
	defer file.Close()
	c := helper("files")
	c.ExtraFiles = []*os.File{file}
	equal(t, output(t, c), fmt.Sprintf("3 %s\n", file.Name())+inherited)
}

// A file that is nil is closed in the program.
func TestNilFiles(t *testing.T) {
	opened, err := os.Open("/dev/null")
	check(t, err)
	defer opened.Close()
	c := shell("for fd in 0 3 4; do test ! -e /proc/$$/fd/$fd || echo $fd; done")
	c.Stdin, c.ExtraFiles = (*os.File)(nil), []*os.File{nil, opened}
	equal(t, output(t, c), "4\n")
}

func TestExtraFilesRace(t *testing.T) {
	for i := 0; i < 10; i++ {
		var want, got [2]string
		var done [2]chan error
		for at := range done {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			check(t, err)
			file, err := listener.(*net.TCPListener).File()
			check(t, err)
			defer listener.Close()
			defer file.Close()
			c := helper("listener")
			c.ExtraFiles = []*os.File{file}
			want[at], done[at] = listener.Addr().String(), make(chan error)
			go func(at int) {
				out, err := c.CombinedOutput()
				got[at] = string(out)
				done[at] <- err
			}(at)
		}
		check(t, <-done[0])
		check(t, <-done[1])
		equal(t, got, want)
	}
}

type endless struct{}

func (endless) Read(to []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return len(to), nil
}

func TestIgnorePipeErrorOnSuccess(t *testing.T) {
	for _, in := range []io.Reader{bytes.NewReader(make([]byte, 10<<20)), endless{}} {
		c := Command("echo", "text")
		c.Stdin = in
		equal(t, output(t, c), "text\n")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestClosePipeOnCopyError(t *testing.T) {
	c := Command("yes")
	c.Stdout = broken{}
	if c.Run() == nil {
		t.Fatal("it succeeded")
	}
	c = Command("echo")
	c.Stdout = broken{}
	equal(t, c.Run(), io.ErrUnexpectedEOF)
}

func TestOutputStderrCapture(t *testing.T) {
	_, err := shell("echo why >&2; exit 1").Output()
	exited, is := err.(*ExitError)
	if !is {
		t.Fatalf("%T: %v", err, err)
	}
	equal(t, string(exited.Stderr), "why\n")
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := CommandContext(ctx, "cat")
	in, err := c.StdinPipe()
	check(t, err)
	out, err := c.StdoutPipe()
	check(t, err)
	check(t, c.Start())
	_, err = io.WriteString(in, "text\n")
	check(t, err)
	text := make([]byte, 5)
	_, err = io.ReadFull(out, text)
	check(t, err)
	go cancel()
	if err := c.Wait(); err == nil || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := CommandContext(ctx, "true").Start(); err != context.Canceled {
		t.Fatal(err)
	}
}

func TestContextCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := CommandContext(ctx, "cat")
	in, err := c.StdinPipe()
	check(t, err)
	check(t, c.Start())
	cancel()
	for err == nil { // killed, though nobody waits for it
		_, err = io.WriteString(in, "text")
	}
	if c.Wait() == nil {
		t.Fatal("it succeeded")
	}
}

func TestDedupEnvEcho(t *testing.T) {
	c := shell("echo $NAME")
	c.Env = append(c.Environ(), "NAME=bad", "NAME=good")
	equal(t, output(t, c), "good\n")
}

func TestEnvNULCharacter(t *testing.T) {
	c := shell("env")
	c.Env = append(c.Environ(), "ONE=1\x00TWO=2")
	if c.Run() == nil {
		t.Fatal("it succeeded")
	}
	if err := Command("/bin/echo", "a\x00b").Run(); !errors.Is(err, syscall.EINVAL) {
		t.Fatal(err)
	}
}

func TestString(t *testing.T) {
	path, err := LookPath("echo")
	check(t, err)
	equal(t, Command("echo").String(), path)
	equal(t, Command("echo", "a").String(), path+" a")
	equal(t, Command("echo", "a", "b").String(), path+" a b")
}

func TestStringPathNotResolved(t *testing.T) {
	equal(t, Command("no-such-program-at-all", "-a").String(), "no-such-program-at-all -a")
}

func TestNoPath(t *testing.T) {
	equal(t, new(Cmd).Start().Error(), "exec: no command")
}

func TestCredentialNoSetGroups(t *testing.T) {
	c := Command("echo", "text")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{
		Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid()), NoSetGroups: true}}
	equal(t, output(t, c), "text\n")
}

func TestWaitid(t *testing.T) {
	c := Command("sleep", "100")
	check(t, c.Start())
	check(t, c.Process.Signal(syscall.SIGSTOP))
	waited := make(chan error)
	go func() { waited <- c.Wait() }()
	for state(t, c.Process.Pid) != "T" {
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-waited:
		t.Fatal("it was only stopped", err)
	default:
	}
	check(t, c.Process.Signal(syscall.SIGCONT))
	check(t, c.Process.Kill())
	equal(t, (<-waited).Error(), "signal: killed")
}

// The letter of ps(1), or "" if there is no such process.
func state(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	return string(text[bytes.LastIndexByte(text, ')')+2])
}

func pwds(c *Cmd) (found []string) {
	for _, variable := range c.Environ() {
		if name, value, _ := strings.Cut(variable, "="); name == "PWD" {
			found = append(found, value)
		}
	}
	return
}

func TestImplicitPWD(t *testing.T) {
	here, err := os.Getwd()
	check(t, err)
	for directory, want := range map[string]string{"": here, ".": here, "..": filepath.Dir(here), here: here,
		here + "/..": filepath.Dir(here)} {
		c := helper("pwd")
		c.Dir = directory
		if directory != "" && !reflect.DeepEqual(pwds(c), []string{want}) {
			t.Errorf("%q: %q", directory, pwds(c))
		}
		equal(t, output(t, c), want+"\n")
	}
}

func TestExplicitPWD(t *testing.T) {
	here, err := os.Getwd()
	check(t, err)
	link := t.TempDir() + "/link"
	check(t, os.Symlink(here, link))
	for _, of := range []struct{ directory, pwd string }{{"", here}, {"", link}, {link, here}, {here, link}} {
		c := helper("pwd")
		c.Env = append(c.Environ(), "PWD="+of.pwd)
		c.Dir = of.directory
		if !reflect.DeepEqual(pwds(c), []string{of.pwd}) {
			t.Errorf("%q: %q", of, pwds(c))
		}
		equal(t, output(t, c), of.pwd+"\n")
	}
}

// Changes the directory of the process, until the test ends.
func inside(t *testing.T, directory string) {
	t.Helper()
	before, err := os.Getwd()
	check(t, err)
	check(t, os.Chdir(directory))
	t.Setenv("PWD", directory)
	t.Cleanup(func() { os.Chdir(before) })
}

func TestLookPath(t *testing.T) {
	directory := t.TempDir() + "/here"
	check(t, os.Mkdir(directory, 0o777))
	check(t, os.WriteFile(directory+"/program", []byte{1, 2, 3}, 0o777))
	inside(t, directory)
	for _, entry := range []string{".", "../here"} {
		t.Setenv("PATH", entry+":/bin")
		path, err := LookPath(entry + "/program")
		check(t, err)
		equal(t, path, entry+"/program")
		if _, err := LookPath("program"); !errors.Is(err, ErrDot) {
			t.Fatal(err)
		}
		c := Command("program")
		if !errors.Is(c.Err, ErrDot) || !errors.Is(c.Run(), ErrDot) {
			t.Fatal(c.Err)
		}
		c = Command("program")
		c.Err = nil
		if err := c.Run(); !errors.Is(err, syscall.ENOEXEC) {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", directory+":/bin")
	c := Command("program")
	check(t, c.Err)
	equal(t, c.Path, directory+"/program")
	t.Setenv("PATH", "")
	if path, err := LookPath("program"); err == nil {
		t.Fatal(path)
	}
}

func TestDedupEnv(t *testing.T) {
	for _, of := range []struct{ in, want []string }{
		{[]string{"k1=v1", "K1=v2", "k1=v3"}, []string{"K1=v2", "k1=v3"}},
		{[]string{"=a", "=b", "foo", "bar"}, []string{"=b", "foo", "bar"}},
		{[]string{"dodgy", "entries"}, []string{"dodgy", "entries"}},
		{[]string{"A=a\x00b", "B=b", "C\x00C=c"}, []string{"B=b"}},
	} {
		if got := (&Cmd{Env: of.in}).Environ(); !reflect.DeepEqual(got, of.want) {
			t.Errorf("%q: %q", of.in, got)
		}
	}
}

func TestPrefixSuffixSaver(t *testing.T) {
	for want, writes := range map[string][]string{
		"":                                  nil,
		"a":                                 {"a"},
		"abcd":                              {"abc", "d"},
		"ab\n... omitting 1 bytes ...\nde":  {"abc", "d", "e"},
		"ab\n... omitting 22 bytes ...\nyz": {"ab______________________yz"},
		"ab\n... omitting 23 bytes ...\nyz": {"ab_______________________y", "z"},
	} {
		e := &excerpt{most: 2}
		for _, text := range writes {
			length, err := e.Write([]byte(text))
			check(t, err)
			equal(t, length, len(text))
		}
		equal(t, string(e.Bytes()), want)
	}
	e := &excerpt{most: 10}
	for i := 0; i < 1000; i++ {
		fmt.Fprintf(e, "%09d ", i)
	}
	equal(t, string(e.Bytes()), "000000000 \n... omitting 9980 bytes ...\n000000999 ")
}

func TestLookPathNotFound(t *testing.T) {
	for _, name := range []string{"no-such-program-at-all", "no-such/program"} {
		path, err := LookPath(name)
		failed, is := err.(*Error)
		if !is || path != "" || failed.Name != name {
			t.Fatalf("%q, %T: %v", path, err, err)
		}
	}
}

func TestLookPathUnixEmptyPath(t *testing.T) {
	inside(t, t.TempDir())
	check(t, os.WriteFile("program", nil, 0o700))
	t.Setenv("PATH", "")
	if path, err := LookPath("program"); err == nil || path != "" {
		t.Fatal(path, err)
	}
}

// --- what os/exec has since 1.20 ---

func TestStart_twice(t *testing.T) {
	c := Command("true")
	check(t, c.Start())
	equal(t, c.Start().Error(), "exec: already started")
	check(t, c.Wait())
	equal(t, c.Wait().Error(), "exec: Wait was already called")
	equal(t, Command("true").Wait().Error(), "exec: not started")
}

func TestDoubleStartLeavesPipesOpen(t *testing.T) {
	c := Command("cat")
	in, err := c.StdinPipe()
	check(t, err)
	out, err := c.StdoutPipe()
	check(t, err)
	check(t, c.Start())
	if c.Start() == nil {
		t.Fatal("it started again")
	}
	_, err = io.WriteString(in, "text")
	check(t, err)
	check(t, in.Close())
	text, err := io.ReadAll(out)
	check(t, err)
	equal(t, string(text), "text")
	check(t, c.Wait())
}

// A program that ignores SIGINT, and leaves another one with its standard error.
const stubborn = `trap "" INT; sleep 1000 & echo $!; exec sleep 1000`

func TestWaitInterrupt(t *testing.T) {
	const never = 1000 * time.Hour
	for name, of := range map[string]struct {
		script string
		cancel func(*Cmd) func() error
		delay  time.Duration
		want   string
	}{
		"nothing is cancelled":        {"exit 3", nil, 0, "exit status 3"},
		"killed by the context":       {"echo; exec sleep 1000", (*Cmd).byKill, 0, "signal: killed"},
		"... before the delay":        {"echo; exec sleep 1000", (*Cmd).byKill, never, "signal: killed"},
		"an ignored signal, a delay":  {stubborn, (*Cmd).byInterrupt, time.Millisecond, "signal: killed"},
		"no cancel, a delay":          {"echo; exec sleep 1000", (*Cmd).byNothing, time.Millisecond, "signal: killed"},
		"an end, and an open output":  {"sleep 1000 & echo $!", nil, time.Millisecond, ErrWaitDelay.Error()},
		"success after it was killed": {`trap "exit 0" INT; echo; while :; do sleep 0.01; done`, (*Cmd).byInterrupt, never, "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			c := CommandContext(ctx, "sh", "-c", of.script)
			c.WaitDelay = of.delay
			c.Stderr = new(bytes.Buffer)
			out, err := c.StdoutPipe()
			check(t, err)
			if of.cancel != nil {
				c.Cancel = of.cancel(c)
			}
			check(t, c.Start())
			line, _ := bufio.NewReader(out).ReadString('\n')
			if of.cancel != nil {
				cancel()
			}
			equal(t, c.Wait().Error(), of.want)
			if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
				check(t, syscall.Kill(pid, syscall.SIGKILL))
			}
		})
	}
}

func (c *Cmd) byKill() func() error { return c.Cancel }
func (c *Cmd) byInterrupt() func() error {
	return func() error { return c.Process.Signal(os.Interrupt) }
}
func (c *Cmd) byNothing() func() error { return nil }

func TestCancelErrors(t *testing.T) {
	own := errors.New("own")
	for name, of := range map[string]struct {
		script string
		err    error
		is     error
	}{
		"success after an error":      {"read a", own, own},
		"success after it was done":   {"read a", os.ErrProcessDone, nil},
		"an exit code after an error": {"read a; exit 1", own, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			c := CommandContext(ctx, "sh", "-c", of.script)
			in, err := c.StdinPipe()
			check(t, err)
			c.Cancel = func() error {
				fmt.Fprintln(in)
				return of.err
			}
			check(t, c.Start())
			cancel()
			err = c.Wait()
			if exited := new(ExitError); of.script != "read a" && !errors.As(err, &exited) ||
				of.is != nil && !errors.Is(err, of.is) || of.script == "read a" && of.is == nil && err != nil {
				t.Fatal(err)
			}
		})
	}
	c := Command("true")
	c.Cancel = func() error { return nil }
	if c.Start() == nil {
		t.Fatal("it started")
	}
}

func TestConcurrentExec(t *testing.T) {
	const count = 10
	ctx, cancel := context.WithCancel(context.Background())
	results, ready := make(chan error), make(chan bool, count)
	for i := 0; i < count; i++ {
		c := helper("interrupted")
		c.ctx, c.Cancel = ctx, func() error { return c.Process.Signal(os.Interrupt) }
		out, err := c.StdoutPipe()
		check(t, err)
		go func() {
			err := c.Start()
			bufio.NewReader(out).ReadString('\n')
			ready <- true
			if err == nil {
				err = c.Wait()
			}
			results <- err
		}()
	}
	for i := 0; i < count; i++ {
		<-ready
	}
	cancel()
	for i := 0; i < count; i++ {
		equal(t, <-results, context.Canceled)
	}
}

func TestPathRace(t *testing.T) {
	c := Command("true")
	started := make(chan error)
	go func() { started <- c.Start() }()
	equal(t, c.String(), c.Path)
	check(t, <-started)
	check(t, c.Wait())
}

func TestSIGCHLD(t *testing.T) {
	for i := 0; i < 20; i++ {
		check(t, Command("true").Run())
	}
}
