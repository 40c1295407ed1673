// SPDX-License-Identifier: MIT
package aspawn;

import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * A process that a {@link Command} has started. Where {@link Command#supported} is false, methods
 * that Process has not throw an UnsupportedOperationException, as their descriptions say.
 */
public abstract class Child extends Process {
    Child() {}

    @Override public abstract boolean isAlive();

    /** A program that has filled a pipe, which holds 64 KiB, waits for its reader: read first. */
    @Override public abstract int waitFor() throws InterruptedException;

    /** Is completed by a thread of the common pool. */
    @Override public abstract CompletableFuture<Process> onExit();

    /** Is completed by the executor; if that does not take the task,
     * by the thread that waits for all children. */
    public CompletableFuture<Process> onExit(Executor executor) {
        Objects.requireNonNull(executor);
        return onExit().thenApplyAsync(process -> process, task -> Poller.execute(executor, task));
    }

    /** The number of the signal that has ended the process; 0: none has, or it has not ended.
     * On Linux only. */
    public int signal() { throw Native.unsupported("signal()"); }

    /** Why an exit value of 127 is no program's: it could not be executed after all.
     * Otherwise null. */
    public StartException failure() { return null; }

    /** What the program writes to the pipe of an {@link Action#outputPipe}. */
    public InputStream getInputStream(Action pipe) { throw Native.unsupported("outputPipe()"); }

    /** What the program reads from the pipe of an {@link Action#inputPipe}. */
    public OutputStream getOutputStream(Action pipe) { throw Native.unsupported("inputPipe()"); }

    /**
     * Sends a signal to the process alone, never to another one of its number. Returns if it was
     * sent. Signals other than SIGKILL, and SIGTERM where that is possible, are on Linux only.
     */
    public abstract boolean kill(int signal);

    /** Sends a signal to the process group that the process leads, after an {@link Action#setsid}
     * or setpgid. On Linux only. */
    public boolean killGroup(int signal) { throw Native.unsupported("killGroup()"); }

    /**
     * Ends a {@link Command#tree}: its {@link Command#stopSignal} to all of it, and after the grace
     * SIGKILL until nothing is left. Without a grace SIGKILL at once. On Linux only.
     * @throws IllegalStateException the child is no tree
     */
    public boolean killTree(Duration grace) { throw Native.unsupported("killTree()"); }

    /**
     * Changes the size of the terminal of {@link Command#pty}, in characters, which sends SIGWINCH
     * to its foreground. On Linux only.
     * @throws IllegalStateException the child has no terminal
     */
    public void resize(int rows, int columns) { throw Native.unsupported("resize()"); }

    /** Sends SIGTERM, to a tree as {@link #killTree} with a grace of a second,
     * and closes the streams. */
    @Override public abstract void destroy();

    /** The same with SIGKILL. */
    @Override public abstract Process destroyForcibly();

    /** Of a private child or a tree this may wait for the turn of the process that clones it.
     * 0: that could not. */
    @Override public abstract long pid();
}
