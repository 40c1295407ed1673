// SPDX-License-Identifier: MIT
package aspawn;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What a program writes to a pipe. A thread that waits for it blocks no other: the poller wakes it. */
final class PipeInput extends InputStream implements Poller.Watcher {
    private static final byte[] NOTHING = {};

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final long number = Poller.number();
    private int fd; // -1: nothing comes any more
    private int waiting;
    private boolean isClosed, hasProgramEnded;
    private byte[] rest = NOTHING; // read at the program's end
    private int at;
    private Poller.Forgotten forgotten;

    PipeInput(int fd) {
        this.fd = fd;
    }

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
                if (at < rest.length) return take(to, from, length);
                if (fd < 0) return -1;
                int count = Native.read(fd, to, from, length);
                if (count > 0) return count;
                if (count == 0) {
                    closeDescriptor();
                } else if (count == -Native.EAGAIN) {
                    await();
                } else {
                    throw new IOException("aspawn: read: error=" + -count);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private int take(byte[] to, int from, int length) {
        int count = Math.min(length, rest.length - at);
        System.arraycopy(rest, at, to, from, count);
        at += count;
        if (at == rest.length) {
            rest = NOTHING;
            at = 0;
        }
        return count;
    }

    private void await() throws IOException {
        Poller.watch(fd, Native.IN, number, this);
        waiting++;
        changed.awaitUninterruptibly();
        waiting--;
        if (hasProgramEnded) takeRest();
    }

    @Override
    public void ready() {
        lock.lock();
        changed.signalAll();
        lock.unlock();
    }

    @Override
    public int available() throws IOException {
        lock.lock();
        try {
            if (isClosed) throw new IOException("Stream closed");
            return rest.length - at + (fd < 0 ? 0 : Native.available(fd));
        } finally {
            lock.unlock();
        }
    }

    /** The program has ended. What it has written is taken, so that no descriptor stays open that nobody reads. */
    void programEnded() {
        lock.lock();
        try {
            hasProgramEnded = true;
            takeRest();
        } finally {
            lock.unlock();
        }
    }

    /** Once; by the last thread that waits, which need not come back. */
    private void takeRest() {
        if (fd < 0 || waiting > 0 || forgotten != null) return;
        byte[] bytes = new byte[Native.available(fd) + 1]; // one to see the end
        int length = 0, count = 0;
        while (length < bytes.length && (count = Native.read(fd, bytes, length, bytes.length - length)) > 0)
            length += count;
        if (length > 0) rest = Arrays.copyOf(bytes, length);
        if (count == 0) closeDescriptor();
        else forgotten = new Poller.Forgotten(this, fd);
    }

    @Override
    public void close() {
        lock.lock();
        try {
            isClosed = true;
            closeDescriptor();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void closeDescriptor() {
        if (fd < 0) return;
        Poller.forget(number);
        if (forgotten != null) forgotten.isClosed();
        Native.close(Native.EPOLL, fd);
        fd = -1;
    }
}
