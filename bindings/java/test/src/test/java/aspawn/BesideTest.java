// SPDX-License-Identifier: MIT
package aspawn;

import static java.lang.ProcessBuilder.Redirect.DISCARD;
import static java.lang.ProcessBuilder.Redirect.INHERIT;
import static java.lang.ProcessBuilder.Redirect.appendTo;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Each case is run by ProcessBuilder and by this package: what is seen must be the same,
 * exceptions included. */
class BesideTest {
    private enum Way {
        JDK, ASPAWN;

        Process start(ProcessBuilder builder) throws IOException {
            return this == JDK ? builder.start() : new Command(builder).start();
        }

        List<? extends Process> pipeline(ProcessBuilder... builders) throws IOException {
            if (this == JDK) return ProcessBuilder.startPipeline(List.of(builders));
            return Command.startPipeline(Stream.of(builders).map(Command::new).collect(Collectors.toList()));
        }

        /** The status, and what it has written. */
        String run(ProcessBuilder builder) throws Exception {
            Process process = start(builder);
            process.getOutputStream().close();
            return told(process);
        }
    }

    private interface Case {
        Object seen(Way way) throws Exception;
    }

    private interface Part {
        Object run() throws Exception;
    }

    @TempDir
    File directory;

    private final Map<String, Case> cases = new LinkedHashMap<>();

    private static ProcessBuilder pb(String... command) { return new ProcessBuilder(new ArrayList<>(Arrays.asList(command))); }
    private static ProcessBuilder sh(String script) { return pb("sh", "-c", script); }

    private static String text(InputStream from) throws IOException {
        return new String(from.readAllBytes(), "ISO-8859-1");
    }

    private static String told(Process process) throws Exception {
        CompletableFuture<String> errors = CompletableFuture.supplyAsync(() -> Programs.text(process.getErrorStream()));
        String output = text(process.getInputStream());
        return output + '|' + errors.get() + '|' + process.waitFor();
    }

    private static String of(Part part) {
        try {
            return String.valueOf(part.run());
        } catch (NullPointerException e) {
            return "throws it"; // with helpful texts, or without
        } catch (Throwable e) {
            return "throws " + e.toString() + (e.getCause() == null ? "" : ", by " + e.getCause());
        }
    }

    private static Process ended(Process process) throws Exception {
        process.waitFor();
        return process;
    }

    /** What may differ: numbers of processes, the directory,
     * the text and class of an exception that says more. */
    private String comparable(String seen) {
        return seen.replaceAll("\\d{3,}", "N").replace(directory.getPath(), "DIRECTORY").replaceAll("aspawn\\.StartException", "java.io.IOException")
                // from Java 22
                .replaceAll("Exec failed, error: (\\d+) \\(([^)]*)\\) ?", "error=$1, $2")
                .replaceAll(" \\((search|exec|action|interpreter|chdir)[^)]*\\)", "")
                .replaceAll("java.lang.(ArrayI|I)ndexOutOfBoundsException: .*", "IndexOutOfBoundsException");
    }

    private File file(String name, String text) throws IOException {
        File file = new File(directory, name);
        Programs.write(file, text, true);
        return file;
    }

