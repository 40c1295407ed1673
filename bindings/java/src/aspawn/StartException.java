// SPDX-License-Identifier: MIT
package aspawn;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;

/** A program was not executed. */
public final class StartException extends IOException {
    private static final long serialVersionUID = 1;

    /** What strerror(3) says of the errors that ProcessBuilder's users look for. */
    private static final Map<Integer, String> TEXTS = Map.of(
            1, "Operation not permitted", 2, "No such file or directory", 7, "Argument list too long",
            8, "Exec format error", 11, "Resource temporarily unavailable", 12, "Cannot allocate memory",
            13, "Permission denied", 20, "Not a directory", 24, "Too many open files", 26, "Text file busy");

    private final int errno;
    private final int step;
    private final String failure;

    StartException(String what, Request of) {
        this(what, of.memory, Request.FAILURE, of.firstAction, of.addedActions);
    }

    /** Of a struct aspawn_failure. Those before firstAction, and the user, are the package's. */
    StartException(String what, ByteBuffer memory, int at, int firstAction, int added) {
        super(what, new IOException(error(-memory.getInt(at + Interface.FAILURE_ERROR))));
        errno = -memory.getInt(at + Interface.FAILURE_ERROR);
        int index = memory.getInt(at + Interface.FAILURE_STEP);
        step = index < 0 ? index : index >= firstAction && index < firstAction + added ? index - firstAction : Interface.STEP_NONE;
        ByteBuffer words = ByteBuffer.allocateDirect(256);
        words.limit(Native.failureText(Native.address(memory) + at, words));
        String text = Request.CHARSET.decode(words).toString().replaceFirst("^action \\d+, ", "").replace("job_bytes", "jobBytes");
        failure = step < 0 ? text : "action " + step + ", " + text;
    }

    @Override public String getMessage() { return super.getMessage() + ": " + error(errno) + (failure.isEmpty() ? "" : " (" + failure + ')'); }

    private static String error(int errno) { return "error=" + errno + ", " + TEXTS.getOrDefault(errno, "of Linux"); }

    /** For a start that was refused. Throws an IllegalArgumentException for a wrong argument. */
    static StartException of(String what, int error, Request request) {
        int step = request.memory.putInt(Request.FAILURE + Interface.FAILURE_ERROR, error).getInt(Request.FAILURE + Interface.FAILURE_STEP);
        StartException failure = new StartException(what, request);
        if (error == -Native.EINVAL && (step >= 0 || step == Interface.STEP_ARGUMENT))
            throw new IllegalArgumentException("aspawn: not a valid " + failure.failure().replace(": EINVAL", ""), failure);
        return failure;
    }

    /** The number of the error, of errno(3): 2 is ENOENT. */
    public int errno() { return errno; }

    /** Of {@link Command#actions}, the index of the one that failed; or a negative number. */
    public int action() { return step; }

    /** What failed, in words: {@code search "unmae": ENOENT}. Empty: the start itself. */
    public String failure() { return failure; }
}
