// SPDX-License-Identifier: MIT
package aspawn;

import static aspawn.Programs.run;
import static aspawn.Programs.sh;
import static java.lang.ProcessBuilder.Redirect.DISCARD;
import static java.lang.ProcessBuilder.Redirect.INHERIT;
import static java.lang.ProcessBuilder.Redirect.PIPE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** The cases of OpenJDK 17's ProcessBuilder/Basic, written anew: bindings/java/cases.md. */
class BuilderTest {
    private static final String PRINTS = "read line; printf err >&2; printf out; printf err >&2; printf out; [ \"$line\" = in ]";

    @TempDir
    File directory;

    private File file(String name, String text) throws IOException {
        File file = new File(directory, name);
        Files.deleteIfExists(file.toPath());
        if (text != null) Files.writeString(file.toPath(), text);
        return file;
    }

    private static String read(File file) throws IOException {
        return Files.readString(file.toPath());
    }

    @SafeVarargs
    private static void allThrow(Class<? extends Exception> type, Executable... calls) {
        for (Executable call : calls) assertThrows(type, call);
    }

    private static void hasRedirects(Command command, Redirect in, Redirect out, Redirect err) {
        assertEquals(List.of(in, out, err),
                List.of(command.redirectInput(), command.redirectOutput(), command.redirectError()));
    }

    // --- redirects

    @Test
    void beginsWithPipes() {
        hasRedirects(new Command("true"), PIPE, PIPE, PIPE);
    }

    @Test
    void inheritIoSetsAll() {
        hasRedirects(new Command("true").inheritIO(), INHERIT, INHERIT, INHERIT);
    }

    @Test
    void discardsOutputs() {
        hasRedirects(new Command("true").redirectOutput(DISCARD).redirectError(DISCARD), PIPE, DISCARD, DISCARD);
    }

    @Test
    void settersAndGettersOfRedirectsAgree() {
        File file = new File("file");
        Command command = new Command("true").redirectInput(file).redirectOutput(file).redirectError(file);
        hasRedirects(command, Redirect.from(file), Redirect.to(file), Redirect.to(file));
        allThrow(IllegalArgumentException.class, () -> command.redirectInput(Redirect.to(file)),
                () -> command.redirectOutput(Redirect.from(file)), () -> command.redirectError(Redirect.from(file)),
                () -> command.redirectInput(DISCARD));
        allThrow(NullPointerException.class, () -> command.redirectInput((File) null),
                () -> command.redirectOutput((File) null), () -> command.redirectError((File) null),
                () -> command.redirectInput((Redirect) null), () -> command.redirectOutput((Redirect) null),
                () -> command.redirectError((Redirect) null));
    }

    @Test
    void failsWithoutItsInputFile() {
        assertThrows(IOException.class, () -> sh(PRINTS).redirectInput(new File(directory, "missing")).start());
    }

    /** Runs PRINTS with these files, which have a text if it is given,
     * and checks their texts then. */
    private void redirects(Consumer<Command> to, String outBefore, String errBefore, String out, String err) throws Exception {
        Command command = sh(PRINTS).redirectInput(file("in", "in\n"));
        File outFile = file("out", outBefore), errFile = file("err", errBefore);
        command.redirectOutput(outFile).redirectError(errFile);
        to.accept(command);
        Programs result = run(command);
        assertEquals(List.of(0, "", ""), List.of(result.exit, result.out, result.err));
        assertEquals(List.of(out, err), List.of(outFile.exists() ? read(outFile) : "", errFile.exists() ? read(errFile) : ""));
    }

    @Test
    void makesFiles() throws Exception {
        redirects(command -> { }, null, null, "outout", "errerr");
    }

    @Test
    void redirectErrorStreamPrecedesRedirectError() throws Exception {
        redirects(command -> command.redirectErrorStream(true), null, null, "errouterrout", "");
        assertTrue(new File(directory, "err").exists()); // which is made as ProcessBuilder makes it
    }

    @Test
    void appends() throws Exception {
        redirects(command -> command.redirectOutput(Redirect.appendTo(command.redirectOutput().file()))
                .redirectError(Redirect.appendTo(command.redirectError().file())), "a", "b", "aoutout", "berrerr");
    }

