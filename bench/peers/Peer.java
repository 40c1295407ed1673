// SPDX-License-Identifier: MIT
import aspawn.Command;
import aspawn.CommandQueue;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;

/** As peers.py says, for Java: in virtual threads where there are any. */
public final class Peer {
    private static final int WARM = 200; // starts until the code is compiled

    private static ExecutorService threads() throws Exception {
        try {
            return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException none) {
            return Executors.newCachedThreadPool();
        }
    }

    private interface Start {
        Callable<Integer> start() throws Exception;
    }

    private static Start way(String way, String program) throws Exception {
        if (way.equals("queue")) {
            CommandQueue queue = new CommandQueue(16);
            return () -> {
                Future<aspawn.Result> result = queue.submit(new Command(program));
                return () -> result.get().output().length;
            };
        }
        return () -> {
            Process process = way.equals("aspawn") ? new Command(program).start() : new ProcessBuilder(program).start();
            return () -> {
                int length = process.getInputStream().readAllBytes().length;
                process.waitFor();
                return length;
            };
        };
    }

    private static Void blocked(Start way, int count, double seconds) throws Exception {
        StringBuilder text = new StringBuilder();
        long first = System.nanoTime();
        for (int i = -WARM; i < count; i++) {
            long begin = System.nanoTime();
            boolean isOver = begin - first > seconds * 1e9;
            if (isOver && i > 0) break;
            if (isOver || i == 0) {
                i = 0;
                first = begin;
            }
            Callable<Integer> end = way.start();
            long took = System.nanoTime() - begin;
            end.call();
            if (i >= 0) text.append(took / 1000).append('\n');
        }
        System.out.print(text);
        return null;
    }

    private static void rate(ExecutorService threads, Start way, double seconds) throws Exception {
        LongAdder done = new LongAdder();
        long first = System.nanoTime();
        for (int i = 0; i < WARM && System.nanoTime() - first < seconds * 1e9; i++) way.start().call();
        long begin = System.nanoTime();
        for (Future<?> thread : threads.invokeAll(Collections.nCopies(16, () -> {
            for (; System.nanoTime() - begin < seconds * 1e9; done.increment())
                if (way.start().call() != 5) throw new AssertionError("output");
            return null;
        }))) thread.get();
        System.out.println(done.sum() * 1_000_000_000L / (System.nanoTime() - begin));
    }

    public static void main(String[] words) throws Exception {
        int count = Integer.parseInt(words[3]), mib = Integer.parseInt(words[5]);
        double seconds = Double.parseDouble(words[4]);
        List<ByteBuffer> touched = new ArrayList<>();
        for (int i = 0; i < mib; i += 256) {
            touched.add(ByteBuffer.allocateDirect(256 << 20));
            for (int at = 0; at < 256 << 20; at += 4096) touched.get(i / 256).put(at, (byte) 1);
        }
        Start way = way(words[0], words[2]);
        ExecutorService threads = threads();
        if (words[1].equals("blocked")) threads.submit(() -> blocked(way, count, seconds)).get();
        else rate(threads, way, seconds);
        System.exit(touched.size() < 0 ? 1 : 0);
    }
}
