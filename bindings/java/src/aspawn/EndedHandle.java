// SPDX-License-Identifier: MIT
package aspawn;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** The handle of a process that has ended, which ProcessHandle.of() does not know any more. */
final class EndedHandle implements ProcessHandle {
    private static final Info NO_INFO = new Info() {
        @Override public Optional<String> command() { return Optional.empty(); }
        @Override public Optional<String> commandLine() { return Optional.empty(); }
        @Override public Optional<String[]> arguments() { return Optional.empty(); }
        @Override public Optional<Instant> startInstant() { return Optional.empty(); }
        @Override public Optional<Duration> totalCpuDuration() { return Optional.empty(); }
        @Override public Optional<String> user() { return Optional.empty(); }
        @Override public String toString() { return "[]"; }
    };

    private final long pid;

    EndedHandle(long pid) {
        this.pid = pid;
    }

    @Override public long pid() { return pid; }
    @Override public Optional<ProcessHandle> parent() { return Optional.empty(); }
    @Override public Stream<ProcessHandle> children() { return Stream.empty(); }
    @Override public Stream<ProcessHandle> descendants() { return Stream.empty(); }
    @Override public Info info() { return NO_INFO; }
    @Override public CompletableFuture<ProcessHandle> onExit() { return CompletableFuture.completedFuture(this); }
    @Override public boolean supportsNormalTermination() { return true; }
    @Override public boolean destroy() { return false; }
    @Override public boolean destroyForcibly() { return false; }
    @Override public boolean isAlive() { return false; }
    @Override public int compareTo(ProcessHandle other) { return Long.compare(pid, other.pid()); }
    @Override public boolean equals(Object other) { return other instanceof EndedHandle && ((EndedHandle) other).pid == pid; }
    @Override public int hashCode() { return Long.hashCode(pid); }
    @Override public String toString() { return Long.toString(pid); }
}