    private void programs() throws IOException {
        String script = file("script", "echo hi $0 $1\n").getPath(), shebang = file("shebang", "#!/bin/sh\necho sb $0 $1\n").getPath();
        String bad = file("bad", "#!/missing\n").getPath(), empty = file("empty", "").getPath();
        byte[] other = Files.readAllBytes(new File("/bin/true").toPath());
        other[18] = 40; // the machine
        other[19] = 0;
        Files.write(file("other", "").toPath(), other);
        for (String code : List.of("exit 0", "exit 3", "exit 255", "kill -9 $$", "kill -TERM $$", "ulimit -c 0; kill -SEGV $$", "kill -64 $$"))
            cases.put(code, way -> way.run(sh("echo o; echo e >&2; " + code)));
        for (String name : List.of("missing", "/missing/program", "", "/tmp", "/etc/passwd", script, shebang, bad, empty, directory + "/other"))
            cases.put("program \"" + name + '"', way -> way.run(pb(name, "x")));
        for (String name : List.of("", "/missing", "/etc/passwd", "/", "."))
            cases.put("directory \"" + name + '"', way -> way.run(pb("pwd").directory(new File(name))));
        cases.put("program in the directory", way -> way.run(pb("./shebang", "x").directory(directory)));
        cases.put("PWD", way -> way.run(sh("env | grep ^PWD; pwd").directory(directory)));
        cases.put("PATH of the child", way -> way.run(with(pb("shebang"), "PATH", directory.getPath())));
        cases.put("no program", way -> way.run(pb()));
        cases.put("null", way -> way.run(pb("echo", null)));
        cases.put("NUL", way -> way.run(pb("echo", "a\0b")));
        cases.put("empty arguments", way -> way.run(pb("printf", "[%s]", "", "x", "")));
        cases.put("unicode", way -> way.run(pb("printf", "%s", "äöü€\ud83d\ude00")));
        cases.put("a surrogate alone", way -> way.run(pb("printf", "%s", "a\ud800b")));
        for (int size : new int[] {131071, 131072}) cases.put(size + " bytes", way -> way.run(pb("printf", "%s", "x".repeat(size))).length());
        for (int count : new int[] {4, 40}) cases.put(count + " long arguments", way -> way.run(echo(count)).length());
    }

    private static ProcessBuilder echo(int arguments) {
        ProcessBuilder builder = pb("echo");
        builder.command().addAll(Collections.nCopies(arguments, "y".repeat(100000)));
        return builder;
    }

    private static ProcessBuilder with(ProcessBuilder builder, String name, String value) {
        builder.environment().put(name, value);
        return builder;
    }

    private static ProcessBuilder cleared(ProcessBuilder builder) {
        builder.environment().clear();
        return builder;
    }

    private void environments() {
        cases.put("no environment", way -> way.run(cleared(pb("/usr/bin/env"))));
        cases.put("variables", way -> way.run(with(with(cleared(pb("/usr/bin/env")), "A", "1"), "B", "")));
        cases.put("unicode variables", way -> way.run(with(cleared(pb("/usr/bin/env")), "Ä", "ö€")));
        cases.put("variable with =", way -> way.run(with(pb("env"), "=x", "1")));
    }

    private void redirects() throws IOException {
        File input = file("in", "INPUT");
        cases.put("from a file", way -> way.run(pb("cat").redirectInput(input)));
        cases.put("from a file that is missing", way -> way.run(pb("cat").redirectInput(new File(directory, "missing"))));
        cases.put("to a directory", way -> way.run(pb("true").redirectOutput(directory)));
        cases.put("to a full device", way -> way.run(sh("echo hi").redirectOutput(new File("/dev/full"))));
        cases.put("discarded", way -> way.run(sh("cat; echo x; echo y >&2").redirectInput(new File("/dev/null")).redirectOutput(DISCARD)));
        String both = "echo out; echo err >&2";
        for (String kind : List.of("out", "append", "merged", "append, merged", "err, merged", "missing, merged")) cases.put("to a file: " + kind, way -> {
            File file = file(kind.replaceAll("\\W", "") + way, kind.startsWith("missing") ? "" : "before\n");
            if (kind.startsWith("err")) Files.delete(file.toPath());
            ProcessBuilder builder = sh(both).redirectErrorStream(kind.endsWith("merged"));
            if (kind.startsWith("append")) builder.redirectOutput(appendTo(file));
            else if (kind.startsWith("err")) builder.redirectError(file);
            else if (kind.startsWith("missing")) builder.redirectError(new File("/missing/file"));
            else builder.redirectOutput(file);
            return way.run(builder) + file.exists() + Files.readString(file.toPath());
        });
        cases.put("the null streams", way -> {
            Process process = way.start(sh("true").redirectInput(input).redirectOutput(DISCARD).redirectError(DISCARD));
            return nullStreams(process) + process.waitFor() + nullStreams(process);
        });
        cases.put("the null streams of INHERIT", way -> {
            Process process = way.start(pb("true").redirectInput(INHERIT).redirectErrorStream(true));
            return of(() -> write(process, 1)) + process.getErrorStream().read() + process.getInputStream().read();
        });
        cases.put("the null streams of a pipeline", way -> {
            List<? extends Process> all = way.pipeline(pb("echo", "word"), pb("cat"));
            return text(all.get(1).getInputStream()) + of(() -> write(all.get(1), 1)) + of(() -> all.get(0).getInputStream().read());
        });
    }