    @Test
    void replacesFiles() throws Exception {
        redirects(command -> { }, "before", "before", "outout", "errerr");
    }

    @Test
    void appendsTwiceToOneFile() throws Exception {
        redirects(command -> command.redirectOutput(Redirect.appendTo(command.redirectOutput().file()))
                .redirectError(command.redirectOutput()), "a", "b", "aerrouterrout", "b");
    }

    @Test
    void discardsBoth() throws Exception {
        redirects(command -> command.redirectOutput(DISCARD).redirectError(DISCARD), "a", "b", "a", "b");
    }

    @Test
    void discardsOutputAlone() throws Exception {
        redirects(command -> command.redirectOutput(DISCARD), "a", "b", "a", "errerr");
    }

    @Test
    void discardsErrorAlone() throws Exception {
        redirects(command -> command.redirectError(DISCARD), "a", "b", "outout", "b");
    }

    @Test
    void discardsOutputWithErrorMergedIn() throws Exception {
        redirects(command -> command.redirectOutput(DISCARD).redirectErrorStream(true), "a", null, "a", "");
    }

    @Test
    void inheritsStreams() throws Exception {
        for (Command java : List.of(Programs.java("inherit"), Programs.java("inherit", "all"))) {
            Programs result = run(java, "line\n");
            assertEquals(List.of(3, "out line\n", "err\n"), List.of(result.exit, result.out, result.err));
        }
    }

    @Test
    void theChildHasThePid() throws Exception {
        Child child = Programs.java("pid").start();
        assertEquals(child.pid() + "\n", Programs.text(child.getInputStream()));
    }

    // --- environment

    private static String getenv(Command command, String name) throws Exception {
        command.command("sh", "-c", "printf %s \"${" + name + "-null}\"");
        return run(command).out;
    }

    @Test
    void variablesAreSetChangedAndRemoved() throws Exception {
        Command command = new Command();
        Map<String, String> environment = command.environment();
        assertEquals("null", getenv(command, "QUUX"));
        for (String value : List.of("BAR", "bear")) {
            environment.put("QUUX", value);
            assertEquals(value, environment.get("QUUX"));
            assertEquals(value, getenv(command, "QUUX"));
            isSane(environment);
        }
        for (int i = 0; i < 2; i++) {
            environment.remove("QUUX");
            assertNull(environment.get("QUUX"));
            assertEquals("null", getenv(command, "QUUX"));
            isSane(environment);
        }
    }

    @Test
    void anEmptyEnvironmentIsPassed() throws Exception {
        Command command = new Command("env");
        command.environment().clear();
        assertEquals("", run(command).out);
    }

    @Test
    void rejectsNamesAndValuesThatCannotBe() {
        Map<String, String> environment = new Command().environment();
        allThrow(IllegalArgumentException.class, () -> environment.put("FOO=", "BAR"),
                () -> environment.put("FOO\0", "BAR"), () -> environment.put("FOO", "BAR\0"));
    }

    @Test
    void nullsInUpdatesOfTheEnvironmentThrow() {
        Map<String, String> environment = new Command().environment();
        allThrow(NullPointerException.class, () -> environment.put("foo", null), () -> environment.put(null, "foo"),
                () -> environment.remove(null), () -> environment.entrySet().iterator().next().setValue(null));
    }

    @Test
    void otherTypesInUpdatesOfTheEnvironmentThrow() {
        Map<String, String> environment = new Command().environment();
        allThrow(ClassCastException.class, () -> environment.remove(true), () -> environment.keySet().remove(true),
                () -> environment.values().remove(true), () -> environment.entrySet().remove(true));
    }

    @Test
    void nullsInQueriesOfTheEnvironmentThrow() {
        Map<String, String> environment = new Command().environment();
        allThrow(NullPointerException.class, () -> environment.get(null), () -> environment.containsKey(null),
                () -> environment.containsValue(null), () -> environment.keySet().contains(null),
                () -> environment.values().contains(null));
    }

    @Test
    void otherTypesInQueriesOfTheEnvironmentThrow() {
        Map<String, String> environment = new Command().environment();
        allThrow(ClassCastException.class, () -> environment.get(true), () -> environment.containsKey(true),
                () -> environment.containsValue(true), () -> environment.keySet().contains(true),
                () -> environment.values().contains(true));
    }

