// SPDX-License-Identifier: MIT
package aspawn;

import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A child of ProcessBuilder's, where the library does not work. */
final class PlainChild extends Child {
    private final Process process;

    PlainChild(Process process) {
        this.process = process;
    }

    @Override public OutputStream getOutputStream() { return process.getOutputStream(); }
    @Override public InputStream getInputStream() { return process.getInputStream(); }
    @Override public InputStream getErrorStream() { return process.getErrorStream(); }
    @Override public int waitFor() throws InterruptedException { return process.waitFor(); }
    @Override public boolean waitFor(long timeout, TimeUnit unit) throws InterruptedException { return process.waitFor(timeout, unit); }
    @Override public int exitValue() { return process.exitValue(); }
    @Override public boolean isAlive() { return process.isAlive(); }
    @Override public CompletableFuture<Process> onExit() { return process.onExit().thenApply(ended -> this); }
    @Override public long pid() { return process.pid(); }
    @Override public ProcessHandle toHandle() { return process.toHandle(); }
    @Override public boolean supportsNormalTermination() { return process.supportsNormalTermination(); }
    @Override public void destroy() { process.destroy(); }
    @Override public String toString() { return process.toString(); }

    @Override
    public Process destroyForcibly() {
        process.destroyForcibly();
        return this;
    }

    @Override
    public boolean kill(int signal) {
        boolean kills = signal == Constants.SIGKILL;
        if (!kills && (signal != Constants.SIGTERM || !supportsNormalTermination())) throw Native.unsupported("kill(" + signal + ')');
        // Those of Process close the streams.
        return isAlive() && (kills ? toHandle().destroyForcibly() : toHandle().destroy());
    }
}
