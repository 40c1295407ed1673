-- SPDX-License-Identifier: MIT
-- The grammar of fuzz.lua and of test/proofs/fuzz/lua.c: what a script can write, calls of the
-- module and assignments to what it returns. A chunk of two arguments: a function that chooses a
-- number from 1 to n, and the module's actions. It returns a function that makes the text of a
-- program. The library debug is not in the grammar: it breaks any Lua.
local random, action_operands = ...

local fields = { "handle", "jobs", "registered", "handle", "jobs", "registered", "stdin", "stdout", "stderr", "terminal", "pipes", "pid", "__index", "__newindex", "__gc",
	"__close", "__metatable", "__name", "ok", "out", "job", "n", 1, 2 }
local methods = { "started", "wait", "wait", "kill", "kill_group", "ended_fd", "started_fd", "terminal_fd", "resize", "mode", "submit", "submit", "prepare",
	"results", "cancel", "count", "fd", "close", "close", "__gc", "__close", "__tostring",
	"__index", "__newindex", "write", "flush", "seek", "setvbuf" }
local functions = { "run", "run", "spawn", "spawn", "popen", "execute", "install", "kill_cgroup", "queue" }
local scalars = { "nil", "true", "false", "0", "1", "2", "3", "-1", "0.01", "1e300", "-1e300", "0/0", "2^31", "2^53", "2^63",
	"''", "'x'", "'pipe'", "'null'", "'stdout'", "'inherit'", "'a\\0b'", "('x'):rep(70000)", "'r'", "'rw'" }
-- Each ends soon, whatever it gets.
local commands = { "'true'", "'false'", "'echo', 'text', stdout = 'pipe'", "'sh', '-c', 'exit 3'", "'sh', '-c', 'kill $$'",
	"'unmae'", "'seq', '999', stdout = 'pipe'", "'timeout', '-s', 'KILL', '0.1', 'cat', stdin = 'null'" }
local options = { "input", "timeout", "grace", "kill_group", "stdin", "stdout", "stderr", "cwd", "env", "clearenv", "file",
	"path", "setsid", "group", "owner", "memory", "dies_with_caller", "started_fd", "shell_on_enoexec", "actions", "actions", "actions", "output_size",
	"tail", "key", "key_limit", "priority", "prepared", "running", "jobs", "job_bytes", "delay", "servers",
	"no_server" }
-- What an action of these names does ends with its process. Others are added, and not performed.
local performed = {}
for name in ([[dup2 output_pipe input_pipe close closefrom only_below cloexec_from dev_null setenv unsetenv clearenv umask setsid setpgid
	reset_signals sigmask signals_default signals_ignore signal_default signal_ignore pdeathsig rlimit nice affinity user resuid
	groups cap_drop no_new_privs]]):gmatch("%S+") do
	performed[name] = true
