// SPDX-License-Identifier: MIT
package aspawn;

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLConnection;
import java.nio.ByteBuffer;

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
            // Take that of the jar, by a file that this class loader alone loads.
        }
        URL url = Native.class.getResource(resource);
        if (url == null) throw new IOException("the jar has no " + resource);
        IOException failure = null;
        // A directory may be full, or not for programs.
        for (String parent : new String[] {System.getProperty("java.io.tmpdir"), "/dev/shm", "/var/tmp", System.getProperty("user.home")}) {
            try {
                load(url, new File(parent, "aspawn" + Long.toString(System.nanoTime(), Character.MAX_RADIX)).getAbsoluteFile());
                return;
            } catch (IOException | UnsatisfiedLinkError e) {
                if (failure == null) failure = new IOException(e.getMessage(), e);
            }
        }
        throw failure;
    }

    /** By a directory that other users cannot enter, whatever the umask is. */
    private static void load(URL url, File directory) throws IOException {
        if (!directory.mkdir()) throw new IOException("cannot make " + directory);
        File file = new File(directory, "aspawn.so");
        try {
            boolean isProtected = true;
            for (boolean may : new boolean[] {false, true})
                isProtected &= directory.setReadable(may, may) & directory.setWritable(may, may) & directory.setExecutable(may, may);
            String[] others = directory.list();
            if (!isProtected || others == null || others.length > 0) throw new IOException("cannot have " + directory + " alone");
            URLConnection connection = url.openConnection();
            connection.setUseCaches(false);
            try (InputStream from = connection.getInputStream(); OutputStream to = new FileOutputStream(file)) {
                from.transferTo(to);
            }
            System.load(file.getPath());
        } finally {
            file.delete();
            directory.delete();
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
