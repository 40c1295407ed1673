// SPDX-License-Identifier: MIT
package aspawn;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * This process's end of a pipe of a program, or of its terminal. It is made before the start, which
 * then needs no memory. A thread that waits for it blocks no other: the poller wakes it.
 */
final class Pipe implements Poller.Watcher {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final int MOST = 1 << 17; // of the rest, as other programs may go on writing

    final Closeable stream;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Long number = Poller.number();
    private int fd = -1; // nothing comes any more, or goes
    private int waiting;
    private volatile boolean isClosed, hasProgramEnded;
    private ByteBuffer rest = NOTHING; // read at the program's end
    private Cleaner.Cleanable unread; // a descendant of the program that has ended holds the pipe

    Pipe(boolean isRead) {
        stream = isRead ? new Output() : new Input();
    }

    void open(int descriptor) { fd = descriptor; }

    /** Calls this while the descriptor cannot be closed, unless it is. */
    void whileOpen(Runnable call) {
        lock.lock();
        try {
            if (fd >= 0) call.run();
        } finally {
            lock.unlock();
        }
    }

    /** What the program writes. */
    final class Input extends InputStream {
        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] to, int from, int length) throws IOException {
            Objects.checkFromIndexSize(from, length, to.length);
            lock.lock();
            try {
                for (;;) {
                    if (isClosed) throw new IOException("Stream closed");
                    if (length == 0) return 0;
                    int count = Math.min(length, rest.remaining());
                    rest.get(to, from, count);
                    if (count > 0) return count;
                    if (fd < 0) return -1;
                    count = Native.read(fd, to, from, length);
                    if (count > 0) return count;
                    if (count == 0) closeDescriptor();
                    else if (count == -Native.EAGAIN) await(Native.IN);
                    else throw new IOException("aspawn: read: error=" + -count);
                }
            } finally {
                lock.unlock();
            }
        }

        @Override
        public int available() throws IOException {
            lock.lock();
            try {
                if (isClosed) throw new IOException("Stream closed");
                return rest.remaining() + Native.available(fd);
            } finally {
                lock.unlock();
            }
        }

        @Override public void close() { Pipe.this.close(); }
    }

    /** What the program reads. */
    final class Output extends OutputStream {
        @Override public void write(int value) throws IOException { write(new byte[] {(byte) value}, 0, 1); }

        @Override
        public void write(byte[] of, int from, int length) throws IOException {
            Objects.checkFromIndexSize(from, length, of.length);
            lock.lock();
            try {
                for (int written = 0; written < length;) {
                    if (fd < 0) throw new IOException("Stream closed");
                    int count = Native.write(fd, of, from + written, length - written);
                    if (count >= 0) written += count;
                    else if (count == -Native.EAGAIN) await(Native.OUT);
                    else throw new IOException(count == -Native.EPIPE ? "Broken pipe" : "aspawn: write: error=" + -count);
                }
            } finally {
                lock.unlock();
            }
        }

        @Override public void close() { Pipe.this.close(); }
    }

    private void await(int events) throws IOException {
        Poller.watch(fd, events, number, this);
        waiting++;
        try {
            changed.awaitUninterruptibly();
        } finally {
            waiting--;
        }
        if (hasProgramEnded && fd >= 0) takeRest();
    }

    @Override public void ready() { whileOpen(changed::signalAll); }

    /** Takes what the program has written: no descriptor may stay open that nobody reads. */
    void programEnded() {
        if (stream instanceof Output) close();
        hasProgramEnded = true;
        whileOpen(this::takeRest);
    }

    /** Once; by the last thread that waits, which need not come back. Without memory for it, the
     * rest stays in the pipe. */
    private void takeRest() {
        if (waiting > 0 || unread != null) return;
        int held = fd, count = -1;
        unread = Native.cleaner.register(this, () -> Native.close(held));
        do { // again for a terminal, which may hold more than it says
            // one to see the end
            ByteBuffer more = Poller.buffer(rest.limit() + Native.available(fd) + 1);
            if (more == null) return;
            more.put(rest);
            while (more.hasRemaining() && (count = Native.read(fd, more.array(), more.position(), more.remaining())) > 0)
                more.position(more.position() + count);
            rest = more.flip();
        } while (count > 0 && rest.limit() < MOST);
        if (count == 0) closeDescriptor();
    }

    void close() {
        isClosed = true;
        whileOpen(this::closeDescriptor);
    }

    private void closeDescriptor() {
        Poller.forget(number);
        if (unread != null) unread.clean();
        else Native.close(fd);
        fd = -1;
        changed.signalAll();
    }
}
