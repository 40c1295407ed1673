// SPDX-License-Identifier: MIT
package aspawn;

import static aspawn.Constants.SIGHUP;
import static aspawn.Constants.SIGUSR1;
import static aspawn.Programs.sh;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TerminalTest {
    /** After what a script traps: it must be read before the signal is sent. */
    private static final String READY = "echo ready; while :; do sleep 0.01; done";

    @TempDir
    File directory;

    private static Child ready(Command command) throws IOException {
        Child child = command.start();
        StringBuilder shown = new StringBuilder();
        while (shown.indexOf("ready\r\n") < 0) {
            int next = child.getInputStream().read();
            if (next < 0) throw new EOFException(shown.toString());
            shown.append((char) next);
        }
        return child;
    }

    private static String shown(Child child) throws Exception {
        FutureTask<String> text = new FutureTask<>(() -> Programs.text(child.getInputStream()));
        Thread reader = new Thread(text);
        reader.setDaemon(true);
        reader.start();
        return text.get(60, TimeUnit.SECONDS);
    }

    private static void type(Child child, String keys) throws IOException {
        child.getOutputStream().write(keys.getBytes());
        child.getOutputStream().flush();
    }

    @Test
    void aProgramHasATerminalOfTheGivenSize() throws Exception {
        Child child = sh("tty; stty size; exec 3</dev/tty; read line <&3; echo got $line >&2; exit 5").pty(30, 100).start();
        type(child, "word\n");
        String text = shown(child);
        assertTrue(text.matches("(?s)(.*\r\n)?/dev/pts/\\d+\r\n.*"), text);
        assertTrue(text.contains("30 100\r\n") && text.contains("word\r\n") && text.endsWith("got word\r\n"), text);
        assertEquals(5, child.waitFor());
        assertEquals(-1, child.getInputStream().read());
        assertEquals(-1, child.getErrorStream().read());
    }

    @Test
    void theSizeIsOf24RowsAnd80ColumnsByDefault() throws Exception {
        assertEquals("24 80\r\n", shown(new Command("stty", "size").tree().pty(0, 0).start()));
    }

    @Test
    void aNewSizeIsASignal() throws Exception {
        Child child = ready(sh("trap 'stty size; exit 4' WINCH; " + READY).pty(24, 80));
        for (int size : new int[] {-1, 65536}) {
            assertThrows(IllegalArgumentException.class, () -> child.resize(size, 80));
            assertThrows(IllegalArgumentException.class, () -> child.resize(24, size));
            assertThrows(IllegalArgumentException.class, () -> new Command("true").pty(size, 80));
            assertThrows(IllegalArgumentException.class, () -> new Command("true").pty(24, size));
        }
        child.resize(50, 65535);
        assertEquals("50 65535\r\n", shown(child));
        assertEquals(4, child.waitFor());
        child.resize(1, 1); // the terminal is gone
    }

    @Test
    void aTerminalThatIsNoneHasNoSize() throws Exception {
        Child child = Programs.waiting();
        assertThrows(IllegalStateException.class, () -> child.resize(24, 80));
        child.destroy();
    }

    @Test
    void keysAreSignalsAndTheEndOfInput() throws Exception {
        Child child = ready(sh("trap 'exit 6' INT; " + READY).pty(24, 80));
        type(child, "\003");
        assertEquals(6, child.waitFor());
        Child reader = new Command("cat").pty(24, 80).start();
        type(reader, "line\n\004");
        assertEquals(0, reader.waitFor());
        assertEquals(2, shown(reader).split("line\r\n", -1).length - 1); // the echo too
    }

    /** More than the terminal holds, so that each side waits for the other one. */
    @Test
    void muchGoesThrough() throws Exception {
        Child child = ready(sh("stty raw -echo; printf 'ready\\r\\n'; head -c 300000 | tr a b").pty(24, 80));
        Thread writer = new Thread(() -> {
            try {
                type(child, "a".repeat(300_000));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        writer.start();
        assertTrue("b".repeat(300_000).equals(shown(child)));
        writer.join();
        assertEquals(0, child.waitFor());
    }

    @Test
    void otherRedirectsStay() throws Exception {
        File file = new File(directory, "file");
        String script = "echo out; echo err >&2";
        assertEquals("out\r\n", shown(sh(script).redirectError(file).pty(24, 80).start()));
        assertEquals("err\n", Files.readString(file.toPath()));
        assertEquals("err\r\n", shown(sh(script).redirectOutput(file).pty(24, 80).start()));
        assertEquals("out\n", Files.readString(file.toPath()));
        assertEquals("out\r\nerr\r\n", shown(sh(script).redirectErrorStream(true).pty(24, 80).start()));
        assertEquals("out\r\nerr\r\n", shown(sh(script + "; cat; tty >/dev/null || exit 0").redirectInput(new File("/dev/null")).pty(24, 80).start()));
        assertThrows(IllegalArgumentException.class, () -> new Command("true").inheritIO().pty(24, 80).start());
        List<Child> children = Command.startPipeline(List.of(new Command("echo", "word").pty(24, 80), new Command("cat").pty(24, 80)));
        assertEquals("word\r\n", shown(children.get(1)));
    }

    @Test
    void closingBothStreamsHangsItUp() throws Exception {
        Child child = ready(sh("trap 'echo more; exit 3' USR1; " + READY).pty(24, 80));
        child.getOutputStream().close();
        child.kill(SIGUSR1);
        assertEquals("more\r\n", shown(child));
        assertEquals(3, child.waitFor());
        Child other = ready(sh("echo ready; exec sleep 100").pty(24, 80));
        other.getOutputStream().close();
        other.getInputStream().close();
        other.waitFor();
        assertEquals(SIGHUP, other.signal());
    }

    /** Another program has it still. */
    @Test
    void outputAfterTheEndIsNotLost() throws Exception {
        Child child = sh("trap '' HUP; { while kill -0 $$ 2>&-; do sleep 0.01; done; echo late; } & echo early").pty(24, 80).start();
        child.waitFor();
        assertEquals("early\r\nlate\r\n", shown(child));
        Child large = sh("head -c 9000 /dev/zero | tr '\\0' x").pty(24, 80).start();
        large.waitFor();
        assertTrue("x".repeat(9000).equals(shown(large)));
    }

    private static int descriptors() {
        return new File("/proc/self/fd").list().length;
    }

    @Test
    void noDescriptorStays() throws Exception {
        Programs.run(new Command("true"));
        int before = descriptors();
        for (int i = 0; i < 20; i++) {
            new Command("echo", "unread").pty(24, 80).start().waitFor();
            assertThrows(StartException.class, () -> new Command("true").pty(24, 80).action(Action.chdir("/missing")).start());
        }
        assertTrue(Programs.isEventually(() -> {
            System.gc(); // for a terminal that a process of another thread's had too
            return descriptors() <= before;
        }));
    }

    @Test
    void aJobHasNoTerminal() throws Exception {
        try (CommandQueue queue = new CommandQueue(1)) {
            ExecutionException failure = assertThrows(ExecutionException.class, () -> queue.submit(new Command("true").pty(24, 80)).get());
            assertTrue(failure.getCause() instanceof IllegalArgumentException, failure.toString());
        }
    }
}
