// SPDX-License-Identifier: MIT
package aspawn;

import java.io.IOException;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One thread for all children and their pipes, which waits for their events. It ends when there has been nothing to
 * wait for during two seconds, so that a class loader can be collected.
 */
final class Poller implements Runnable {
    /** Is called by the thread, once for each call of watch(), and must not block. */
    interface Watcher {
        void ready();
    }

    /** The descriptor of a pipe that the program's descendants may still have, and whose reader was collected. */
    static final class Forgotten extends PhantomReference<Object> {
        private final int fd;

        Forgotten(Object reader, int fd) {
            super(reader, COLLECTED);
            this.fd = fd;
            FORGOTTEN.add(this);
        }

        void isClosed() {
            FORGOTTEN.remove(this);
        }
    }

    /** For what may block. Not the default of CompletableFuture, which makes a thread each time on small machines. */
    static final Executor EXECUTOR = ForkJoinPool.getCommonPoolParallelism() > 0 ? ForkJoinPool.commonPool()
            : task -> new Thread(task).start();

    private static final int IDLE_MS = 2_000;
    private static final int RETRY_MS = 100;

    private static final Map<Long, Watcher> WATCHERS = new ConcurrentHashMap<>();
    private static final Queue<Watcher> RETRIED = new ConcurrentLinkedQueue<>();
    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final AtomicBoolean RUNS = new AtomicBoolean();
    private static final ReferenceQueue<Object> COLLECTED = new ReferenceQueue<>();
    private static final Set<Forgotten> FORGOTTEN = ConcurrentHashMap.newKeySet();

    private Poller() {}

    /** A number for watch() and forget(). */
    static long number() { return NUMBERS.incrementAndGet(); }

    static void watch(int fd, int events, long number, Watcher watcher) throws IOException {
        WATCHERS.put(number, watcher);
        int error = Native.watch(Native.EPOLL, fd, events, number);
        if (error < 0) {
            WATCHERS.remove(number);
            throw new IOException("aspawn: epoll_ctl: error=" + -error);
        }
        if (RUNS.get() || !RUNS.compareAndSet(false, true)) return;
        try {
            run(new Poller());
        } catch (Throwable e) { // no memory for a thread
            WATCHERS.remove(number);
            RUNS.set(false);
            throw e;
        }
    }

    static void forget(long number) {
        WATCHERS.remove(number);
    }

    /** Calls the watcher in a while: nothing reports what it waits for. */
    static void retry(Watcher watcher) {
        RETRIED.add(watcher);
    }

    private static void run(Poller poller) {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) group = group.getParent();
        Thread thread = new Thread(group, poller, "aspawn", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
    }

    private static void call(Watcher watcher) {
        try {
            watcher.ready();
        } catch (Throwable e) { // the others must not wait for ever
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }

    private static boolean isIdle() { return WATCHERS.isEmpty() && RETRIED.isEmpty(); }

    @Override
    public void run() {
        long[] numbers = new long[64];
        for (;;) {
            int count = Native.events(Native.EPOLL, numbers, RETRIED.isEmpty() ? IDLE_MS : RETRY_MS);
            for (int i = 0; i < count; i++) {
                Watcher watcher = WATCHERS.remove(numbers[i]);
                if (watcher != null) call(watcher);
            }
            for (Forgotten of; (of = (Forgotten) COLLECTED.poll()) != null;) {
                if (FORGOTTEN.remove(of)) Native.close(Native.EPOLL, of.fd);
            }
            if (count > 0) continue;
            for (int i = RETRIED.size(); i > 0; i--) call(RETRIED.remove());
            if (!isIdle()) continue;
            RUNS.set(false);
            if (isIdle() || !RUNS.compareAndSet(false, true)) return;
        }
    }
}