    private static Object write(Process process, int count) throws IOException {
        process.getOutputStream().write(new byte[count]);
        process.getOutputStream().flush();
        return "written";
    }

    private static String nullStreams(Process process) {
        String seen = "";
        for (int i = 0; i < 2; i++) {
            OutputStream to = process.getOutputStream();
            seen += of(() -> write(process, 0)) + of(() -> write(process, 1)) + of(() -> write(process, 100_000));
            for (InputStream from : List.of(process.getInputStream(), process.getErrorStream())) {
                seen += of(from::read) + of(from::available) + of(() -> from.read(new byte[5])) + of(() -> {
                    from.close();
                    return "";
                });
            }
            seen += of(() -> {
                to.close();
                return "closed ";
            });
        }
        return seen;
    }

    private void streams() {
        cases.put("write after the end", way -> of(() -> write(ended(way.start(pb("true"))), 10)).replace("Broken pipe", "Stream closed"));
        cases.put("closed twice", way -> {
            Process process = way.start(pb("cat"));
            for (int i = 0; i < 2; i++) process.getOutputStream().close();
            return told(process);
        });
        cases.put("much of both", way -> way.run(sh("head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2")).length());
        cases.put("available", way -> {
            InputStream from = ended(way.start(pb("printf", "hello"))).getInputStream();
            int count = from.available();
            from.close();
            return count + of(from::available) + of(from::read);
        });
        cases.put("read after destroy", way -> {
            Process process = way.start(sh("printf hello; exec sleep 100"));
            int first = process.getInputStream().read();
            process.destroy();
            return first + of(() -> ended(process).getInputStream().read());
        });
        cases.put("mark and reset", way -> {
            InputStream from = way.start(pb("printf", "abc")).getInputStream();
            from.mark(10);
            String seen = from.markSupported() + "" + from.read();
            from.reset();
            return seen + text(from);
        });
        cases.put("skip", way -> {
            InputStream from = ended(way.start(pb("printf", "abcdef"))).getInputStream();
            return from.skip(3) + " " + from.read();
        });
    }

    private void ends() {
        cases.put("destroy", way -> {
            Process process = way.start(pb("sleep", "100"));
            String seen = of(process::exitValue) + process.supportsNormalTermination() + process.isAlive();
            process.destroy();
            return seen + process.waitFor() + process.isAlive();
        });
        cases.put("destroyForcibly", way -> {
            Process process = way.start(pb("sleep", "100"));
            return (process == process.destroyForcibly()) + " " + process.waitFor();
        });
        cases.put("destroyed after the end", way -> {
            Process process = ended(way.start(pb("true")));
            process.destroy();
            return process == process.destroyForcibly() ? process.exitValue() : -1;
        });
        cases.put("waits", way -> {
            Process process = way.start(pb("cat"));
            String seen = process.waitFor(-5, TimeUnit.SECONDS) + "" + process.waitFor(0, TimeUnit.SECONDS) + of(() -> process.waitFor(1, null));
            process.getOutputStream().close();
            return seen + process.waitFor(Long.MAX_VALUE, TimeUnit.DAYS) + process;
        });
        for (boolean isTimed : new boolean[] {false, true}) cases.put("interrupted after the end: " + isTimed, way -> {
            Process process = ended(way.start(pb("true")));
            Thread.currentThread().interrupt();
            return of(() -> isTimed ? process.waitFor(1, TimeUnit.SECONDS) : process.waitFor()) + Thread.interrupted();
        });
        cases.put("started by an interrupted thread", way -> {
            Thread.currentThread().interrupt();
            Process process = way.start(pb("/bin/sh", "-c", "exit 4"));
            return Thread.interrupted() + "" + process.waitFor();
        });
        cases.put("onExit", way -> {
            Process process = way.start(sh("read line; exit 7"));
            CompletableFuture<Process> cancelled = process.onExit();
            cancelled.cancel(true);
            process.getOutputStream().close();
            return (process.onExit().get() == process) + "" + cancelled.isCancelled() + process.onExit().thenApply(Process::exitValue).get();
        });
    }