    @Test
    void queriesForStringsThatCannotBeFindNothing() {
        Map<String, String> environment = new Command().environment();
        assertNull(environment.get("\0"));
        assertFalse(environment.containsKey("\0") || environment.containsValue("\0")
                || environment.keySet().contains("\0") || environment.values().contains("\0"));
    }

    @Test
    void queriesOfEntriesCheckTheirTypes() {
        Set<Map.Entry<String, String>> entries = new Command().environment().entrySet();
        assertThrows(NullPointerException.class, () -> entries.contains(null));
        allThrow(ClassCastException.class, () -> entries.contains(true),
                () -> entries.contains(new SimpleImmutableEntry<>(true, "")));
        assertFalse(entries.contains(new SimpleImmutableEntry<>("", "")));
    }

    @Test
    void valuesOfAnyEncodingArePassed() throws Exception {
        for (String value : List.of("xyzzy", "\u00f1\u00e1", "\u22f1\u11e1")) {
            if (!new String(Request.encoded(value), System.getProperty("sun.jnu.encoding")).equals(value)) continue;
            Command command = Programs.java("getenv", "NAME");
            command.environment().put("NAME", value);
            assertEquals(value, new String(command.start().getInputStream().readAllBytes(), System.getProperty("sun.jnu.encoding")));
        }
    }

    @Test
    void variablesAreRemovedInManyWays() throws Exception {
        List<Consumer<Map<String, String>>> ways = List.of(
            map -> map.remove("Foo"), map -> map.keySet().remove("Foo"), map -> map.values().remove("BAAR"),
            map -> map.entrySet().removeIf(entry -> entry.getKey().equals("Foo")),
            map -> {
                Map<String, String> other = new Command().environment();
                other.clear();
                other.put("Foo", "BAAR");
                map.entrySet().remove(other.entrySet().iterator().next());
            },
            map -> removeFirst(map.keySet().iterator(), "Foo"), map -> removeFirst(map.values().iterator(), "BAAR"),
            map -> {
                for (Iterator<Map.Entry<String, String>> at = map.entrySet().iterator(); at.hasNext();)
                    if (at.next().getKey().equals("Foo")) at.remove();
            });
        for (Consumer<Map<String, String>> way : ways) {
            Command command = new Command();
            command.environment().put("Foo", "BAAR");
            assertEquals("BAAR", getenv(command, "Foo"));
            way.accept(command.environment());
            assertEquals("null", getenv(command, "Foo"));
            isSane(command.environment());
        }
    }

    private static void removeFirst(Iterator<String> strings, String string) {
        while (strings.hasNext())
            if (strings.next().equals(string)) strings.remove();
    }

    @Test
    void variablesAreAdded() throws Exception {
        Command command = new Command();
        command.environment().put("Foo", "Bahrein");
        assertEquals("Bahrein", getenv(command, "Foo"));
    }

    @Test
    void variablesAreChangedByTheirEntries() throws Exception {
        Command command = new Command();
        command.environment().put("Foo", "old");
        for (Map.Entry<String, String> entry : command.environment().entrySet())
            if (entry.getKey().equals("Foo")) entry.setValue("new");
        assertEquals("new", getenv(command, "Foo"));
    }

    @Test
    void sizesOfTheEnvironmentAgree() {
        Map<String, String> environment = new Command().environment();
        int size = environment.size();
        environment.put("UnLiKeLy", "some");
        hasSize(environment, size + 1);
        new Command().environment().clear();
        environment.put("UnLiKeLy", "other");
        hasSize(environment, size + 1);
        environment.remove("UnLiKeLy");
        hasSize(environment, size);
        environment.clear();
        hasSize(environment, 0);
        Map<String, String> keys = new Command().environment(), values = new Command().environment();
        keys.keySet().clear();
        values.values().clear();
        hasSize(keys, 0);
        hasSize(values, 0);
    }

    private static void hasSize(Map<String, String> map, int size) {
        assertEquals(List.of(size, size, size, size),
                List.of(map.size(), map.keySet().size(), map.values().size(), map.entrySet().size()));
        assertEquals(size == 0, map.isEmpty());
    }

