#!/bin/sh
# SPDX-License-Identifier: MIT
# The jar, packed by the JDK in PATH (17 or newer); its tests by that, with MATRIX=all by all other
# versions that there are too; its shared objects, and README's program.
. "$(dirname "$0")/../../checks/tap.sh"
cd "$(dirname "$0")/../../.." || exit 1
source=$PWD/bindings/java
BUILD_DIR=${BUILD_DIR:-build}
[ -z "${JAVA_HOME-}" ] || PATH=$JAVA_HOME/bin:$PATH
for tool in javac mvn; do
	command -v $tool >/dev/null || {
		echo "1..0 # SKIP no $tool: test/packages/bindings/java.install"
		exit 0
	}
done
test -e /usr/share/maven-repo/org/junit/jupiter/junit-jupiter-engine || {
	echo "1..0 # SKIP no JUnit 5 of Debian: test/packages/bindings/java.install"
	exit 0
}
test -e "$BUILD_DIR/amalgamation/aspawn.c" || tools/amalgamate.py "$BUILD_DIR/amalgamation"
built=$(realpath "$BUILD_DIR")/bindings/java
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$(sed -n 's/^TAG=v//p' RELEASE)
jar=$built/aspawn-$version.jar

has_version_and_pom()
{
	unzip -p "$jar" META-INF/MANIFEST.MF | grep "^Implementation-Version: $version" &&
		grep "<version>$version</version>" "$built/aspawn-$version.pom" && ! grep '@[A-Z]*@' "$built/aspawn-$version.pom"
}

is_for_java_11() { test "$(javap -v -cp "$jar" aspawn.Command | sed -n 's/.*major version: //p')" = 55; }