end
local actions = {}
for name in pairs(action_operands) do actions[#actions + 1] = name end
table.sort(actions)
-- Operands that have these names, and of all others.
local operands = { from = { "1", "io.tmpfile()" }, resource = { "'cpu'", "4" }, signal = { "'TERM'", "10" }, capability = { "'all'", "'CHOWN'" },
	flags = { "'O_RDWR|O_CREAT'", "0" }, bits = { "'SECBIT_NOROOT'" }, mode = { "'0644'", "nil" }, set = { "{ 'HUP', 2 }", "{}" },
	groups = { "{ 0, 1 }", "nil" }, mask = { "{ 0, 1 }", "'22'", "18" }, dirfd = { "nil", "io.tmpfile()" }, name = { "'A'" }, text = { "'x'" },
	filter = { "{ { 6, 0, 0, 0 } }", "('x'):rep(64)" }, path = { "'/dev/null'" }, hard = { "math.huge", "9" } }
local others = { "nil", "'/dev/null'", "io.tmpfile()", "65534", "0", "1", "3", "5" }

local function pick(list) return list[random(#list)] end
local depth, expression, statement = 0

local function variable() return "v[" .. random(9) .. "]" end
local function index(name) return type(name) == "number" and "[" .. name .. "]" or "." .. name end

local function arguments()
	local list = {}
	for i = 1, random(3) - 1 do list[i] = expression() end
	return table.concat(list, ", ")
end

local function body()
	local last = pick { "return ", "return ", "return ", "error(", "return coroutine.yield(" }
	return "function(...) stop() " .. statement() .. " " .. last .. expression() .. (last:match("%($") and ")" or "") .. " end"
end

local function metatable()
	local event = pick { "__index", "__newindex", "__gc", "__gc", "__close", "__len", "__call", "__tostring", "__metatable" }
	return "{ " .. event .. " = " .. (random(4) == 1 and expression() or body()) .. " }"
end

-- An action, most often with as many operands as it has.
local function action()
	local name, list = pick(actions), {}
	for operand in action_operands[name]:gmatch("[%w_]+") do
		local value = random(12) == 1 and expression() or pick(random(12) == 1 and scalars or operands[operand] or others)
		if random(12) > 1 then list[#list + 1] = (random(4) == 1 and operand .. " = " or "") .. value end
	end
	return (performed[name] and "" or "{ 'chdir', '/no/such' }, ") .. "{ '" .. name .. "', " .. table.concat(list, ", ") .. " }"
end

-- Without LD_PRELOAD, which has the sanitizer, and with few seconds for each.
local function command()
	local list = { pick(commands), "env = { LD_PRELOAD = false }, timeout = 5" }
	for _ = 1, random(4) - 1 do
		local value = random(3) == 1 and expression() or pick(scalars)
		local name = pick(options)
		if name == "actions" and random(12) > 1 then value = "{ " .. action() .. ", " .. action() .. " }" end
		if name == "owner" or name == "memory" then value = pick { "'private'", "'suspended'", "'copied'", value } end
		if name:match("^std") then value = pick { "io.stdin", "io.stderr", "'pipe'", "'null'", "'pty'", value } end
		if name ~= "timeout" then list[#list + 1] = name .. " = " .. value end
	end
	if random(3) == 1 then list[#list + 1] = "actions = { " .. action() .. " }" end
	local text = "{ " .. table.concat(list, ", ") .. " }"
	return random(4) == 1 and "setmetatable(" .. text .. ", " .. metatable() .. ")" or text
end

-- Of a start that does not wait, which has no limit.
local function started() return (command():gsub(", timeout = 5", "", 1)) end

local makers = {
	variable, variable, variable,
	function() return pick(scalars) end,
	function() return pick(scalars) end,
	function() return "(" .. variable() .. ")" .. index(pick(fields)) end,
	function() return "getmetatable(" .. variable() .. ")" end,
	function() return "aspawn.queue{ " .. (random(2) == 1 and "no_server = true, running = 2" or "jobs = 4") .. " }" end,
	function() return "aspawn.spawn(" .. started() .. ")" end,
	function() return "aspawn.popen(" .. started() .. pick { "", ", 'w'" } .. ")" end,
	function() return "aspawn.popen(" .. pick { "'echo text'", "'exit 3'", "'true | cat', 'w'" } .. ")" end,
	function() return pick { "io.open('/dev/null', 'r+')", "io.tmpfile()", "io.stdin", "io.stderr" } end,
	function() return "deep(" .. pick { "3", "99", "101", "5000" } .. ", " .. expression() .. ")" end,
	function() return "aspawn." .. pick(functions) end,
	function() return "coroutine.wrap(" .. body() .. ")" end,
	function() return "setmetatable({ " .. pick { "", pick(commands) } .. " }, " .. metatable() .. ")" end,
	function() return "proxy(" .. body() .. ")" end,
	command, command, body,
}

function expression()
	if depth > 3 then return random(2) == 1 and variable() or pick(scalars) end
	depth = depth + 1
	local text = pick(makers)()
	depth = depth - 1
	return text
end

local function seconds() return pick { "", "0.1", "9" } end
local function file() return pick { "v[4]", "v[5]", "io.tmpfile()" } end
-- Arguments with which a method does something.
local fitting = { submit = command, prepare = started, started = seconds, wait = seconds, cancel = seconds, write = function() return "'x'" end }

local function method()
	local name = pick(methods)
	local made = fitting[name]
	return name, made and random(4) > 1 and made() or arguments()
end

local statements = {
	function() return variable() .. " = " .. expression() end,
	function() return variable() .. " = aspawn.queue{ jobs = 4 }" end,
	function() return variable() .. " = aspawn.spawn(" .. started() .. ")" end,
	function() return variable() .. index(pick(fields)) .. " = " .. expression() end,
	function() return variable() .. index(pick(fields)) .. index(pick(fields)) .. " = " .. expression() end,
	function()
		local name, rest = method()
		return variable() .. " = " .. variable() .. ":" .. name .. "(" .. rest .. ")"
	end,
	function()
		local name, rest = method()
		return "each('" .. name .. "', " .. (rest == "" and "nil" or rest) .. ")"
	end,
	function() return "each('submit', " .. command() .. ")" end,
	function() return "each('wait', 9)" end,
	function() return "getmetatable(" .. variable() .. ")." .. pick(methods) .. "(" .. arguments() .. ")" end,
	function() return variable() .. index(pick(fields)) .. "(" .. arguments() .. ")" end,
	function() return variable() .. " = aspawn." .. pick(functions) .. "(" .. arguments() .. ")" end,
	function() return "setmetatable(" .. variable() .. ", " .. metatable() .. ")" end,
	function() return "for r in " .. variable() .. ":results() do stop() " .. variable() .. " = r; " .. statement() .. " end" end,
	function() return "collectgarbage(" .. pick { "", "", "'step'" } .. ")" end,
	function() return "tostring(" .. variable() .. "); io.close(" .. variable() .. ")" end,
	function() return pick { "jit", "io.open", "io.popen", "os.execute" } .. " = " .. expression() end,
	function() return "package.loaded.aspawn = nil; aspawn = require 'aspawn'" end,
	function() return _VERSION == "Lua 5.4" and "local c <close> = " .. variable() or "collectgarbage()" end,
}

function statement()
	if depth > 3 then return "collectgarbage()" end
	depth = depth + 1
	local text = pick(statements)()
	depth = depth - 1
	return "pcall(function() " .. text .. " end)"
end

local head = [[
local aspawn = require "aspawn"
local v = { aspawn.queue { no_server = true }, aspawn.queue { jobs = 4 },
	aspawn.spawn { "true", env = { LD_PRELOAD = false }, stdin = "pipe", stdout = "pipe" },
	aspawn.popen { "echo", "text", env = { LD_PRELOAD = false } }, io.tmpfile(), {} }
local calls = 0
local function stop() -- the end of a loop whose body submits more jobs, or of a recursion
	calls = calls + 1
	if calls > 200 then error("enough") end
end
-- The method of each variable that has it.
local function each(name, ...)
	for i = 1, 9 do pcall(function(...) v[i + 9] = v[i][name](v[i], ...) end, ...) end
end
-- Its fields are found n tables below.
local function deep(n, value)
	local t = { value, handle = value, stdin = value, timeout = 5 }
	for _ = 1, n do t = setmetatable({ t }, { __index = t }) end
	return t
end
local function proxy(gc)
	if not newproxy then return setmetatable({}, { __gc = gc }) end
	local p = newproxy(true)
	getmetatable(p).__gc = gc
	return p
end
]]

return function()
	depth = 0
	local lines = { head }
	for _ = 1, 5 + random(20) do lines[#lines + 1] = statement() end
	return table.concat(lines, "\n")
end
