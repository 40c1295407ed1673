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
    /** Where its structures are. The command is the first. */
    static final int JOB = Interface.SIZEOF_COMMAND, FAILURE = JOB + Interface.SIZEOF_JOB;

    private static final int HEADER = FAILURE + Interface.SIZEOF_FAILURE;
    private static final int USUAL = 16384;
    private static final Queue<Request> FREE = new ConcurrentLinkedQueue<>();
    /** As the Java runtime has names of files. */
    private static Charset charset;

    final ByteBuffer memory;
    final long base; // its address
    boolean isCertain; // only the file decides if the program is executed
    int firstAction, addedActions; // those that were added: the package's own come before and after

    private Request(int size) {
        memory = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
        base = Native.address(memory);
    }

    static Charset charset() {
        if (charset != null) return charset;
        String name = System.getProperty("sun.jnu.encoding");
        return charset = name != null && Charset.isSupported(name) ? Charset.forName(name) : StandardCharsets.UTF_8;
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
        memory.clear().position(HEADER);
        for (int i = 0; i < HEADER; i += 8) memory.putLong(i, 0);
    }

    // Those that write return an address.

    private long reserve(int size) {
        int at = memory.position() + 7 & ~7;
        if (size > memory.capacity() - at) throw new BufferOverflowException();
        memory.position(at + size);
        return base + at;
    }

    long bytes(byte[] bytes) {
        long address = reserve(bytes.length);
        memory.duplicate().position((int) (address - base)).put(bytes);
        return address;
    }

    static byte[] encoded(String string) { return string.getBytes(charset()); }

    long string(String string) {
        long address = base + memory.position();
        memory.put(encoded(string)).put((byte) 0);
        return address;
    }

    long strings(Collection<String> strings) {
        long address = reserve((strings.size() + 1) * 8);
        int at = (int) (address - base);
        for (String string : strings) {
            memory.putLong(at, string(string));
            at += 8;
        }
        memory.putLong(at, 0);
        return address;
    }

    /** Returns the bytes that have been written. */
    int size() { return memory.position(); }

    void actions(List<Action> actions, List<Integer> pipes) {
        long address = reserve(actions.size() * Interface.SIZEOF_ACTION);
        memory.putLong(Interface.COMMAND_ACTIONS, address).putLong(Interface.COMMAND_ACTION_COUNT, actions.size());
        int at = (int) (address - base);
        for (Action action : actions) {
            pipes.add(action.write(this, at));
            at += Interface.SIZEOF_ACTION;
        }
    }
}