    private static void isSane(Map<String, String> map) {
        hasSize(map, map.size());
        Iterator<String> keys = map.keySet().iterator(), values = map.values().iterator();
        for (Map.Entry<String, String> entry : map.entrySet()) {
            assertEquals(List.of(entry.getKey(), entry.getValue()), List.of(keys.next(), values.next()));
            assertTrue(map.entrySet().contains(entry) && map.containsKey(entry.getKey()) && map.containsValue(entry.getValue()));
        }
    }

    @Test
    void environmentsAreSaneAndEqual() {
        Map<String, String> one = new Command().environment(), other = new Command().environment();
        isSane(one);
        assertEquals(one, other);
        assertEquals(one.hashCode(), other.hashCode());
        assertEquals(one.entrySet(), other.entrySet());
        assertEquals(one.keySet().hashCode(), other.keySet().hashCode());
    }

    @Test
    void envSeesOneVariableMore() throws Exception {
        Set<String> before = new HashSet<>(List.of(run(new Command("env")).out.split("\n")));
        Command command = new Command("env");
        command.environment().put("QwErTyUiOp", "AsDfGhJk");
        before.add("QwErTyUiOp=AsDfGhJk");
        assertEquals(before, new HashSet<>(List.of(run(command).out.split("\n"))));
    }

    @Test
    void variablesMayHaveOddNames() throws Exception {
        Command command = new Command("env");
        command.environment().clear();
        for (String entry : List.of("FOO=BAR", "QUUX=", "+=+", "_=_", "~=~"))
            command.environment().put(entry.substring(0, entry.indexOf('=')), entry.substring(entry.indexOf('=') + 1));
        String[] lines = run(command).out.split("\n");
        Arrays.sort(lines);
        assertArrayEquals(new String[] {"+=+", "FOO=BAR", "QUUX=", "_=_", "~=~"}, lines);
    }

    // --- command and directory

    @Test
    void theCommandIsNotNull() {
        allThrow(NullPointerException.class, () -> new Command((List<String>) null),
                () -> new Command().command((List<String>) null), () -> new Command((ProcessBuilder) null));
    }

    @Test
    void theCommandIsTheGivenList() {
        List<String> list = new ArrayList<>(), other = new ArrayList<>(List.of("foo", "bar"));
        Command command = new Command(list);
        assertSame(list, command.command());
        assertSame(other, command.command(other).command());
        command.command("foo", "bar");
        assertNotSame(other, command.command());
        assertEquals(other, command.command());
        command.command(other);
        other.add("baz");
        assertEquals("baz", command.command().get(2));
    }

    @Test
    void theCommandHasAnElement() {
        allThrow(IndexOutOfBoundsException.class, () -> new Command().start(), () -> new Command(new ArrayList<>()).start());
    }

    @Test
    void theCommandHasNoNull() {
        allThrow(NullPointerException.class, () -> new Command("foo", null, "bar").start(),
                () -> new Command((String) null).start(), () -> new Command(new String[] {null}).start());
    }

    @Test
    void theCommandGrows() {
        new Command().command().add("foo");
        new Command("bar").command().add("foo");
        Command command = new Command("1", "2");
        command.command().add("3");
        assertEquals(List.of("1", "2", "3"), command.command());
    }

    @Test
    void theDirectoryIsTheGivenOne() {
        Command command = new Command();
        assertNull(command.directory());
        assertEquals(new File("foo"), command.directory(new File("foo")).directory());
        assertNull(command.directory(null).directory());
    }

    @Test
    void runsInTheDirectory() throws Exception {
        Command command = new Command("pwd", "-P");
        String here = new File(System.getProperty("user.dir")).getCanonicalPath();
        for (String name : List.of(".", "..", "/", "/bin")) {
            assertEquals(here + "\n", run(command.directory(null)).out);
            File at = new File(name);
            assertEquals(at.getCanonicalPath() + "\n", run(command.directory(at)).out);
        }
    }

    @Test
    void directoriesOfAnyNameAreEntered() throws Exception {
        String name = "dir\u00f1\u4e00";
        if (!new String(Request.encoded(name), System.getProperty("sun.jnu.encoding")).equals(name)) name = "dir\t'";
        File at = new File(directory, name);
        assertTrue(at.mkdir());
        byte[] output = new Command("pwd", "-P").directory(at).start().getInputStream().readAllBytes();
        assertEquals(at.getCanonicalPath() + "\n", new String(output, System.getProperty("sun.jnu.encoding")));
    }