    private void handles() {
        cases.put("handle after the end", way -> {
            ProcessHandle handle = ended(way.start(pb("true"))).toHandle();
            return List.of(handle.isAlive(), handle.destroy(), handle.destroyForcibly(), handle.children().count(), handle.parent(),
                    handle.onExit().get().isAlive(), handle.info(), handle.supportsNormalTermination());
        });
        cases.put("info after the end", way -> ended(way.start(pb("true"))).info());
        cases.put("info", way -> {
            Process process = way.start(pb("sleep", "100"));
            ProcessHandle.Info[] info = {process.info()};
            Programs.isEventually(() -> (info[0] = process.info()).arguments().isPresent());
            String seen = info[0].toString().replaceAll("startTime.*", "") + info[0].user() + process.toHandle().parent();
            boolean isSent = process.toHandle().destroy();
            return seen + isSent + process.waitFor();
        });
        cases.put("pid", way -> {
            Process process = way.start(sh("echo $$"));
            return process.pid() == Long.parseLong(text(process.getInputStream()).trim());
        });
        cases.put("descendants", way -> {
            Process process = way.start(sh("sleep 100 & sleep 100 & echo; wait"));
            process.getInputStream().read();
            String seen = process.children().count() + " " + process.descendants().count();
            process.descendants().forEach(ProcessHandle::destroy);
            return seen + process.waitFor();
        });
    }

    private void inherited() {
        cases.put("descriptors", way -> {
            try (InputStream open = Files.newInputStream(new File("/etc/passwd").toPath())) {
                return way.run(sh("ls /proc/self/fd | tr '\\n' ' '"));
            }
        });
        sun.misc.Signal.handle(new sun.misc.Signal("ALRM"), sun.misc.SignalHandler.SIG_IGN);
        cases.put("ignored signals", way -> way.run(pb("grep", "-E", "SigIgn|SigCgt", "/proc/self/status")));
        cases.put("limits", way -> way.run(sh("ulimit -n; ulimit -Hn; ulimit -c")));
        cases.put("scheduling", way -> way.run(sh("nice; nproc; cat /proc/self/oom_score_adj; umask")));
        cases.put("session", way -> way.run(sh("ps -o pgid=,sid= -p $$; ps -o pgid=,sid= -p $PPID").redirectErrorStream(true)).lines().distinct().count());
    }

    private void pipelines() {
        cases.put("pipeline", way -> {
            List<? extends Process> all = way.pipeline(sh("echo b; echo a; echo err >&2"), pb("sort"), pb("head", "-n", "1"));
            return told(all.get(2)) + told(all.get(0));
        });
        cases.put("pipeline with errors", way -> told(way.pipeline(sh("echo o; echo e >&2").redirectErrorStream(true), pb("sort")).get(1)));
        cases.put("pipeline of one and of none", way -> told(way.pipeline(pb("echo", "x")).get(0)) + way.pipeline().size());
        cases.put("pipeline with redirects", way -> of(() -> way.pipeline(pb("cat").inheritIO(), pb("cat")))
                + of(() -> way.pipeline(pb("cat"), pb("cat").inheritIO())));
        cases.put("pipeline that fails", way -> of(() -> way.pipeline(pb("cat"), pb("missing"), pb("cat")))
                + ProcessHandle.current().children().anyMatch(child -> child.info().command().orElse("").endsWith("/cat")));
    }

    @TestFactory
    Stream<DynamicTest> isAsProcessBuilder() throws IOException {
        programs();
        environments();
        redirects();
        streams();
        ends();
        handles();
        inherited();
        pipelines();
        return cases.entrySet().stream().map(each -> DynamicTest.dynamicTest(each.getKey(), () -> {
            String[] seen = Arrays.stream(Way.values()).map(way -> comparable(of(() -> each.getValue().seen(way)))).toArray(String[]::new);
            Thread.interrupted();
            assertEquals(seen[0], seen[1], each.getKey());
        }));
    }
}
