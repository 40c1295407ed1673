-- SPDX-License-Identifier: MIT
-- Two tables, in turns: what a command costs in processor time, of this process and its children;
-- and how long a start blocks this process, with every processor busy.
local aspawn = require "aspawn"
local own_popen, own_execute = io.popen, os.execute
local rounds, count, starts = 9, 100, 400

local function processor()
	local file = io.open("/proc/self/stat")
	local text = file:read("*a")
	file:close()
	local user, system, of_user, of_system = text:match("^.*%) " .. ("%S+ "):rep(11) .. "(%d+) (%d+) (%d+) (%d+)")
	return (user + system + of_user + of_system) * 10 -- ticks of 10 ms
end

local function pipes(popen)
	return function()
		local file = popen("echo text")
		file:read("*a")
		file:close()
	end
end

local ways = {
	{ "io.popen, /bin/echo", pipes(function() return own_popen("/bin/echo text") end) },
	{ "aspawn.popen, /bin/echo", pipes(function() return aspawn.popen("/bin/echo text") end) },
	{ "aspawn.popen of a table", pipes(function() return aspawn.popen { "/bin/echo", "text" } end) },
	{ "aspawn.run", function() return aspawn.run { "/bin/echo", "text" } end },
	{ "io.popen, a shell's command", pipes(function() return own_popen("echo $((1 + 2))") end) },
	{ "aspawn.popen, a shell's command", pipes(function() return aspawn.popen("echo $((1 + 2))") end) },
	{ "os.execute, /bin/true", function() own_execute("/bin/true") end },
	{ "aspawn.execute, /bin/true", function() aspawn.execute("/bin/true") end },
}

-- Prints a row of the name and these shares of the times that follow in the table.
local function row(way, ...)
	local name = table.remove(way, 1)
	table.remove(way, 1)
	table.sort(way)
	io.write("| ", name)
	for _, share in ipairs { ... } do io.write((" | %.0f"):format(way[math.ceil(#way * share)])) end
	print(" |")
end

for round = 1, rounds do
	for _, way in ipairs(ways) do
		local begin = processor()
		for _ = 1, count do way[2]() end
		way[round + 2] = (processor() - begin) * 1000 / count
	end
end

print("| " .. (jit and jit.version or _VERSION) .. " | processor, us |\n| --- | ---: |")
for _, way in ipairs(ways) do row(way, 0.5) end

local blocked = {
	{ "io.popen", function() return own_popen("/bin/true") end },
	{ "aspawn.popen", function() return aspawn.popen("/bin/true") end },
	{ "aspawn.popen of a table", function() return aspawn.popen { "/bin/true" } end },
	{ "aspawn.spawn, a pipe", function() return aspawn.spawn { "/bin/true", stdout = "pipe" } end },
}
local busy = {}
for i = 1, tonumber(aspawn.run({ "nproc" }).out) do
	busy[i] = aspawn.spawn { "sh", "-c", "while :; do :; done", dies_with_caller = true }
end
for start = 1, starts do
	for _, way in ipairs(blocked) do
		local begin = aspawn.clock()
		local started = way[2]()
		way[start + 2] = (aspawn.clock() - begin) * 1e6
		if started.wait then started:wait() end
		(started.stdout or started):close()
	end
end
for _, child in ipairs(busy) do
	child:kill("KILL")
	child:wait()
end

print("\n| blocked, us, every processor busy | median | 95th percentile |\n| --- | ---: | ---: |")
for _, way in ipairs(blocked) do row(way, 0.5, 0.95) end
