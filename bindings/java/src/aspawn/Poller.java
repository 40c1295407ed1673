// SPDX-License-Identifier: MIT
package aspawn;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread for all children and their pipes, which waits for their events. It ends when there has
 * been nothing to wait for during two seconds, so that a class loader can be collected.
 */
final class Poller implements Runnable {
    /** Is called by the thread, once for each call of watch(), and must not block; again,
     * if there was no memory. */
    interface Watcher {
        void ready();
    }

    /** For what may block. CompletableFuture's own makes a thread each time on small machines. */
    static final Executor EXECUTOR = ForkJoinPool.getCommonPoolParallelism() > 0 ? ForkJoinPool.commonPool()
            : task -> new Thread(task).start();

    /** Resolved while there is memory, so that they can be caught when there is none. */
    private static final Object[] CAUGHT = {OutOfMemoryError.class, Throwable.class};
    private static final int IDLE_MS = 2_000;
    private static final int RETRY_MS = 100;
    private static final int LOOK_MS = 1_000;

    /** Queues with jobs, which are called each second too: this continues a server that a job has
     * stopped, which its descriptor does not show. */
    static final Set<Watcher> WITH_JOBS = ConcurrentHashMap.newKeySet();

    private static final Map<Long, Watcher> WATCHERS = new ConcurrentHashMap<>();
    private static final Queue<Watcher> RETRIED = new ConcurrentLinkedQueue<>();
    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final AtomicBoolean RUNS = new AtomicBoolean();

    private final ByteBuffer numbers = ByteBuffer.allocateDirect(64 * 8).order(ByteOrder.nativeOrder());

    private Poller() {}

    /** By the executor; by this thread if that does not take the task, which must not be lost. */
    static void execute(Executor executor, Runnable task) {
        try {
            executor.execute(task);
        } catch (Throwable e) {
            task.run();
        }
    }

    /** Returns null if there is no memory. */
    static ByteBuffer buffer(int size) {
        try {
            return ByteBuffer.allocate(size);
        } catch (OutOfMemoryError e) {
            return null;
        }
    }

    /** A number for watch() and forget(). */
    static Long number() { return NUMBERS.incrementAndGet(); }

    static void watch(int fd, int events, Long number, Watcher watcher) throws IOException {
        WATCHERS.put(number, watcher);
        int error = Native.watch(fd, events, number);
        if (error < 0) {
            WATCHERS.remove(number);
            throw new IOException("aspawn: epoll_ctl: error=" + -error);
        }
        if (RUNS.get() || !RUNS.compareAndSet(false, true)) return;
        try {
            ThreadGroup group = Thread.currentThread().getThreadGroup();
            while (group.getParent() != null) group = group.getParent();
            Thread thread = new Thread(group, new Poller(), "aspawn", 0, false);
            thread.setDaemon(true);
            thread.setContextClassLoader(null);
            thread.start();
        } catch (Throwable e) { // no memory for a thread
            WATCHERS.remove(number);
            RUNS.set(false);
            throw e;
        }
    }

    static void forget(Long number) { WATCHERS.remove(number); }

    /** Calls the watcher in a while: nothing reports what it waits for. */
    static void retry(Watcher watcher) { RETRIED.add(watcher); }

    /** Calls the watcher, or the one with the number, and without memory again:
     * nothing else reports the event. */
    private static void call(Watcher watcher, long number) {
        for (boolean isAgain = false;; isAgain = true) {
            try {
                if (isAgain) LockSupport.parkNanos(RETRY_MS * 1_000_000L);
                if (watcher == null) watcher = WATCHERS.remove(number);
                if (watcher != null) watcher.ready();
                return;
            } catch (OutOfMemoryError e) {
                // Nothing here may need memory, not even the resolution of a name.
            } catch (Throwable e) { // the others must not wait for ever
                report(Thread.currentThread(), e);
                return;
            }
        }
    }

    private static void report(Thread thread, Throwable failure) {
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
        } catch (Throwable e) {
            // ignored, as the virtual machine does
        }
    }

    private static void look() {
        try {
            for (Watcher queue : WITH_JOBS) call(queue, 0);
        } catch (OutOfMemoryError e) {
            // The next look comes in a second.
        }
    }

    private static boolean isIdle() { return WATCHERS.isEmpty() && RETRIED.isEmpty(); }

    @Override
    public void run() {
        for (long looked = System.nanoTime();;) {
            int count = Native.events(numbers, !RETRIED.isEmpty() ? RETRY_MS : WITH_JOBS.isEmpty() ? IDLE_MS : LOOK_MS);
            for (int i = 0; i < count; i++) call(null, numbers.getLong(i * 8));
            if (System.nanoTime() - looked >= LOOK_MS * 1_000_000L) {
                look();
                looked = System.nanoTime();
            }
            if (count > 0) continue;
            for (int i = RETRIED.size(); i > 0; i--) call(RETRIED.remove(), 0);
            if (!isIdle()) continue;
            RUNS.set(false);
            if (isIdle() || !RUNS.compareAndSet(false, true)) return;
        }
    }
}
