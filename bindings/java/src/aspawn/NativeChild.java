// SPDX-License-Identifier: MIT
package aspawn;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Where the library works. */
final class NativeChild extends Child implements Poller.Watcher {
    private static final int STREAMS = 3;

    /** struct aspawn_child; one thread at a time uses it: its monitor. */
    private final ByteBuffer handle = ByteBuffer.allocateDirect(Interface.SIZEOF_CHILD).order(ByteOrder.nativeOrder());
    private final Long number = Poller.number();
    private final String description;
    private final boolean isTree, isOnTerminal, passesOutput;
    private final CountDownLatch ended = new CountDownLatch(1);
    private CompletableFuture<Process> exit; // by the monitor of ended; null: nobody has asked
    private final List<Action> actions;
    private final Pipe[] pipes; // of the streams, then of the actions; null: there is no pipe
    private final OutputStream input;
    private final InputStream output, error;
    int passedOutput = -1; // for another program to read from, which is not closed here
    private volatile long pid; // 0: a helper has to be asked
    private volatile int status = -1; // not known, or another wait of this process has it
    private StartException failure;
    private ProcessHandle processHandle;

    /** With all that needs memory, for want of which no child that has begun must get lost. */
    NativeChild(String description, boolean isTree, List<Action> actions, int[] streams, boolean passesOutput) {
        this.description = description;
        this.isTree = isTree;
        this.passesOutput = passesOutput;
        isOnTerminal = isOnTerminal(streams);
        this.actions = List.copyOf(actions);
        pipes = new Pipe[STREAMS + actions.size()];
        for (int i = 0; i < STREAMS; i++)
            if (isOnTerminal ? i < 2 : streams[i] == Interface.STREAM_PIPE && !(i == 1 && passesOutput)) pipes[i] = new Pipe(i == 0);
        for (int i = 0; i < actions.size(); i++) pipes[STREAMS + i] = actions.get(i).pipe();
        input = pipes[0] == null ? (OutputStream) new Pipe(true).stream : new BufferedOutputStream((OutputStream) pipes[0].stream);
        output = buffered(pipes[1]);
        error = buffered(pipes[2]);
    }

    /** Without a pipe: as that of ProcessBuilder, which nothing closes. */
    private static InputStream buffered(Pipe pipe) {
        return pipe == null ? new ByteArrayInputStream(new byte[0]) : new BufferedInputStream((InputStream) pipe.stream);
    }

    void start(Request request) throws IOException {
        int result = Native.start(request.base, request.isCertain, handle);
        if (result < 0) throw StartException.of(description, result, request);
        try {
            open(request);
            if (result > 0) awaitExec(request);
            Poller.watch(handle.getInt(Interface.CHILD_ENDED_FD), Native.IN, number, this);
        } catch (Throwable e) {
            for (Pipe pipe : pipes)
                if (pipe != null) pipe.close();
            Native.close(passedOutput);
            if (!(e instanceof StartException)) Native.kill(handle, Constants.SIGKILL, false);
            Native.end(handle, true);
            throw e;
        }
    }

    static boolean isOnTerminal(int[] streams) { return Arrays.stream(streams).anyMatch(stream -> stream == Interface.STREAM_PTY); }

    private void open(Request request) throws IOException {
        pid = Native.knownPid(handle);
        if (passesOutput) {
            passedOutput = handle.getInt(Interface.CHILD_OUT_FD);
            Native.setBlocking(passedOutput, true);
        }
        for (int i = 0; i < pipes.length; i++) {
            if (pipes[i] == null || isOnTerminal && i == 0) continue;
            int fd = i >= STREAMS ? request.memory.getInt(request.ends.get(request.firstAction + i - STREAMS))
                    : handle.getInt(isOnTerminal ? Interface.CHILD_PTY_FD : Interface.CHILD_IN_FD + 4 * i);
            if (i >= STREAMS) Native.setBlocking(fd, false);
            pipes[i].open(fd);
        }
        if (!isOnTerminal) return;
        int typed = Native.duplicate(handle.getInt(Interface.CHILD_PTY_FD));
        if (typed < 0) throw new IOException(description + ": error=" + -typed);
        pipes[0].open(typed);
    }

    /** Waits until the program was executed, as the poller says. */
    private void awaitExec(Request request) throws IOException {
        // an event that comes late must not be taken for the child's
        Long waiting = Poller.number();
        try {
            int result;
            while ((result = waitStarted(request)) == -Native.ETIMEDOUT) {
                CompletableFuture<Void> changed = new CompletableFuture<>();
                // A process that another thread forks may hold the first,
                // the child's end is the second.
                Poller.watch(handle.getInt(Interface.CHILD_STARTED_FD), Native.IN, waiting, () -> changed.complete(null));
                Poller.watch(handle.getInt(Interface.CHILD_ENDED_FD), Native.IN, waiting, () -> changed.complete(null));
                changed.join(); // interrupts stay
            }
            if (result == -Native.ECANCELED) throw new StartException(description, request);
        } finally {
            Poller.forget(waiting);
        }
    }

    /** A failure is the request's then. */
    private int waitStarted(Request request) {
        synchronized (handle) {
            return Native.waitStarted(handle, request.base + Request.FAILURE);
        }
    }

