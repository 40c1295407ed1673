-- SPDX-License-Identifier: MIT
-- Checks io.popen, closing its files, and os.execute against the reference manual. Writes a
-- line for each check: its name, a tab, and its result.

local function test(name, f)
	local ok, message = pcall(f)
	print(("%s\t%s"):format(name, ok and "passed" or "failed " .. message:gsub("\n", " ")))
end

local function equal(a, b)
	if a ~= b then
		error(("%s, not %s"):format(tostring(a), tostring(b)), 2)
	end
end

local function returns(expected, ...)
	local got = table.pack(...)
	for i = 1, 3 do
		equal(got[i], expected[i])
	end
end

test("execute-without-a-command-tells-of-a-shell", function() equal(os.execute(), true) end)
test("execute-succeeds", function() returns({ true, "exit", 0 }, os.execute("/bin/true")) end)
test("execute-succeeds-in-a-shell", function() returns({ true, "exit", 0 }, os.execute("exit 0")) end)
test("execute-fails", function() returns({ nil, "exit", 1 }, os.execute("/bin/false")) end)
test("execute-returns-the-status", function() returns({ nil, "exit", 7 }, os.execute("exit 7")) end)
test("execute-returns-the-signal", function() returns({ nil, "signal", 15 }, os.execute("kill -TERM $$")) end)
test("execute-of-nothing", function() returns({ nil, "exit", 127 }, os.execute("no-such-program 2>/dev/null")) end)
test("execute-of-a-missing-file", function() returns({ nil, "exit", 127 }, os.execute("exec 2>/dev/null; /no/such/file")) end)
test("execute-of-an-empty-command", function() returns({ true, "exit", 0 }, os.execute("")) end)
test("execute-in-a-pipeline", function() returns({ nil, "exit", 1 }, os.execute("echo a | grep -q b")) end)

test("popen-reads-all", function()
	local file = io.popen("printf 'a\\nb\\n'", "r")
	equal(file:read("a"), "a\nb\n")
	returns({ true, "exit", 0 }, file:close())
end)
test("popen-reads-by-default", function()
	local file = io.popen("/bin/echo some words")
	equal(file:read("l"), "some words")
	equal(file:read("l"), nil)
	returns({ true, "exit", 0 }, file:close())
end)
test("popen-reads-lines", function()
	local count = 0
	for line in io.popen("seq 1 1000"):lines() do
		count = count + 1
		equal(line, tostring(count))
	end
	equal(count, 1000)
end)
test("popen-reads-numbers", function()
	local file = io.popen("/bin/echo 12 0x10")
	equal(file:read("n"), 12)
	equal(file:read("n"), 16)
	file:close()
end)
test("popen-writes", function()
	local name = os.tmpname()
	local file = io.popen("cat >" .. name, "w")
	equal(io.type(file), "file")
	file:write("some", " ", "words")
	returns({ true, "exit", 0 }, file:close())
	equal(io.type(file), "closed file")
	file = assert(io.open(name))
	equal(file:read("a"), "some words")
	file:close()
	os.remove(name)
end)
test("popen-writes-much", function()
	local file = io.popen("test $(wc -c) = 1000000", "w")
	file:write(("x"):rep(1000000))
	returns({ true, "exit", 0 }, file:close())
end)
test("close-returns-the-status", function() returns({ nil, "exit", 3 }, io.popen("exit 3"):close()) end)
test("close-returns-the-signal", function() returns({ nil, "signal", 9 }, io.popen("kill -KILL $$"):close()) end)
test("close-of-a-missing-program", function()
	returns({ nil, "exit", 127 }, io.popen("no-such-program 2>/dev/null"):close())
end)
test("popen-of-another-mode", function() equal(pcall(io.popen, "/bin/true", "a"), false) end)
test("several-are-open", function()
	local files = {}
	for i = 1, 20 do
		files[i] = io.popen("cat >/dev/null; exit " .. i, "w")
	end
	for i = 1, 20 do
		returns({ nil, "exit", i }, files[i]:close())
	end
end)
test("the-collector-closes", function()
	for i = 1, 50 do
		io.popen("/bin/echo words")
	end
	collectgarbage()
	returns({ true, "exit", 0 }, os.execute("/bin/true"))
end)
