-- SPDX-License-Identifier: MIT
-- lua fuzz.lua SEED PROGRAMS: programs of grammar.lua. Each may fail; none may end the interpreter.
-- Before each it prints the seed of that program; lua fuzz.lua SEED 1 show prints its
-- text and runs it alone.
local first, programs, show = tonumber(arg[1]), tonumber(arg[2]), arg[3]
local aspawn_again, io_open, io_popen, execute = require "aspawn", io.open, io.popen, os.execute
local load, is_jit = loadstring or load, jit
-- compiled code crashes when a finalizer raises an error, also without this module
if jit then jit.off() end

-- The metatables of strings and files are the programs' too.
local shared = {}
for _, class in ipairs { getmetatable(""), getmetatable(io.stdout) } do
	shared[class] = {}
	for key, value in pairs(class) do shared[class][key] = value end
end

local function restore()
	for class, entries in pairs(shared) do
		pcall(setmetatable, class, nil)
		for key in next, class do rawset(class, key, nil) end
		for key, value in next, entries do rawset(class, key, value) end
	end
	io.open, io.popen, os.execute, jit = io_open, io_popen, execute, is_jit
	package.loaded.aspawn = aspawn_again
	for _ = 1, 3 do pcall(collectgarbage) end
end

local state
local function random(n)
	state = state * 16807 % 2147483647
	return state % n + 1
end
local program = assert(loadfile((arg[0]:gsub("fuzz%.lua$", "grammar.lua"))))(random, aspawn_again.actions)

local ended = 0

io.stdout:setvbuf("no")
local function run(seed)
	state = seed % 2147483646 + 1
	for _ = 1, 10 do random(2) end
	local text = program()
	io.stdout:write("# seed ", seed, "\n")
	if show then io.stdout:write(text, "\n") end
	assert(load(text))()
	ended = ended + 1
end

for seed = first, first + programs - 1 do
	pcall(run, seed) -- a finalizer's error may come anywhere
	restore()
end
print("# to their end: " .. ended)
print("1.." .. (ended * 2 > programs and programs or 0))
