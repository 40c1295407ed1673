// SPDX-License-Identifier: MIT
package aspawn;

import static aspawn.Constants.CLONE_NEWUTS;
import static aspawn.Constants.O_CREAT;
import static aspawn.Constants.O_WRONLY;
import static aspawn.Constants.RLIMIT_NOFILE;
import static aspawn.Constants.SIGHUP;
import static aspawn.Constants.SIGKILL;
import static aspawn.Constants.SIGTERM;
import static aspawn.Constants.SIGUSR1;
import static aspawn.Programs.run;
import static aspawn.Programs.sh;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What ProcessBuilder has not, and what a Java runtime does to a library. */
class CommandTest {
    @TempDir
    File directory;

    @Test
    void isSupportedHere() {
        assertNull(Command.problem());
    }

    @Test
    void startsWhatAProcessBuilderSays() throws Exception {
        ProcessBuilder builder = new ProcessBuilder("sh", "-c", "echo $NAME; pwd").directory(new File("/")).redirectErrorStream(true);
        builder.environment().put("NAME", "value");
        assertEquals("value\n/\n", run(new Command(builder)).out);
        assertEquals("value\n/\n", run(new Command(builder).builder().start()).out);
    }

    // --- actions

    @Test
    void actionsAreDoneInTheirOrder() throws Exception {
        Command command = sh("pwd; umask; ulimit -n; echo $NAME; ps -o sid= -p $$ | tr -d ' '")
                .limit(RLIMIT_NOFILE, 77).action(Action.chdir("/usr"), Action.umask(037), Action.setenv("NAME", "x"), Action.setsid());
        Child child = command.start();
        assertEquals("/usr\n0037\n77\nx\n" + child.pid() + "\n", run(child).out);
    }

    @Test
    void aFailureNamesTheAction() {
        StartException failure = assertThrows(StartException.class, () -> new Command("true").directory(new File("/"))
                .action(Action.umask(0), Action.chdir("/missing")).start());
        assertEquals(List.of(2, 1, "action 1, chdir \"/missing\": ENOENT"), List.of(failure.errno(), failure.action(), failure.failure()));
        assertTrue(failure.getMessage().startsWith("Cannot run program \"true\" (in directory \"/\"): error=2, No such file"));
    }

    @Test
    void landlockPassesItsFlagsToTheKernel() throws Exception {
        try (FileInputStream file = new FileInputStream("/dev/null")) {
            List<String> failures = new ArrayList<>();
            for (Action landlock : List.of(Action.landlock(file.getFD()), Action.landlock(file.getFD(), 1 << 31)))
                failures.add(assertThrows(StartException.class, () -> new Command("true").action(Action.noNewPrivs(), landlock).start()).failure());
            // EBADFD: no ruleset. Without Landlock both are ENOSYS or the like.
            assertTrue(!failures.get(0).contains("EBADFD") || failures.get(1).contains("EINVAL"), failures.toString());
        }
    }

    @Test
    void anInvalidActionIsAnIllegalArgument() throws Exception {
        StartException kernels = assertThrows(StartException.class, () -> new Command("true").action(Action.rlimit(4711, 1, 1)).start());
        assertEquals(List.of(22, 0), List.of(kernels.errno(), kernels.action()));
        Throwable failure = assertThrows(IllegalArgumentException.class, () -> new Command("true").action(Action.umask(0), Action.dup2(-1, 5)).start());
        assertEquals("aspawn: not a valid action 1, dup2", failure.getMessage());
        assertEquals(List.of(22, 1), List.of(((StartException) failure.getCause()).errno(), ((StartException) failure.getCause()).action()));
        FileInputStream closed = new FileInputStream("/dev/null");
        Action ofClosed = Action.dup2(closed.getFD(), 5);
        closed.close();
        assertThrows(IllegalArgumentException.class, () -> new Command("true").action(ofClosed).start());
        assertThrows(IllegalArgumentException.class, () -> Action.chdir("/\0"));
        assertThrows(NullPointerException.class, () -> Action.chdir(null));
        assertThrows(IllegalArgumentException.class, () -> Action.sigmask(0));
        assertThrows(IllegalArgumentException.class, () -> new Command("true").limit(RLIMIT_NOFILE, -2));
        for (int resource : new int[] {-1, 4711}) assertThrows(IllegalArgumentException.class, () -> new Command("true").limit(resource, 1));
    }

