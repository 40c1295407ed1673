// SPDX-License-Identifier: MIT
package aspawn;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/** Memory, outside the heap, in which binding.c finds a command: struct request,
 * and what that points to. */
final class Request implements AutoCloseable {
    /** The members, by their words. */
    static final int FLAGS = 0, OWNER = 1, MEMORY = 2, STREAMS = 3, FILE = 6, SEARCH_PATH = 7, ARGV = 8, ENVP = 9,
            ENCODED = 10, ACTIONS = 11, ACTION_COUNT = 12, CERTAIN = 13, STOP_SIGNAL = 14, JOB_FLAGS = 15, COOKIE = 16,
            INPUT = 17, INPUT_SIZE = 18, OUT_SIZE = 19, ERR_SIZE = 20, TIME_LIMIT = 21, GRACE = 22, KEY = 23, KEY_LIMIT = 24,
            PRIORITY = 25, TERMINAL = 26, DESCRIPTORS = 28, PID = 34, ERROR = 35, STEP = 36, TEXT = 37;

    private static final int TEXT_SIZE = 256;
    private static final int HEADER = TEXT * 8 + TEXT_SIZE;
    private static final int ACTION_SIZE = 64;
    private static final int USUAL = 16384;
    private static final Queue<Request> FREE = new ConcurrentLinkedQueue<>();
    /** As the Java runtime has names of files. */
    private static Charset charset;

    private final ByteBuffer buffer;
    private final long base;
    private int nextAction;
    int firstAction, addedActions; // those that were added: the package's own come before and after

    private Request(int size) {
        buffer = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
        base = Native.address(buffer);
    }

    private static Charset charset() {
        if (charset != null) return charset;
        String name = System.getProperty("sun.jnu.encoding");
        return charset = name != null && Charset.isSupported(name) ? Charset.forName(name) : StandardCharsets.UTF_8;
    }

    /** With memory of any size that the writer needs. It is called again if
     * there was too little. */
    static Request of(Consumer<Request> writer) {
        Request request = FREE.poll();
        if (request == null) request = new Request(USUAL);
        for (;;) {
            try {
                request.clear();
                writer.accept(request);
                return request;
            } catch (BufferOverflowException e) {
                request = new Request(Math.multiplyExact(request.buffer.capacity(), 4));
            }
        }
    }

    /** Another one may use the memory. */
    @Override
    public void close() {
        if (buffer.capacity() == USUAL) FREE.add(this);
    }

    private void clear() {
        firstAction = addedActions = 0;
        buffer.clear().position(HEADER);
        for (int i = 0; i < HEADER; i += 8) buffer.putLong(i, 0);
    }

    long address() { return base; }

    void set(int word, long value) {
        buffer.putLong(word * 8, value);
    }

    long get(int word) { return buffer.getLong(word * 8); }
    int descriptor(int which) { return (int) get(DESCRIPTORS + which); }

    /** The int at an address that bytes() has returned. */
    int integer(long address) { return buffer.getInt((int) (address - base)); }
    int errno() { return (int) -get(ERROR); }

    int step() { return (int) get(STEP); }

    String failure() {
        byte[] text = new byte[TEXT_SIZE];
        for (int i = 0; i < TEXT_SIZE; i++) text[i] = buffer.get(TEXT * 8 + i);
        String whole = new String(text, charset());
        return whole.substring(0, whole.indexOf('\0'));
    }

    // Those that write return an address.

    private long reserve(int size) {
        int at = buffer.position() + 7 & ~7;
        if (size > buffer.capacity() - at) throw new BufferOverflowException();
        buffer.position(at + size);
        return base + at;
    }

    long bytes(byte[] bytes) {
        long address = reserve(bytes.length);
        int end = buffer.position();
        buffer.position((int) (address - base));
        buffer.put(bytes).position(end);
        return address;
    }

    static byte[] encoded(String string) { return string.getBytes(charset()); }

    long string(String string) {
        long address = base + buffer.position();
        buffer.put(encoded(string)).put((byte) 0);
        return address;
    }

    long strings(Collection<String> strings) {
        long address = reserve((strings.size() + 1) * 8);
        int at = (int) (address - base);
        for (String string : strings) {
            buffer.putLong(at, string(string));
            at += 8;
        }
        buffer.putLong(at, 0);
        return address;
    }

    /** Returns the bytes that have been written. */
    int size() { return buffer.position(); }

    void actions(List<Action> actions, List<Long> pipes) {
        nextAction = (int) (reserve(actions.size() * ACTION_SIZE) - base);
        set(ENCODED, base + nextAction);
        set(ACTIONS, reserve(actions.size() * ACTION_SIZE));
        set(ACTION_COUNT, actions.size());
        for (Action action : actions) pipes.add(action.write(this));
    }

    /** The next action. */
    void words(long... words) {
        for (long word : words) {
            buffer.putLong(nextAction, word);
            nextAction += 8;
        }
    }
}
