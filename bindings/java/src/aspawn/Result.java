// SPDX-License-Identifier: MIT
package aspawn;

import java.nio.charset.Charset;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** How a {@link Job} has ended whose program was executed. */
public final class Result {
    /** Why it ended. */
    public enum Outcome {
        /** By itself, or by another's signal. */
        RAN,
        /** After its time limit. */
        TIMED_OUT,
        /** By the OOM killer, in the control group of its {@link Action#newCgroup}. */
        OUT_OF_MEMORY,
        /** The queue's server was killed, and it with that. */
        LOST
    }

    private final Outcome outcome;
    private final int status;
    private final byte[] output, error;
    private final long outputTotal, errorTotal, memoryPeak, userMicros, systemMicros, maxResident;
    private final int cut, survivors;
    private final Duration waited, ran;

    Result(Outcome outcome, int status, byte[] output, byte[] error, long outputTotal, long errorTotal, int cut, int survivors,
            long memoryPeak, long userMicros, long systemMicros, long maxResident, Duration waited, Duration ran) {
        this.outcome = outcome;
        this.status = status;
        this.output = output == null ? new byte[0] : output;
        this.error = error == null ? new byte[0] : error;
        this.outputTotal = outputTotal;
        this.errorTotal = errorTotal;
        this.cut = cut;
        this.survivors = survivors;
        this.memoryPeak = memoryPeak;
        this.userMicros = userMicros;
        this.systemMicros = systemMicros;
        this.maxResident = maxResident;
        this.waited = waited;
        this.ran = ran;
    }

    public Outcome outcome() { return outcome; }

    /** As {@link Process#exitValue}: 128 and more after a signal; -1: not known. */
    public int exitValue() {
        return status < 0 ? -1 : (status & 0x7f) != 0 ? 0x80 + (status & 0x7f) : status >> 8 & 0xff;
    }

    /** The signal that has ended it; 0: none. */
    public int signal() { return status < 0 ? 0 : status & 0x7f; }

    /** What was kept of stdout. */
    public byte[] output() { return output; }

    /** What was kept of stderr. */
    public byte[] error() { return error; }

    /** How many bytes the program has written to stdout: more than {@link #output} has
     * if that was cut. */
    public long outputTotal() { return outputTotal; }

    /** The same of stderr. */
    public long errorTotal() { return errorTotal; }

    /** True if another process still held stdout after the grace, and may have written more. */
    public boolean outputCut() { return (cut & 1) != 0; }

    /** The same of stderr. */
    public boolean errorCut() { return (cut & 2) != 0; }

    /** How many processes of a tree could not be ended; 1 for another program that may not be
     * killed, such as sudo. */
    public int survivors() { return survivors; }

    /** The most bytes of memory that the group of {@link Action#newCgroup} had at a time; 0:
     * not known. */
    public long memoryPeak() { return memoryPeak; }

    /** Processor time in the program, and in its children that it waited for. */
    public Duration userTime() { return Duration.of(userMicros, ChronoUnit.MICROS); }

    /** Processor time of the same in the kernel. */
    public Duration systemTime() { return Duration.of(systemMicros, ChronoUnit.MICROS); }

    /** The most memory of one of them that was resident, in KiB. */
    public long maxResident() { return maxResident; }

    /** The output, as text of the default character set. */
    @Override public String toString() { return new String(output, Charset.defaultCharset()); }

    /** From submission to start. */
    public Duration waited() { return waited; }

    /** From start to end. */
    public Duration ran() { return ran; }
}
