-- SPDX-License-Identifier: MIT
-- Two tables: what a command costs in processor time, of this process and its children, in turns of
-- which the median is shown; and how long a start blocks this process, in turns,
-- with every processor busy.
local aspawn = require "aspawn"
local own_popen, own_execute = io.popen, os.execute
local rounds, count, starts = 9, 100, 400

local function processor()
	local file = io.open("/proc/self/stat")
	local text = file:read("*a"):gsub("^.*%)", "")
	file:close()
	local fields = {}
	for field in text:gmatch("%S+") do fields[#fields + 1] = field end
	return (fields[12] + fields[13] + fields[14] + fields[15]) * 10 -- ticks of 10 ms
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

local results = {}
for round = 1, rounds do
	for i, way in ipairs(ways) do
		local begin = processor()
		for _ = 1, count do way[2]() end
		results[i] = results[i] or {}
		results[i][round] = (processor() - begin) * 1000 / count
	end
end

print("| " .. (jit and jit.version or _VERSION) .. " | processor, us |")
print("| --- | ---: |")
for i, way in ipairs(ways) do
	table.sort(results[i])
	print(("| %s | %.0f |"):format(way[1], results[i][(rounds + 1) / 2]))
end

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

print("\n| blocked, us, every processor busy | median | 95th percentile |")
print("| --- | ---: | ---: |")
for _, way in ipairs(blocked) do
	local name = table.remove(way, 1)
	table.remove(way, 1)
	table.sort(way)
	print(("| %s | %.0f | %.0f |"):format(name, way[math.ceil(starts * 0.5)], way[math.ceil(starts * 0.95)]))
end
