// SPDX-License-Identifier: MIT
package aspawn;

import java.time.Duration;
import java.util.Objects;

/** A command for a {@link CommandQueue}: its streams are pipes or DISCARD,
 * and it has no owner but TREE. */
public final class Job {
    private static final int GRACE_NONE = -1;

    private final Command command;
    private byte[] input;
    private int kept = 4096;
    private boolean keepsTail;
    private Duration timeLimit = Duration.ZERO;
    private Duration grace = Duration.ofSeconds(1);
    private int key, keyLimit, priority;

    public Job(Command command) {
        this.command = Objects.requireNonNull(command);
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
        keepsTail = keeps;
        return this;
    }

    /** {@link Command#stopSignal} to its process group after this time; ZERO: no limit. */
    public Job timeLimit(Duration limit) {
        timeLimit = notNegative(limit);
        return this;
    }

    /** From the stop signal to SIGKILL: a second, unless set; ZERO: SIGKILL at once. */
    public Job grace(Duration time) {
        grace = notNegative(time);
        return this;
    }

    /** Of the jobs with this key, which is not 0, at most so many run at once. */
    public Job key(int key, int limit) {
        if (key == 0 || limit < 1) throw new IllegalArgumentException("aspawn: the key " + key + " with limit " + limit);
        this.key = key;
        keyLimit = limit;
        return this;
    }

    /** From 0, the default, to 7: of those that wait, the highest start first. */
    public Job priority(int priority) {
        if (priority < 0 || priority > 7) throw new IllegalArgumentException("aspawn: the priority " + priority + " is not from 0 to 7");
        this.priority = priority;
        return this;
    }

    private static Duration notNegative(Duration time) {
        if (time.isNegative()) throw new IllegalArgumentException("aspawn: the time " + time + " is negative");
        return time;
    }

    /** Rounded up: less than one would be no limit. */
    static long milliseconds(Duration time) {
        try {
            return time.plusNanos(999_999).toMillis();
        } catch (ArithmeticException e) {
            return Long.MAX_VALUE;
        }
    }

    void write(Request to, long cookie) {
        to.set(Request.JOB_FLAGS, keepsTail ? Interface.JOB_TAIL : 0);
        to.set(Request.COOKIE, cookie);
        if (input != null) {
            to.set(Request.INPUT, to.bytes(input));
            to.set(Request.INPUT_SIZE, input.length);
        }
        boolean hasOutput = to.get(Request.STREAMS + 1) == Interface.STREAM_DEFAULT;
        to.set(Request.OUT_SIZE, hasOutput && kept > 0 ? kept + 1L : 0); // with a NUL
        to.set(Request.ERR_SIZE, to.get(Request.STREAMS + 2) == Interface.STREAM_DEFAULT && kept > 0 ? kept + 1L : 0);
        to.set(Request.TIME_LIMIT, milliseconds(timeLimit));
        to.set(Request.GRACE, grace.isZero() ? GRACE_NONE : milliseconds(grace));
        to.set(Request.KEY, key);
        to.set(Request.KEY_LIMIT, keyLimit);
        to.set(Request.PRIORITY, priority);
    }
}