# Its column in doc/bindings.md; all actions are in it.
has_what_the_table_says()
{
	unzip -Z1 "$jar" 'aspawn/*.class' | sed 's/.class$//;s,/,.,g' | xargs javap -public -cp "$jar" | sed -nE '
		/ (class|interface) /{s/.* (class|interface) ([A-Za-z.$]*[.$])?([A-Za-z]+).*/\3/;h;p;b}
		s/[(;=].*//;s/.* //;s/.*\.//;G;s/(.*)\n(.*)/\2.\1/p' | sort -u >"$scratch/has"
	test/packages/bindings/column.py Java | sed -E ':next;s/^(Action\..*)_(.)/\1\u\2/;tnext' | sort -u >"$scratch/table"
	test "$(wc -l <"$scratch/table")" -gt 80 && comm -23 "$scratch/table" "$scratch/has" >"$scratch/lacking" && ! grep . "$scratch/lacking"
}

needs_no_library()
{
	for object in "$built"/classes/aspawn/*/libaspawn-java-"$version".so; do
		test -z "$(readelf -dVW "$object" | grep -E '\(NEEDED\)|[Vv]ersion .*section')" || return
		undefined=$(readelf --dyn-syms -W "$object" | awk '$7 == "UND" && $8 != "" { print $5, $8 }')
		test -z "$(echo "$undefined" | grep -vE '^WEAK (environ|__asan_unpoison_memory_region)$')" || { echo "$object: $undefined"; return 1; }
		readelf --dyn-syms -W "$object" | awk '$7 ~ /^[0-9]+$/ && $5 == "GLOBAL" { print $8 }' | grep -v '^Java_aspawn_Native_\|^JNI_OnUnload$' && return 1
	done
	true
}

# With no JVM: functions that use none. -9 is -EBADF.
cat >"$scratch/load.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments)
{
	void *object = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
	int (*open_epoll)(void *, void *) = object ? (int (*)(void *, void *))dlsym(object, "Java_aspawn_Native_open") : NULL;
	int (*watch)(void *, void *, int, int, long) =
		object ? (int (*)(void *, void *, int, int, long))dlsym(object, "Java_aspawn_Native_watch") : NULL;

	if (count != 2 || !open_epoll || !watch)
		return printf("%s\n", dlerror()), 1;
	return open_epoll(NULL, NULL) < 0 || watch(NULL, NULL, -1, 1, 1) != -9;
}
END
is_loaded_by() # MACHINE, COMPILER..., EMULATOR in $emulator
{
	object=$built/classes/aspawn/$1/libaspawn-java-$version.so
	shift
	"$@" -o "$scratch/load" "$scratch/load.c" -ldl && $emulator "$scratch/load" "$object"
}

# A file that README shows: what is between ```LANGUAGE and ```.
shown() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/{/^\`\`\`\$/q;/^\`\`\`/d;p}" "$source/README.md"; }

readme_runs()
{
	shown java >"$scratch/Main.java" && javac --release 11 -Xlint:all -Werror -cp "$jar" -d "$scratch/readme" "$scratch/Main.java" &&
		timeout 60 "$java" -cp "$jar:$scratch/readme" Main >"$scratch/output" && cat "$scratch/output" &&
		grep -x Linux "$scratch/output" && grep -x 'exit 3' "$scratch/output"
}

begins_with_commands_that_work()
{
	mkdir "$scratch/user" && shown sh >"$scratch/commands" && grep -q '^javac' "$scratch/commands" &&
		ln -s "$PWD" "$scratch/user/aspawn" && shown java >"$scratch/user/Main.java" &&
		(cd "$scratch/user" && grep -v 'apt-get\|^make' "../commands" | timeout 100 sh -e) | grep -x 'exit 3'
}

# README's other programs, each within a main of its own.
readme_jobs_run()
{
	mkdir "$scratch/jobs" && awk -v to="$scratch/jobs" '
		/^```java$/ { if (blocks++) { file = to "/Job" blocks ".java"
			print "import static aspawn.Constants.*;import aspawn.*;import java.time.Duration;import java.util.*;" >file
			print "import java.util.concurrent.*;class Job" blocks " { public static void main(String[] a) throws Exception {" >file }; next }
		/^```$/ { if (file) print "} }" >file; file = ""; next }
		file { print >file }' "$source/README.md" &&
		javac --release 11 -Xlint:all -Werror -cp "$jar" -d "$scratch/jobs" "$scratch"/jobs/*.java || return
	for job in "$scratch"/jobs/Job*.java; do
		job=${job##*/}
		timeout 60 java -cp "$jar:$scratch/jobs" "${job%.java}" || return
	done >"$scratch/output"
	cat "$scratch/output"
	test "$(grep -cx 'TIMED_OUT: made\|198\|ended by signal 15\|/usr' "$scratch/output")" = 4
}

# An older kernel: what is executed has no pidfd_open(2).
cat >"$scratch/old.c" <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char **arguments)
{
	struct sock_filter filter[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 434, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 38), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 4, filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	return count > 1 ? execvp(arguments[1], arguments + 1) : 1;
}
END

# A program for each system, as on a Mac, on another machine, and without the shared objects.
# Its argument is why.
is_processbuilder() # PROBLEM, OPTION...
{
	problem=$1
	shift
	$as java "$@" Elsewhere "$problem" >"$scratch/output" 2>&1 && cat "$scratch/output" && grep -x '26 checks' "$scratch/output"
}

compiles_and_is_processbuilder()
{
	gcc -o "$scratch/old" "$scratch/old.c" &&
		is_processbuilder 'on Linux 5.3 or newer only, this kernel has no pidfds: error=38' -cp "$jar:$scratch"
}

# What the library says of itself.
cat >"$scratch/Problem.java" <<'END'
public class Problem {
	public static void main(String[] arguments) throws Exception {
		System.out.println(aspawn.Command.supported() + " " + aspawn.Command.problem());
		System.out.print(new String(new aspawn.Command("echo", "started").start().getInputStream().readAllBytes()));
	}
}
END
compiles_programs_of_users()
{
	javac --release 11 -Xlint:all -Werror -cp "$jar" -d "$scratch" "$source/test/Elsewhere.java" "$scratch/Problem.java" &&
		mkdir "$scratch/plain" && (cd "$scratch/plain" && unzip -q "$jar" && rm -r aspawn/x86_64 aspawn/aarch64)
}

