// SPDX-License-Identifier: MIT
package aspawn;

import java.io.FileDescriptor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.BitSet;
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
        bytes.asIntBuffer().put(numbers);
        return bytes.array();
    }

    /** A set of numbers, as sigset_t and cpu_set_t are. */
    private static byte[] bits(int first, int... numbers) {
        BitSet bits = new BitSet();
        for (int number : numbers) {
            if (number < first || number > 8192) throw new IllegalArgumentException("aspawn: " + number);
            bits.set(number - first);
        }
        return Arrays.copyOf(bits.toByteArray(), Math.max(bits.length() + 63, 64) / 64 * 8);
    }

    /** The caller's end of the pipe that the action makes, or null. */
    Pipe pipe() {
        Object last = operands.length == 0 ? null : operands[operands.length - 1];
        return last instanceof End ? new Pipe(last == End.INPUT) : null;
    }

    /** As struct encoded_action of binding.c. Returns where the start stores a pipe's end, or 0. */
    int write(Request to, int at) {
        long result = 0, size = -1; // of the array before
        to.memory.putLong(at, number);
        for (Object operand : operands) {
            long word = 0;
            if (operand instanceof Long) word = size < 0 ? (Long) operand : size / -(Long) operand;
            else if (operand instanceof FileDescriptor) word = Native.number((FileDescriptor) operand);
            else if (operand instanceof byte[]) word = to.bytes((byte[]) operand);
            else if (operand instanceof End) result = (word = to.bytes(new byte[8])) - to.base;
            else if (operand != null) word = to.string((String) operand);
            size = operand instanceof byte[] ? ((byte[]) operand).length : -1;
            to.memory.putLong(at += 8, word);
        }
        return (int) result;
    }

    // ACTIONS
}