    @Test
    void redirectErrorStreamIsAProperty() {
        Command command = new Command();
        assertFalse(command.redirectErrorStream());
        assertSame(command, command.redirectErrorStream(true));
        assertTrue(command.redirectErrorStream());
        assertFalse(command.redirectErrorStream(false).redirectErrorStream());
    }

    @Test
    void errorsAreSeparateOrMerged() throws Exception {
        Programs apart = run(sh(PRINTS), "in\n"), merged = run(sh(PRINTS).redirectErrorStream(true), "in\n");
        assertEquals(List.of("outout", "errerr"), List.of(apart.out, apart.err));
        assertEquals(List.of("errouterrout", ""), List.of(merged.out, merged.err));
    }

    // --- which program

    @Test
    void findsProgramsWithoutPath() throws Exception {
        Command java = Programs.java("no PATH");
        java.environment().remove("PATH");
        Programs result = run(java);
        assertEquals(List.of(0, "", ""), List.of(result.exit, result.out, result.err));
    }

    @Test
    void searchesInPath() throws Exception {
        Command java = Programs.java("PATH").directory(directory);
        java.environment().put("PATH", "dir1:dir2:");
        Programs result = run(java);
        assertEquals(List.of(0, "", ""), List.of(result.exit, result.out, result.err));
    }

    @Test
    void searchesInItsOwnPathNotTheChilds() throws Exception {
        Programs.copy("/bin/true", new File(directory, "unliKely"));
        Command command = new Command("unliKely");
        command.environment().put("PATH", directory.getPath());
        assertThrows(IOException.class, command::start);
    }

    @Test
    void anEmptyNameIsNoProgram() {
        String text = assertThrows(IOException.class, () -> new Command("").start()).getMessage();
        assertTrue(text.contains("No such file or directory"), text);
    }

    @Test
    void theExceptionHasTheName() {
        for (String name : List.of("\u00f0", "\u01f0")) {
            String text = assertThrows(IOException.class, () -> new Command(name).start()).getMessage();
            assertTrue(text.contains(name) && text.contains("No such file or directory"), text);
        }
    }

    @Test
    void theDirectoryMustExist() {
        String text = assertThrows(IOException.class, () -> new Command("echo").directory(new File("UnLiKeLY")).start()).getMessage();
        assertTrue(text.contains("in directory") && text.contains("No such file or directory"), text);
    }

    @Test
    void theFileMustBeExecutable() throws Exception {
        File file = file("empty", "");
        String text = assertThrows(IOException.class, () -> new Command("./empty").directory(directory).start()).getMessage();
        assertTrue(text.contains("Permission denied"), text);
        assertThrows(IOException.class, () -> new Command(file.getPath()).start());
    }

    // --- streams

    @Test
    void pipesHoldWhatNobodyReads() throws Exception {
        byte[] bytes = new byte[4095], more = new byte[4096];
        Arrays.fill(bytes, (byte) '!');
        Child child = sh("head -c 4095 /dev/zero | tr '\\0' '!'; head -c 4095 /dev/zero | tr '\\0' E >&2; exit 5").start();
        child.getOutputStream().write(bytes);
        assertEquals(5, child.waitFor());
        assertThrows(IOException.class, () -> {
            child.getOutputStream().write('!');
            child.getOutputStream().flush();
        });
        for (InputStream stream : List.of(child.getInputStream(), child.getErrorStream())) {
            assertEquals(4095, stream.available());
            assertEquals(4095, stream.read(more));
            Arrays.fill(bytes, (byte) (stream == child.getInputStream() ? '!' : 'E'));
            assertArrayEquals(bytes, Arrays.copyOf(more, 4095));
            assertEquals(0, more[4095]);
            assertEquals(0, stream.available());
            assertEquals(-1, stream.read());
            stream.close();
            for (Executable call : List.<Executable>of(stream::read, () -> stream.read(more), stream::available))
                assertTrue(assertThrows(IOException.class, call).getMessage().equalsIgnoreCase("Stream closed"));
        }
    }

