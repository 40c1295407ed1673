// SPDX-License-Identifier: MIT
package aspawn;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The functions of src/native/binding.c, which is loaded from java.library.path, or else from the jar. */
final class Native {
    static final int EAGAIN = 11;
    static final int ECHILD = 10;
    static final int EINVAL = 22;
    static final int ETIMEDOUT = 110;
    static final int ECANCELED = 125;
    static final int EPIPE = 32;
    static final int IN = 1;
    static final int OUT = 4;

    /** Why the library cannot be used; null: it can. */
    static final String PROBLEM = load();
    /** Of all children and pipes. */
    static final int EPOLL = PROBLEM == null ? open() : -1;

    private Native() {}

    private static String load() {
        String system = System.getProperty("os.name");
        String machine = System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
        String name = System.mapLibraryName("aspawn-java-" + Interface.VERSION);
        if (!system.equals("Linux") || !machine.equals("x86_64") && !machine.equals("aarch64"))
            return "aspawn is for Linux on x86_64 and aarch64, not for " + system + " on " + machine;
        try {
            loadLibrary(machine + '/' + name);
        } catch (UnsatisfiedLinkError | IOException e) {
            return "aspawn cannot load " + name + ": " + e.getMessage();
        }
        int epoll = open();
        if (epoll < 0) return "aspawn needs pidfds, of Linux 5.3 or later: error " + -epoll;
        close(-1, epoll);
        return null;
    }

    private static void loadLibrary(String resource) throws IOException {
        try {
            System.loadLibrary("aspawn-java-" + Interface.VERSION);
            return;
        } catch (UnsatisfiedLinkError e) {
            // Take that of the jar, by a file that only this user can read, and only this class loader loads.
        }
        Path file = Files.createTempFile("aspawn", ".so");
        try (InputStream from = Native.class.getResourceAsStream(resource)) {
            if (from == null) throw new IOException("the jar has no " + resource);
            Files.copy(from, file, StandardCopyOption.REPLACE_EXISTING);
            System.load(file.toString());
        } finally {
            Files.delete(file);
        }
    }

    static void check() {
        if (PROBLEM != null)
            throw new UnsupportedOperationException(PROBLEM + ". Command.builder() is the ProcessBuilder of this command");
    }

    static native int open();
    static native int start(long request, byte[] handle);
    static native int waitStarted(byte[] handle, long request);
    static native int end(int epoll, byte[] handle, boolean waits);
    static native int pid(byte[] handle);
    static native int kill(byte[] handle, int signal);
    static native int killGroup(byte[] handle, int signal);
    static native int killTree(byte[] handle, long grace);
    static native int watch(int epoll, int fd, int events, long number);
    static native int events(int epoll, long[] numbers, int timeout);
    static native void forget(int epoll, int fd);
    static native void close(int epoll, int fd);
    static native int read(int fd, byte[] to, int from, int length);
    static native int write(int fd, byte[] of, int from, int length);
    static native int available(int fd);
    static native int openDirectory(byte[] path);
    static native void setBlocking(int fd, boolean blocks);
    static native int number(FileDescriptor descriptor);
    static native long address(ByteBuffer buffer);
    static native long queueCreate(int jobs, int running, int bytes);
    static native int queueDescriptor(long queue);
    static native long queueSubmit(long queue, long request);
    static native void queueCancel(long queue, long ticket);
    static native void queueClose(long queue);
    static native long hold(Object object);
    static native void drop(long reference);
    static native int queueTake(long queue, long[] numbers, byte[][] bytes);
}