# The jar's own is not there.
is_loaded_from_the_path()
{
	mkdir "$scratch/path" && cp "$built/classes/aspawn/$(uname -m)/"*.so "$scratch/path" &&
		java -Djava.library.path="$scratch/path" -cp "$scratch/plain:$scratch" Problem | grep 'true null'
}

# By a module, which a descriptor in the jar names.
is_a_module()
{
	java -p "$jar" --describe-module aspawn | grep "^aspawn@$version" && java -p "$jar" --describe-module aspawn | grep -x 'exports aspawn' &&
		mkdir "$scratch/module" && echo 'module user { requires aspawn; }' >"$scratch/module/module-info.java" &&
		sed '1i package user;' "$scratch/Problem.java" >"$scratch/module/Problem.java" &&
		javac --release 11 -Xlint:all -Werror -p "$jar" -d "$scratch/module/classes" "$scratch"/module/*.java &&
		java -p "$jar:$scratch/module/classes" -m user/user.Problem | grep 'true null'
}

# The umask is 0. The library comes by a FIFO, and Java waits for the rest of it when
# its file is looked at.
others_cannot_write_the_library()
{
	mkdir "$scratch/fifo" "$scratch/open" && (cd "$scratch/fifo" && unzip -q "$jar") || return
	fifo=$scratch/fifo/aspawn/$(uname -m)/libaspawn-java-$version.so
	mv "$fifo" "$scratch/library" && mkfifo "$fifo" || return
	(umask 0 && exec timeout 60 java -Djava.io.tmpdir="$scratch/open" -cp "$scratch/fifo:$scratch" Problem >"$scratch/output" 2>&1) &
	timeout 60 sh -c '
		head -c 50000 "$1"
		until test -n "$(find "$2" -name "*.so" -size +0)"; do sleep 0.01; done
		find "$2" -mindepth 1 -maxdepth 1 -perm /077 >"$3"
		tail -c +50001 "$1"' sh "$scratch/library" "$scratch/open" "$scratch/others" >"$fifo" && wait $! || return
	cat "$scratch/others" "$scratch/output"
	test ! -s "$scratch/others" && grep 'true null' "$scratch/output" && test -z "$(ls "$scratch/open")"
}

# Java, whose directory of temporary files is a file system with these options.
java_with_temporary_files()
{
	mkdir -p "$scratch/mounted" && unshare --map-root-user --mount sh -c '
		mount -t tmpfs -o "$1" none "$2" && exec java -Djava.io.tmpdir="$2" -cp "$3" Problem' sh "$1" "$scratch/mounted" "$jar:$scratch"
}
is_loaded_from_elsewhere() { java_with_temporary_files "$1" >"$scratch/output" && cat "$scratch/output" && grep 'true null' "$scratch/output"; }

tests_pass()
{
	rm -rf "$scratch/target"
	# Its own directory of temporary files: the library leaves none there.
	mkdir -p "$scratch/tmp"
	JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")") timeout 500 mvn --batch-mode --offline --quiet \
		-f "$source/test/pom.xml" -Dmaven.repo.local=/usr/share/maven-repo -Daspawn.jar="$jar" -Dbuild="$scratch/target" \
		-Djvm="$(readlink -f "$1")" -Daspawn.tmp="$scratch/tmp" test >"$scratch/log" 2>&1 || { grep -E '^\[ERROR\]|^[a-z.]*(Error|Exception)' "$scratch/log"; return 1; }
	test -z "$(find "$scratch/tmp" -name 'aspawn*')"
}

# Each case of cases.md has a test that has just passed.
cases_pass()
{
	sed -n 's/^|.*| `\([A-Za-z]*\)\.\([A-Za-z]*\)` |$/name="\2" classname="aspawn.\1"/p' "$source/cases.md" >"$scratch/cases"
	of=$(grep -c '^| ' "$source/cases.md")
	test "$(wc -l <"$scratch/cases")" -gt 60 && while read -r case; do
		grep -h -A 1 "<testcase $case" "$scratch"/target/surefire-reports/*.xml >"$scratch/case" && ! grep '<skipped\|<failure\|<error' "$scratch/case" ||
			{ echo "$case"; return 1; }
	done <"$scratch/cases"
	echo "$(wc -l <"$scratch/cases") of $((of - 4))"
}

check "it is packed: $(javac -version 2>&1)" "$source/pack" "$BUILD_DIR"
check "it has the version of the library, and a pom" has_version_and_pom
check "it is for Java 11 and newer" is_for_java_11
check "it has what the table of languages says" has_what_the_table_says
check "its shared objects need no library" needs_no_library
emulator=
check "a program with glibc loads it" is_loaded_by "$(uname -m)" gcc
if command -v musl-gcc >/dev/null; then
	check "a program with musl loads it" is_loaded_by "$(uname -m)" musl-gcc
else
	skip "a program with musl loads it" "no musl-gcc"
fi
if [ -e "$built/classes/aspawn/aarch64" ] && command -v qemu-aarch64-static >/dev/null && [ "$(uname -m)" = x86_64 ]; then
	emulator="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
	check "a program of aarch64 loads it" is_loaded_by aarch64 aarch64-linux-gnu-gcc
else
	skip "a program of aarch64 loads it" "no compiler or no emulator"
fi
check "README begins with commands that work" begins_with_commands_that_work
check "README's other programs run, without a warning" readme_jobs_run
check "programs of users compile without a warning" compiles_programs_of_users
as=
check "on a Mac it is ProcessBuilder, and refuses the rest" \
	is_processbuilder 'on Linux only, this is Mac OS X' -Dos.name='Mac OS X' -cp "$jar:$scratch"
check "on another machine it is ProcessBuilder, and refuses the rest" \
	is_processbuilder 'on x86_64 and aarch64 only, this is vax' -Dos.arch=vax -cp "$jar:$scratch"
check "without its library it is ProcessBuilder, and refuses the rest" \
	is_processbuilder 'neither java.library.path nor the jar has its library' -cp "$scratch/plain:$scratch"
as=$scratch/old
check "with an older kernel it is ProcessBuilder, and refuses the rest" compiles_and_is_processbuilder
check "it is a module" is_a_module
check "it is loaded from java.library.path" is_loaded_from_the_path
check "others cannot write the library while it is loaded" others_cannot_write_the_library
if unshare --map-root-user --mount mount -t tmpfs none /mnt 2>/dev/null; then
	check "it is loaded though temporary files may not be executed" is_loaded_from_elsewhere noexec
	check "it is loaded though there is no room for temporary files" is_loaded_from_elsewhere size=4k
else
	skip "it is loaded though temporary files may not be executed, or there is no room" "nothing can be mounted"
fi
seen=" "
for java in "$(command -v java)" /usr/lib/jvm/*/bin/java "${ASPAWN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aspawn}"/java/*/bin/java; do
	major=$("$java" -version 2>&1 | sed -n '1s/.* version "\([0-9]*\).*/\1/p')
	case $seen in *" ${major:-none} "*) continue ;; esac
	[ -n "$major" ] && [ "$major" -ge 11 ] || continue
	[ "${MATRIX-}" = all ] || [ "$seen" = " " ] || { skip "Java $major" "MATRIX=all"; seen="$seen$major "; continue; }
	seen="$seen$major "
	check "Java $major: its tests pass" tests_pass "$java"
	sed -n 's/.*<testsuite .*name="aspawn.\([A-Za-z]*\)".*tests="\([0-9]*\)".*skipped="\([0-9]*\)".*/# \1: \2 tests, \3 skipped/p' "$scratch"/target/surefire-reports/*.xml
	check "Java $major: the cases of OpenJDK pass" cases_pass
	check "Java $major: README's program runs" readme_runs
done
for major in 11 17 25; do
	case $seen in *" $major "*) ;; *) skip "Java $major" "not there: test/packages/bindings/java.install" ;; esac
done
finish
