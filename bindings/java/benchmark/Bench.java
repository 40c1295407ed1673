// SPDX-License-Identifier: MIT
import aspawn.Command;
import aspawn.CommandQueue;
import java.io.FileInputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;

/**
 * Bench PROGRAM [STARTS [SECONDS]]: figures of ProcessBuilder and of this package, in turns, each
 * in Java processes of its own, as tables for README. How long a start blocks its thread, with a
 * busy process for each processor; how many commands are done in a second, 16 at once, with their
 * output; and the threads that 200 living children need.
 */
public final class Bench {
    private interface Way {
        Process start(String... command) throws Exception;
    }

    private static final int ROUNDS = 3;
    private static final int WARM = 200; // starts until the code is compiled
    private static final List<Object> KEPT = new ArrayList<>();

    private static final Map<String, Way> WAYS = Map.of("ProcessBuilder", command -> new ProcessBuilder(command).start(),
            "aspawn", command -> new Command(command).start(), "aspawn, tree", command -> new Command(command).tree().start());

    // --- in a process of its own: WHAT WAY PROGRAM GIBIBYTES FILES COUNT

    private static void blocked(Way way, String program, int count) throws Exception {
        StringBuilder text = new StringBuilder();
        for (int i = -WARM; i < count; i++) {
            long begin = System.nanoTime();
            Process process = way.start(program);
            long end = System.nanoTime();
            if (i < 0) process.waitFor();
            else Thread.sleep(5);
            if (i >= 0) text.append((end - begin) / 1000).append(' ');
        }
        System.out.println(text);
    }

    private static void throughput(Callable<Integer> command, int seconds) throws Exception {
        LongAdder done = new LongAdder();
        for (int i = 0; i < WARM; i++) command.call();
        long begin = System.nanoTime(), until = begin + seconds * 1_000_000_000L;
        for (Future<?> thread : Executors.newFixedThreadPool(16).invokeAll(Collections.nCopies(16, () -> {
            for (; System.nanoTime() < until; done.increment())
                if (command.call() != 6) throw new AssertionError("output");
            return null;
        }))) thread.get();
        System.out.println(done.sum() * 1_000_000_000L / (System.nanoTime() - begin));
        System.exit(0);
    }

    private static void throughput(CommandQueue queue, Command command, int seconds) throws Exception {
        Semaphore submitted = new Semaphore(128);
        LongAdder done = new LongAdder();
        for (int i = 0; i < WARM; i++) queue.submit(command).get();
        long begin = System.nanoTime();
        while (System.nanoTime() < begin + seconds * 1_000_000_000L) {
            submitted.acquire();
            queue.submit(command).thenAccept(result -> {
                if (result.output().length == 6) done.increment();
                submitted.release();
            });
        }
        submitted.acquire(128);
        System.out.println(done.sum() * 1_000_000_000L / (System.nanoTime() - begin));
        System.exit(0);
    }

    private static void threads(Way way) throws Exception {
        int before = Thread.getAllStackTraces().size(), most = 0;
        List<Process> children = new ArrayList<>();
        for (int i = 0; i < 200; i++) children.add(way.start("cat"));
        most = (int) Thread.getAllStackTraces().keySet().stream().filter(Thread::isAlive).count();
        for (Process child : children) child.destroy();
        System.out.println(most - before);
    }

    private static void measure(String[] arguments) throws Exception {
        String program = arguments[2];
        for (int i = 0; i < Integer.parseInt(arguments[3]); i++) {
            ByteBuffer memory = ByteBuffer.allocateDirect(1 << 30);
            for (int at = 0; at < memory.capacity(); at += 4096) memory.put(at, (byte) 1);
            KEPT.add(memory);
        }
        for (int i = 0; i < Integer.parseInt(arguments[4]); i++) KEPT.add(new FileInputStream("/dev/null"));
        int count = Integer.parseInt(arguments[5]);
        Way way = WAYS.get(arguments[1]);
        if (arguments[0].equals("blocked")) blocked(way, program, count);
        else if (arguments[0].equals("threads")) threads(way);
        else if (way == null) throughput(new CommandQueue(16), new Command(program), count);
        else throughput(() -> {
            Process process = way.start(program);
            int length = process.getInputStream().readAllBytes().length;
            process.waitFor();
            return length;
        }, count);
    }

    // --- the tables

    private static String own(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-Xmx256m",
                "-XX:MaxDirectMemorySize=4g", "-cp", System.getProperty("java.class.path"), "Bench"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        return new String(process.getInputStream().readAllBytes()).trim();
    }

    private static double at(long[] sorted, double part) {
        return sorted[(int) (sorted.length * part)] / 1000.0;
    }

    private static void blockedTable(String program, int starts) throws Exception {
        List<Process> busy = new ArrayList<>();
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++)
            busy.add(new ProcessBuilder("sh", "-c", "while :; do :; done").start());
        System.out.println("| blocked by a start, ms | | median | 95th percentile |\n| --- | --- | ---: | ---: |");
        for (String[] in : new String[][] {{"nothing touched", "0", "0"}, {"1 GiB touched", "1", "0"}, {"1 000 files open", "0", "1000"}}) {
            List<String> ways = List.of("ProcessBuilder", "aspawn", "aspawn, tree");
            String[] times = {"", "", ""};
            for (int i = 0; i < ROUNDS * times.length; i++)
                times[i % times.length] += own("blocked", ways.get(i % times.length), program, in[1], in[2], "" + starts) + ' ';
            for (int i = 0; i < times.length; i++) {
                long[] sorted = Arrays.stream(times[i].split(" ")).mapToLong(Long::parseLong).sorted().toArray();
                System.out.printf("| %s | %s | %.3f | %.3f |%n", in[0], ways.get(i), at(sorted, 0.5), at(sorted, 0.95));
            }
        }
        busy.forEach(Process::destroyForcibly);
    }

    private static void throughputTable(String program, int seconds) throws Exception {
        System.out.println("\n| commands a second, 16 at once | nothing touched | 1 GiB touched | 1 000 files open |\n| --- | ---: | ---: | ---: |");
        List<String> ways = List.of("ProcessBuilder", "aspawn", "aspawn, CommandQueue");
        long[][] sums = new long[ways.size()][3];
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < ways.size(); i++)
                for (int in = 0; in < 3; in++)
                    sums[i][in] += Long.parseLong(own("throughput", ways.get(i), program, in == 1 ? "1" : "0", in == 2 ? "1000" : "0", "" + seconds));
        for (int i = 0; i < ways.size(); i++)
            System.out.printf("| %s | %d | %d | %d |%n", ways.get(i), sums[i][0] / ROUNDS, sums[i][1] / ROUNDS, sums[i][2] / ROUNDS);
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 6) {
            measure(arguments);
            return;
        }
        System.out.println("Java " + System.getProperty("java.version") + ", " + Runtime.getRuntime().availableProcessors() + " processors\n");
        blockedTable(arguments[0], arguments.length > 1 ? Integer.parseInt(arguments[1]) : 300);
        throughputTable(arguments[0], arguments.length > 2 ? Integer.parseInt(arguments[2]) : 4);
        System.out.println("\nthreads for 200 living children: ProcessBuilder " + own("threads", "ProcessBuilder", "-", "0", "0", "0")
                + ", aspawn " + own("threads", "aspawn", "-", "0", "0", "0"));
    }
}
