// SPDX-License-Identifier: MIT
package aspawn;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A process that a {@link Command} has started. */
public final class Child extends Process implements Poller.Watcher {
    private static final int GRACE_NONE = -1;

    /** struct aspawn_child; one thread at a time uses it: its monitor. */
    private final byte[] handle = new byte[128];
    private final long number = Poller.number();
    private final String description;
    private final boolean isTree;
    private final CountDownLatch ended = new CountDownLatch(1);
    private PipeInput output, error;
    private PipeOutput input;
    private InputStream bufferedOutput, bufferedError;
    private OutputStream bufferedInput;
    private final List<Action> actions;
    private final List<Object> ends = new ArrayList<>(0); // of the actions' pipes, or null
    private int passedOutput = -1; // for another program to read from
    private volatile long pid; // 0: a helper has to be asked
    private volatile int status = -1;
    private volatile StartException failure;
    private ProcessHandle processHandle;
    private CompletableFuture<Process> exit;

    private Child(String description, boolean isTree, List<Action> actions) {
        this.description = description;
        this.isTree = isTree;
        this.actions = List.copyOf(actions);
    }

    static Child start(Request request, String description, boolean isTree, List<Action> actions, List<Long> pipes,
            boolean passesOutput) throws IOException {
        Child child = new Child(description, isTree, actions);
        int result = Native.start(request.address(), child.handle);
        if (result < 0) {
            request.setError(result);
            throw new StartException(description, request);
        }
        child.open(request, pipes, passesOutput);
        try {
            if (result > 0) child.awaitExec(request);
            Poller.watch(request.descriptor(3), Native.IN, child.number, child);
        } catch (IOException | Error e) {
            child.closeStreams();
            for (Object end : child.ends)
                if (end != null) ((Closeable) end).close();
            if (passesOutput) Native.close(-1, child.passedOutput);
            if (!(e instanceof StartException)) Native.kill(child.handle, Constants.SIGKILL);
            Native.end(Native.EPOLL, child.handle, true);
            throw e;
        }
        return child;
    }

    private void open(Request request, List<Long> pipes, boolean passesOutput) {
        pid = request.get(Request.PID);
        if (passesOutput) passedOutput = request.descriptor(1);
        input = new PipeOutput(request.descriptor(0));
        output = new PipeInput(passesOutput ? -1 : request.descriptor(1));
        error = new PipeInput(request.descriptor(2));
        bufferedInput = new BufferedOutputStream(input);
        bufferedOutput = new BufferedInputStream(output);
        bufferedError = new BufferedInputStream(error);
        for (int i = 0; i < actions.size(); i++) {
            long address = pipes.get(i);
            if (address == 0) continue;
            int fd = request.integer(address);
            Native.setBlocking(fd, false);
            while (ends.size() <= i) ends.add(null);
            ends.set(i, actions.get(i).isInputPipe() ? new PipeOutput(fd) : new PipeInput(fd));
        }
    }

