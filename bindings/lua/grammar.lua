-- SPDX-License-Identifier: MIT
-- The grammar of fuzz.lua and of test/proofs/fuzz/lua.c: what a script can write, calls of the
-- module and assignments to what it returns. A chunk of two arguments: a function that chooses a
-- number from 1 to n, and the module's actions. It returns a function that makes the text of a
-- program. The library debug is not in the grammar: it breaks any Lua.
local random, action_operands = ...

local function words(text)
	local list = {}
	for word in text:gmatch("%S+") do list[#list + 1] = word end
	return list
end

local options = words [[input timeout grace kill_group stdin stdout stderr cwd env clearenv file path setsid group owner memory
	dies_with_caller started_fd shell_on_enoexec actions actions actions output_size tail key key_limit priority prepared running
	jobs job_bytes delay servers no_server]]
-- What an action of these names does ends with its process. Others are added, and not performed.
local performed = [[ dup2 output_pipe input_pipe close closefrom only_below cloexec_from dev_null setenv unsetenv clearenv umask setsid
	setpgid reset_signals sigmask signals_default signals_ignore signal_default signal_ignore pdeathsig rlimit nice affinity user
	resuid groups cap_drop no_new_privs ]]
local actions = {}
for name in pairs(action_operands) do actions[#actions + 1] = name end
table.sort(actions)
-- Operands that have these names, and of all others.
local operands = { from = { "1", "io.tmpfile()" }, resource = { "'cpu'", "4" }, signal = { "'TERM'", "10" }, capability = { "'all'", "'CHOWN'" },
	flags = { "'O_RDWR|O_CREAT'", "0" }, bits = { "'SECBIT_NOROOT'" }, mode = { "'0644'", "nil" }, set = { "{ 'HUP', 2 }", "{}" },
	groups = { "{ 0, 1 }", "nil" }, mask = { "{ 0, 1 }", "'22'", "18" }, dirfd = { "nil", "io.tmpfile()" }, name = { "'A'" }, text = { "'x'" },
	filter = { "{ { 6, 0, 0, 0 } }", "('x'):rep(64)" }, path = { "'/dev/null'" }, hard = { "math.huge", "9" } }
local others = words "nil '/dev/null' io.tmpfile() 65534 0 1 3 5"

local function pick(list) return list[random(#list)] end

-- A rule is a text, in which $name is what that rule makes, a list of texts to choose from, or a
-- function that makes a text.
local rules = {
	field = words [[.handle .jobs .registered .handle .jobs .registered .stdin .stdout .stderr .terminal .pipes .pid .__index
		.__newindex .__gc .__close .__metatable .__name .ok .out .job .n [1] [2] ]],
	method = words [[started wait wait kill kill_group ended_fd started_fd terminal_fd resize mode submit submit prepare results
		cancel count fd close close __gc __close __tostring __index __newindex write flush seek setvbuf]],
	scalar = words [[nil true false 0 1 2 3 -1 0.01 1e300 -1e300 0/0 2^31 2^53 2^63
		'' 'x' 'pipe' 'null' 'stdout' 'inherit' 'a\0b' ('x'):rep(70000) 'r' 'rw']],
	-- Each ends soon, whatever it gets.
	command_words = { "'true'", "'false'", "'echo', 'text', stdout = 'pipe'", "'sh', '-c', 'exit 3'", "'sh', '-c', 'kill $$'",
		"'unmae'", "'seq', '999', stdout = 'pipe'", "'timeout', '-s', 'KILL', '0.1', 'cat', stdin = 'null'" },
	variable = words "v[1] v[2] v[3] v[4] v[5] v[6] v[7] v[8] v[9]",
	arguments = { "", "$expression", "$expression, $expression" },
	body = "function(...) stop() $statement $last end",
	last = { "return $expression", "return $expression", "return $expression", "error($expression)", "return coroutine.yield($expression)" },
	metatable = "{ $event = $handler }", handler = { "$expression", "$body", "$body", "$body" },
	event = words "__index __newindex __gc __gc __close __len __call __tostring __metatable",
	called = words "run run spawn spawn popen execute install kill_cgroup queue",
	queue_options = { "no_server = true, running = 2", "jobs = 4" }, maybe_command = { "", "$command_words" },
	mode = { "", ", 'w'" }, line = { "'echo text'", "'exit 3'", "'true | cat', 'w'" },
	opened = { "io.open('/dev/null', 'r+')", "io.tmpfile()", "io.stdin", "io.stderr" }, seconds = { "", "0.1", "9" },
	global = words "jit io.open io.popen os.execute", levels = words "3 99 101 5000", collection = { "", "", "'step'" },
	["end"] = { "$variable", "$scalar" }, statement = "pcall(function() $part end)",
	expression = { "$variable", "$variable", "$variable", "$scalar", "$scalar", "($variable)$field", "getmetatable($variable)",
		"aspawn.queue{ $queue_options }", "aspawn.spawn($started)", "aspawn.popen($started$mode)", "aspawn.popen($line)", "$opened",
		"deep($levels, $expression)", "aspawn.$called", "coroutine.wrap($body)", "setmetatable({ $maybe_command }, $metatable)",
		"proxy($body)", "$command", "$command", "$body" },
	part = { "$variable = $expression", "$variable = aspawn.queue{ jobs = 4 }", "$variable = aspawn.spawn($started)",
		"$variable$field = $expression", "$variable$field$field = $expression", "$variable = $variable:$call", "$each",
		"each('submit', $command)", "each('wait', 9)", "getmetatable($variable).$method($arguments)", "$variable$field($arguments)",
		"$variable = aspawn.$called($arguments)", "setmetatable($variable, $metatable)",
		"for r in $variable:results() do stop() $variable = r; $statement end", "collectgarbage($collection)",
		"tostring($variable); io.close($variable)", "$global = $expression", "package.loaded.aspawn = nil; aspawn = require 'aspawn'",
		_VERSION == "Lua 5.4" and "local c <close> = $variable" or "collectgarbage()" },
}
-- What such a rule makes when it is deep.
local deep, depth = { expression = "$end", part = "collectgarbage()" }, 0

local function expand(text)
	return (text:gsub("%$([%l_]+)", function(name)
		local rule = depth > 3 and deep[name] or rules[name]
		if type(rule) == "table" then rule = pick(rule) end
		local deeper = deep[name] and 1 or 0
		depth = depth + deeper
		local made = type(rule) == "string" and expand(rule) or rule()
		depth = depth - deeper
		return made
	end))
end

-- An action, most often with as many operands as it has.
function rules.action()
	local name, list = pick(actions), {}
	for operand in action_operands[name]:gmatch("[%w_]+") do
		local value = random(12) == 1 and expand("$expression") or pick(random(12) == 1 and rules.scalar or operands[operand] or others)
		if random(12) > 1 then list[#list + 1] = (random(4) == 1 and operand .. " = " or "") .. value end
	end
	return (performed:find("%s" .. name .. "%s") and "" or "{ 'chdir', '/no/such' }, ") .. "{ '" .. name .. "', " .. table.concat(list, ", ") .. " }"
end

-- Without LD_PRELOAD, which has the sanitizer, and with few seconds for each.
function rules.command()
	local list = { pick(rules.command_words), "env = { LD_PRELOAD = false }, timeout = 5" }
	for _ = 1, random(4) - 1 do
		local value = random(3) == 1 and expand("$expression") or pick(rules.scalar)
		local name = pick(options)
		if name == "actions" and random(12) > 1 then value = expand("{ $action, $action }") end
		if name == "owner" or name == "memory" then value = pick { "'private'", "'suspended'", "'copied'", value } end
		if name:match("^std") then value = pick { "io.stdin", "io.stderr", "'pipe'", "'null'", "'pty'", value } end
		if name ~= "timeout" then list[#list + 1] = name .. " = " .. value end
	end
	if random(3) == 1 then list[#list + 1] = expand("actions = { $action }") end
	local text = "{ " .. table.concat(list, ", ") .. " }"
	return random(4) == 1 and "setmetatable(" .. text .. expand(", $metatable)") or text
end

-- Of a start that does not wait, which has no limit.
function rules.started() return (expand("$command"):gsub(", timeout = 5", "", 1)) end

-- A method and arguments, most often those with which it does something.
local fitting = { submit = "$command", prepare = "$started", started = "$seconds", wait = "$seconds", cancel = "$seconds", write = "'x'" }
local function method()
	local name = pick(rules.method)
	return name, expand(fitting[name] and random(4) > 1 and fitting[name] or "$arguments")
end

function rules.call() return ("%s(%s)"):format(method()) end

function rules.each()
	local name, rest = method()
	return "each('" .. name .. "', " .. (rest == "" and "nil" or rest) .. ")"
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
	for _ = 1, 5 + random(20) do lines[#lines + 1] = expand("$statement") end
	return table.concat(lines, "\n")
end
