// SPDX-License-Identifier: MIT
package aspawn;

import java.io.Closeable;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A program and how to start it: a {@link ProcessBuilder} whose {@link #start} does not wait for
 * the program. Where {@link #supported} is false {@link #start} is that of ProcessBuilder, and
 * refuses what ProcessBuilder has not. What both have works as there: defaults, exceptions,
 * environment, redirects. As there, threads must not change a command while another one uses it.
 */
public final class Command {
    /** Whose child the process is. */
    public enum Owner { // in the order of the library
        /** An ordinary child of this process. */
        CALLER,
        /** No other wait of this process sees it, not even {@code waitpid(-1)} of native code. */
        PRIVATE,
        /** As PRIVATE, and all that descends from it ends with it, also after {@code setsid}. */
        TREE
    }

    /** In what memory the child begins. */
    public enum Memory {
        /** This process's, or, with an action that needs that, one of its own. */
        SHARED,
        /** A copy, as of fork(2). */
        COPIED
    }

    /** Longer ones may be too long for the kernel, which the child has to find out. */
    private static final int SURELY_SHORT = 65536;
    private static final File NULL = Redirect.DISCARD.file();

    private final ProcessBuilder builder;
    private final List<Action> actions = new ArrayList<>();
    private Action user;
    private String controlGroup; // null: that of the caller
    private Owner owner = Owner.CALLER;
    private Memory memory = Memory.SHARED;
    private boolean diesWithCaller;
    private int stopSignal; // 0: SIGTERM
    private int[] size; // rows and columns of its terminal; null: there is none
    private boolean hasEnvironment;

    /** A program, which is searched for in PATH, and its arguments. */
    public Command(String... command) {
        builder = new ProcessBuilder(command);
    }

    /** As {@link ProcessBuilder#ProcessBuilder(List)}. */
    public Command(List<String> command) {
        builder = new ProcessBuilder(command);
    }

    /** Starts what the builder says, as it is at the start. */
    public Command(ProcessBuilder builder) {
        this.builder = Objects.requireNonNull(builder);
        hasEnvironment = true;
    }

    /** False where the library cannot work or be loaded: {@link #problem} says why. */
    public static boolean supported() { return problem() == null; }

    /** Why the library does not start commands, here or at this time; null: it does. */
    public static String problem() { return Native.problem(); }

    // --- as of ProcessBuilder

    private Command with(ProcessBuilder changed) {
        assert changed == builder;
        return this;
    }

    /** Has the program, environment, directory and redirects of this command. */
    public ProcessBuilder builder() {
        hasEnvironment = true;
        return builder;
    }

    public List<String> command() { return builder.command(); }
    public Command command(String... command) { return with(builder.command(command)); }
    public Command command(List<String> command) { return with(builder.command(command)); }

    public Map<String, String> environment() {
        hasEnvironment = true;
        return builder.environment();
    }

    public File directory() { return builder.directory(); }
    public Command directory(File directory) { return with(builder.directory(directory)); }
    public Redirect redirectInput() { return builder.redirectInput(); }
    public Command redirectInput(Redirect source) { return with(builder.redirectInput(source)); }
    public Command redirectInput(File file) { return with(builder.redirectInput(file)); }
    public Redirect redirectOutput() { return builder.redirectOutput(); }
    public Command redirectOutput(Redirect destination) { return with(builder.redirectOutput(destination)); }
    public Command redirectOutput(File file) { return with(builder.redirectOutput(file)); }
    public Redirect redirectError() { return builder.redirectError(); }
    public Command redirectError(Redirect destination) { return with(builder.redirectError(destination)); }
    public Command redirectError(File file) { return with(builder.redirectError(file)); }
    public boolean redirectErrorStream() { return builder.redirectErrorStream(); }
    public Command redirectErrorStream(boolean redirect) { return with(builder.redirectErrorStream(redirect)); }
    public Command inheritIO() { return with(builder.inheritIO()); }

    // --- what ProcessBuilder has not

    public Command owner(Owner owner) {
        this.owner = Objects.requireNonNull(owner);
        return this;
    }

    /** The program ends with all that it starts: {@link Owner#TREE}. */
    public Command tree() { return owner(Owner.TREE); }

    public Command memory(Memory memory) {
        this.memory = Objects.requireNonNull(memory);
        return this;
    }

    /** Kills the child when this process ends. An owner CALLER is PRIVATE then. */
    public Command diesWithCaller(boolean dies) {
        diesWithCaller = dies;
        return this;
    }

    /** The first signal of {@link Child#killTree}, and of what ends a job, in place of SIGTERM. The
     * program begins with the default action for it. */
    public Command stopSignal(int signal) {
        stopSignal = signal;
        return this;
    }

    /** Adds a limit of setrlimit(2): {@code limit(Constants.RLIMIT_CPU, 10)}. */
    public Command limit(int resource, long limit) {
        if (resource < 0 || resource > Constants.RLIMIT_RTTIME || limit < Constants.RLIM64_INFINITY)
            throw new IllegalArgumentException("aspawn: the limit " + limit + " of the resource " + resource);
        return action(Action.rlimit(resource, limit, limit));
    }

    /** The user that the program runs as, without privileges; after all actions. */
    public Command user(int uid, int gid, int... groups) {
        user = Action.user(uid, gid, groups);
        return this;
    }

    /** The program begins in the control group with this directory, such as
     * "/sys/fs/cgroup/jobs". */
    public Command controlGroup(String directory) {
        if (directory.indexOf('\0') >= 0) throw new IllegalArgumentException("aspawn: NUL in \"" + directory + '"');
        controlGroup = directory;
        return this;
    }

    /** The program begins a session, whose controlling terminal this is. */
    public Command terminal(FileDescriptor terminal) {
        return action(Action.setsid(), Action.controllingTerminal(terminal));
    }

    /**
     * Starts the program on a new terminal of this size, in characters; 0: 24 rows, 80 columns. The
     * program leads a session, whose controlling terminal it is. The terminal takes the place of
     * each pipe: {@link Child#getInputStream} reads what it shows, until no program has it any
     * more, and what {@link Child#getOutputStream} gets is typed. Closing both hangs it up.
     */
    public Command pty(int rows, int columns) {
        checkSize(rows, columns);
        size = new int[] {rows, columns};
        return this;
    }

    static void checkSize(int rows, int columns) {
        if ((rows | columns) >>> 16 != 0) throw new IllegalArgumentException("aspawn: a terminal has up to 65535 rows and columns, not " + rows + " and " + columns);
    }

    /** Adds what the child does before it executes the program, in this order,
     * in the directory of the program. */
    public Command action(Action... more) {
        actions.addAll(List.of(more));
        return this;
    }

    /** Those that were added; a program may change the list. */
    public List<Action> actions() { return actions; }

    /**
     * Starts the command. Returns without waiting for the program, unless actions were added, it is
     * a script, or it was not found: then the thread waits for the child to execute it,
     * and a failure is an exception.
     * @throws StartException the program was not executed
     * @throws IllegalArgumentException an action or another member of the command is not valid
     * @throws UnsupportedOperationException {@link #supported} is false, and something that
     * ProcessBuilder has not was asked for
     */
    public Child start() throws IOException {
        permit();
        return isSupported() ? start(-1, false) : new PlainChild(plain().start());
    }

    private boolean isSupported() throws IOException {
        try {
            return Native.isSupported();
        } catch (IOException e) {
            throw new IOException(description() + ": " + e.getMessage(), e);
        }
    }

    /** The builder, where the library does not work, if it has what was asked for. */
    private ProcessBuilder plain() {
        String lacking = owner != Owner.CALLER ? "owner " + owner : memory != Memory.SHARED ? "memory " + memory
                : diesWithCaller ? "diesWithCaller()" : stopSignal != 0 ? "stopSignal()" : size != null ? "pty()" : controlGroup != null ? "controlGroup()"
                : user != null ? "user()" : actions.isEmpty() ? null : "action(), limit() and terminal()";
        if (lacking != null) throw Native.unsupported(lacking);
        return builder;
    }

    /** Starts commands of which each reads what the one before writes, as {@link
     * ProcessBuilder#startPipeline}. */
    public static List<Child> startPipeline(List<Command> commands) throws IOException {
        int count = commands.size();
        for (int i = 0; i < count; i++) {
            Command command = commands.get(i);
            if (i > 0 && command.redirectInput() != Redirect.PIPE)
                throw new IllegalArgumentException("builder redirectInput() must be PIPE except for the first builder: " + command.redirectInput());
            if (i < count - 1 && command.redirectOutput() != Redirect.PIPE)
                throw new IllegalArgumentException("builder redirectOutput() must be PIPE except for the last builder: " + command.redirectOutput());
        }
        if (count > 0 && !commands.get(0).isSupported()) {
            List<ProcessBuilder> builders = commands.stream().map(Command::plain).collect(Collectors.toList());
            return ProcessBuilder.startPipeline(builders).stream().map(PlainChild::new).collect(Collectors.toList());
        }
        List<Child> children = new ArrayList<>();
        int input = -1;
        try {
            for (int i = 0; i < count; i++) {
                commands.get(i).permit();
                NativeChild child = commands.get(i).start(input, i < count - 1);
                children.add(child);
                if (input >= 0) Native.close(input);
                input = i < count - 1 ? child.passedOutput : -1;
            }
        } catch (Throwable e) {
            children.forEach(Child::destroyForcibly);
            children.forEach(child -> child.onExit().join());
            throw e;
        } finally {
            if (input >= 0) Native.close(input);
        }
        return children;
    }

    private NativeChild start(int input, boolean passesOutput) throws IOException {
        List<String> command = checked(command());
        if (directory() != null) checked(List.of(directory().getPath()));
        List<Closeable> files = new ArrayList<>(0);
        try {
            int[] streams = {input, 0, 0};
            List<Action> all = prepare(streams, files, passesOutput);
            NativeChild child = new NativeChild(description(), owner == Owner.TREE, actions, streams, passesOutput);
            try (Request request = Request.of(to -> write(to, command, streams, all))) {
                child.start(request);
            }
            return child;
        } finally {
            for (Closeable file : files) file.close();
        }
    }

    /** Opens what the child needs, in ProcessBuilder's order, even a file that stays unused. */
    private List<Action> prepare(int[] streams, List<Closeable> files, boolean passesOutput) throws IOException {
        try {
            if (streams[0] < 0) streams[0] = stream(redirectInput(), files);
            streams[1] = passesOutput ? Interface.STREAM_PIPE : stream(redirectOutput(), files);
            streams[2] = stream(redirectError(), files);
            if (redirectErrorStream()) streams[2] = Interface.STREAM_STDOUT;
            if (size != null && !NativeChild.isOnTerminal(streams)) throw new IllegalArgumentException("aspawn: pty() with all streams redirected");
            return allActions(files);
        } catch (IOException e) {
            throw new IOException(description() + ": " + e.getMessage(), e);
        }
    }

    /** As ProcessBuilder asks the SecurityManager, if there is one. */
    void permit() {
        SecurityManager security = System.getSecurityManager();
        if (security != null && !command().isEmpty()) security.checkExec(command().get(0));
    }

    /** Writes the command as that of a job, with its options. */
    Request job(Consumer<Request> options) throws IOException {
        List<String> command = checked(command());
        if (owner == Owner.PRIVATE || diesWithCaller || size != null || controlGroup != null)
            throw new IllegalArgumentException("aspawn: a job has no owner but TREE, no diesWithCaller(), no pty() and no control group");
        int[] streams = {jobStream(redirectInput()), jobStream(redirectOutput()), jobStream(redirectError())};
        if (redirectErrorStream()) streams[2] = Interface.STREAM_STDOUT;
        List<Action> all = allActions(new ArrayList<>(0));
        return Request.of(to -> {
            write(to, command, streams, all);
            options.accept(to);
        });
    }

    private static int jobStream(Redirect redirect) {
        if (redirect == Redirect.PIPE) return Interface.STREAM_DEFAULT;
        if (NULL.equals(redirect.file())) return Interface.STREAM_NULL;
        throw new IllegalArgumentException("aspawn: a job has pipes and DISCARD, not " + redirect);
    }

    private static List<String> checked(List<String> strings) throws IOException {
        if (strings.isEmpty()) throw new IndexOutOfBoundsException("aspawn: no program");
        if (strings.stream().anyMatch(string -> string.indexOf('\0') >= 0)) throw new IOException("invalid null character in command");
        return List.copyOf(strings);
    }

    String description() {
        return "Cannot run program \"" + (command().isEmpty() ? "" : command().get(0)) + '"' + (directory() == null ? "" : " (in directory \"" + directory() + "\")")
                + (controlGroup == null ? "" : " (in control group \"" + controlGroup + "\")");
    }

    private int stream(Redirect redirect, List<Closeable> files) throws IOException {
        switch (redirect.type()) {
            case PIPE:
                return size == null ? Interface.STREAM_PIPE : Interface.STREAM_PTY;
            case INHERIT:
                return Interface.STREAM_INHERIT;
            case READ:
                FileInputStream input = new FileInputStream(redirect.file());
                files.add(input);
                return Native.number(input.getFD());
            default:
                if (redirect.file().equals(NULL)) return Interface.STREAM_NULL;
                FileOutputStream output = new FileOutputStream(redirect.file(), redirect.type() == Redirect.Type.APPEND);
                files.add(output);
                return Native.number(output.getFD());
        }
    }

    /** What the child does: first what ProcessBuilder's does too. */
    private List<Action> allActions(List<Closeable> files) throws IOException {
        List<Action> all = new ArrayList<>(actions.size() + 5);
        if (controlGroup != null) {
            int fd;
            try (Request request = Request.of(to -> to.memory.putLong(0, to.string(controlGroup)))) {
                fd = Native.openDirectory(request.memory.getLong(0));
            }
            if (fd < 0) throw new IOException("error=" + -fd + ", of the control group");
            files.add(() -> Native.close(fd));
            all.add(Action.joinCgroup(fd));
        }
        all.add(Action.cloexecFrom(3));
        all.add(Action.sigmask());
        if (directory() != null) all.add(Action.chdir(directory().getPath()));
        all.addAll(actions);
        if (user != null) all.add(user);
        return all;
    }

    private void write(Request to, List<String> command, int[] streams, List<Action> all) {
        ByteBuffer memory = to.memory;
        memory.putLong(Interface.COMMAND_SIZE, Interface.SIZEOF_COMMAND);
        memory.putLong(Interface.COMMAND_FLAGS, Interface.COMMAND_INHERIT_SIGNALS | Interface.COMMAND_SHELL_ON_ENOEXEC
                | (diesWithCaller ? Interface.COMMAND_DIES_WITH_CALLER : 0));
        memory.putInt(Interface.COMMAND_OWNER, Interface.OWNER_CALLER + owner.ordinal());
        memory.putInt(Interface.COMMAND_MEMORY, this.memory == Memory.COPIED ? Interface.MEMORY_COPIED : Interface.MEMORY_SHARED);
        memory.putInt(Interface.COMMAND_STOP_SIGNAL, stopSignal);
        if (size != null) memory.putInt(Interface.COMMAND_PTY_ROWS, size[0]).putInt(Interface.COMMAND_PTY_COLUMNS, size[1]);
        memory.putInt(Interface.COMMAND_STD_IN, streams[0]).putInt(Interface.COMMAND_STD_OUT, streams[1]).putInt(Interface.COMMAND_STD_ERR, streams[2]);
        memory.putLong(Interface.COMMAND_FILE, to.string(command.get(0)));
        memory.putLong(Interface.COMMAND_SEARCH_PATH, to.string(Native.environment.getOrDefault("PATH", "/bin:/usr/bin")));
        memory.putLong(Interface.COMMAND_ARGV, to.strings(command));
        // Unchanged, it is inherited as it is, with strings that are no variables.
        if (hasEnvironment && !builder.environment().equals(Native.environment)) {
            List<String> environment = new ArrayList<>();
            builder.environment().forEach((name, value) -> environment.add(name + '=' + value));
            memory.putLong(Interface.COMMAND_ENVP, to.strings(environment));
        }
        to.actions(all);
        to.firstAction = all.size() - actions.size() - (user == null ? 0 : 1);
        to.addedActions = actions.size();
        to.isCertain = actions.isEmpty() && user == null && controlGroup == null && memory.position() < SURELY_SHORT;
    }
}
