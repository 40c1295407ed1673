// SPDX-License-Identifier: MIT
package aspawn;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/** Memory outside the heap where binding.c finds a struct request, and what that points to. */
final class Request implements AutoCloseable {
    /** Where its structures are. The command is the first. */
    static final int JOB = Interface.SIZEOF_COMMAND, FAILURE = JOB + Interface.SIZEOF_JOB;

    private static final int HEADER = FAILURE + Interface.SIZEOF_FAILURE;
    private static final int USUAL = 16384;
    private static final Queue<Request> FREE = new ConcurrentLinkedQueue<>();
    private static final String NAMES = System.getProperty("sun.jnu.encoding", "UTF-8");
    /** As the Java runtime has names of files. */
    static final Charset CHARSET = Charset.isSupported(NAMES) ? Charset.forName(NAMES) : StandardCharsets.UTF_8;

    final ByteBuffer memory;
    final long base; // its address
    boolean isCertain; // only the file decides if the program is executed
    final List<Integer> ends = new ArrayList<>(); // where the start stores those of the actions
    int firstAction, addedActions; // those that were added: the package's own come before and after

    private Request(int size) {
        memory = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
        base = Native.address(memory);
    }

    /** The writer is called again, with more memory, if there was too little. */
    static Request of(Consumer<Request> writer) {
        Request request = FREE.poll();
        if (request == null) request = new Request(USUAL);
        for (;;) {
            try {
                request.clear();
                writer.accept(request);
                return request;
            } catch (BufferOverflowException e) {
                request = new Request(Math.multiplyExact(request.memory.capacity(), 4));
            }
        }
    }

    /** Another one may use the memory. */
    @Override
    public void close() {
        if (memory.capacity() == USUAL) FREE.add(this);
    }

    private void clear() {
        firstAction = addedActions = 0;
        isCertain = false;
        ends.clear();
        memory.clear().position(HEADER);
        for (int i = 0; i < HEADER; i += 8) memory.putLong(i, 0);
    }

    /** Returns where it begins. */
    private int reserve(int size) {
        int at = memory.position() + 7 & ~7;
        if (size > memory.capacity() - at) throw new BufferOverflowException();
        memory.position(at + size);
        return at;
    }

    // Those that write return an address.

    long bytes(byte[] bytes) {
        int at = reserve(bytes.length);
        memory.duplicate().position(at).put(bytes);
        return base + at;
    }

    static byte[] encoded(String string) { return string.getBytes(CHARSET); }

    long string(String string) {
        long address = base + memory.position();
        memory.put(encoded(string)).put((byte) 0);
        return address;
    }

    long strings(Collection<String> strings) {
        int begin = reserve((strings.size() + 1) * 8), at = begin;
        for (String string : strings) {
            memory.putLong(at, string(string));
            at += 8;
        }
        memory.putLong(at, 0);
        return base + begin;
    }

    void actions(List<Action> actions) {
        int at = reserve(actions.size() * Interface.SIZEOF_ACTION);
        memory.putLong(Interface.COMMAND_ACTIONS, base + at).putLong(Interface.COMMAND_ACTION_COUNT, actions.size());
        for (Action action : actions) {
            ends.add(action.write(this, at));
            at += Interface.SIZEOF_ACTION;
        }
    }
}
