// SPDX-License-Identifier: MIT
package aspawn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.util.List;

/** How a program is found by a Java whose PATH is "dir1:dir2:", in an empty directory. */
final class SearchCases {
    private static final File IN_1 = new File("dir1/prog"), IN_2 = new File("dir2/prog"), HERE = new File("prog");

    private SearchCases() {}

    static void run() throws Exception {
        assertEquals("dir1:dir2:", System.getenv("PATH"));
        Command same = new Command("prog"), another = new Command("prog"), none = new Command("prog");
        another.environment().put("PATH", "nowhere");
        none.environment().remove("PATH");
        for (Command command : List.of(same, another, none)) search(command);
    }

    private static void search(Command command) throws Exception {
        fails(command, 2, "No such file");
        new File("dir1").mkdir();
        new File("dir2").mkdir();
        fails(command, 2, "No such file");

        IN_1.mkdir(); // a directory cannot be executed
        fails(command, 13, "Permission denied");
        Programs.copy("/bin/true", IN_2); // but others are found behind it
        exits(command, 0);
        delete();
        IN_2.mkdir();
        Programs.copy("/bin/true", IN_1);
        exits(command, 0);
        delete();

        for (String name : List.of("./prog", "prog")) { // an empty element is the current directory
            command.command(name);
            Programs.copy("/bin/true", HERE);
            exits(command, 0);
            Programs.copy("/bin/false", HERE);
            exits(command, 1);
            Programs.write(HERE, "#!/bin/true\n", true);
            exits(command, 0);
            Programs.write(HERE, "#!/bin/false\n", true);
            exits(command, 1);
            Programs.write(HERE, "exec /bin/true\n", true);
            exits(command, 0);
            Programs.write(HERE, "exec /bin/false\n", true);
            exits(command, 1);
            delete();
        }

        command.command("prog", "world");
        Programs.write(IN_1, "#!/bin/echo hello\n", false);
        fails(command, 13, "Permission denied");
        IN_1.setExecutable(true);
        assertEquals("hello dir1/prog world\n", Programs.run(command).out);
        Programs.write(IN_1, "/bin/echo \"$@\"\n", true);
        assertEquals("world\n", Programs.run(command).out);
        delete();

        command.command("prog"); // the program's own PATH is not searched
        new File("dir3").mkdir();
        Programs.copy("/bin/true", IN_1);
        Programs.copy("/bin/false", new File("dir3/prog"));
        command.environment().put("PATH", "dir3");
        exits(command, 0);
        delete();
    }

    private static void exits(Command command, int status) throws Exception {
        assertEquals(status, command.start().waitFor());
    }

    private static void fails(Command command, int errno, String text) {
        StartException failure = assertThrows(StartException.class, command::start);
        assertEquals(errno, failure.errno());
        assertTrue(failure.getMessage().contains(text), failure.getMessage());
    }

    private static void delete() {
        for (File file : List.of(IN_1, IN_2, HERE)) file.delete();
    }
}