    @Test
    void pendingReadsEndWithDestroy() throws Exception {
        for (int which = 0; which < 4; which++) {
            Child child = Programs.waiting();
            InputStream stream = which % 2 == 0 ? child.getInputStream() : child.getErrorStream();
            boolean isSingle = which < 2;
            AtomicReference<Object> result = new AtomicReference<>();
            Thread reader = new Thread(() -> {
                try {
                    result.set(isSingle ? stream.read() : stream.read(new byte[10]));
                } catch (IOException e) {
                    result.set(e.getMessage());
                }
            });
            reader.start();
            assertTrue(Programs.isEventually(() -> reader.getState() == Thread.State.WAITING));
            child.destroy();
            reader.join();
            assertTrue(List.of(-1, "Stream closed").contains(result.get()), String.valueOf(result.get()));
        }
    }

    @Test
    void descendantsThatHoldPipesHangNobody() throws Exception {
        Child child = sh("sleep 100 & echo $!; wait").start();
        InputStream output = child.getInputStream();
        byte[] number = new byte[20];
        String pid = new String(number, 0, output.read(number)).trim();
        Thread reader = new Thread(() -> {
            try {
                output.read();
            } catch (IOException e) {
                assertEquals("Stream closed", e.getMessage());
            }
        });
        reader.start();
        assertTrue(Programs.isEventually(() -> reader.getState() == Thread.State.WAITING));
        child.destroy();
        assertEquals(143, child.waitFor());
        reader.join();
        output.close();
        child.getErrorStream().close();
        child.getOutputStream().close();
        assertTrue(ProcessHandle.of(Long.parseLong(pid)).orElseThrow().destroyForcibly());
    }

    @Test
    void toStringTellsItsState() throws Exception {
        Child child = Programs.waiting();
        assertTrue(child.toString().contains("not exited") && child.toString().contains("pid=" + child.pid() + ","));
        child.getOutputStream().close();
        child.waitFor();
        assertTrue(child.toString().contains("exitValue=0") && child.toString().contains("pid=" + child.pid() + ","));
    }

    // --- waits

    @Test
    void waitForZeroDoesNotWait() throws Exception {
        Child child = Programs.waiting();
        assertTrue(child.isAlive());
        assertFalse(child.waitFor(0, TimeUnit.MILLISECONDS));
        assertThrows(IllegalThreadStateException.class, child::exitValue);
        child.destroy();
        child.waitFor();
        assertFalse(child.isAlive());
        assertTrue(child.waitFor(0, TimeUnit.MILLISECONDS));
    }

    @Test
    void waitForEndsAfterItsTime() throws Exception {
        Child child = Programs.waiting();
        long start = System.nanoTime();
        assertFalse(child.waitFor(10, TimeUnit.MILLISECONDS));
        assertTrue(System.nanoTime() - start >= 10_000_000);
        child.destroy();
    }

    private static void isInterrupted(long milliseconds, boolean before) throws Exception {
        Child child = Programs.waiting();
        CompletableFuture<String> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            if (before) Thread.currentThread().interrupt();
            try {
                result.complete("" + (milliseconds < 0 ? child.waitFor() : child.waitFor(milliseconds, TimeUnit.MILLISECONDS)));
            } catch (InterruptedException e) {
                result.complete("interrupted");
            }
        });
        thread.start();
        if (!before) {
            assertTrue(Programs.isEventually(() -> thread.getState().name().endsWith("WAITING")));
            thread.interrupt();
        }
        assertEquals("interrupted", result.get());
        assertTrue(child.isAlive());
        child.destroy();
    }

    @Test
    void timedWaitsAreInterrupted() throws Exception {
        isInterrupted(30_000, false);
    }

    @Test
    void longWaitsAreInterrupted() throws Exception {
        isInterrupted(Long.MAX_VALUE, false);
        isInterrupted(-1, false);
    }

    @Test
    void waitsOfInterruptedThreadsAreInterrupted() throws Exception {
        isInterrupted(30_000, true);
    }

    @Test
    void waitForNeedsAUnit() throws Exception {
        Child child = Programs.waiting();
        for (int i = 0; i < 2; i++) {
            for (long timeout : new long[] {10, 0, -1}) assertThrows(NullPointerException.class, () -> child.waitFor(timeout, null));
            child.destroy();
            child.waitFor();
        }
    }
}
