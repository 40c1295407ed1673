// SPDX-License-Identifier: MIT
package aspawn;

import java.io.IOException;
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
        this(what, of.errno(), of.step(), of.failure(), of.firstAction(), of.addedActions());
    }

    StartException(String what, int errno, int step, String failure, int firstAction, int added) {
        this(what, errno, index(step, firstAction, added), numbered(index(step, firstAction, added), failure.replaceFirst("^action \\d+, ", "")));
    }

    private StartException(String what, int errno, int step, String failure) {
        super(what + ": error=" + errno + ", " + TEXTS.getOrDefault(errno, "of Linux") + (failure.isEmpty() ? "" : " (" + failure + ')'));
        this.errno = errno;
        this.step = step;
        this.failure = failure;
    }

    /** Of an action that was added: those before firstAction, and the user, are the package's own. */
    private static int index(int step, int firstAction, int added) {
        return step < 0 ? step : step >= firstAction && step < firstAction + added ? step - firstAction : Interface.STEP_NONE;
    }

    private static String numbered(int index, String text) { return index < 0 ? text : "action " + index + ", " + text; }

    /** The number of the error, of errno(3): 2 is ENOENT. */
    public int errno() { return errno; }

    /** Of {@link Command#actions}, the index of the one that failed; or a negative number. */
    public int action() { return step; }

    /** What failed, in words: {@code search "unmae": ENOENT}. Empty: the start itself. */
    public String failure() { return failure; }
}
