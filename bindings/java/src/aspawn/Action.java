// SPDX-License-Identifier: MIT
package aspawn;

import java.io.FileDescriptor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * What a child does before it executes the program. The methods are made from the library's
 * description of its interface when the package is built (bindings/java/generate).
 */
public final class Action {
    /** An operand: the start stores there the caller's end of a pipe. */
    private enum End { INPUT, OUTPUT }

    private final int number;
    private final Object[] operands;

    private Action(int number, Object... operands) {
        this.number = number;
        this.operands = operands;
        for (Object operand : operands) {
            if (operand instanceof String && ((String) operand).indexOf('\0') >= 0)
                throw new IllegalArgumentException("aspawn: NUL in \"" + operand + '"');
        }
    }

    private static byte[] numbers(int... numbers) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * numbers.length).order(ByteOrder.nativeOrder());
        for (int number : numbers) bytes.putInt(number);
        return bytes.array();
    }

    /** A set of numbers, as sigset_t and cpu_set_t are. */
    private static byte[] bits(int first, int... numbers) {
        int size = 8;
        for (int number : numbers) size = Math.max(size, (Math.subtractExact(number, first) / 64 + 1) * 8);
        byte[] bytes = new byte[size];
        for (int number : numbers) {
            if (number < first || number > 8192) throw new IllegalArgumentException("aspawn: " + number);
            bytes[(number - first) / 8] |= 1 << (number - first) % 8;
        }
        return bytes;
    }

    /** The caller's end of the pipe that the action makes, or null. */
    Pipe pipe() {
        Object last = operands.length == 0 ? null : operands[operands.length - 1];
        return last instanceof End ? new Pipe(last == End.INPUT) : null;
    }

    /** The action as struct encoded_action of binding.c; returns the address of a pipe's end,
     * or 0. */
    long write(Request to) {
        long result = 0;
        long[] words = new long[8];
        words[0] = number;
        for (int i = 0; i < operands.length; i++) {
            Object operand = operands[i];
            if (operand instanceof Long) words[i + 1] = (Long) operand;
            else if (operand instanceof FileDescriptor) words[i + 1] = Native.number((FileDescriptor) operand);
            else if (operand instanceof byte[]) words[i + 1] = to.bytes((byte[]) operand);
            else if (operand instanceof End) words[i + 1] = result = to.bytes(new byte[8]);
            else if (operand != null) words[i + 1] = to.string((String) operand);
            if (i > 0 && operands[i - 1] instanceof byte[]) words[i + 1] = ((byte[]) operands[i - 1]).length / -words[i + 1];
        }
        to.words(words);
        return result;
    }

    // ACTIONS
}