    @Test
    void descriptorsAndFilesAreGiven() throws Exception {
        File file = new File(directory, "file");
        Files.writeString(file.toPath(), "given");
        try (FileInputStream input = new FileInputStream(file)) {
            Command command = sh("cat <&5; echo out >&6; ls /proc/self/fd | wc -l");
            command.action(Action.dup2(input.getFD(), 5), Action.open(6, directory + "/other", O_WRONLY | O_CREAT, 0600));
            assertEquals("given6\n", run(command).out); // 0, 1, 2, 5, 6, and that of ls
        }
        assertEquals("out\n", Files.readString(Path.of(directory + "/other")));
    }

    @Test
    void pipesOfActionsAreStreams() throws Exception {
        Action output = Action.outputPipe(7), input = Action.inputPipe(8);
        Child child = sh("cat <&8 >&7").action(Action.umask(0), output, input).start();
        try (OutputStream to = child.getOutputStream(input)) {
            to.write("through".getBytes());
        }
        assertEquals("through", Programs.text(child.getInputStream(output)));
        assertEquals(0, child.waitFor());
        assertThrows(IllegalArgumentException.class, () -> child.getInputStream(Action.outputPipe(7)));
        assertThrows(IllegalArgumentException.class, () -> child.getInputStream(input));
    }

    @Test
    void signalsAreAsTheyShouldBe() throws Exception {
        String mask = run(new Command("grep", "^Sig[BI]", "/proc/self/status").action(Action.signalsIgnore(SIGHUP, SIGUSR1))).out;
        assertTrue(mask.matches("(?s)SigBlk:\\s+0+\nSigIgn:\\s+0*[0-9a-f]*[2367abef]0[13579bdf]\n"), mask);
    }

    /** It is no action that was added. */
    @Test
    void aUserThatIsNoneIsRejected() {
        for (int[] ids : new int[][] {{-1, -1}, {-1, 65534}, {65534, -1}}) {
            Throwable failure = assertThrows(IllegalArgumentException.class, () -> new Command("true").user(ids[0], ids[1]).start());
            assertEquals("aspawn: not a valid user", failure.getMessage());
            assertEquals(-1, ((StartException) failure.getCause()).action());
        }
    }

    @Test
    void changesTheUser() throws Exception {
        assumeTrue("0".equals(run(new Command("id", "-u")).out.trim()), "needs root");
        assertEquals("uid=65534 gid=65533 groups=65533,65532", run(new Command("sh", "-c", "echo uid=$(id -u) gid=$(id -g) groups=$(id -G | tr ' ' ,)")
                .user(65534, 65533, 65532)).out.trim());
        String secret = secret();
        assertEquals(13, assertThrows(StartException.class, () -> new Command(secret).user(65534, 65534).start()).errno());
    }

    private String secret() throws IOException {
        File file = new File(directory, "secret");
        Programs.copy("/bin/true", file);
        Files.setPosixFilePermissions(file.toPath(), PosixFilePermissions.fromString("rwx------"));
        return file.getPath();
    }

    @Test
    void joinsAControlGroup() throws Exception {
        Path group = Path.of("/sys/fs/cgroup/aspawn-java-" + ProcessHandle.current().pid());
        try {
            Files.createDirectory(group);
        } catch (IOException e) {
            assumeTrue(false, "no control group can be made: " + e);
        }
        try {
            assumeTrue(Files.exists(group.resolve("cgroup.procs")), "no control groups of version 2");
            Child child = new Command("cat").controlGroup(group.toString()).start();
            assertEquals(child.pid() + "\n", Files.readString(group.resolve("cgroup.procs")));
            child.destroy();
            child.waitFor();
        } finally {
            assertTrue(Programs.isEventually(() -> group.toFile().delete()));
        }
    }

