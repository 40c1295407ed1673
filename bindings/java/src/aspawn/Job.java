// SPDX-License-Identifier: MIT
package aspawn;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** A command for a {@link CommandQueue}: its streams are pipes or DISCARD,
 * and it has no owner but TREE. */
public final class Job {
    private final Command command;
    private final ByteBuffer job = ByteBuffer.allocate(Interface.SIZEOF_JOB).order(ByteOrder.nativeOrder());
    private byte[] input;
    private int kept = 4096;

    public Job(Command command) {
        this.command = Objects.requireNonNull(command);
        job.putLong(Interface.JOB_SIZE, Interface.SIZEOF_JOB).putLong(Interface.JOB_GRACE_MS, 1000);
    }

    public Job(String... command) {
        this(new Command(command));
    }

    public Command command() { return command; }

    /** What the program reads; none: nothing. */
    public Job input(byte[] input) {
        this.input = input.clone();
        return this;
    }

    /** How many bytes of each output are kept, 4096 unless set, of the queue's jobBytes;
     * the rest is read and dropped. */
    public Job keep(int bytes) {
        if (bytes < 0) throw new IllegalArgumentException("aspawn: a negative number");
        kept = bytes;
        return this;
    }

    /** Keeps the last bytes, not the first. */
    public Job keepTail(boolean keeps) {
        job.putLong(Interface.JOB_FLAGS, keeps ? Interface.JOB_TAIL : 0);
        return this;
    }

    /** {@link Command#stopSignal} to its process group after this time; ZERO: no limit. */
    public Job timeLimit(Duration limit) {
        job.putLong(Interface.JOB_TIME_LIMIT_MS, milliseconds(notNegative(limit)));
        return this;
    }

    /** From the stop signal to SIGKILL: a second, unless set; ZERO: SIGKILL at once. */
    public Job grace(Duration time) {
        job.putLong(Interface.JOB_GRACE_MS, graceOf(notNegative(time)));
        return this;
    }

    /** Of the jobs with this key, which is not 0, at most so many run at once. */
    public Job key(int key, int limit) {
        if (key == 0 || limit < 1) throw new IllegalArgumentException("aspawn: the key " + key + " with limit " + limit);
        job.putInt(Interface.JOB_KEY, key).putInt(Interface.JOB_KEY_LIMIT, limit);
        return this;
    }

    /** From 0, the default, to 7: of those that wait, the highest start first. */
    public Job priority(int priority) {
        if (priority < 0 || priority > 7) throw new IllegalArgumentException("aspawn: the priority " + priority + " is not from 0 to 7");
        job.putInt(Interface.JOB_PRIORITY, priority);
        return this;
    }

    private static Duration notNegative(Duration time) {
        if (time.isNegative()) throw new IllegalArgumentException("aspawn: the time " + time + " is negative");
        return time;
    }

    /** Rounded up: less than one would be no limit. */
    static long milliseconds(Duration time) {
        long whole = TimeUnit.MILLISECONDS.convert(time);
        return time.getNano() % 1_000_000 == 0 || whole == Long.MAX_VALUE ? whole : whole + 1;
    }

    static long graceOf(Duration time) {
        long milliseconds = milliseconds(time);
        return milliseconds > 0 ? milliseconds : -1; // none
    }

    void write(Request to) {
        ByteBuffer copy = to.memory.duplicate().position(Request.JOB).slice().order(job.order()).put(job.array());
        copy.putLong(Interface.JOB_COMMAND, to.base);
        if (input != null) copy.putLong(Interface.JOB_INPUT, to.bytes(input)).putLong(Interface.JOB_INPUT_SIZE, input.length);
        copy.putLong(Interface.JOB_OUT_SIZE, keptOf(to.memory.getInt(Interface.COMMAND_STD_OUT)));
        copy.putLong(Interface.JOB_ERR_SIZE, keptOf(to.memory.getInt(Interface.COMMAND_STD_ERR)));
    }

    /** The size of the buffer for a stream, with a NUL. */
    private long keptOf(int stream) { return stream == Interface.STREAM_DEFAULT && kept > 0 ? kept + 1L : 0; }
}
