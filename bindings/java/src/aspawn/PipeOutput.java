// SPDX-License-Identifier: MIT
package aspawn;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What a program reads from a pipe, as {@link PipeInput}. */
final class PipeOutput extends OutputStream implements Poller.Watcher {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final long number = Poller.number();
    private int fd; // -1: closed

    PipeOutput(int fd) {
        this.fd = fd;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] of, int from, int length) throws IOException {
        Objects.checkFromIndexSize(from, length, of.length);
        lock.lock();
        try {
            for (int written = 0; written < length;) {
                if (fd < 0) throw new IOException("Stream closed");
                int count = Native.write(fd, of, from + written, length - written);
                if (count >= 0) {
                    written += count;
                } else if (count == -Native.EAGAIN) {
                    Poller.watch(fd, Native.OUT, number, this);
                    changed.awaitUninterruptibly();
                } else {
                    throw new IOException(count == -Native.EPIPE ? "Broken pipe" : "aspawn: write: error=" + -count);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void ready() {
        lock.lock();
        changed.signalAll();
        lock.unlock();
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (fd < 0) return;
            Poller.forget(number);
            Native.close(Native.EPOLL, fd);
            fd = -1;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