    @Test
    void aControlGroupThatIsNoneIsNamed() {
        for (String path : List.of("/missing", directory.getPath())) {
            IOException failure = assertThrows(IOException.class, () -> new Command("true").controlGroup(path).start());
            assertTrue(failure.getMessage().startsWith("Cannot run program \"true\" (in control group \"" + path + "\"): error=2"), failure.getMessage());
        }
        assertThrows(NullPointerException.class, () -> new Command("true").controlGroup(null));
        assertThrows(IllegalArgumentException.class, () -> new Command("true").controlGroup("/\0"));
    }

    @Test
    void entersNamespaces() throws Exception {
        assumeTrue(run(sh("unshare --uts true 2>/dev/null")).exit == 0, "no namespaces");
        assertEquals("other\n", run(new Command("uname", "-n").action(Action.unshare(CLONE_NEWUTS), Action.hostname("other"))).out);
    }

    // --- whose child

    private static boolean isGone(long pid) {
        return !new File("/proc/" + pid).exists();
    }

    @Test
    void aTreeEndsAsAWhole() throws Exception {
        for (boolean isForced : new boolean[] {false, true}) {
            Child child = sh("setsid sh -c 'sleep 100 & echo $!; wait' & trap '' TERM; echo $$; sleep 100; sleep 100").tree().start();
            byte[] numbers = new byte[64];
            String lines = "";
            while (lines.chars().filter(c -> c == '\n').count() < 2)
                lines += new String(numbers, 0, child.getInputStream().read(numbers));
            List<Long> pids = Arrays.stream(lines.trim().split("\n")).map(Long::valueOf).collect(Collectors.toList());
            assertTrue(pids.contains(child.pid()));
            if (isForced) child.destroyForcibly();
            else child.killTree(Duration.ofMillis(10));
            child.waitFor();
            for (long pid : pids) assertTrue(isGone(pid));
        }
    }

    @Test
    void aTreeEndsByItsStopSignal() throws Exception {
        Child child = sh("trap 'exit 7' USR1; echo; while :; do sleep 0.01; done").stopSignal(Constants.SIGUSR1).tree().start();
        child.getInputStream().read();
        child.killTree(Duration.ofHours(1));
        assertEquals(7, child.waitFor());
    }

    @Test
    void aTreeEndsWithItsProgram() throws Exception {
        Child child = sh("setsid sleep 100 </dev/null >/dev/null 2>&1 & echo $!; exit 4").tree().start();
        Programs result = run(child);
        assertEquals(4, result.exit);
        assertTrue(isGone(Long.parseLong(result.out.trim())));
    }

    @Test
    void privateChildrenHaveStatusAndNumber() throws Exception {
        for (Command command : List.of(sh("exit 6").owner(Command.Owner.PRIVATE), sh("exit 6").diesWithCaller(true),
                sh("exit 6").memory(Command.Memory.COPIED))) {
            Child child = command.start();
            assertEquals(6, child.onExit().get().exitValue());
            assertTrue(child.pid() > 0 && child.toHandle().pid() == child.pid());
        }
    }

    @Test
    void signalsReachAProgramAndItsGroup() throws Exception {
        Child child = sh("sleep 100").action(Action.setpgid(0)).start();
        assertThrows(IllegalStateException.class, () -> child.killTree(Duration.ZERO));
        assertTrue(child.killGroup(SIGTERM));
        assertEquals(128 + SIGTERM, child.waitFor());
        assertEquals(SIGTERM, child.signal());
        assertFalse(child.kill(SIGTERM) || child.killGroup(SIGTERM));
        Child waiting = Programs.waiting();
        for (int number : new int[] {-5, 65}) assertThrows(IllegalArgumentException.class, () -> waiting.kill(number));
        waiting.destroy();
        Child other = sh("trap 'exit 9' USR1; echo; while :; do sleep 0.01; done").start();
        assertEquals('\n', other.getInputStream().read());
        assertTrue(other.kill(SIGUSR1));
        assertEquals(9, other.waitFor());
        assertEquals(0, other.signal());
    }

