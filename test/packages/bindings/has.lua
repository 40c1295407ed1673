-- SPDX-License-Identifier: MIT
-- Reads names of doc/bindings.md's column (column.py), and prints those that the module has not: a
-- function, a method, a field, or an option. An option takes a value where it does not take
-- another, or is read: its name is in the module, the file that is the first argument.
local aspawn = require "aspawn"
local file = io.open(arg[1], "rb")
local bytes = file:read("*a")
file:close()

local queue = aspawn.queue()
queue:submit { "true" }
local named = { child = aspawn.spawn { "true" }, queue = queue, result = queue:wait(), actions = aspawn.actions }
local count, lacking = 0, 0

local function has(name)
	local option, value = name:match("{ ([%w_]+)[ =]*\"?(%w*)\"? }$")
	if option and value ~= "" then
		local function takes(value) return pcall(aspawn.run, { "true", [option] = value }) end
		return takes(value) and not takes("another")
	elseif option then
		return bytes:find(option .. "\0", 1, true)
	end
	local of, field = name:match("^(%w+)%.([%w_]+)$")
	if of then return named[of][field] ~= nil end
	return aspawn[name] ~= nil
end

for name in io.lines() do
	count = count + 1
	if not has(name) then
		print("it has not: " .. name)
		lacking = lacking + 1
	end
end
os.exit(lacking == 0 and count >= 50 and 0 or 1)
