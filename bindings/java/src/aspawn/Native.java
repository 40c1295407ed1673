// SPDX-License-Identifier: MIT
package aspawn;

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ref.Cleaner;
import java.net.URL;
import java.net.URLConnection;
import java.nio.ByteBuffer;
import java.util.Map;

/** The functions of binding.c, which is loaded from java.library.path, or else from the jar. */
final class Native {
    static final int EPERM = 1, EAGAIN = 11, EINVAL = 22, EPIPE = 32, ENOSYS = 38, ETIMEDOUT = 110, ECANCELED = 125;
    static final int IN = 1, OUT = 4; // of epoll

    /** Closes pipes that nobody can read any more. */
    static Cleaner cleaner;
    /** That of this process. ProcessBuilder asks no SecurityManager for it at a start. */
    static Map<String, String> environment;
    /** Why commands can never be started; null: that is not known. */
    private static String problem;
    private static boolean isLoaded;
    private static volatile boolean isReady;

    private Native() {}

    /** Loads them, if they can ever be used. After an IOException the next call tries again. */
    static boolean isSupported() throws IOException {
        if (isReady) return true;
        synchronized (Native.class) {
            if (problem == null && !isReady) problem = load();
            return problem == null;
        }
    }

    static String problem() {
        try {
            return isSupported() ? null : problem;
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    /** After isSupported() has returned false. */
    static UnsupportedOperationException unsupported(String what) { return new UnsupportedOperationException("aspawn: " + what + ": " + problem); }

    /** Returns the problem that cannot change, or null. */
    private static String load() throws IOException {
        String system = System.getProperty("os.name");
        String machine = System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
        if (!system.equals("Linux")) return "on Linux only, this is " + system;
        if (!machine.equals("x86_64") && !machine.equals("aarch64")) return "on x86_64 and aarch64 only, this is " + machine;
        if (!isLoaded && !loadLibrary(machine)) return "neither java.library.path nor the jar has its library";
        isLoaded = true;
        int error = -open();
        if (error == ENOSYS || error == EPERM) return "on Linux 5.3 or newer only, this kernel has no pidfds: error=" + error;
        if (error > 0) throw new IOException("aspawn: no epoll descriptor: error=" + error);
        if (cleaner == null) cleaner = Cleaner.create();
        environment = System.getenv();
        isReady = true;
        return null;
    }

    /** Returns false if there is no library. */
    private static boolean loadLibrary(String machine) throws IOException {
        String name = "aspawn-java-" + Interface.VERSION;
        URL url = Native.class.getResource(machine + '/' + System.mapLibraryName(name));
        try {
            System.loadLibrary(name);
            return true;
        } catch (UnsatisfiedLinkError e) {
            if (url == null && e.getMessage().startsWith("no ")) return false;
            if (url == null) throw new IOException("aspawn cannot load its library: " + e.getMessage(), e);
        }
        IOException failure = new IOException("aspawn cannot load its library");
        // A directory may be full, or not for programs.
        for (String parent : new String[] {System.getProperty("java.io.tmpdir"), "/dev/shm", "/var/tmp", System.getProperty("user.home")}) {
            try {
                load(url, new File(parent, "aspawn" + Long.toString(System.nanoTime(), Character.MAX_RADIX)).getAbsoluteFile());
                return true;
            } catch (IOException | UnsatisfiedLinkError e) {
                if (failure.getCause() == null) failure = new IOException(failure.getMessage() + ": " + e.getMessage(), e);
            }
        }
        throw failure;
    }

    /**
     * By a directory that other users cannot enter, whatever the umask is. Those of java.nio.file
     * need classes that fail for ever if there is no descriptor when they are initialized.
     */
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

    static native int open();
    static native int start(long request, boolean isCertain, ByteBuffer handle);
    static native int failureText(long failure, ByteBuffer text);
    static native int waitStarted(ByteBuffer handle, long failure);
    static native int knownPid(ByteBuffer handle);
    static native int end(ByteBuffer handle, boolean waits);
    static native int pid(ByteBuffer handle);
    static native int kill(ByteBuffer handle, int signal, boolean toGroup);
    static native int killTree(ByteBuffer handle, long grace);
    static native int resize(ByteBuffer handle, int rows, int columns);
    static native int watch(int fd, int events, long number);
    static native int events(ByteBuffer numbers, int timeout);
    static native void close(int fd);
    static native int read(int fd, byte[] to, int from, int length);
    static native int write(int fd, byte[] of, int from, int length);
    static native int available(int fd);
    static native int duplicate(int fd);
    static native int openDirectory(long path);
    static native int setBlocking(int fd, boolean blocks);
    static native int number(FileDescriptor descriptor);
    static native long address(ByteBuffer buffer);
    static native ByteBuffer memory(long address, long size);
    static native long queueCreate(ByteBuffer options);
    static native int queueDescriptor(long queue);
    static native long queueSubmit(long queue, long request);
    static native int queueCancel(long queue, long ticket);
    static native void queueClose(long queue);
    static native int queueWait(long queue, ByteBuffer addresses, int most);
    static native int queueRelease(long queue, ByteBuffer addresses, int count);
}
