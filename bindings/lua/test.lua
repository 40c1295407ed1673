-- SPDX-License-Identifier: MIT
-- The module's tests, for any Lua. Prints TAP.
local io_popen, os_execute = io.popen, os.execute
local aspawn = require "aspawn"

local unpack = table.unpack or unpack
local is_luajit = rawget(_G, "jit") ~= nil
local count = 0

local function show(value)
	if type(value) ~= "table" then return tostring(value) end
	local parts = {}
	for i = 1, value.n or #value do parts[i] = show(value[i]) end
	return "(" .. table.concat(parts, ", ") .. ")"
end

local function pack(...) return { n = select("#", ...), ... } end

local function test(name, body)
	count = count + 1
	local ok, message = pcall(body)
	print((ok and "ok " or "not ok ") .. count .. " - " .. name)
	if not ok then print("# " .. tostring(message):gsub("\n", "\n# ")) end
end

local function same(found, expected, what)
	found, expected = show(found), show(expected)
	if found ~= expected then
		error((what and what .. ": " or "") .. found .. ", expected " .. expected, 2)
	end
end

-- The same results as those of the Lua.
local function both(body)
	local results = {}
	for i, functions in ipairs { { io_popen, os_execute }, { aspawn.popen, aspawn.execute } } do
		results[i] = pack(pcall(body, functions[1], functions[2]))
	end
	same(results[2], results[1])
end

local function descriptors()
	collectgarbage()
	collectgarbage()
	-- It counts when this end of its input, like the other ends of the pipes, is closed.
	local child = aspawn.spawn { "sh", "-c", "read line; ls /proc/$PPID/fd | wc -l", stdin = "pipe", stdout = "pipe" }
	child.stdin:close()
	local count = child.stdout:read("*a")
	child.stdout:close()
	child:wait()
	return count
end

test("os.execute() has the same results", function()
	for _, line in ipairs { "true", "exit 3", "exit 255", "kill -9 $$", "no-such-program 2>/dev/null",
		"echo a >/dev/null; false", "  ", "/bin/sh -c 'exit 7'" } do
		both(function(_, execute) return line, execute(line) end)
	end
	both(function(_, execute) return execute() end)
	both(function(_, execute) return execute({}) end)
end)

test("io.popen() has the same results", function()
	for _, line in ipairs { "echo a b", "printf 'a\\nb\\nc'", "echo $((1 + 2)); exit 3", "true", "kill -9 $$",
		"seq 1 20000", "echo a | tr a b", "no-such-program 2>/dev/null" } do
		both(function(popen)
			local file = popen(line)
			local text = file:read("*a")
			return io.type(file), text, pack(file:close()), io.type(file)
		end)
	end
end)

test("a program that a signal ends, without a shell, has the shell's status", function()
	both(function(popen, execute)
		return pack(execute("timeout -s KILL 0.1 sleep 20")), pack(popen("timeout -s KILL 0.1 sleep 20"):close())
	end)
	both(function(popen)
		local file = popen("yes")
		return file:read(2), pack(file:close())
	end)
end)

