// SPDX-License-Identifier: MIT
package aspawn;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Many commands, at most so many at once, which a process of the library's starts and collects:
 * aspawn_queue(3). A submission costs no system call, unless that process sleeps. It has the
 * credentials of this process as they were when the queue was made, and ends with {@link #close}.
 */
public final class CommandQueue implements AutoCloseable, Poller.Watcher {
    private static final int MOST = 16;

    private static final class Submitted {
        final Job job;
        final CompletableFuture<Result> future = new CompletableFuture<>();
        volatile boolean isOver;
        long ticket; // 0: it waits here
        int firstAction, addedActions;

        Submitted(Job job) {
            this.job = Objects.requireNonNull(job);
        }
    }

    private final Map<Long, Submitted> jobs = new HashMap<>(); // that the library has, by ticket
    private final Deque<Submitted> backlog = new ArrayDeque<>(); // those for which it had no place
    private final ByteBuffer addresses = ByteBuffer.allocateDirect(MOST * 8).order(ByteOrder.nativeOrder());
    private int results, taken; // of the addresses
    private final Executor executor;
    private final Long number = Poller.number();
    private long queue; // 0: closed

    /**
     * At most so many jobs run at once; 0: 16.
     * @throws UnsupportedOperationException {@link Command#supported} is false
     */
    public CommandQueue(int running) throws IOException {
        this(0, running, 0);
    }

    /**
     * @param places for jobs in the library, which takes memory for each; others wait in Java.
     * 0: 256
     * @param running at once; 0: 16
     * @param jobBytes for the strings, input and kept output of a job,
     * which fails if it needs more; 0: 32768
     */
    public CommandQueue(int places, int running, int jobBytes) throws IOException {
        this(places, running, jobBytes, Poller.EXECUTOR);
    }

    /** @param executor completes the futures, as the common pool does otherwise; what it does not
     * take, the queue's thread */
    public CommandQueue(int places, int running, int jobBytes, Executor executor) throws IOException {
        this.executor = Objects.requireNonNull(executor);
        if (!Native.isSupported()) throw Native.unsupported("CommandQueue");
        if (places < 0 || running < 0 || jobBytes < 0) throw new IllegalArgumentException("aspawn: a negative number");
        ByteBuffer options = ByteBuffer.allocateDirect(Interface.SIZEOF_QUEUE_OPTIONS).order(ByteOrder.nativeOrder());
        options.putLong(Interface.QUEUE_OPTIONS_SIZE, Interface.SIZEOF_QUEUE_OPTIONS).putLong(Interface.QUEUE_OPTIONS_FLAGS, Interface.QUEUE_FD);
        options.putInt(Interface.QUEUE_OPTIONS_JOBS, places).putInt(Interface.QUEUE_OPTIONS_RUNNING, running);
        queue = Native.queueCreate(options.putInt(Interface.QUEUE_OPTIONS_JOB_BYTES, jobBytes));
        if (queue == -Native.EINVAL) throw new IllegalArgumentException("aspawn: too large a number");
        if (queue < 0) throw new IOException("aspawn: no queue: error=" + -queue);
        try { // the poller's thread keeps the library loaded, which the queue's server uses
            Poller.watch(Native.queueDescriptor(queue), Native.IN, number, this);
        } catch (Throwable e) {
            Native.queueClose(queue);
            throw e;
        }
    }

    /** As {@link #submit(Job)}, with the defaults of a job. */
    public CompletableFuture<Result> submit(Command command) { return submit(new Job(command)); }

    /**
     * Submits a job, which is copied when the library has a place for it: neither it nor its
     * command may change before the future is complete. That has the result, or a {@link
     * StartException} if the program was not executed, or that of an invalid command. Cancelling it
     * ends the job, as does what else completes it, such as {@code orTimeout}.
     */
    public CompletableFuture<Result> submit(Job job) {
        Submitted submitted = new Submitted(job);
        job.command().permit();
        synchronized (this) {
            if (queue == 0) throw new IllegalStateException("aspawn: the queue is closed");
            if (!backlog.isEmpty() || !give(submitted)) backlog.add(submitted);
        }
        submitted.future.whenComplete((result, failure) -> {
            if (!submitted.isOver) cancel(submitted);
        });
        return submitted.future;
    }

    /** False if there is no place. */
    private boolean give(Submitted submitted) {
        Poller.WITH_JOBS.add(this);
        try (Request request = submitted.job.command().job(submitted.job::write)) {
            long ticket = Native.queueSubmit(queue, request.base);
            if (ticket == -Native.EAGAIN && !jobs.isEmpty()) return false;
            if (ticket < 0) throw StartException.of(submitted.job.command().description(), (int) ticket, request);
            submitted.ticket = ticket;
            submitted.firstAction = request.firstAction;
            submitted.addedActions = request.addedActions;
            jobs.put(ticket, submitted);
        } catch (IOException | RuntimeException e) {
            complete(submitted, null, e);
        }
        return true;
    }

    private synchronized void cancel(Submitted submitted) {
        if (submitted.ticket == 0) backlog.remove(submitted);
        else if (queue != 0) Native.queueCancel(queue, submitted.ticket);
    }

    /** By another thread, as what depends on the future may block. */
    private void complete(Submitted submitted, Result result, Throwable failure) {
        submitted.isOver = true;
        Poller.execute(executor, () -> {
            if (failure == null) submitted.future.complete(result);
            else submitted.future.completeExceptionally(failure);
        });
    }

    /** After an OutOfMemoryError it goes on with the result that it was about to take. */
    @Override
    public synchronized void ready() {
        do {
            for (; taken < results; taken++) take(Native.memory(addresses.getLong(taken * 8), Interface.SIZEOF_RESULT).order(ByteOrder.nativeOrder()));
            if (results > 0) Native.queueRelease(queue, addresses, results);
            taken = 0;
            results = queue == 0 ? 0 : Native.queueWait(queue, addresses, MOST);
        } while (results > 0);
        while (queue != 0 && !backlog.isEmpty()) {
            Submitted next = backlog.peek();
            try {
                if (!give(next)) break;
            } catch (OutOfMemoryError e) {
                complete(next, null, e);
            }
            backlog.remove();
        }
        if (jobs.isEmpty()) Poller.WITH_JOBS.remove(this);
        try {
            if (queue != 0) Poller.watch(Native.queueDescriptor(queue), Native.IN, number, this);
        } catch (IOException e) {
            Poller.retry(this);
        }
    }

    private void take(ByteBuffer result) {
        Long ticket = result.getLong(Interface.RESULT_TICKET);
        Submitted submitted = jobs.get(ticket);
        if (result.getInt(Interface.RESULT_OUTCOME) == Interface.OUTCOME_NOT_STARTED) {
            complete(submitted, null, new StartException(submitted.job.command().description(), result, Interface.RESULT_FAILURE,
                    submitted.firstAction, submitted.addedActions));
        } else {
            try {
                complete(submitted, new Result(result), null);
            } catch (OutOfMemoryError e) {
                complete(submitted, null, new OutOfMemoryError("aspawn: no memory for the output of a job"));
            }
        }
        jobs.remove(ticket);
    }

    /** Ends all jobs, and the queue. Futures of jobs that have not ended are completed with a
     * CancellationException. */
    @Override
    public void close() {
        List<Submitted> left;
        synchronized (this) {
            if (queue == 0) return;
            Poller.forget(number);
            Poller.WITH_JOBS.remove(this);
            Native.queueClose(queue);
            queue = 0;
            results = taken = 0;
            left = new ArrayList<>(jobs.values());
            left.addAll(backlog);
            jobs.clear();
            backlog.clear();
        }
        for (Submitted submitted : left) complete(submitted, null, new CancellationException("aspawn: the queue is closed"));
    }
}
