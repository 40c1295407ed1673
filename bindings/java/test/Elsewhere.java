// SPDX-License-Identifier: MIT
import static aspawn.Constants.SIGKILL;
import static aspawn.Constants.SIGTERM;
import static aspawn.Constants.SIGUSR1;

import aspawn.Action;
import aspawn.Child;
import aspawn.Command;
import aspawn.CommandQueue;
import aspawn.Job;
import aspawn.Result;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

/** A program for each system, run as if on another one: its argument is why the
 * library does not work. */
public final class Elsewhere {
    private static int count;

    private static void check(boolean holds) {
        count++;
        if (!holds) throw new AssertionError("check " + count);
    }

    private static void isRefused(String what, String problem, Callable<?> call) throws Exception {
        try {
            call.call();
        } catch (UnsupportedOperationException e) {
            if (!e.getMessage().equals("aspawn: " + what + ": " + problem)) throw e;
            check(true);
            return;
        }
        throw new AssertionError(what + " is ignored");
    }

    private static String read(Child child) throws IOException { return new String(child.getInputStream().readAllBytes()); }

    public static void main(String[] arguments) throws Exception {
        String problem = arguments[0];
        check(!Command.supported() && Command.problem().equals(problem));

        Command shell = new Command("sh", "-c", "echo $A; pwd; echo err >&2; exit 3").redirectErrorStream(true).directory(new File("/"));
        shell.environment().put("A", "1");
        Child child = shell.start();
        check(read(child).equals("1\n/\nerr\n") && child.waitFor() == 3 && child.exitValue() == 3 && child.failure() == null);
        child = new Command("cat").start();
        try (OutputStream input = child.getOutputStream()) {
            input.write("text".getBytes());
        }
        check(read(child).equals("text") && child.onExit().get() == child && child.onExit(ForkJoinPool.commonPool()).get() == child);
        List<Child> children = Command.startPipeline(List.of(new Command("echo", "a"), new Command("tr", "a", "b")));
        check(read(children.get(1)).equals("b\n") && children.get(0).waitFor() == 0);

        child = new Command("sleep", "100").start();
        check(!child.waitFor(10, TimeUnit.MILLISECONDS) && child.isAlive() && child.pid() > 0 && child.toHandle().isAlive());
        check(child.kill(SIGTERM) && child.waitFor() == 128 + SIGTERM && !child.kill(SIGKILL));
        Child other = new Command("sleep", "100").start();
        check(other.destroyForcibly() == other && other.waitFor() == 128 + SIGKILL);
        try {
            new Command("/no/such").start();
            check(false);
        } catch (IOException e) {
            check(e.getMessage().startsWith("Cannot run program \"/no/such\": error=2"));
        }

        isRefused("owner TREE", problem, () -> new Command("true").tree().start());
        isRefused("owner PRIVATE", problem, () -> new Command("true").owner(Command.Owner.PRIVATE).start());
        isRefused("memory COPIED", problem, () -> new Command("true").memory(Command.Memory.COPIED).start());
        isRefused("diesWithCaller()", problem, () -> new Command("true").diesWithCaller(true).start());
        isRefused("stopSignal()", problem, () -> new Command("true").stopSignal(SIGUSR1).start());
        isRefused("controlGroup()", problem, () -> new Command("true").controlGroup("/sys/fs/cgroup").start());
        isRefused("pty()", problem, () -> new Command("true").pty(24, 80).start());
        isRefused("user()", problem, () -> new Command("true").user(1, 1).start());
        isRefused("action(), limit() and terminal()", problem, () -> new Command("true").action(Action.chdir("/")).start());
        isRefused("owner TREE", problem, () -> Command.startPipeline(List.of(new Command("true"), new Command("true").tree())));
        isRefused("kill(" + SIGUSR1 + ")", problem, () -> other.kill(SIGUSR1));
        isRefused("killGroup()", problem, () -> other.killGroup(SIGTERM));
        isRefused("killTree()", problem, () -> other.killTree(Duration.ZERO));
        isRefused("resize()", problem, () -> {
            other.resize(24, 80);
            return null;
        });
        isRefused("signal()", problem, other::signal);
        isRefused("outputPipe()", problem, () -> other.getInputStream(Action.outputPipe(3)));
        isRefused("inputPipe()", problem, () -> other.getOutputStream(Action.inputPipe(3)));
        isRefused("CommandQueue", problem, () -> {
            try (CommandQueue queue = new CommandQueue(1)) {
                Result result = queue.submit(new Job("true").timeLimit(Duration.ofSeconds(1))).get();
                return result.userTime();
            }
        });
        System.out.println(count + " checks");
    }
}
