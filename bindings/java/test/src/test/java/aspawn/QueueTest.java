// SPDX-License-Identifier: MIT
package aspawn;

import static aspawn.Programs.sh;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QueueTest {
    @TempDir
    File directory;

    private static Throwable failure(CompletableFuture<Result> future) {
        return assertThrows(ExecutionException.class, future::get).getCause();
    }

    @Test
    void resultsHaveStatusAndOutput() throws Exception {
        try (CommandQueue queue = new CommandQueue(4)) {
            Command command = sh("cat; echo $NAME >&2; pwd; umask; exit 3").directory(new File("/usr")).action(Action.umask(07));
            command.environment().put("NAME", "value");
            Result result = queue.submit(new Job(command).input("input\n".getBytes())).get();
            assertEquals(List.of(Result.Outcome.RAN, 3, 0), List.of(result.outcome(), result.exitValue(), result.signal()));
            assertEquals("input\n/usr\n0007\n", result.toString());
            assertEquals("value\n", new String(result.error()));
            assertTrue(result.ran().toNanos() > 0 && !result.waited().isNegative());
            assertEquals("ab\n", queue.submit(sh("printf a; echo b >&2").redirectErrorStream(true)).get().toString());
            assertEquals(0, queue.submit(sh("echo a").redirectOutput(ProcessBuilder.Redirect.DISCARD)).get().output().length);
            assertEquals("56", queue.submit(new Job("printf", "123456").keep(2).keepTail(true)).get().toString());
        }
    }

    @Test
    void resultsTellHowMuchWasCut() throws Exception {
        try (CommandQueue queue = new CommandQueue(1)) {
            Result result = queue.submit(new Job(sh("printf 123456; printf 789 >&2")).keep(2)).get();
            assertEquals(List.of("12", 6L, 3L), List.of(result.toString(), result.outputTotal(), result.errorTotal()));
        }
    }

    @Test
    void resultsTellWhatWasUsed() throws Exception {
        try (CommandQueue queue = new CommandQueue(1)) {
            Result result = queue.submit(sh("while test $(awk '{ print $14 }' /proc/$$/stat) -lt 5; do i=$((i + 1)); done")).get();
            assertTrue(result.userTime().toMillis() >= 20 && result.userTime().getSeconds() < 100, result.userTime().toString());
            assertTrue(!result.systemTime().isZero() && result.systemTime().getSeconds() < 100, result.systemTime().toString());
            assertTrue(result.maxResident() > 100 && result.maxResident() < 1 << 24, "" + result.maxResident());
        }
    }

    @Test
    void anExecutorCompletesItsFutures() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor(task -> new Thread(task, "own"));
        CompletableFuture<String> name;
        try (CommandQueue queue = new CommandQueue(0, 1, 0, executor)) {
            Path gate = Files.createTempFile("aspawn", null);
            name = queue.submit(sh("while [ -e " + gate + " ]; do sleep 0.01; done")).thenApply(result -> Thread.currentThread().getName());
            CompletableFuture<String> next = queue.submit(new Job("cat")).thenApply(result -> Thread.currentThread().getName());
            Files.delete(gate); // this thread calls what depends on a complete future
            assertEquals("own", next.get());
            executor.shutdown(); // and takes no more
            assertEquals(0, queue.submit(new Command("true")).get().exitValue());
        }
        assertEquals("own", name.get());
        assertThrows(NullPointerException.class, () -> new CommandQueue(0, 1, 0, null));
    }

    @Test
    void moreJobsThanPlacesAreDone() throws Exception {
        try (CommandQueue queue = new CommandQueue(8, 4, 0)) {
            List<CompletableFuture<Result>> futures = new ArrayList<>();
            for (int i = 0; i < 300; i++) futures.add(queue.submit(new Job("echo", "" + i)));
            for (int i = 0; i < 300; i++) assertEquals(i + "\n", futures.get(i).get().toString());
        }
    }

    @Test
    void failuresAreExceptions() throws Exception {
        try (CommandQueue queue = new CommandQueue(2)) {
            StartException missing = (StartException) failure(queue.submit(new Command("missing")));
            assertEquals(List.of(2, "search \"missing\": ENOENT"), List.of(missing.errno(), missing.failure()));
            StartException action = (StartException) failure(queue.submit(new Command("true").action(Action.umask(0), Action.chdir("/missing"))));
            assertEquals(List.of(1, "action 1, chdir \"/missing\": ENOENT"), List.of(action.action(), action.failure()));
            assertTrue(failure(queue.submit(new Command("true").inheritIO())) instanceof IllegalArgumentException);
            assertTrue(failure(queue.submit(new Command("true").owner(Command.Owner.PRIVATE))) instanceof IllegalArgumentException);
            assertEquals(0, queue.submit(new Command("true")).get().exitValue());
            assertEquals("aspawn: no program", failure(queue.submit(new Command())).getMessage());
            assertEquals("aspawn: not a valid user", failure(queue.submit(new Command("true").user(-1, -1))).getMessage());
            StartException large = (StartException) failure(queue.submit(new Job("true").input(new byte[100_000])));
            assertEquals(List.of(7, "argument \"jobBytes\": E2BIG"), List.of(large.errno(), large.failure()));
            assertThrows(NullPointerException.class, () -> queue.submit((Job) null));
        }
    }

    @Test
    void numbersThatAreNoneAreRejected() {
        for (int number : new int[] {-1, Integer.MAX_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> new CommandQueue(number));
            assertThrows(IllegalArgumentException.class, () -> new CommandQueue(number, 1, 0));
            assertThrows(IllegalArgumentException.class, () -> new CommandQueue(1, 1, number));
        }
    }

    @Test
    void whatWouldBeNoLimitIsRejected() {
        Job job = new Job("true");
        assertThrows(IllegalArgumentException.class, () -> job.keep(-1));
        assertThrows(IllegalArgumentException.class, () -> job.key(5, 0));
        assertThrows(IllegalArgumentException.class, () -> job.key(5, -1));
        assertThrows(IllegalArgumentException.class, () -> job.key(0, 1));
        assertThrows(IllegalArgumentException.class, () -> job.timeLimit(Duration.ofNanos(-1)));
        assertThrows(IllegalArgumentException.class, () -> job.grace(Duration.ofNanos(-1)));
        for (int priority : new int[] {-1, 8}) assertThrows(IllegalArgumentException.class, () -> job.priority(priority));
        assertThrows(NullPointerException.class, () -> job.timeLimit(null));
        assertThrows(NullPointerException.class, () -> job.grace(null));
    }

    @Test
    void limitsEndJobs() throws Exception {
        try (CommandQueue queue = new CommandQueue(2)) {
            Result result = queue.submit(new Job("sleep", "100").timeLimit(Duration.ofMillis(20))).get();
            assertEquals(List.of(Result.Outcome.TIMED_OUT, 15, 128 + 15), List.of(result.outcome(), result.signal(), result.exitValue()));
            assertEquals(9, queue.submit(new Job("sleep", "100").timeLimit(Duration.ofMillis(20)).grace(Duration.ZERO)).get().signal());
        }
    }

    @Test
    void limitsSendTheStopSignal() throws Exception {
        try (CommandQueue queue = new CommandQueue(2)) {
            Command stops = sh("trap 'exit 7' USR1; kill -STOP $$; while :; do sleep 0.01; done").stopSignal(Constants.SIGUSR1);
            Result result = queue.submit(new Job(stops).timeLimit(Duration.ofSeconds(2)).grace(Duration.ofHours(1))).get();
            assertEquals(List.of(Result.Outcome.TIMED_OUT, 7, 0), List.of(result.outcome(), result.exitValue(), result.survivors()));
            assertThrows(ExecutionException.class, () -> queue.submit(new Job(new Command("true").stopSignal(9))).get());
        }
    }

    @Test
    void saysWhatWasGivenUp() throws Exception {
        try (CommandQueue queue = new CommandQueue(2)) {
            Result result = queue.submit(new Job(sh("sleep 2 2>&- & echo a")).grace(Duration.ofMillis(50))).get();
            assertEquals(List.of("a\n", true, false, 0L), List.of(result.toString(), result.outputCut(), result.errorCut(), result.memoryPeak()));
        }
    }

    @Test
    void limitsAreOfAnyLength() throws Exception {
        Duration longest = Duration.ofSeconds(Long.MAX_VALUE);
        try (CommandQueue queue = new CommandQueue(2)) {
            assertEquals(Result.Outcome.TIMED_OUT, queue.submit(new Job("sleep", "5").timeLimit(Duration.ofNanos(1))).get().outcome());
            assertEquals(0, queue.submit(new Job("true").timeLimit(longest).grace(longest)).get().exitValue());
            Job ignores = new Job(sh("trap '' TERM; while :; do sleep 0.01; done")).timeLimit(Duration.ofMillis(50)).grace(Duration.ofNanos(1));
            // not a grace of a second
            assertTrue(Programs.isEventually(() -> queue.submit(ignores).get().ran().toMillis() < 900));
        }
        Child child = new Command("sleep", "100").tree().start();
        assertTrue(child.killTree(longest));
        assertEquals(128 + 15, child.waitFor());
    }

    @Test
    void cancelledFuturesEndTheirJobs() throws Exception {
        try (CommandQueue queue = new CommandQueue(1, 1, 0)) {
            CompletableFuture<Result> running = queue.submit(new Job("sleep", "100"));
            List<CompletableFuture<Result>> waiting = new ArrayList<>();
            for (int i = 0; i < 4; i++) waiting.add(queue.submit(new Job("sleep", "100")));
            for (CompletableFuture<Result> future : waiting) assertTrue(future.cancel(true));
            CompletableFuture<Result> last = queue.submit(new Command("true"));
            assertTrue(running.cancel(true));
            assertEquals(0, last.get().exitValue());
        }
    }

    /** As a CompletableFuture has them. */
    @Test
    void whatCompletesAFutureEndsItsJob() throws Exception {
        try (CommandQueue queue = new CommandQueue(1)) {
            CompletableFuture<Result> late = queue.submit(new Job("sleep", "100")).orTimeout(10, TimeUnit.MILLISECONDS);
            assertTrue(failure(late) instanceof TimeoutException);
            assertNull(queue.submit(new Job("sleep", "100")).completeOnTimeout(null, 10, TimeUnit.MILLISECONDS).get());
            assertEquals(0, queue.submit(new Command("true")).get(60, TimeUnit.SECONDS).exitValue());
        }
    }

    @Test
    void keysLimitJobs() throws Exception {
        try (CommandQueue queue = new CommandQueue(4)) {
            File lock = new File(directory, "lock");
            List<CompletableFuture<Result>> futures = new ArrayList<>();
            for (int i = 0; i < 8; i++)
                futures.add(queue.submit(new Job(sh("mkdir \"$1\" && sleep 0.01 && rmdir \"$1\"", lock.getPath())).key(5, 1)));
            for (CompletableFuture<Result> future : futures) assertEquals(0, future.get().exitValue());
        }
    }

    @Test
    void closingEndsAllJobs() throws Exception {
        CommandQueue queue = new CommandQueue(1, 1, 0);
        List<CompletableFuture<Result>> futures = new ArrayList<>();
        for (int i = 0; i < 4; i++) futures.add(queue.submit(new Job("sleep", "100")));
        queue.close();
        queue.close();
        for (CompletableFuture<Result> future : futures) assertThrows(CancellationException.class, future::get);
        assertThrows(IllegalStateException.class, () -> queue.submit(new Command("true")));
        assertFalse(ProcessHandle.current().children().anyMatch(child -> child.info().command().orElse("").endsWith("sleep")
                && child.info().arguments().map(arguments -> arguments[0].equals("100")).orElse(false)));
    }

    @Test
    void aTreeEndsWithItsJob() throws Exception {
        try (CommandQueue queue = new CommandQueue(1)) {
            String pid = queue.submit(sh("setsid sleep 100 </dev/null >/dev/null 2>&1 & echo $!").tree()).get().toString().trim();
            assertFalse(new File("/proc/" + pid).exists());
        }
    }

    @Test
    void aServerThatAJobStopsIsContinued() throws Exception {
        try (CommandQueue queue = new CommandQueue(1)) {
            assertEquals(0, queue.submit(sh("kill -STOP $PPID")).get(60, TimeUnit.SECONDS).exitValue());
        }
    }

    /** What depends on a future may wait for another one. */
    @Test
    void whatFollowsAJobMayWait() throws Exception {
        try (CommandQueue queue = new CommandQueue(2)) {
            CompletableFuture<Integer> both = queue.submit(new Command("true"))
                    .thenApply(first -> first.exitValue() + queue.submit(sh("exit 4")).join().exitValue());
            assertEquals(4, both.get());
        }
    }
}