    /** Waits until the program was executed, as the poller says. */
    private void awaitExec(Request request) throws IOException {
        long waiting = Poller.number(); // an event that comes late must not be taken for the child's
        boolean isInterrupted = false;
        for (;;) {
            int result = Native.waitStarted(handle, request.address());
            if (result != -Native.ETIMEDOUT) {
                Poller.forget(waiting);
                if (isInterrupted) Thread.currentThread().interrupt();
                if (result == -Native.ECANCELED) throw new StartException(description, request);
                return;
            }
            CountDownLatch changed = new CountDownLatch(1);
            // A process that another thread forks may hold the first, the child's end is the second.
            Poller.watch(request.descriptor(4), Native.IN, waiting, changed::countDown);
            Poller.watch(request.descriptor(3), Native.IN, waiting, changed::countDown);
            try {
                changed.await();
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
    }

    // --- the end

    @Override
    public void ready() {
        synchronized (handle) {
            if (pid == 0) pid = Math.max(Native.pid(handle), 0);
            int result = Native.end(Native.EPOLL, handle, false);
            if (result == -Native.ETIMEDOUT) { // somebody has killed the helper
                Poller.retry(this);
                return;
            }
            status = Math.max(result, -1);
            if (exitCode() == 127) seeFailure();
        }
        input.close();
        output.programEnded();
        error.programEnded();
        for (Object end : ends) {
            if (end instanceof PipeInput) ((PipeInput) end).programEnded();
            else if (end != null) ((PipeOutput) end).close();
        }
        CompletableFuture<Process> completed;
        synchronized (ended) {
            ended.countDown();
            completed = exit;
        }
        if (completed != null) completed.completeAsync(() -> this, Poller.EXECUTOR);
    }

    private void seeFailure() {
        try (Request request = Request.of(to -> { })) {
            if (Native.waitStarted(handle, request.address()) == -Native.ECANCELED)
                failure = new StartException(description, request);
        }
    }

    private boolean hasEnded() { return ended.getCount() == 0; }

    /** -1: not known, as another wait of this process has it. */
    private int exitCode() {
        return status < 0 ? -1 : (status & 0x7f) != 0 ? 0x80 + (status & 0x7f) : status >> 8 & 0xff;
    }

    @Override
    public int exitValue() {
        if (!hasEnded()) throw new IllegalThreadStateException("process hasn't exited");
        return exitCode();
    }

    /** The number of the signal that has ended the process; 0: none has, or it has not ended. */
    public int signal() { return hasEnded() && status >= 0 ? status & 0x7f : 0; }

    /** Why an exit value of 127 is no program's: it could not be executed after all. Otherwise null. */
    public StartException failure() { return failure; }

    @Override
    public int waitFor() throws InterruptedException {
        if (!hasEnded()) ended.await();
        return exitCode();
    }

    @Override
    public boolean waitFor(long timeout, TimeUnit unit) throws InterruptedException {
        Objects.requireNonNull(unit);
        return hasEnded() || timeout > 0 && ended.await(timeout, unit);
    }

    @Override public boolean isAlive() { return !hasEnded(); }

    /** Is completed by a thread of the common pool. */
    @Override
    public CompletableFuture<Process> onExit() {
        synchronized (ended) {
            if (exit == null) {
                exit = new CompletableFuture<>();
                if (hasEnded()) exit.completeAsync(() -> this, Poller.EXECUTOR);
            }
            return exit.copy();
        }
    }

    // --- streams

    @Override public OutputStream getOutputStream() { return bufferedInput; }
    @Override public InputStream getInputStream() { return bufferedOutput; }
    @Override public InputStream getErrorStream() { return bufferedError; }

    /** What the program writes to the pipe of an {@link Action#outputPipe}. */
    public InputStream getInputStream(Action pipe) { return end(pipe, PipeInput.class); }

    /** What the program reads from the pipe of an {@link Action#inputPipe}. */
    public OutputStream getOutputStream(Action pipe) { return end(pipe, PipeOutput.class); }

    private <T> T end(Action pipe, Class<T> type) {
        int index = actions.indexOf(pipe);
        if (index < 0 || index >= ends.size() || !type.isInstance(ends.get(index)))
            throw new IllegalArgumentException("aspawn: no such pipe of this child");
        return type.cast(ends.get(index));
    }

    /** What another program reads, which closes it. */
    int passedOutput() {
        Native.setBlocking(passedOutput, true);
        return passedOutput;
    }

    private void closeStreams() {
        input.close();
        output.close();
        error.close();
    }

    // --- signals

    private boolean signal(int signal, boolean toGroup) {
        synchronized (handle) {
            if (status >= 0) return false;
            return (toGroup ? Native.killGroup(handle, signal) : Native.kill(handle, signal)) == 0;
        }
    }

    /** Sends a signal to the process alone, never to another one of its number. Returns if it was sent. */
    public boolean kill(int signal) { return signal(signal, false); }

    /** Sends a signal to the process group that the process leads, after an {@link Action#setsid} or setpgid. */
    public boolean killGroup(int signal) { return signal(signal, true); }

    /**
     * Ends a {@link Command#tree}: SIGTERM to all of it, and after the grace SIGKILL until nothing is left. Without a
     * grace SIGKILL at once.
     * @throws IllegalStateException the child is no tree
     */
    public boolean killTree(Duration grace) {
        if (!isTree) throw new IllegalStateException("aspawn: the child is no tree");
        long milliseconds = Job.milliseconds(grace);
        synchronized (handle) {
            return Native.killTree(handle, milliseconds > 0 ? milliseconds : GRACE_NONE) == 0;
        }
    }

    /** Sends SIGTERM, to a tree as {@link #killTree} with a grace of a second, and closes the streams. */
    @Override
    public void destroy() {
        if (!isTree) kill(Constants.SIGTERM);
        else killTree(Duration.ofSeconds(1));
        closeStreams();
    }

    /** The same with SIGKILL. */
    @Override
    public Process destroyForcibly() {
        if (!isTree) kill(Constants.SIGKILL);
        else killTree(Duration.ZERO);
        closeStreams();
        return this;
    }

    @Override public boolean supportsNormalTermination() { return true; }

    // --- its number

    /** Of a private child or a tree this may wait for the turn of the process that clones it. 0: that could not. */
    @Override
    public long pid() {
        if (pid == 0) {
            synchronized (handle) {
                int result;
                do
                    result = Native.pid(handle);
                while (result == -Native.EAGAIN);
                pid = Math.max(result, 0);
            }
        }
        return pid;
    }

    @Override
    public ProcessHandle toHandle() {
        long known = pid();
        synchronized (handle) {
            if (processHandle == null && !hasEnded()) processHandle = ProcessHandle.of(known).orElse(null);
            if (processHandle == null) processHandle = new EndedHandle(known);
            return processHandle;
        }
    }

    /** Of the program: waits until it is executed. That of toHandle() may be of this process before. */
    @Override
    public ProcessHandle.Info info() {
        try (Request request = Request.of(to -> { })) {
            while (isAlive() && isStarting(request)) LockSupport.parkNanos(100_000);
        }
        ProcessHandle.Info info = toHandle().info();
        for (int i = 0; i < 1000 && !info.commandLine().isPresent() && isAlive(); i++) { // within execve(2)
            LockSupport.parkNanos(100_000);
            info = toHandle().info();
        }
        return info;
    }

    private boolean isStarting(Request request) {
        synchronized (handle) {
            return Native.waitStarted(handle, request.address()) == -Native.ETIMEDOUT;
        }
    }

    @Override
    public String toString() {
        return "Process[pid=" + pid() + ", exitValue=" + (hasEnded() ? exitCode() : "\"not exited\"") + ']';
    }
}
