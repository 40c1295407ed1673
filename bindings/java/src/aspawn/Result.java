// SPDX-License-Identifier: MIT
package aspawn;

import java.nio.ByteBuffer;
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

    private final Outcome outcome;
    private final int status;
    private final byte[] output, error;
    private final long outputTotal, errorTotal, memoryPeak, maxResident;
    private final int cut, survivors;
    private final Duration waited, ran, userTime, systemTime;

    /** Of a struct aspawn_result. */
    Result(ByteBuffer of) {
        int number = of.getInt(Interface.RESULT_OUTCOME);
        outcome = number == Interface.OUTCOME_TIMED_OUT ? Outcome.TIMED_OUT : number == Interface.OUTCOME_OUT_OF_MEMORY ? Outcome.OUT_OF_MEMORY
                : number == Interface.OUTCOME_LOST ? Outcome.LOST : Outcome.RAN;
        status = of.getInt(Interface.RESULT_STATUS);
        output = bytes(of.getLong(Interface.RESULT_OUT), of.getLong(Interface.RESULT_OUT_LENGTH));
        error = bytes(of.getLong(Interface.RESULT_ERR), of.getLong(Interface.RESULT_ERR_LENGTH));
        outputTotal = of.getLong(Interface.RESULT_OUT_TOTAL);
        errorTotal = of.getLong(Interface.RESULT_ERR_TOTAL);
        cut = of.getInt(Interface.RESULT_CUT);
        survivors = of.getInt(Interface.RESULT_SURVIVORS);
        memoryPeak = of.getLong(Interface.RESULT_MEMORY_PEAK);
        userTime = time(of, Interface.RUSAGE_RU_UTIME);
        systemTime = time(of, Interface.RUSAGE_RU_STIME);
        maxResident = of.getLong(Interface.RESULT_USAGE + Interface.RUSAGE_RU_MAXRSS);
        long ended = of.getLong(Interface.RESULT_ENDED_NS), begun = of.getLong(Interface.RESULT_STARTED_NS);
        long started = begun == 0 ? ended : begun;
        waited = Duration.ofNanos(started - of.getLong(Interface.RESULT_SUBMITTED_NS));
        ran = Duration.ofNanos(ended - started);
    }

    private static byte[] bytes(long address, long length) {
        byte[] bytes = new byte[(int) length];
        if (length > 0) Native.memory(address, length).get(bytes);
        return bytes;
    }

    private static Duration time(ByteBuffer of, int which) {
        int at = Interface.RESULT_USAGE + which;
        return Duration.ofSeconds(of.getLong(at), of.getLong(at + Interface.TIMEVAL_TV_USEC) * 1000);
    }

    public Outcome outcome() { return outcome; }

    /** As {@link Process#exitValue}: 128 and more after a signal; -1: not known. */
    public int exitValue() { return exitValue(status); }

    static int exitValue(int status) { return status < 0 ? -1 : signal(status) != 0 ? 0x80 + signal(status) : status >> 8 & 0xff; }

    /** The signal that has ended it; 0: none. */
    public int signal() { return signal(status); }

    static int signal(int status) { return status < 0 ? 0 : status & 0x7f; }

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
    public Duration userTime() { return userTime; }

    /** Processor time of the same in the kernel. */
    public Duration systemTime() { return systemTime; }

    /** The most memory of one of them that was resident, in KiB. */
    public long maxResident() { return maxResident; }

    /** The output, as text of the default character set. */
    @Override public String toString() { return new String(output, Charset.defaultCharset()); }

    /** From submission to start. */
    public Duration waited() { return waited; }

    /** From start to end. */
    public Duration ran() { return ran; }
}