    @Test
    void aChildWhoseHelperIsKilledIsWaitedFor() throws Exception {
        Child child = sh("read line").owner(Command.Owner.PRIVATE).start();
        long helper = Long.parseLong(Arrays.stream(Files.readString(Path.of("/proc/" + child.pid() + "/status")).split("\n"))
                .filter(line -> line.startsWith("PPid:")).findFirst().orElseThrow().substring(5).trim());
        assertTrue(ProcessHandle.of(helper).orElseThrow().destroyForcibly());
        assertFalse(child.waitFor(50, TimeUnit.MILLISECONDS));
        child.getOutputStream().close();
        child.waitFor();
        assertFalse(child.isAlive());
    }

    private static Child childOfAKilledHelper() throws Exception {
        Path self = Path.of("/proc/thread-self").toRealPath();
        Path children = self.resolve("children");
        // On one processor, so that the helper most often has not begun.
        if (run(new Command("taskset", "-cp", "0", self.getFileName().toString())).exit != 0 || !Files.exists(children)) return null;
        for (int i = 0; i < 20; i++) {
            Child child = sh("exit 3").owner(Command.Owner.PRIVATE).start();
            for (String helper : Files.readString(children).split(" "))
                if (!helper.isEmpty()) ProcessHandle.of(Long.parseLong(helper)).ifPresent(ProcessHandle::destroyForcibly);
            child.waitFor();
            if (child.signal() == SIGKILL) return child;
        }
        return null;
    }