test("a line that is too long, and descriptors that are short", function()
	both(function(popen)
		local found = {}
		for _, length in ipairs { 131066, 131067, 140000 } do
			local line = "echo " .. ("y"):rep(length - 1)
			-- the libc's number is that of any failed spawn
			local file, text, number = popen(line)
			found[#found + 1] = pack(file and #file:read("*a"), type(text), type(number), file and pack(file:close()))
		end
		return found
	end)
	both(function(_, execute) return execute("echo " .. ("y"):rep(140000)) end)
	same(select(3, aspawn.popen("echo " .. ("y"):rep(140000))), 7)
	same(pack(aspawn.popen({ "/bin/echo", ("y"):rep(140000) }):close()), pack(nil, is_luajit and "Argument list too long" or "exec \"/bin/echo\": E2BIG", 7))
	both(function(popen)
		local files = {}
		for _ = 1, 100000 do
			local file = io.open("/dev/null")
			if not file then break end
			files[#files + 1] = file
		end
		local found = pack(popen("true"))
		local other = pack(popen("true | true"))
		-- the last one first, with which the libc's list begins
		for i = #files, 1, -1 do files[i]:close() end
		return found, other
	end)
end)

test("its files have all methods of files", function()
	both(function(popen)
		local lines = {}
		for line in popen("printf '1\\n2\\n3'"):lines() do lines[#lines + 1] = line end
		local file = popen("echo 12 34")
		local first, second = file:read("*n", "*n")
		return lines, first, second, file:read("*a"), file:setvbuf("no"), pack(pcall(file.seek, file))
	end)
	both(function(popen)
		local file = popen("cat >/dev/null; exit 4", "w")
		return file:write("text", 12) == file or true, file:flush() and true, pack(file:close())
	end)
	both(function(popen)
		local file = popen("cat")
		file:close()
		return pcall(file.read, file)
	end)
end)

test("a line whose program is a script, or none of this machine", function()
	local name = os.tmpname()
	for _, text in ipairs { "echo script $#", "#!/bin/sh\necho script $#\nexit 3", "\127ELF\nexit 4" } do
		local file = io.open(name, "w")
		file:write(text)
		file:close()
		aspawn.run { "chmod", "755", name }
		both(function(popen)
			local stream = popen(name .. " a b")
			return stream:read("*a"), pack(stream:close())
		end)
	end
	os.remove(name)
end)

test("wrong modes are refused alike", function()
	for _, mode in ipairs { "x", "rw", "" } do
		both(function(popen)
			local ok, message = pcall(popen, "true", mode)
			return ok, ok and "" or message:gsub("popen'", "'"):gsub("%a+%.", ""):gsub("%?", "")
		end)
	end
end)

test("a file that is collected is closed", function()
	local before = descriptors()
	for _ = 1, 3 do
		aspawn.popen("echo text")
		aspawn.popen { "echo", "text" }
		aspawn.spawn { "cat", stdin = "pipe", stdout = "pipe", actions = { { "output_pipe", 3 } } }
	end
	same(descriptors(), before)
end)

test("install() replaces both", function()
	aspawn.install()
	same({ io.popen == io_popen, os.execute == os_execute }, { false, false })
	same({ io.popen({ "echo", "text" }):read("*l") }, { "text" })
	io.popen, os.execute = io_popen, os_execute
end)

test("run() collects", function()
	local result = aspawn.run { "sh", "-c", "echo out; echo err >&2; exit 3" }
	same({ result.out, result.err, result.ok, result.code }, { "out\n", "err\n", false, 3 })
	result = aspawn.run { "cat", input = ("x"):rep(300000) .. "\0" }
	same({ #result.out, result.ok, result.out:sub(-1) }, { 300001, true, "\0" })
	same({ aspawn.run({ "sh", "-c", "kill -15 $$" }).signal }, { 15 })
	same({ aspawn.run({ "cat" }).out }, { "" })
end)

test("what failed is named", function()
	same(pack(aspawn.run { "no-such-program" }), pack(nil, 'search "no-such-program": ENOENT', 2))
	same(pack(aspawn.run { "true", cwd = "/no/such" }), pack(nil, 'action 0, chdir "/no/such": ENOENT', 2))
	local child = aspawn.spawn { "no-such-program" }
	same(pack(child:started()), pack(nil, 'search "no-such-program": ENOENT', 2))
	same(pack(child:wait()), pack(nil, 'search "no-such-program": ENOENT', 2))
end)

test("every signal that ends a program has a name", function()
	for _, name in ipairs { "PWR", "STKFLT" } do
		local child = aspawn.spawn { "sleep", "20" }
		same(pack(child:kill(name)), { true })
		same(pack(child:wait()), pack(nil, "signal", aspawn["SIG" .. name]))
	end
end)

test("a time limit ends the group", function()
	local result = aspawn.run { "sh", "-c", "echo a; sleep 20 & wait", timeout = 2, kill_group = true }
	same({ result.out, result.ok, result.timed_out, result.signal }, { "a\n", false, true, 15 })
end)

test("seconds may be endless, and are numbers", function()
	local before = descriptors()
	local late = { "sh", "-c", "trap 'exit 3' TERM; sleep 20 & wait; sleep 0.1", timeout = 2, grace = math.huge, kill_group = true }
	same(aspawn.run(late).code, 3)
	same(aspawn.run({ "true", timeout = math.huge }).ok, true)
	local queue = aspawn.queue()
	for _, seconds in ipairs { -1, 0 / 0, -math.huge } do
		same(pcall(aspawn.run, { "sleep", "20", timeout = seconds }), false)
		same(pcall(queue.submit, queue, { "true", timeout = seconds }), false)
	end
	queue:submit { "true", timeout = math.huge, grace = math.huge }
	same(queue:wait(math.huge).ok, true)
	queue:close()
	same(descriptors(), before)
	local child = aspawn.spawn { "sh", "-c", "trap 'exit 3' TERM; echo; sleep 20 & wait", stdout = "pipe", owner = "tree" }
	child.stdout:read()
	same({ child:kill_tree(math.huge) }, { true })
	same(pack(child:wait(math.huge)), pack(nil, "exit", 3))
	child.stdout:close()
end)

test("seconds that are over are none to wait", function()
	local queue, child = aspawn.queue(), aspawn.spawn { "sleep", "20" }
	queue:submit { "sleep", "20" }
	child:started()
	for _, seconds in ipairs { -1, -math.huge } do
		same({ child:wait(seconds) }, { nil, "timeout", 110 })
		same({ select(2, queue:wait(seconds)) }, { "timeout", 110 })
	end
	child:kill()
	queue:close()
	for _, option in ipairs { "timeout", "grace" } do
		for wrong, text in pairs { [-1] = "the number is not valid", x = "a number is expected, not x", [false] = "a number is expected, not boolean" } do
			same({ pcall(aspawn.run, { "true", [option] = wrong }) }, { false, option .. ": " .. text })
		end
	end
end)

test("options and actions", function()
	local result = aspawn.run {
		"sh", "-c", "pwd; echo $A-$HOME; umask; ulimit -t; nice",
		cwd = "/usr", env = { A = "1", HOME = false },
		actions = { { "umask", "022" }, { "rlimit", "cpu", 99, math.huge }, { "nice", 3 }, { "closefrom", 3 } },
	}
	same(result and { result.out }, { "/usr\n1-\n0022\n99\n3\n" })
	same(aspawn.run({ "env", clearenv = true, env = { B = "2" }, path = "/usr/bin" }).out, "B=2\n")
	same(aspawn.run({ "a", "-c", "echo $0", file = "/bin/sh" }).out, "a\n")
	for _, wrong in ipairs { {}, { {} }, { "true", actions = { { "no" } } }, { "true", stdin = "no" },
		{ "a\0b" }, { "true", env = { ["="] = "" } }, { "true", owner = "no-one" }, { "true", memory = 1 } } do
		same({ (pcall(aspawn.run, wrong)) }, { false })
	end
	same(pack(aspawn.run { "true", owner = "private", memory = "suspended" }), pack(nil, 'argument "memory": EINVAL', 22))
	same(pack(aspawn.spawn { "true", stdout = "stdout" }), pack(nil, 'argument "std_out": EINVAL', 22))
end)

test("what is wrong is named, and no argument is lost", function()
	local function refused(command, text)
		for _, start in ipairs { aspawn.run, aspawn.spawn, aspawn.popen } do
			same({ pcall(start, command) }, { false, text })
		end
	end
	refused({ "echo", nil, "a" }, "argument [2]: a string is expected, not nil")
	refused({ "echo", [3] = "a" }, "argument [2]: a string is expected, not nil")
	refused({ "echo", "a", {} }, "argument [3]: a string is expected, not table")
	refused({ "true", env = { A = true } }, "A: a string is expected, not boolean")
	refused({ "true", env = "A=1" }, "env: a table is expected, not A=1")
	refused({ "true", actions = "umask" }, "actions: a list is expected, not umask")
	refused({ "true", actions = { nil, { "umask", 0 } } }, "actions[1]: a table is expected, not nil")
	refused({ "true", actions = { { "umask", 0 }, [3] = { "umask", 0 } } }, "actions[2]: a table is expected, not nil")
	refused({ "true", actions = { { "sigmask", { "HUP", [3] = "INT" } } } }, "actions[1], sigmask: set[2]: a number is expected, not nil")
	refused({ "true", actions = { { "seccomp", { { 6, 0, 0, 0 }, [3] = { 6, 0, 0, 0 } } } } },
		"actions[1], seccomp: filter[2]: a list is expected, not nil")
	-- as the table arg
	same(aspawn.run({ [0] = "script", "echo", "a", [-1] = "lua" }).out, "a\n")
end)

test("no option of a run is ignored by what has none", function()
	local queue = aspawn.queue()
	local function prepare(command) return queue:prepare(command) end
	for _, start in ipairs { aspawn.spawn, aspawn.popen, prepare } do
		for name, value in pairs { input = "text", timeout = 1, grace = 1 } do
			local ok, text = pcall(start, { "true", [name] = value })
			same({ ok, not ok and text:match("%a+: only.*") }, { false, name .. ": only run and submit have this option" })
			same({ (start(setmetatable({ "true" }, { __index = { [name] = value } }))) ~= nil }, { true })
		end
	end
	same({ pcall(queue.submit, queue, { "true", dies_with_caller = true }) },
		{ false, "submit: dies_with_caller is no option of a job" })
	queue:close()
	for text, call in pairs { ["the string contains a zero"] = { aspawn.kill_cgroup, "/\0sys" },
		["a child is expected"] = { aspawn.spawn({ "true" }).wait, {} } } do
		local ok, found = pcall(unpack(call))
		same({ ok, not ok and found:match("%((.*)%)") }, { false, text })
	end
end)

local is_root = aspawn.run({ "id", "-u" }).out == "0\n"
local own = { "unshare", "CLONE_NEWNS|CLONE_NEWUTS" }
local may_unshare = aspawn.run { "true", actions = { own, { "mount", nil, "/", nil, "MS_REC|MS_PRIVATE" } } }
local directory = aspawn.run({ "mktemp", "-d" }).out:sub(1, -2)
local file = directory .. "/file"

local function status(field) return { "sed", "-n", "s/^" .. field .. ":\t//p", "/proc/self/status" } end

-- Programs, and what they write, or which action fails.
local function perform(rows)
	for _, row in ipairs(rows) do
		local command, expected = row[1], row[2]
		command.actions = { unpack(row, 3) }
		local result, failure = aspawn.run(command)
		same(result and result.out or failure:match("^action %d+, %S+") or failure, expected, command.actions[#row - 2][1])
	end
end

test("actions of any process", function()
	local root = io.open("/")
	local processor = aspawn.run(status("Cpus_allowed_list")).out:match("%d+")
	perform {
		{ { "sh", "-c", "echo a >&5; stat -c %a " .. file }, "640\n", { "umask", 0 },
			{ "open", 5, file, "O_WRONLY|O_CREAT", "0640" } },
		{ { "cat" }, "a\n", { "open", 0, file, 0 } },
		{ { "stat", "-c", "%a", directory .. "/other" }, "666\n", { "umask", "0" }, { "write", file, "b" }, { "chdir", directory },
			{ "write", "file", "c" }, { "openat", 3, nil, "other", aspawn.O_WRONLY + aspawn.O_CREAT },
			{ "dup2", 3, 3 }, { "write", directory .. "/other", "d" }, { "openat", fd = 4, path = "other", flags = "0" },
			{ "openat2", 6, "-100", "other", "O_RDONLY", "0", "RESOLVE_BENEATH, RESOLVE_NO_XDEV" } },
		{ { "sh", "-c", "cat <&3; pwd; cat" }, "d/\n", { "fchdir", root }, { "dev_null", 0 },
			{ "openat", 3, root, directory:sub(2) .. "/other", 0 } },
		{ { "sh", "-c", "ls -d /proc/self/fd/[789]" }, "", { "dup2", root, 7 }, { "dup2", root, 8 }, { "dup2", root, 9 },
			{ "close", 7 }, { "cloexec_from", 8 } },
		{ { "echo", "a" }, "a\n", { "only_below", 3 } },
		{ { "sh", "-c", "echo $A-$B-$C" }, "--3\n", { "setenv", "A", "1" }, { "clearenv" }, { "setenv", "B", "2" },
			{ "setenv", name = "C", value = "3" }, { "unsetenv", "B" } },
		{ { "sh", "-c", "ps -o sid= -p $$ | grep -c $$" }, "1\n", { "setsid" }, { "pdeathsig", "KILL" } },
		{ { "sh", "-c", "ps -o pgid= -p $$ | grep -c $$" }, "1\n", { "setpgid", 0 } },
		{ { "true" }, "action 1, controlling_terminal", { "setsid" }, { "controlling_terminal", root } },
		{ { "true" }, "action 0, foreground", { "foreground", root } },
		{ status("SigBlk"), "0000000000004001\n", { "sigmask", { "HUP", "SIGTERM" } } },
		{ status("SigIgn"), "0000000000004003\n", { "reset_signals" }, { "signals_ignore", { 1, "int", "USR2" } },
			{ "signal_ignore", "TERM" }, { "signals_default", { aspawn.SIGUSR2 } }, { "signal_default", 10 } },
		{ { "sh", "-c", "ulimit -Sc; ulimit -Ht" }, "0\n7\n", { "rlimit", "RLIMIT_CPU", 6, 7 }, { "rlimit", aspawn.RLIMIT_CORE, 0, -1 } },
		{ { "awk", "{ print $41 }", "/proc/self/stat" }, "3\n", { "scheduler", aspawn.SCHED_BATCH, 0 } },
		{ status("Cpus_allowed_list"), processor .. "\n", { "affinity", { processor } } },
		{ { "ionice" }, "idle\n", { "ioprio", aspawn.IOPRIO_CLASS_IDLE * 2 ^ aspawn.IOPRIO_CLASS_SHIFT } },
		{ { "cat", "/proc/self/oom_score_adj" }, "1000\n", { "oom_score_adj", 1000 } },
		{ { "cat", "/proc/self/personality" }, "00040000\n", { "personality", 0x40000 } },
		{ { "true" }, "action 0, join_cgroup", { "join_cgroup", root } },
		{ status("Seccomp"), "2\n", { "no_new_privs" }, { "seccomp", { { 6, 0, 0, 0x7fff0000 } } } },
		{ status("Seccomp_filters"), "1\n", { "no_new_privs" }, { "seccomp", "\6\0\0\0\0\0\255\127" } },
		{ { "true" }, "action 1, landlock", { "no_new_privs" }, { "landlock", root } },
		{ { "true" }, "action 1, landlock", { "no_new_privs" }, { "landlock", root, "LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON" } },
		{ status("NoNewPrivs"), "1\n", { "prctl", 38, 1, 0, 0, 0 }, { "fcntl", root, 1, 0 }, { "set_mempolicy", 0, {} } },
		{ { "awk", "{ print $41 }", "/proc/self/stat" }, "3\n", { "sched_setattr", "\48\0\0\0\3" .. ("\0"):rep(43) } },
		{ { "true" }, "action 0, ioctl:", { "ioctl", root, 0x5410, "\0\0\0\0" } },
		{ { "true" }, "action 0, keyctl:", { "keyctl", -1, 0, 0, 0, 0 } },
	}
	aspawn.run { "rm", "-r", directory }
end)

test("landlock passes its flags to the kernel", function()
	local function failure(...)
		return (select(2, aspawn.run { "true", actions = { { "no_new_privs" }, { "landlock", io.open("/"), ... } } }))
	end
	local without = failure()
	assert(failure(2 ^ 31):match("EINVAL") or not without:match("EBADFD"), without)
end)

test("actions of root" .. (is_root and may_unshare and "" or " # SKIP not root, or in a sandbox"), function()
	if not is_root or not may_unshare then return end
	perform {
		{ { "id", "-G" }, "65534 1 2\n", { "user", 65534, 65534, { 1, 2 } } },
		{ { "sh", "-c", "id -u; id -G" }, "65534\n65534\n", { "user", uid = 65534, gid = 65534 } },
		{ { "sh", "-c", "id -u; id -g; id -G" }, "1\n2\n2 3\n", { "groups", { 3 } }, { "resgid", 2, 2, -1 }, { "resuid", 1, 1, -1 } },
		{ status("CapBnd"), "0000000000000000\n", { "cap_drop", "all" } },
		{ status("CapAmb"), "0000000000000021\n", { "cap_ambient", "chown" }, { "cap_ambient", "CAP_KILL" } },
		{ status("CapEff"), "0000000000000000\n", { "securebits", "SECBIT_NOROOT" } },
		{ { "sh", "-c", "uname -n; ls /mnt; df --output=size /mnt" }, "other\n1K-blocks\n     1024\n", own,
			{ "mount", nil, "/", nil, "MS_REC|MS_PRIVATE" }, { "hostname", "other" }, { "chroot", "/" },
			{ "mount", target = "/mnt", source = "none", type = "tmpfs", flags = "MS_NOSUID|MS_NODEV", options = "size=1m" } },
		{ { "true" }, "", own, { "setns", io.open("/proc/self/ns/uts"), "CLONE_NEWUTS" } },
		{ { "true" }, "action 1, pivot_root", own, { "pivot_root", "/no/such", "/no/such" } },
	}
end)

test("wrong operands are refused", function()
	for name, operands in pairs(aspawn.actions) do
		local ok, message = pcall(aspawn.run, { "true", actions = { { "umask", 0 }, { name, none = 1 } } })
		same({ ok, message:match("^actions%[2%]") }, { false, "actions[2]" }, name .. " " .. operands)
	end
	for _, wrong in ipairs { { "nice" }, { "nice", 1.5 }, { "nice", 2 ^ 40 }, { "nice", 1, 2 }, { "nice", {} }, { "nice", 0 / 0 }, { "umask", "8" },
		{ "umask", "" }, { "umask", 4096 }, { "open", 1, "a", "O_WRONLY|O_NONE" }, { "unshare" }, { "unshare", aspawn.NONE },
		{ "pdeathsig", "NONE" }, { "cap_drop", "SIGTERM" }, { "rlimit", "cpu", 1 }, { "sigmask", "HUP" }, { "sigmask", { 0 } },
		{ "sigmask", { 65 } }, { "groups", { -1 } }, { "groups", 1 }, { "affinity", { 8192 } }, { "affinity" }, { "seccomp", { 6 } },
		{ "seccomp", { { 6, 256, 0, 0 } } }, { "seccomp", "abc" }, { "chdir" }, { "chdir", "a\0b" }, { "mount" },
		{ "dup2", -1, 1 }, { "output_pipe", 3 }, { "call" }, { "syscall", 0 }, { "ioctl", 0, 1, 2 } } do
		same({ (pcall(aspawn.run, { "true", actions = { wrong } })) }, { false }, table.concat({ wrong[1], tostring(wrong[2]) }, " "))
	end
	same(pack(aspawn.run { "true", actions = { { "setenv", "=", "" } } }), pack(nil, "action 0, setenv: EINVAL", 22))
end)

test("pipes of actions", function()
	local child = aspawn.spawn { "sh", "-c", "cat <&4 >&3; echo b >&5",
		actions = { { "output_pipe", 3 }, { "input_pipe", fd = 4 }, { "output_pipe", 5 } } }
	child.pipes[4]:write("a")
	child.pipes[4]:close()
	same({ child.pipes[3]:read("*a"), child.pipes[5]:read("*a") }, { "a", "b\n" })
	same(pack(child:wait()), pack(true, "exit", 0))
	same({ aspawn.spawn({ "true" }).pipes }, {})
	local many = { "true", actions = {} }
	for i = 1, 9 do many.actions[i] = { "output_pipe", i + 2 } end
	same({ (pcall(aspawn.spawn, many)) }, { false })
	many.actions[9] = { "chdir", "/no/such" }
	same({ (aspawn.spawn(many):wait()) }, { nil })
end)

test("spawn() has pipes and a status", function()
	local child = aspawn.spawn { "tr", "a-z", "A-Z", stdin = "pipe", stdout = "pipe" }
	same(pack(child:started()), pack(true))
	same({ io.type(child.stdin), io.type(child.stdout), child.stderr }, { "file", "file", nil })
	same({ child:started_fd() }, {})
	child.stdin:write("abc")
	child.stdin:close()
	same(child.stdout:read("*a"), "ABC")
	same(pack(child:wait()), pack(true, "exit", 0))
	same(pack(child:wait()), pack(true, "exit", 0))
	same({ child:ended_fd() }, {})
end)

local function on_terminal(command)
	command.stdin, command.stdout, command.stderr = "pty", "pty", "pty"
	return aspawn.spawn(command)
end

test("a terminal is a file, and its size changes", function()
	local before = descriptors()
	local child = on_terminal { "sh", "-c", 'stty size; read line; echo "<$line>"; stty size; exit 3', pty_rows = 7, pty_columns = 9 }
	local terminal = child.terminal
	same(pack(io.type(terminal), child.stdin, terminal:read()), pack("file", nil, "7 9\r"))
	same(pack(child:resize(30, 100)), pack(true))
	terminal:write("typed\n")
	same({ terminal:read("*a") }, { "typed\r\n<typed>\r\n30 100\r\n" })
	same(pack(child:wait()), pack(nil, "exit", 3))
	same({ child:resize(1, 2), type(child:terminal_fd()), terminal:close() }, { true, "number", true })
	same(pack(child:resize(1, 2)), pack(nil, "bad file descriptor", 9))
	same({ (child:terminal_fd()) }, {})
	same({ (aspawn.spawn({ "true" }):resize(1, 2)) }, { nil })
	for _, wrong in ipairs { {}, { 1 }, { 1.5, 1 }, { -1, 1 }, { 1, "x" } } do
		same({ (pcall(child.resize, child, unpack(wrong))) }, { false })
	end
	same(descriptors(), before)
end)

test("a terminal loses nothing", function()
	for _ = 1, 10 do
		local last
		for line in on_terminal({ "seq", "2000" }).terminal:lines() do last = line end
		same(last, "2000\r")
	end
	local child = on_terminal { "sh", "-c", "stty -echo; echo ready; read a; echo $a" }
	same({ child.terminal:read(1) }, { "r" })
	child.terminal:write("text\n")
	same({ child.terminal:read("*a") }, { "eady\r\ntext\r\n" })
end)

test("a terminal that is closed or collected hangs the program up", function()
	local child = on_terminal { "sleep", "20" }
	child:started() -- it has the terminal before
	child.terminal:close()
	same(pack(child:wait()), pack(nil, "signal", 1))
	child = on_terminal { "sleep", "20" }
	child:started()
	child.terminal = nil
	collectgarbage()
	collectgarbage()
	same(pack(child:wait()), pack(nil, "signal", 1))
	same(pack(child:resize(1, 2)), pack(nil, "bad file descriptor", 9))
	local terminal = on_terminal({ "sh", "-c", "read line; echo \"<$line>\"" }).terminal
	collectgarbage()
	collectgarbage()
	terminal:write("text\n")
	same({ terminal:read("*a"), terminal:close() }, { "text\r\n<text>\r\n", true })
end)

test("run() has a terminal, and what has none refuses it", function()
	local result = aspawn.run { "sh", "-c", "test -t 0 && test -t 1 && ! test -t 2 && wc -l; echo b >&2", stdin = "pty", stdout = "pty", input = "a\n" }
	same({ result.out, result.err, result.ok }, { "a\r\n1\r\n", "b\n", true })
	result = aspawn.run { "sh", "-c", "echo a; echo b >&2", stderr = "pty" }
	same({ result.out, result.err }, { "a\n", "b\r\n" })
	result = aspawn.run { "sh", "-c", "echo a; echo b >&2", stdout = "pty", stderr = "pty" }
	same({ result.out, result.err }, { "a\r\nb\r\n" })
	same(pack(aspawn.run { "true", stdout = "pty", pty_rows = 70000 }), pack(nil, 'argument "pty_rows": EINVAL', 22))
	local queue = aspawn.queue()
	for _, stream in ipairs { "stdin", "stdout", "stderr" } do
		local command = { "true", [stream] = "pty" }
		same({ (pcall(aspawn.popen, command)), (pcall(queue.submit, queue, command)), (queue:prepare(command)) }, { false, false, nil })
	end
	queue:close()
	for _, name in ipairs { "pty_rows", "pty_columns" } do
		same({ pcall(aspawn.spawn, { "true", [name] = 5 }) }, { false, 'pty_rows, pty_columns: no stream is "pty"' })
	end
end)

test("a child can be ended", function()
	local child = aspawn.spawn { "sleep", "20" }
	local _, message = child:wait(0.01)
	same({ message, child:kill(), (pcall(child.kill, child, "NONE")) }, { "timeout", true, false })
	same(pack(child:wait()), pack(nil, "signal", 15))
	same({ (child:kill()) }, { nil })
	child = aspawn.spawn { "sh", "-c", "sleep 20 & echo; wait", group = true, stdout = "pipe" }
	child.stdout:read("*l")
	same({ child:kill_group("KILL"), child.stdout:read("*a") }, { true, "" })
	same(pack(child:wait()), pack(nil, "signal", 9))
end)

test("a result has no errno of an earlier call", function()
	both(function(popen, execute)
		local _, _, earlier = io.open("/no/such")
		return earlier, pack(popen("exit 3"):close()), pack(popen("exit 0"):close())
	end)
	both(function(_, execute) return io.open("/no/such"), execute("exit 3") end)
	both(function(_, execute) return io.open("/no/such"), execute("exit 0") end)
	io.open("/no/such")
	local file = aspawn.popen { "sh", "-c", "exit 3" }
	io.open("/no/such")
	same(pack(file:close()), jit and pack(true) or _VERSION == "Lua 5.1" and pack(true) or pack(nil, "exit", 3))
end)

test("files as streams", function()
	local name = os.tmpname()
	local file = io.open(name, "w")
	file:write("first\n")
	same({ aspawn.run({ "sh", "-c", "echo second; echo third >&2", stdout = file, stderr = "stdout" }).ok }, { true })
	file:close()
	file = io.open(name)
	same(aspawn.run({ "cat", stdin = file }).out, "first\nsecond\nthird\n")
	file:close()
	os.remove(name)
	same(aspawn.run({ "true", stderr = io.stderr }).err, nil)
end)

test("an option that is refused leaves no descriptor", function()
	local before = descriptors()
	for _, start in ipairs { aspawn.run, aspawn.spawn, aspawn.popen } do
		same(pcall(start, { "true", stdin = io.stdin, stdout = "unknown" }), false)
		same(pcall(start, { "true", stdin = io.stdin, input = "text", stdout = "null" }), false)
	end
	same(descriptors(), before)
end)

test("popen() of a table needs no shell", function()
	local file = aspawn.popen({ "printf", "%s", "$HOME;" })
	same({ io.type(file), file:read("*a") }, { "file", "$HOME;" })
	same({ (file:close()) }, { true })
	file = aspawn.popen({ "sh", "-c", "read line; test \"$line\" = text" }, "w")
	file:write("text\n")
	same({ (file:close()) }, { true })
	if not jit and _VERSION ~= "Lua 5.1" then
		same(pack(aspawn.popen({ "sh", "-c", "exit 3" }):close()), pack(nil, "exit", 3))
	end
end)

local function read(name)
	local file = io.open(name)
	local text = file and file:read("*a") or ""
	if file then file:close() end
	return text
end

-- A program without a file can be executed, and no filter is in the way.
local may_execute = read("/proc/self/status"):find("\nSeccomp:\t0\n") and read("/proc/sys/vm/memfd_noexec") ~= "2\n"

test("no process of another user shares the memory" .. (is_root and "" or " # SKIP not root"), function()
	local function mode(options)
		options[1], options[2] = "id", "-u"
		options.stdout = "pipe"
		local child = aspawn.spawn(options)
		local user = child.stdout:read("*a")
		child.stdout:close()
		same(pack(child:wait()), pack(true, "exit", 0))
		return { user, child:mode() }
	end
	local user = { { "user", 65534, 65534, {} } }
	if not is_root then return end
	same(mode {}, { "0\n", "shared" })
	same(mode { actions = user }, { "65534\n", may_execute and "image" or "copied" })
	same(mode { actions = user, memory = "copied" }, { "65534\n", "copied" })
end)

test("a tree ends with its child", function()
	for _, arguments in ipairs { {}, { 0 }, { 5 } } do
		local child = aspawn.spawn { "sh", "-c", "setsid sleep 1000 & echo; exec sleep 1000", stdout = "pipe", owner = "tree" }
		child.stdout:read()
		same({ child:kill_tree(arguments[1]) }, { true })
		same({ child.stdout:read("*a") }, { "" }) -- until the last has closed it
		same(pack(child:wait()), pack(nil, "signal", arguments[1] == 0 and 9 or 15))
	end
	same({ select(3, aspawn.spawn({ "true" }):kill_tree()) }, { 22 })
end)

-- A user's Lua may not end what a program of root's, set-user-ID, has executed.
test("a time limit does not hide what survives of a tree" .. (is_root and "" or " # SKIP not root"), function()
	if not is_root then return end
	local name = os.tmpname()
	-- Only a process of this group, which no other has, may become root by it.
	aspawn.run { "sh", "-c", "cp $(command -v setpriv) $0 && chown 0:65533 $0 && chmod 4710 $0", name }
	local result = aspawn.run { arg[-1], "-e", [[
		local is_there, aspawn = pcall(require, "aspawn")
		local root = { "]] .. name .. [[", "--reuid", "0" }
		if not is_there or (aspawn.run { root[1], root[2], root[3], "id", "-u" } or {}).out ~= "0\n" then return end
		print(select(3, aspawn.run { root[1], root[2], root[3], "sleep", "9", owner = "tree", timeout = 2, grace = 0.1 }))
	]], actions = { { "user", 65534, 65533 } } }
	os.remove(name)
	-- ENOTEMPTY; or the user may not read the module, or be root
	same(result.out == "" or result.out, result.out == "" or "39\n")
end)

test("a child that has ended, and is collected, is no zombie", function()
	local child = aspawn.spawn { "true" }
	local name = "/proc/" .. child.pid .. "/stat"
	while not read(name):find("%) Z") do aspawn.run { "sleep", "0.01" } end
	child = nil
	collectgarbage()
	collectgarbage()
	same({ child, read(name) }, { nil, "" })
end)

test("private children", function()
	same(aspawn.run({ "echo", "text", owner = "private" }).out, "text\n")
	local child = aspawn.spawn { "sh", "-c", "echo $$", stdout = "pipe", owner = "private" }
	same(child.pid, child.stdout:read("*n"))
	same(pack(child:wait()), pack(true, "exit", 0))
	child.stdout:close()
	child = aspawn.spawn { "true", owner = "private" }
	same(pack(child:wait()), pack(true, "exit", 0))
	same(child.pid, nil)
end)

test("a signal for a time limit, and output that is given up", function()
	local limited = { "sh", "-c", "trap 'exit 7' USR1; sleep 100 & wait", timeout = 2, grace = 100, kill_group = true,
		stop_signal = "SIGUSR1" }
	same(aspawn.run(limited).code, 7)
	limited.kill_group = nil
	local queue = aspawn.queue {}
	assert(queue:submit(limited))
	local result = queue:wait()
	same(pack(result.code, result.outcome, result.survivors, result.memory_peak), pack(7, "timed_out", nil, nil))
	local gives_up = { "sh", "-c", "exec 2>&-; sleep 20 & echo a", grace = 0.05 }
	assert(queue:submit(gives_up))
	result = queue:wait()
	same(pack(result.out, result.out_cut, result.err_cut), pack("a\n", true, false))
	result = aspawn.run(gives_up)
	same(pack(result.out, result.out_cut, result.err_cut), pack("a\n", true, false))
	local _, text = aspawn.run { "true", stop_signal = "KILL" }
	same(text, 'argument "stop_signal": EINVAL')
	queue:close()
end)

test("signals that the caller ignores", function()
	local lines = { "sh", "-c", "trap '' USR1; exec \"$0\" -e \"$1\"", arg[-1], [[
		local aspawn = require "aspawn"
		-- Of the first 12: glibc's posix_spawn() ignores signals of its own.
		local line = "grep SigIgn /proc/self/status | grep -o '...$'"
		local program = { "sh", "-c", line, stdout = "pipe" }
		io.write(aspawn.run(program).out, aspawn.popen(program):read("*a"), aspawn.popen(line):read("*a"))
		io.stdout:flush()
		aspawn.execute(line)
		program.inherit_signals = true
		io.write(aspawn.run(program).out)
	]] }
	same(aspawn.run(lines).out, "000\n000\n200\n200\n200\n")
end)

test("children that end with the caller", function()
	for option, value in pairs { dies_with_caller = true, started_fd = true, no_pidfd = true, nonblock = true, shell_on_enoexec = true,
		relative_to_caller = true, memory = "suspended" } do
		same(pack(aspawn.spawn({ "sh", "-c", "exit 3", [option] = value }):wait()), pack(nil, "exit", 3), option)
		same(aspawn.run({ "echo", "text", [option] = value }).out, "text\n", option)
	end
	-- The caller is a Lua of its own, which ends before the child.
	local lua = arg[-1]
	local result = aspawn.run { lua, "-e", [[
		local child = require "aspawn".spawn { "sleep", "20", dies_with_caller = true }
		child:started()
		print(child.pid)
		os.exit(0)
	]] }
	local function is_running()
		local file = io.open("/proc/" .. tonumber(result.out) .. "/stat")
		local text = file and file:read("*a")
		if file then file:close() end
		return text and not text:find("%) [ZX]")
	end
	for _ = 1, 100 do
		if not is_running() then break end
		aspawn.run { "sleep", "0.05" }
	end
	same({ is_running() and true or false }, { false })
end)

test("in a coroutine", function()
	local co = coroutine.wrap(function()
		local file = aspawn.popen("echo 1; echo 2")
		for line in file:lines() do coroutine.yield(line) end
		return file:close()
	end)
	same({ co(), co() }, { "1", "2" })
	co()
end)

test("a queue runs jobs and has their results", function()
	local queue = aspawn.queue { running = 4, jobs = 64 }
	-- the queue keeps them as long as it has their jobs
	local tables = setmetatable({}, { __mode = "v" })
	for i = 1, 50 do
		local job = { "sh", "-c", "echo out " .. i .. "; echo err >&2; exit " .. i }
		tables[queue:submit(job)] = job
	end
	collectgarbage()
	local seen = 0
	for result in queue:results() do
		seen = seen + 1
		local i = result.code
		same({ result.out, result.err, result.ok, result.outcome, result.text },
			{ "out " .. i .. "\n", "err\n", false, "ran", "exit " .. i })
		same({ result.out_total, result.err_total, result.job == tables[result.ticket] }, { 5 + #tostring(i), 4, true })
		same({ result.submitted <= result.started, result.started <= result.executed,
			result.executed <= result.ended }, { true, true, true })
		same({ type(result.user), result.max_resident > 0 }, { "number", true })
	end
	collectgarbage()
	collectgarbage()
	same({ seen, next(tables) }, { 50 })
	same(pack(queue:wait()), pack(nil, "no jobs", 10))
	same(pack(queue:count()), pack(0, 0, 0))
	queue:close()
	queue:close()
	same({ (pcall(queue.wait, queue)), (pcall(queue.submit, queue, { "true" })) }, { false, false })
end)

test("options of a job", function()
	local queue = aspawn.queue()
	local function result(job)
		assert(queue:submit(job))
		return queue:wait()
	end
	local found = result { "sh", "-c", "pwd; echo $A-$HOME; umask; cat; echo err >&2", cwd = "/usr",
		env = { A = "1", HOME = false }, actions = { { "umask", 18 } }, input = "input", stderr = "stdout" }
	same({ found.ok, found.out, found.err }, { true, "/usr\n1-\n0022\ninputerr\n" })
	found = result { "sh", "-c", "echo out; echo err >&2", stdout = "null" }
	same({ found.out, found.err }, { nil, "err\n" })
	found = result { "sh", "-c", "echo out; echo err >&2", stderr = "null" }
	same({ found.out, found.err }, { "out\n", nil })
	found = result { "seq", "1000", output_size = 10 }
	same({ found.out, found.out_total }, { "1\n2\n3\n4\n5\n", 3893 })
	same({ result({ "seq", "1000", output_size = 10, tail = true }).out }, { "\n999\n1000\n" })
	found = result { "no-such-program" }
	same({ found.ok, found.outcome, found.text, found.errno, found.code },
		{ false, "not_started", 'not started: search "no-such-program": ENOENT', 2 })
	found = result { "sh", "-c", "echo a; sleep 20 & wait", timeout = 2 }
	same({ found.out, found.ok, found.outcome, found.signal, found.text },
		{ "a\n", false, "timed_out", 15, "timed out, killed by SIGTERM" })
	for _, grace in ipairs { 0, 5 } do
		found = result { "sh", "-c", "trap 'exit 5' TERM; sleep 20 & wait", timeout = 2, grace = grace }
		same({ found.signal, found.code }, grace == 0 and { 9 } or { nil, 5 })
	end
	for _, wrong in ipairs { {}, { "true", stdin = "pipe" }, { "true", stdout = "inherit" }, { "true", stdout = io.stderr }, { "true", stderr = io.stderr },
		{ "true", key = -1 }, { "true", input = {} }, { "a\0b" } } do
		same({ (pcall(queue.submit, queue, wrong)) }, { false })
	end
	same(pack(queue:submit { "true", actions = { { "dup2", 9999, 0 } } }), pack(nil, "bad file descriptor", 9))
	same(pack(queue:submit { "true", input = ("a"):rep(200000) }), pack(nil, 'argument "job_bytes": E2BIG', 7))
	same({ type(queue:submit { "true", key = 1 }), type(queue:submit { "true", key_limit = 1 }) }, { "number", "number" })
	queue:close()
end)

test("no number of a job or a queue stands for another", function()
	local queue = aspawn.queue { running = 1 }
	for _, name in ipairs { "output_size", "key", "key_limit", "priority", "prepared" } do
		for _, wrong in ipairs { 0, 1.5, -1, false, "x" } do
			local job = { "true", [name] = wrong }
			if wrong ~= 0 or name ~= "output_size" and name ~= "priority" then
				same({ pcall(queue.submit, queue, job) },
					{ false, name .. ": a valid number is expected, not " .. (wrong == false and "boolean" or wrong) })
			end
		end
	end
	for _, name in ipairs { "running", "jobs", "job_bytes" } do
		for _, wrong in ipairs { 0, 1.5 } do
			same({ pcall(aspawn.queue, { [name] = wrong }) }, { false, name .. ": a valid number is expected, not " .. wrong })
		end
	end
	same({ pcall(aspawn.queue, { delay = "x" }) }, { false, "delay: a number is expected, not x" })
	same({ pcall(queue.submit, queue, { "cat", input = false }) }, { false, "input: a string is expected, not boolean" })
	queue:submit { "echo", "text", output_size = 0 }
	local result = queue:wait()
	same({ result.out, result.out_total }, { "", 5 })
	local ticket = queue:submit { "sleep", "20" }
	same({ (pcall(queue.cancel, queue, nil)) }, { false })
	same({ queue:cancel(ticket + 0.5) }, { nil, "no such process", 3 })
	same({ queue:cancel(ticket), queue:wait().outcome }, { true, "cancelled" })
	queue:close()
end)

test("keys limit what runs at the same time", function()
	local queue = aspawn.queue { running = 4 }
	local results = {}
	for _ = 1, 4 do queue:submit { "sleep", "0.02", key = 7, key_limit = 1 } end
	for result in queue:results() do results[#results + 1] = result end
	table.sort(results, function(a, b) return a.started < b.started end)
	for i = 2, 4 do same({ results[i - 1].ended <= results[i].started }, { true }) end
	queue:close()
end)

-- A job that occupies the only place to run, until it is cancelled.
local function occupy(queue)
	local ticket = queue:submit { "sleep", "20" }
	while select(2, queue:count()) == 0 do aspawn.run { "true" } end
	return ticket
end

test("a higher priority starts first", function()
	local queue = aspawn.queue { running = 1 }
	local first, order = occupy(queue), {}
	for _, priority in ipairs { 0, 2, 1, 7 } do queue:submit { "true", priority = priority } end
	queue:cancel(first)
	for result in queue:results() do order[#order + 1] = result.job.priority end
	same(order, { 7, 2, 1, 0 })
	same(pack(queue:submit { "true", priority = 8 }), pack(nil, 'argument "job.priority": EINVAL', 22))
	queue:close()
end)

test("a prepared command has other arguments", function()
	local queue = aspawn.queue { jobs = 4 }
	local prepared = queue:prepare { "sh", "-c", "pwd; echo $A $0", "own", cwd = "/usr", env = { A = "1" },
		actions = { { "setenv", "A", "2" } } }
	local function out(job)
		job.prepared = prepared
		assert(queue:submit(job))
		return queue:wait().out
	end
	same({ out {}, out { "sh", "-c", "echo $A $0", "other" } }, { "/usr\n2 own\n", "2 other\n" })
	same({ out { "sh", "-c", "cat", input = "input" } }, { "input" })
	for _, wrong in ipairs { { stderr = "stdout" }, { env = { A = "3" } }, { cwd = "/" }, { file = "true" }, { actions = { { "umask", 0 } } } } do
		wrong.prepared = prepared
		same({ (pcall(queue.submit, queue, wrong)) }, { false })
	end
	same(pack(queue:submit { prepared = prepared + 1 }), pack(nil, 'argument "job.prepared": EINVAL', 22))
	same(pack((queue:prepare { "true", stdout = "pipe" }), (pcall(queue.prepare, queue, {}))), pack(nil, false))
	prepared = queue:prepare { "sh", "-c", "echo out; echo err >&2", stderr = "stdout" }
	same({ out {} }, { "out\nerr\n" })
	same({ queue:prepare { "true" } ~= prepared, queue:prepare { "true" } ~= prepared }, { true, true })
	same(pack(queue:prepare { "true" }), pack(nil, "try again", 11))
	queue:close()
end)

test("a job has the files that its actions use", function()
	local queue, name = aspawn.queue(), os.tmpname()
	local file = io.open(name, "w")
	assert(queue:submit { "echo", "text", stdout = "null", actions = { { "dup2", file, 1 } } })
	same({ queue:wait().ok }, { true })
	local prepared = queue:prepare { "echo", "more", actions = { { "dup2", file, 1 } } }
	file = nil
	collectgarbage() -- which does not close what the prepared command uses
	assert(queue:submit { prepared = prepared, stdout = "null" })
	same({ queue:wait().ok }, { true })
	same({ io.open(name):read("*a") }, { "text\nmore\n" })
	same(pack(queue:submit { "true", actions = { { "dup2", 99, 1 } } }), pack(nil, "bad file descriptor", 9))
	local closed = io.open(name)
	closed:close()
	same({ (pcall(queue.submit, queue, { "true", actions = { { "dup2", closed, 1 } } })) }, { false })
	same({ (pcall(queue.submit, queue, { "true", actions = { { "dup2", queue, 1 } } })) }, { false })
	same({ (pcall(queue.submit, queue, { "true", actions = { { "nice", io.stdout } } })) }, { false })
	os.remove(name)
	queue:close()
end)

test("a queue without a server starts children", function()
	local queue = aspawn.queue { no_server = true, running = 2 }
	for _ = 1, 10 do queue:submit { "sh", "-c", "echo $PPID" } end
	local parents, seen = aspawn.run({ "sh", "-c", "echo $PPID" }).out, 0
	for result in queue:results() do
		same(result.out, parents)
		seen = seen + 1
	end
	same({ seen }, { 10 })
	queue:submit { "sleep", "20" }
	same(pack(queue:wait(0.01)), pack(nil, "timeout", 110))
	queue:close()
end)

test("a queue that is full says so", function()
	local queue = aspawn.queue { running = 1, jobs = 2 }
	same({ queue:submit { "sleep", "20" } > 0, queue:submit { "sleep", "20" } > 0 }, { true, true })
	same(pack(queue:submit { "true" }), pack(nil, "try again", 11))
	same(pack(queue:wait(0)), pack(nil, "timeout", 110))
	queue:close()
end)

test("jobs are cancelled", function()
	local queue = aspawn.queue { running = 1 }
	local first, second = queue:submit { "sleep", "20" }, queue:submit { "sleep", "20" }
	same({ queue:cancel(second), queue:cancel(first) }, { true, true })
	same({ queue:wait().outcome, queue:wait().outcome }, { "cancelled", "cancelled" })
	same(pack(queue:cancel(first)), pack(nil, "no such process", 3))
	queue:submit { "sleep", "20" }
	queue:submit { "sleep", "20" }
	same({ queue:cancel(), queue:wait().outcome, queue:wait().outcome }, { true, "cancelled", "cancelled" })
	queue:close()
end)

test("a queue has a descriptor, and is closed when it is collected", function()
	local before = descriptors()
	local queue = aspawn.queue()
	queue:submit { "sleep", "20" }
	same({ aspawn.run({ "sh", "-c", "readlink /proc/$PPID/fd/" .. queue:fd() }).ok }, { true })
	queue = nil
	same(descriptors(), before)
	same({ (aspawn.queue { running = 1e6 }) }, { nil })
	same({ (pcall(aspawn.queue, { running = -1 })) }, { false })
	if _VERSION == "Lua 5.4" then
		assert(load("local aspawn = ...; local queue <close> = aspawn.queue()"))(aspawn)
		same(descriptors(), before)
	end
end)

-- Each script in a Lua of its own, which shall come to its end.
local function survives(scripts)
	for _, script in ipairs(scripts) do
		local result = aspawn.run { arg[-1], "-e", [[
			local aspawn = require "aspawn"
			local queue, child = aspawn.queue(), aspawn.spawn { "true" }
			local function try(body) pcall(body) collectgarbage() end
			]] .. script .. [[ io.write("the end")]], timeout = 20 }
		if result.out ~= "the end" or not result.ok then
			error(script .. ": signal " .. tostring(result.signal) .. ", " .. result.out .. result.err, 2)
		end
	end
end

test("a script that assigns to a queue, or calls a metamethod, does not crash", function()
	survives {
		"try(function() queue.jobs = nil end) queue:submit { 'true' } queue:wait()",
		"try(function() queue.registered = 5 end) queue:prepare { 'true', actions = { { 'dup2', io.tmpfile(), 1 } } }",
		"try(function() getmetatable(queue.handle).__gc('x') end)",
		"try(function() setmetatable({}, { __index = queue }):submit { 'true' } end)",
		"try(function() getmetatable(child.handle).__gc('x') end) child:wait()",
		"try(function() getmetatable(queue).__gc(io.stdout) end) try(function() queue.__gc(child.handle) end)",
		-- A new child is not held by its table then.
		[[for _, class in ipairs { getmetatable(child) or {}, child.__index or {} } do
			try(function() class.__newindex = function() end end)
		end
		try(function()
			aspawn.spawn(setmetatable({ "true" }, { __index = function() collectgarbage() end }))
		end)]],
	}
end)

test("options are inherited from tables, and call no function", function()
	local options = { env = { A = "1" } }
	local job = setmetatable({ "sh", "-c", "echo $A" }, { __index = setmetatable({}, { __index = options }) })
	same(aspawn.run(job).out, "1\n")
	same(aspawn.run(setmetatable({ "true" }, { __index = error })).out, "")
	local ring = setmetatable({ "true" }, {})
	getmetatable(ring).__index = ring
	same(aspawn.run(ring).out, "")
	-- Such a function has no end but the stack's in LuaJIT.
	local scripts = {}
	for i, called in ipairs { "aspawn.run", "aspawn.spawn", "aspawn.queue", "queue.submit", "queue.prepare", "child.wait",
		"function(t) return queue:submit(t) end", "function() queue:close() return queue:submit { 'true' } end" } do
		scripts[i] = [[try(function()
			local f = ]] .. called .. [[
			local t = setmetatable({ 'true' }, { __index = f })
			f(t)
			queue:submit(t)
		end)]]
	end
	survives(scripts)
end)

test("a finalizer may close the queue whose result is returned", function()
	survives { [[
		local function finalize(body)
			if not newproxy then setmetatable({}, { __gc = body }) return end
			getmetatable(newproxy(true)).__gc = body
		end
		if _VERSION == "Lua 5.4" then
			collectgarbage("generational")
		else
			collectgarbage("setpause", 0)
			collectgarbage("setstepmul", 1000)
		end
		for n = 1, 5 do
			local queue, count = aspawn.queue { no_server = true, job_bytes = 5e6 }
			queue:submit { "sh", "-c", "seq 200000; seq 200000 >&2", output_size = 2e6 }
			local function again()
				if not queue then return end
				count = count and count + 1
				if count == n then queue:close() end
				finalize(again)
			end
			finalize(again)
			count = 0
			pcall(queue.wait, queue)
			queue = nil
			collectgarbage()
		end]] }
end)

test("a file that was closed is no stream", function()
	for _, name in ipairs { "stdin", "stdout", "stderr" } do
		local file = io.tmpfile()
		file:close()
		same(pack(pcall(aspawn.run, { "true", [name] = file })), pack(false, name .. ": the file is closed"))
	end
end)

test("globals of another meaning do not crash the module", function()
	local again = " package.loaded.aspawn = nil aspawn = require 'aspawn' "
	survives {
		"jit = not jit and {} or nil" .. again .. "try(function() aspawn.popen({ 'true' }):close() end)",
		"jit = not jit and {} or nil" .. again .. "local c = aspawn.spawn { 'true', stdout = 'pipe' } c.stdout:close()",
		"io.open = function() return child.handle end" .. again .. "try(function() aspawn.popen 'true' end)",
		"io.open = aspawn.popen" .. again .. "try(function() aspawn.popen 'true' end)",
		"local own = io io = nil setmetatable(_G, { __index = aspawn.install }) " ..
			"try(aspawn.install) setmetatable(_G, nil) io = own",
		[[io.open = function(...) local f = io.tmpfile() f:close() return f end]] .. again ..
			"try(function() aspawn.popen 'true' end)",
	}
end)

test("a child whose handle was finalized is none", function()
	survives { [[
		local saved
		if not newproxy then
			-- The later object is finalized first:
			-- the child is finalized before the table that has it.
			setmetatable({}, { __gc = function(t) saved = t.child end }).child = child
			child = nil
			collectgarbage() collectgarbage()
			assert(saved and not saved:wait() and not saved:kill() and not saved:ended_fd() and saved:mode())
		end]] }
end)

test("many", function()
	for i = 1, 200 do
		local file = aspawn.popen("echo " .. i)
		same(file:read("*l"), tostring(i))
		file:close()
	end
end)

print("1.." .. count)
