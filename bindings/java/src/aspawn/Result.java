// SPDX-License-Identifier: MIT
package aspawn;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.time.Duration;

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

    private final ByteBuffer of; // a copy of the struct aspawn_result
    private final byte[] output, error;

    Result(ByteBuffer result) {
        of = ByteBuffer.allocate(Interface.SIZEOF_RESULT).order(ByteOrder.nativeOrder()).put(result);
        output = bytes(Interface.RESULT_OUT, Interface.RESULT_OUT_LENGTH);
        error = bytes(Interface.RESULT_ERR, Interface.RESULT_ERR_LENGTH);
    }

    private byte[] bytes(int address, int length) {
        byte[] bytes = new byte[(int) of.getLong(length)];
        if (bytes.length > 0) Native.memory(of.getLong(address), bytes.length).get(bytes);
        return bytes;
    }

    private Duration time(int which) {
        int at = Interface.RESULT_USAGE + which;
        return Duration.ofSeconds(of.getLong(at), of.getLong(at + Interface.TIMEVAL_TV_USEC) * 1000);
    }

    /** When it started, or ended without that. */
    private long started() {
        long started = of.getLong(Interface.RESULT_STARTED_NS);
        return started == 0 ? of.getLong(Interface.RESULT_ENDED_NS) : started;
    }

    public Outcome outcome() {
        int number = of.getInt(Interface.RESULT_OUTCOME);
        return number == Interface.OUTCOME_TIMED_OUT ? Outcome.TIMED_OUT : number == Interface.OUTCOME_OUT_OF_MEMORY ? Outcome.OUT_OF_MEMORY
                : number == Interface.OUTCOME_LOST ? Outcome.LOST : Outcome.RAN;
    }

    /** As {@link Process#exitValue}: 128 and more after a signal; -1: not known. */
    public int exitValue() { return exitValue(of.getInt(Interface.RESULT_STATUS)); }

    static int exitValue(int status) { return status < 0 ? -1 : signal(status) != 0 ? 0x80 + signal(status) : status >> 8 & 0xff; }

    /** The signal that has ended it; 0: none. */
    public int signal() { return signal(of.getInt(Interface.RESULT_STATUS)); }

    static int signal(int status) { return status < 0 ? 0 : status & 0x7f; }

    /** What was kept of stdout. */
    public byte[] output() { return output; }

    /** What was kept of stderr. */
    public byte[] error() { return error; }

    /** How many bytes the program has written to stdout: more than {@link #output} has
     * if that was cut. */
    public long outputTotal() { return of.getLong(Interface.RESULT_OUT_TOTAL); }

    /** The same of stderr. */
    public long errorTotal() { return of.getLong(Interface.RESULT_ERR_TOTAL); }

    /** True if another process still held stdout after the grace, and may have written more. */
    public boolean outputCut() { return (of.getInt(Interface.RESULT_CUT) & 1) != 0; }

    /** The same of stderr. */
    public boolean errorCut() { return (of.getInt(Interface.RESULT_CUT) & 2) != 0; }

    /** How many processes of a tree could not be ended; 1 for another program that may not be
     * killed, such as sudo. */
    public int survivors() { return of.getInt(Interface.RESULT_SURVIVORS); }

    /** The most bytes of memory that the group of {@link Action#newCgroup} had at a time; 0:
     * not known. */
    public long memoryPeak() { return of.getLong(Interface.RESULT_MEMORY_PEAK); }

    /** Processor time in the program, and in its children that it waited for. */
    public Duration userTime() { return time(Interface.RUSAGE_RU_UTIME); }

    /** Processor time of the same in the kernel. */
    public Duration systemTime() { return time(Interface.RUSAGE_RU_STIME); }

    /** The most memory of one of them that was resident, in KiB. */
    public long maxResident() { return of.getLong(Interface.RESULT_USAGE + Interface.RUSAGE_RU_MAXRSS); }

    /** The output, as text of the default character set. */
    @Override public String toString() { return new String(output, Charset.defaultCharset()); }

    /** From submission to start. */
    public Duration waited() { return Duration.ofNanos(started() - of.getLong(Interface.RESULT_SUBMITTED_NS)); }

    /** From start to end. */
    public Duration ran() { return Duration.ofNanos(of.getLong(Interface.RESULT_ENDED_NS) - started()); }
}