    @Test
    void aChildThatWasNeverClonedHasNoNumber() throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        Child child = thread.submit(CommandTest::childOfAKilledHelper).get();
        thread.shutdown();
        assumeTrue(child != null, "each helper has cloned, or cannot be found");
        assertEquals(0, child.pid());
        assertEquals(0, child.toHandle().pid());
    }

    // --- start

    @Test
    void anExecThatFailsLaterIsTold() throws Exception {
        File program = new File(directory, "program");
        Files.write(program.toPath(), new byte[] {0x7f, 'E', 'L', 'F', 1, 2, 3, 4});
        program.setExecutable(true);
        // looks like a program; the shell cannot execute it either
        Child child = new Command(program.getPath()).start();
        assertTrue(child.waitFor() != 0);
        Programs.write(program, "#!/missing/interpreter\n", true);
        StartException failure = assertThrows(StartException.class, () -> new Command(program.getPath()).start());
        assertEquals(2, failure.errno());
    }

    @Test
    void argumentsThatAreTooLongAreRejected() throws Exception {
        char[] text = new char[200_000];
        Arrays.fill(text, 'x');
        assertEquals(7, assertThrows(StartException.class, () -> new Command("true", new String(text)).start()).errno());
        assertEquals("200001\n", run(sh("echo \"$*\" | wc -c", new String(text, 0, 100_000), new String(text, 0, 99_999))).out);
        assertThrows(IOException.class, () -> new Command("true", "a\0b").start());
    }

    @Test
    void pipelinesPassTheirOutputOn() throws Exception {
        List<Child> children = Command.startPipeline(List.of(sh("echo b; echo a; echo error >&2"), new Command("sort")
                .redirectErrorStream(true), new Command("tr", "a-z", "A-Z")));
        assertEquals("A\nB\n", Programs.text(children.get(2).getInputStream()));
        assertEquals(-1, children.get(0).getInputStream().read());
        assertEquals("error\n", Programs.text(children.get(0).getErrorStream()));
        for (Child child : children) assertEquals(0, child.waitFor());
        assertThrows(IllegalArgumentException.class, () -> Command.startPipeline(List.of(new Command("a").inheritIO(), new Command("b"))));
        assertThrows(IOException.class, () -> Command.startPipeline(List.of(sh("cat").redirectErrorStream(true), new Command("missing"))));
    }

    /** The first ends before the second begins. */
    @Test
    void pipelinesOfShortProgramsPassTheirOutputOn() throws Exception {
        for (int i = 0; i < 50; i++) {
            List<Child> children = Command.startPipeline(List.of(new Command("echo", "word").redirectErrorStream(true), new Command("cat")));
            assertEquals("word\n", Programs.text(children.get(1).getInputStream()));
        }
    }

    @Test
    void muchGoesThrough() throws Exception {
        byte[] bytes = new byte[3_000_000];
        for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) (i * 31 >> 3);
        Child child = new Command("cat").start();
        Thread writer = new Thread(() -> {
            try (OutputStream to = child.getOutputStream()) {
                to.write(bytes);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        writer.start();
        assertTrue(Arrays.equals(bytes, child.getInputStream().readAllBytes()));
        writer.join();
        Child closed = sh("exec <&-; echo; sleep 100").start();
        closed.getInputStream().read();
        assertEquals("Broken pipe", assertThrows(IOException.class, () -> {
            closed.getOutputStream().write(bytes);
        }).getMessage());
        closed.destroy();
    }

    @Test
    void outputAfterTheEndIsNotLost() throws Exception {
        Child child = sh("{ read line; echo late; } <&3 & echo early", "").action(Action.dup2(0, 3)).start();
        child.waitFor(); // its stdin is closed then, which ends the other
        assertEquals("early\nlate\n", Programs.text(child.getInputStream()));
    }

    // --- the runtime

    private static int descriptors() {
        return new File("/proc/self/fd").list().length;
    }

    /** What the descriptors of a process are. */
    private static List<String> links(String pid) {
        List<String> links = new ArrayList<>();
        for (File file : new File("/proc/" + pid + "/fd").listFiles()) {
            try {
                links.add(Files.readSymbolicLink(file.toPath()).toString());
            } catch (IOException e) {
                // closed meanwhile
            }
        }
        return links;
    }

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().equals("aspawn")).collect(Collectors.toList());
    }

    @Test
    void twoHundredChildrenNeedOneThreadAndSurviveCollections() throws Exception {
        run(new Command("true"));
        int threads = Thread.activeCount(), before = descriptors();
        List<Child> children = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            children.add(sh("read line; echo $1 $line; exit " + i % 100, "" + i).start());
            if (i % 50 == 0) System.gc();
        }
        assertEquals(1, threads().size());
        assertTrue(Thread.activeCount() <= threads + 1);
        List<Integer> exits = new ArrayList<>();
        for (Child child : children) child.onExit().thenAccept(process -> {
            synchronized (exits) {
                exits.add(process.exitValue());
            }
        });
        for (int i = 0; i < 200; i++) {
            try (OutputStream to = children.get(i).getOutputStream()) {
                to.write("line\n".getBytes());
            }
            if (i % 50 == 0) System.gc();
        }
        for (int i = 0; i < 200; i++) {
            assertEquals(i + " line\n", Programs.text(children.get(i).getInputStream()));
            assertEquals(i % 100, children.get(i).waitFor());
        }
        assertTrue(Programs.isEventually(() -> exits.size() == 200));
        children.clear();
        assertTrue(Programs.isEventually(() -> descriptors() <= before));
    }

    @Test
    void childrenThatNobodyKeepsAreReaped() throws Exception {
        int before = descriptors();
        long[] pids = new long[200];
        for (int i = 0; i < pids.length; i++) {
            pids[i] = new Command("echo", "unread").start().pid();
            if (i % 20 == 0) System.gc();
        }
        for (long pid : pids) assertTrue(Programs.isEventually(() -> isGone(pid)));
        assertTrue(Programs.isEventually(() -> descriptors() <= before));
    }

    /** The end may come when the thread has been told of the line, and does not wait any more. */
    @Test
    void streamsThatAreReadInPartLeaveNoDescriptor() throws Exception {
        run(new Command("true"));
        int before = descriptors();
        for (int i = 0; i < 500; i++) {
            Child child = new Command("echo", "line").start();
            assertEquals('l', child.getInputStream().read());
            child.waitFor();
        }
        assertTrue(Programs.isEventually(() -> descriptors() <= before));
    }

    @Test
    void aFailedStartLeavesNoDescriptor() throws Exception {
        run(new Command("true"));
        int before = descriptors();
        for (int i = 0; i < 10; i++)
            assertThrows(StartException.class, () -> new Command("true")
                    .action(Action.outputPipe(7), Action.inputPipe(8), Action.chdir("/missing")).start());
        // Maven's plugin starts a ps now and then
        assertTrue(Programs.isEventually(() -> descriptors() <= before));
    }

    @Test
    void pipesThatADescendantHoldsAreClosedWhenTheirStreamsAreCollected() throws Exception {
        List<ProcessHandle> others = new ArrayList<>();
        List<String> held = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Child child = sh("sleep 100 2>/dev/null & echo $! >&2").start();
            String pid = Programs.text(child.getErrorStream()).trim();
            others.add(ProcessHandle.of(Long.parseLong(pid)).orElseThrow());
            held.addAll(links(pid).stream().filter(link -> link.startsWith("pipe:")).collect(Collectors.toList()));
            child.waitFor();
        }
        assertTrue(held.size() >= 10);
        assertTrue(Programs.isEventually(() -> threads().isEmpty())); // nothing is started any more
        assertTrue(Programs.isEventually(() -> {
            System.gc();
            return Collections.disjoint(held, links("self"));
        }));
        others.forEach(ProcessHandle::destroyForcibly);
    }

    @Test
    void startsAreMadeByManyThreads() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(16);
        List<Future<String>> outputs = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            String word = "word" + i;
            outputs.add(pool.submit(() -> run(new Command("echo", word)).out));
        }
        for (int i = 0; i < outputs.size(); i++) assertEquals("word" + i + "\n", outputs.get(i).get());
        pool.shutdown();
    }

    @Test
    void aHeapOf8GibibytesIsNoHindrance() throws Exception {
        Command java = Programs.java("collected");
        java.command().add(1, "-Xmx8g");
        java.command().add(2, "-Xms8g");
        assertEquals("collected", run(java).out.trim());
    }

    @Test
    void aThreadThatCannotStartLeavesNoChildAndNoQueue() throws Exception {
        Command java = Programs.java("no thread");
        java.command().add(1, "-XX:ThreadStackSize=65536");
        succeeds(java);
    }

    private static void succeeds(Command java) throws Exception {
        Programs result = run(java);
        assertEquals(0, result.exit, result.err);
    }

    @Test
    void aChildThatEndsWhileTheHeapIsFullIsWaitedFor() throws Exception {
        Command java = Programs.java("full heap");
        java.command().add(1, "-Xmx32m");
        succeeds(java);
    }

    @Test
    void aFirstStartWithoutDescriptorsFailsAloneAndNotForEver() throws Exception {
        for (int free : new int[] {0, 1, 2, 3, 4, 5, 8}) succeeds(Programs.java("descriptors", "" + free).limit(RLIMIT_NOFILE, 100));
    }

    @Test
    void aSecurityManagerIsAskedAtEachStart() throws Exception {
        assumeTrue(Runtime.version().feature() < 24, "no SecurityManager from Java 24");
        for (String program : List.of("no permission", "permission to execute", "collected")) {
            Command java = Programs.java(program);
            File policy = new File(directory, "policy");
            Files.writeString(policy.toPath(), !program.startsWith("no") ? "grant { permission java.security.AllPermission; };" : "grant { };");
            java.command().addAll(1, List.of("-Djava.security.manager", "-Djava.security.policy==" + policy));
            succeeds(java);
        }
    }

    /** Strings without "=", and names that are there twice: no shell passes these. */
    @Test
    void anUnchangedEnvironmentIsInheritedAsItIs() throws Exception {
        Command java = Programs.java("environ");
        java.command().addAll(0, List.of("python3", "-c", "import ctypes, sys\nlibc = ctypes.CDLL(None)\n"
                + "def array(strings): return (ctypes.c_char_p * (len(strings) + 1))(*[s.encode() for s in strings], None)\n"
                + "libc.execve(sys.argv[1].encode(), array(sys.argv[1:]), array(['ODD', 'TWICE=1', 'TWICE=2', 'PATH=/usr/bin:/bin']))"));
        Programs result = run(java);
        assertEquals(0, result.exit, result.err);
        assertTrue(result.out.startsWith("ODD\0TWICE=1\0TWICE=2\0"), result.out);
    }

    @Test
    void onExitIsCompletedByAnExecutor() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor(task -> new Thread(task, "own"));
        Child child = Programs.waiting();
        Future<String> name = child.onExit(executor).thenApply(process -> Thread.currentThread().getName());
        child.getOutputStream().close();
        assertEquals("own", name.get());
        executor.shutdown(); // and takes no more
        Child other = Programs.waiting();
        Future<Process> end = other.onExit(executor);
        other.getOutputStream().close();
        assertEquals(0, end.get().exitValue());
        assertThrows(NullPointerException.class, () -> other.onExit(null));
    }

    @Test
    void theClassesAreUnloaded() throws Exception {
        run(new Command("true"));
        long before = pollers();
        URL jar = Command.class.getProtectionDomain().getCodeSource().getLocation();
        WeakReference<ClassLoader> loader = useAndForget(jar);
        assertTrue(Programs.isEventually(() -> {
            System.gc();
            return loader.get() == null && pollers() <= before;
        }));
        assertEquals("still here\n", run(new Command("echo", "still here")).out);
    }

    /** Its server executes what the library has in memory. */
    @Test
    void theClassesStayWhileAQueueIsOpen() throws Exception {
        URL jar = Command.class.getProtectionDomain().getCodeSource().getLocation();
        WeakReference<AutoCloseable> queue = openAndForget(jar);
        for (int i = 0; i < 20; i++) {
            System.gc();
            Thread.sleep(150); // the poller ends when it was idle for two seconds
        }
        WeakReference<ClassLoader> loader = new WeakReference<>(queue.get().getClass().getClassLoader());
        queue.get().close();
        assertTrue(Programs.isEventually(() -> {
            System.gc();
            return loader.get() == null;
        }));
    }

    private static WeakReference<AutoCloseable> openAndForget(URL jar) throws Exception {
        ClassLoader loader = new URLClassLoader(new URL[] {jar}, ClassLoader.getPlatformClassLoader());
        Class<?> type = Class.forName("aspawn.CommandQueue", true, loader), command = Class.forName("aspawn.Command", true, loader);
        AutoCloseable queue = (AutoCloseable) type.getConstructor(int.class).newInstance(1);
        Object job = command.getConstructor(String[].class).newInstance((Object) new String[] {"true"});
        ((Future<?>) type.getMethod("submit", command).invoke(queue, job)).get();
        return new WeakReference<>(queue);
    }

    private static long pollers() {
        return links("self").stream().filter(link -> link.contains("eventpoll")).count();
    }

    private static WeakReference<ClassLoader> useAndForget(URL jar) throws Exception {
        ClassLoader loader = new URLClassLoader(new URL[] {jar}, ClassLoader.getPlatformClassLoader());
        Class<?> other = Class.forName("aspawn.Command", true, loader);
        assertTrue(other != Command.class);
        for (String owner : List.of("CALLER", "TREE")) {
            Object command = other.getConstructor(String[].class).newInstance((Object) new String[] {"true"});
            Class<?> type = Class.forName("aspawn.Command$Owner", true, loader);
            other.getMethod("owner", type).invoke(command, type.getField(owner).get(null));
            assertEquals(0, ((Process) other.getMethod("start").invoke(command)).waitFor());
        }
        return new WeakReference<>(loader);
    }

    /** With one carrier (pom.xml): a virtual thread that waits here lets others go on. */
    @Test
    void virtualThreadsAreNotPinned() throws Exception {
        Method make;
        try {
            make = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
        } catch (NoSuchMethodException e) {
            assumeTrue(false, "no virtual threads before Java 21");
            return;
        }
        ExecutorService pool = (ExecutorService) make.invoke(null);
        Child child = Programs.waiting();
        CountDownLatch begun = new CountDownLatch(2);
        Future<Integer> end = pool.submit(() -> {
            begun.countDown();
            return child.waitFor();
        });
        Future<String> output = pool.submit(() -> {
            begun.countDown();
            return Programs.text(child.getInputStream());
        });
        Future<Integer> other = pool.submit(() -> {
            begun.await();
            Thread.sleep(20);
            child.getOutputStream().write("done".getBytes());
            child.getOutputStream().close();
            return sh("exit 3").action(Action.umask(0)).start().waitFor();
        });
        assertEquals(List.of(3, 0, "done"), List.of(other.get(60, TimeUnit.SECONDS), end.get(60, TimeUnit.SECONDS), output.get(60, TimeUnit.SECONDS)));
        pool.shutdown();
    }
}
