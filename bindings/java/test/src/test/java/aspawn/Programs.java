// SPDX-License-Identifier: MIT
package aspawn;

import java.io.File;
import java.io.FileInputStream;
import java.io.FilePermission;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.Permission;
import java.security.Policy;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** What the tests share: programs to start, and what they did. As a program:
 * this class in a Java of its own. */
final class Programs {
    final String out, err;
    final int exit;

    private Programs(Process process) throws Exception {
        CompletableFuture<String> output = CompletableFuture.supplyAsync(() -> text(process.getErrorStream()));
        out = text(process.getInputStream());
        err = output.get();
        exit = process.waitFor();
    }

    static Command sh(String script, String... arguments) {
        Command command = new Command("sh", "-c", script, "sh");
        command.command().addAll(List.of(arguments));
        return command;
    }

    static Programs run(Command command) throws Exception {
        return run(command.start());
    }

    static Programs run(Process process) throws Exception {
        return new Programs(process);
    }

    static Programs run(Command command, String input) throws Exception {
        Child child = command.start();
        child.getOutputStream().write(input.getBytes());
        child.getOutputStream().close();
        return new Programs(child);
    }

    static String text(InputStream from) {
        try {
            return new String(from.readAllBytes());
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Ends when its input ends. */
    static Child waiting() throws IOException {
        return new Command("cat").start();
    }

    static boolean isEventually(Callable<Boolean> condition) throws Exception {
        for (long end = System.nanoTime() + 60_000_000_000L; System.nanoTime() < end; Thread.sleep(5))
            if (condition.call()) return true;
        return false;
    }

    /** A Java that executes main() below, with the same classes. */
    static Command java(String... arguments) {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-Xshare:auto",
                "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), Programs.class.getName()));
        // 24 warns without
        if (Runtime.version().feature() >= 17) command.add(1, "--enable-native-access=ALL-UNNAMED");
        command.addAll(List.of(arguments));
        return new Command(command);
    }

    static void write(File file, String text, boolean isExecutable) throws IOException {
        Files.deleteIfExists(file.toPath());
        Files.writeString(file.toPath(), text);
        file.setExecutable(isExecutable);
    }

    static void copy(String from, File to) throws IOException {
        Files.copy(Path.of(from), to.toPath(), StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
    }

    /** With -XX:ThreadStackSize=65536: while the address space has no room for the
     * stack of a thread. */
    private static int withoutThread() throws Exception {
        if (Command.problem() != null) return 7; // and loads the library
        String size = Files.readString(Path.of("/proc/self/status")).replaceAll("(?s).*VmSize:\\s*(\\d+).*", "$1");
        Process limits = new ProcessBuilder("sh", "-c", "prlimit --pid $PPID --as=$1: && echo && read line; prlimit --pid $PPID --as=unlimited: && echo",
                "sh", "" + (Long.parseLong(size) + 40_000) * 1024).start();
        if (limits.getInputStream().read() < 0) return 1;
        int before = new File("/proc/self/fd").list().length;
        try {
            new Command("cat").start();
            return 2;
        } catch (OutOfMemoryError e) {
            if (new File("/proc/self/fd").list().length != before) return 3;
        }
        try {
            new CommandQueue(1);
            return 4;
        } catch (OutOfMemoryError e) {
            if (new File("/proc/self/fd").list().length != before) return 5;
            limits.getOutputStream().close();
            if (limits.getInputStream().read() < 0) return 6;
        }
        CommandQueue queue = new CommandQueue(1);
        return queue.submit(new Command("true")).get(60, TimeUnit.SECONDS).exitValue();
    }

    /** With a small heap: a child and a job end while it is full,
     * and have written more than there is memory for. */
    private static int withFullHeap() throws Exception {
        CommandQueue queue = new CommandQueue(2);
        queue.submit(new Command("true")).get();
        run(new Command("true"));
        Child child = sh("head -c 60000 /dev/zero; echo >&2; exec sleep 100").start();
        child.getErrorStream().read();
        CompletableFuture<Process> exit = child.onExit();
        CompletableFuture<Result> job = queue.submit(sh("while kill -0 $1 2>/dev/null; do sleep 0.01; done; head -c 4000 /dev/zero", "" + child.pid()));
        child.kill(0);
        Object[] all = null;
        for (int size = 1 << 18; size > 1; size /= 2) {
            try {
                for (;;) {
                    Object[] more = new Object[size];
                    more[0] = all;
                    all = more;
                }
            } catch (OutOfMemoryError e) {
                // filled with smaller ones
            }
        }
        child.kill(Constants.SIGKILL);
        // not for the end, but while nothing can be had
        for (int i = 0; i < 50; i++) Thread.sleep(20);
        all = null;
        if (!child.waitFor(60, TimeUnit.SECONDS) || child.exitValue() != 137) return 1;
        if (exit.get(60, TimeUnit.SECONDS) != child) return 2;
        if (child.getInputStream().readAllBytes().length != 60000) return 3;
        try {
            job.get(60, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof OutOfMemoryError)) return 4;
        }
        if (!run(new Command("echo", "x")).out.equals("x\n")) return 5;
        return queue.submit(new Command("true")).get(60, TimeUnit.SECONDS).exitValue();
    }

    /** While so many descriptors are free, the first start fails with an IOException,
     * or does not; later ones work. */
    private static int withDescriptors(int free) throws Exception {
        List<FileInputStream> all = new ArrayList<>();
        try {
            for (;;) all.add(new FileInputStream("/dev/null"));
        } catch (IOException e) {
            for (int i = 0; i < free; i++) all.remove(all.size() - 1).close();
        }
        boolean hasProblem = Command.problem() != null;
        try {
            new Command("true").start().waitFor();
            if (hasProblem) return 1;
        } catch (IOException e) {
            if (!e.getMessage().startsWith("Cannot run program \"true\": ")) throw e;
        }
        for (FileInputStream each : all) each.close();
        for (int i = 0; i < 2; i++)
            if (new Command("true").start().waitFor() != 0) return 2;
        return Command.problem() == null ? 0 : 3;
    }

    /** With a SecurityManager that permits nothing. */
    private static void withoutPermission() throws Exception {
        for (int i = 0; i < 3; i++) {
            for (Callable<?> each : List.<Callable<?>>of(() -> new Command("true").start(), () -> new CommandQueue(1), Command::problem)) {
                try {
                    each.call();
                    throw new IllegalStateException("not refused");
                } catch (SecurityException e) {
                    // as it should be
                }
            }
        }
    }

    /** With a policy that permits nothing but programs, after the first start. */
    private static void withPermissionToExecute() throws Exception {
        new Command("true").start().waitFor();
        Policy.setPolicy(new Policy() {
            @Override
            public boolean implies(ProtectionDomain domain, Permission permission) {
                return permission instanceof FilePermission && permission.getActions().equals("execute");
            }
        });
        if (new Command("true").start().waitFor() != 0) throw new IllegalStateException("not started");
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "inherit":
                Command command = sh("read line; echo \"out $line\"; echo err >&2; exit 3");
                if (arguments.length > 1) command.inheritIO();
                else command.redirectInput(ProcessBuilder.Redirect.INHERIT).redirectOutput(ProcessBuilder.Redirect.INHERIT)
                        .redirectError(ProcessBuilder.Redirect.INHERIT);
                System.exit(command.start().waitFor());
                break;
            case "pid":
                System.out.println(ProcessHandle.current().pid());
                break;
            case "getenv":
                System.out.print(System.getenv(arguments[1]));
                break;
            case "no PATH":
                if (System.getenv("PATH") != null) System.exit(1);
                Command other = new Command("false");
                other.environment().put("PATH", "nowhere");
                System.exit(new Command("true").start().waitFor() == 0 && other.start().waitFor() == 1 ? 0 : 2);
                break;
            case "PATH":
                SearchCases.run();
                break;
            case "collected":
                System.out.print(run(sh("echo collected")).out);
                break;
            case "no thread":
                System.exit(withoutThread());
                break;
            case "full heap":
                System.exit(withFullHeap());
                break;
            case "descriptors":
                System.exit(withDescriptors(Integer.parseInt(arguments[1])));
                break;
            case "no permission":
                withoutPermission();
                break;
            case "permission to execute":
                withPermissionToExecute();
                break;
            case "environ":
                ProcessBuilder cat = new ProcessBuilder("cat", "/proc/self/environ");
                String inherited = text(cat.start().getInputStream());
                Command unchanged = new Command(cat.command());
                unchanged.environment().size();
                System.out.print(inherited);
                System.exit(inherited.equals(run(new Command(cat)).out) && inherited.equals(run(unchanged).out) ? 0 : 1);
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
    }
}