    @Override
    public void ready() {
        if (isAlive()) {
            synchronized (handle) {
                if (pid == 0) pid = Math.max(Native.pid(handle), 0);
                int result = Native.end(handle, false);
                if (result == -Native.ETIMEDOUT) { // somebody has killed the helper
                    Poller.retry(this);
                    return;
                }
                status = Math.max(result, -1);
            }
            ended.countDown(); // before all that needs memory
        }
        CompletableFuture<Process> completed;
        synchronized (ended) {
            completed = exit;
        }
        if (completed != null) Poller.execute(Poller.EXECUTOR, () -> completed.complete(this));
        for (Pipe pipe : pipes)
            if (pipe != null) pipe.programEnded();
    }

    @Override
    public int exitValue() {
        if (isAlive()) throw new IllegalThreadStateException("process hasn't exited");
        return Result.exitValue(status);
    }

    @Override public int signal() { return isAlive() ? 0 : Result.signal(status); }

    @Override
    public StartException failure() {
        if (isAlive() || Result.exitValue(status) != 127) return null;
        synchronized (handle) {
            if (failure != null) return failure;
            try (Request request = Request.of(to -> { })) {
                if (waitStarted(request) == -Native.ECANCELED) failure = new StartException(description, request);
            }
            return failure;
        }
    }

    @Override
    public int waitFor() throws InterruptedException {
        if (isAlive()) ended.await();
        return Result.exitValue(status);
    }

    @Override
    public boolean waitFor(long timeout, TimeUnit unit) throws InterruptedException {
        Objects.requireNonNull(unit);
        return !isAlive() || timeout > 0 && ended.await(timeout, unit);
    }

    @Override public boolean isAlive() { return ended.getCount() > 0; }

    @Override
    public CompletableFuture<Process> onExit() {
        synchronized (ended) {
            if (exit == null) exit = new CompletableFuture<>();
            if (!isAlive()) exit.complete(this);
            return exit.copy();
        }
    }

    @Override public OutputStream getOutputStream() { return input; }
    @Override public InputStream getInputStream() { return output; }
    @Override public InputStream getErrorStream() { return error; }

    @Override public InputStream getInputStream(Action pipe) { return end(pipe, InputStream.class); }
    @Override public OutputStream getOutputStream(Action pipe) { return end(pipe, OutputStream.class); }

    private <T> T end(Action pipe, Class<T> type) {
        int index = actions.indexOf(pipe);
        Pipe found = index < 0 ? null : pipes[STREAMS + index];
        if (found == null || !type.isInstance(found.stream)) throw new IllegalArgumentException("aspawn: no such pipe of this child");
        return type.cast(found.stream);
    }

    @Override
    public void resize(int rows, int columns) {
        if (!isOnTerminal) throw new IllegalStateException("aspawn: the child has no terminal");
        Command.checkSize(rows, columns);
        pipes[1].whileOpen(() -> {
            synchronized (handle) {
                Native.resize(handle, rows, columns);
            }
        });
    }

    private boolean signal(int signal, boolean toGroup) {
        int result;
        synchronized (handle) {
            if (status >= 0) return false;
            result = Native.kill(handle, signal, toGroup);
        }
        if (result == -Native.EINVAL) throw new IllegalArgumentException("aspawn: " + signal + " is not a signal");
        return result == 0;
    }

    @Override public boolean kill(int signal) { return signal(signal, false); }
    @Override public boolean killGroup(int signal) { return signal(signal, true); }

    @Override
    public boolean killTree(Duration grace) {
        if (!isTree) throw new IllegalStateException("aspawn: the child is no tree");
        synchronized (handle) {
            return Native.killTree(handle, Job.graceOf(grace)) == 0;
        }
    }

    @Override public void destroy() { destroy(Constants.SIGTERM, Duration.ofSeconds(1)); }
    @Override public Process destroyForcibly() { return destroy(Constants.SIGKILL, Duration.ZERO); }

    /** Input that was not flushed is lost, and output that was read, as with ProcessBuilder. */
    private Process destroy(int signal, Duration grace) {
        if (!isTree) kill(signal);
        else killTree(grace);
        if (pipes[0] != null) pipes[0].close();
        try {
            output.close();
            error.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return this;
    }

    @Override public boolean supportsNormalTermination() { return true; }

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
            if (processHandle == null && isAlive()) processHandle = ProcessHandle.of(known).orElse(null);
            if (processHandle == null) processHandle = new EndedHandle(known);
            return processHandle;
        }
    }

    /** Waits until the program is executed. Before, toHandle() may tell of this process. */
    @Override
    public ProcessHandle.Info info() {
        try (Request request = Request.of(to -> { })) {
            while (isAlive() && waitStarted(request) == -Native.ETIMEDOUT) LockSupport.parkNanos(100_000);
        }
        ProcessHandle.Info info = toHandle().info();
        // within execve(2)
        for (int i = 0; i < 1000 && !info.commandLine().isPresent() && isAlive(); i++) {
            LockSupport.parkNanos(100_000);
            info = toHandle().info();
        }
        return info;
    }

    @Override
    public String toString() {
        return "Process[pid=" + pid() + ", exitValue=" + (isAlive() ? "\"not exited\"" : Result.exitValue(status)) + ']';
    }
}
