// SPDX-License-Identifier: MIT
package aspawn;

import static aspawn.Programs.sh;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The cases of OpenJDK 17's ProcessHandle tests, written anew: bindings/java/cases.md. */
class HandleTest {
    /** A shell starts three that start two each, and all end with its input;
     * it prints their numbers. */
    private static final String TREE = "for i in 1 2 3; do sh -c 'cat <&3 & echo $!; cat <&3 & echo $!; echo $$; cat <&3; wait' & done 3<&0; wait";

    private static List<ProcessHandle> printed(Child child, int count) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(child.getInputStream()));
        List<ProcessHandle> handles = new ArrayList<>();
        while (handles.size() < count) handles.add(ProcessHandle.of(Long.parseLong(lines.readLine())).orElseThrow());
        return handles;
    }

    private static Set<ProcessHandle> children(ProcessHandle of) {
        return of.children().collect(Collectors.toSet());
    }

    @Test
    void anEndedProcessHasNoHandle() throws Exception {
        Child child = new Command("true").start();
        child.waitFor();
        assertFalse(ProcessHandle.of(child.pid()).isPresent());
        assertFalse(child.toHandle().isAlive() || child.toHandle().destroy());
        assertSame(child.toHandle(), child.toHandle().onExit().get());
    }

    @Test
    void onExitHasTheExitValue() throws Exception {
        for (int value : new int[] {0, 1, 10}) {
            Child child = sh("exit " + value).start();
            CompletableFuture<Integer> seen = child.onExit().thenApply(process -> {
                assertSame(child, process);
                return process.exitValue();
            });
            assertSame(child, child.onExit().get());
            assertEquals(value, seen.get());
            assertEquals(value, child.exitValue());
            assertFalse(child.isAlive());
            assertEquals(value, child.waitFor());
            assertSame(child, child.onExit().get());
        }
    }

    @Test
    void onExitOfDescendantsIsCompletedWhenTheirParentIsKilled() throws Exception {
        Child child = sh(TREE).start();
        List<ProcessHandle> all = printed(child, 9);
        Map<ProcessHandle, CompletableFuture<ProcessHandle>> exits = new HashMap<>();
        for (ProcessHandle handle : all) exits.put(handle, handle.onExit());
        assertTrue(child.descendants().collect(Collectors.toSet()).containsAll(all));
        child.destroy(); // closes what the others read
        child.waitFor();
        for (ProcessHandle handle : all) assertEquals(handle, exits.get(handle).get());
        assertFalse(child.isAlive());
    }

    /** Another process is told by its handle, not before the end. */
    @Test
    void onExitOfAnotherProcessWaitsForItsEnd() throws Exception {
        Child child = sh("{ cat <&3 & } 3<&0; echo $!; wait").start();
        ProcessHandle other = printed(child, 1).get(0);
        CompletableFuture<ProcessHandle> exit = other.onExit();
        CompletableFuture<ProcessHandle> own = child.toHandle().onExit();
        assertFalse(exit.isDone() || own.isDone());
        child.getOutputStream().close();
        assertEquals(other, exit.get());
        assertEquals(child.toHandle(), own.get());
        assertFalse(other.isAlive());
    }

    @Test
    void infoTellsTheProgramOfAJava() throws Exception {
        Command command = new Command(System.getProperty("java.home") + "/bin/java", "-cp",
                System.getProperty("java.class.path"), Programs.class.getName(), "inherit", "pid", "parent");
        // Java knows the time of the boot to a second
        Instant before = Instant.now().minusSeconds(2);
        Child child = command.start();
        ProcessHandle.Info info = child.info();
        assertEquals(Files.getOwner(Path.of("/proc/self")).getName(), info.user().orElseThrow());
        assertTrue(Files.isSameFile(Path.of(command.command().get(0)), Path.of(info.command().orElseThrow())));
        assertEquals(command.command().subList(1, command.command().size()), List.of(info.arguments().orElseThrow()));
        assertTrue(info.commandLine().orElseThrow().contains(info.command().orElseThrow()));
        assertTrue(info.startInstant().orElseThrow().isAfter(before) && !info.startInstant().orElseThrow().isAfter(Instant.now()));
        assertTrue(Programs.isEventually(() -> child.info().totalCpuDuration().orElseThrow().toNanos() > 0));
        child.destroy();
        child.waitFor();
        assertFalse(child.info().command().isPresent());
    }

    @Test
    void infoTellsTheProgramAtOnce() throws Exception {
        for (String time : List.of("100", "102")) {
            Child child = new Command("sleep", time).inheritIO().start();
            ProcessHandle.Info info = child.info();
            File program = new File(info.command().orElseThrow());
            assertTrue(program.getPath().endsWith("sleep") && program.canExecute(), program.getPath());
            assertEquals(List.of(time), List.of(info.arguments().orElseThrow()));
            child.destroy();
            child.waitFor();
        }
    }

    @Test
    void childrenAreListedUntilTheyEnd() throws Exception {
        List<Child> all = List.of(Programs.waiting(), Programs.waiting());
        Set<ProcessHandle> handles = all.stream().map(Child::toHandle).collect(Collectors.toSet());
        assertTrue(children(ProcessHandle.current()).containsAll(handles));
        for (Child child : all) {
            assertEquals(child.toHandle(), ProcessHandle.of(child.pid()).orElseThrow());
            child.getOutputStream().close();
            assertEquals(0, child.waitFor());
            assertFalse(child.toHandle().isAlive());
        }
        assertTrue(children(ProcessHandle.current()).stream().noneMatch(handles::contains));
    }

    @Test
    void descendantsAreListedAndEndWithTheirInput() throws Exception {
        Child child = sh(TREE).start();
        List<ProcessHandle> all = printed(child, 9);
        Instant start = child.info().startInstant().orElseThrow();
        for (ProcessHandle handle : children(child.toHandle()))
            assertFalse(handle.info().startInstant().orElseThrow().isBefore(start));
        assertTrue(child.descendants().collect(Collectors.toSet()).containsAll(all));
        child.getOutputStream().close();
        for (ProcessHandle handle : all) handle.onExit().get();
        child.waitFor();
        assertTrue(all.stream().noneMatch(ProcessHandle::isAlive));
    }

    @Test
    void descendantsAreDestroyed() throws Exception {
        Child child = sh("for i in 1 2 3; do cat <&3 & echo $!; done 3<&0; wait").start();
        List<ProcessHandle> all = printed(child, 3);
        assertEquals(Set.copyOf(all), children(child.toHandle()));
        for (ProcessHandle handle : all) assertTrue(handle.isAlive() && handle.destroyForcibly());
        for (ProcessHandle handle : all) assertTrue(Programs.isEventually(() -> !handle.isAlive()));
        child.destroyForcibly();
        assertTrue(Set.of(0, 128 + 9).contains(child.waitFor()));
        Set<ProcessHandle> left = ProcessHandle.current().descendants().collect(Collectors.toSet());
        assertTrue(all.stream().noneMatch(left::contains) && !left.contains(child.toHandle()));
    }

    @Test
    void generationsAreCounted() throws Exception {
        String inner = "cat <&3 & echo $!; cat <&3 & echo $!; echo $$; wait";
        Child child = sh("for i in 1 2; do sh -c 'for j in 1 2; do sh -c \"" + inner.replace("$", "\\$")
                + "\" & done; echo $$; wait' & done 3<&0; wait").start();
        List<ProcessHandle> all = printed(child, 14);
        assertEquals(2, children(child.toHandle()).size());
        assertEquals(Set.copyOf(all), child.descendants().collect(Collectors.toSet()));
        child.getOutputStream().close();
        child.waitFor();
    }
}
