// SPDX-License-Identifier: MIT
// The libraries, for projects that are built by Zig: artifacts "aspawn", "psys" and "aspawn-compat"; and
// the command, artifact "aspawn-cli".
// Developers use the Makefile.
const std = @import("std");

const psys_sources = [_][]const u8{ "syscall/errno.c", "syscall/exec.c", "syscall/kernel_file.c", "syscall/string.c", "syscall/vdso.c" };
const sources = psys_sources ++ [_][]const u8{
    "aspawn/action/action_info.c",   "aspawn/action/make_action.c",
    "aspawn/action/syscall_class.c", "aspawn/caller/arena.c",
    "aspawn/caller/decide.c",        "aspawn/caller/environment.c",
    "aspawn/caller/find.c",          "aspawn/caller/handle.c",
    "aspawn/caller/kill.c",          "aspawn/caller/pool.c",
    "aspawn/caller/run.c",           "aspawn/caller/start.c",
    "aspawn/caller/terminal.c",      "aspawn/caller/text.c",
    "aspawn/caller/version.c",       "aspawn/caller/wait.c",
    "aspawn/child/close_range.c",    "aspawn/child/execute.c",
    "aspawn/child/image.c",          "aspawn/child/image_check.c",
    "aspawn/child/perform.c",        "aspawn/helper/cgroup.c",
    "aspawn/helper/helper.c",        "aspawn/helper/helper_main.c",
    "aspawn/helper/pidfd_channel.c", "aspawn/helper/tree.c",
    "aspawn/helper/ways.c",          "aspawn/queue/descriptors.c",
    "aspawn/queue/job.c",            "aspawn/queue/queue.c",
    "aspawn/queue/results.c",        "aspawn/queue/server.c",
    "aspawn/queue/submit.c",         "aspawn/spawn/aspawn.c",
    "aspawn/spawn/child_main.c",     "aspawn/spawn/clone.c",
    "aspawn/spawn/deadline.c",       "aspawn/spawn/descriptor_table.c",
    "aspawn/spawn/exec_watch.c",     "aspawn/spawn/pidfd.c",
    "aspawn/spawn/stack.c",          "aspawn/spawn/suspending_clone.c",
};
const compat_sources = [_][]const u8{
    "compat/pool.c",                        "compat/popen.c",
    "compat/popen_noshell/popen_noshell.c", "compat/popen_noshell/vmfork.c",
    "compat/posix_spawn.c",                 "compat/shell.c",
    "compat/spawn.c",                       "compat/system.c",
};

const cli_sources = [_][]const u8{ "cli/cgroup.c", "cli/main.c", "cli/options.c", "cli/program.c", "cli/reaper.c", "cli/report.c", "cli/streams.c", "cli/supervise.c", "cli/terminal.c", "cli/text.c", "cli/users.c" };

/// A directory of syscall/arch, and its assembly beside clone.S.
const Arch = struct { name: []const u8, target_mk: []const u8, assembly: []const []const u8 };

fn arch(comptime name: []const u8, comptime assembly: []const []const u8) Arch {
    return .{ .name = name, .assembly = assembly, .target_mk = @embedFile("syscall/arch/" ++ name ++ "/target.mk") };
}

fn archOf(target: std.Target) Arch {
    if (target.os.tag != .linux) @panic("aspawn is for Linux only");
    return switch (target.cpu.arch) {
        .x86_64 => switch (target.abi) {
            .gnux32, .muslx32 => arch("x32", &.{"sigreturn"}),
            else => arch("x86_64", &.{"sigreturn"}),
        },
        .x86 => arch("i386", &.{}),
        .aarch64, .aarch64_be => arch("aarch64", &.{}),
        .arm, .armeb, .thumb, .thumbeb => arch("arm", &.{"atomic"}),
        .riscv64 => arch("riscv64", &.{}),
        .riscv32 => arch("riscv32", &.{}),
        .loongarch64 => arch("loongarch64", &.{}),
        .powerpc64, .powerpc64le => arch("powerpc64", &.{}),
        .powerpc => arch("powerpc", &.{}),
        .s390x => arch("s390x", &.{}),
        .mips, .mipsel => arch("mips", &.{}),
        .mips64, .mips64el => switch (target.abi) {
            .gnuabin32, .muslabin32 => arch("mipsn32", &.{}),
            else => arch("mips64", &.{}),
        },
        .sparc64 => arch("sparc64", &.{"sigreturn"}),
        else => @panic("aspawn: the architecture is not known"),
    };
}

/// The program that aspawn/child/image.h describes.
fn imageOf(b: *std.Build, own: Arch, target: std.Build.ResolvedTarget, flags: []const []const u8) *std.Build.Step.Compile {
    const program = b.createModule(.{
        .target = target,
        .optimize = .ReleaseSmall,
        .pic = false,
        .strip = true,
        .unwind_tables = .none,
        .stack_protector = false,
    });
    program.addIncludePath(b.path("include"));
    program.addCSourceFile(.{ .file = b.path("aspawn/child/image/program.c"), .flags = flags });
    program.addAssemblyFile(b.path(b.fmt("syscall/arch/{s}/start.S", .{own.name})));
    for (own.assembly) |name|
        program.addAssemblyFile(b.path(b.fmt("syscall/arch/{s}/{s}.S", .{ own.name, name })));
    const image = b.addExecutable(.{ .name = "aspawn-image", .root_module = program, .linkage = .static });
    image.setLinkerScript(b.path("aspawn/child/image/image.ld"));
    image.link_gc_sections = true;
    image.build_id = .none;
    image.link_eh_frame_hdr = false;
    image.bundle_compiler_rt = false;
    return image;
}

/// A library without its files in C.
fn coreOf(b: *std.Build, own: Arch, target: std.Build.ResolvedTarget, optimize: std.builtin.OptimizeMode) *std.Build.Module {
    const core = b.createModule(.{ .target = target, .optimize = optimize, .pic = true, .stack_protector = false });
    core.addIncludePath(b.path("include"));
    core.addAssemblyFile(b.path(b.fmt("syscall/arch/{s}/clone.S", .{own.name})));
    for (own.assembly) |name|
        core.addAssemblyFile(b.path(b.fmt("syscall/arch/{s}/{s}.S", .{ own.name, name })));
    return core;
}

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const own = archOf(target.result);

    var flags: std.ArrayListUnmanaged([]const u8) = .empty;
    // Zig has checks of undefined behaviour by itself in debug builds; they call a runtime.
    flags.appendSlice(b.allocator, &.{ "-std=c11", "-ffunction-sections", "-fno-sanitize=undefined" }) catch @panic("OOM");
    // The architecture's flags: "x86_64.cflags := -fcf-protection=full"
    var lines = std.mem.tokenizeScalar(u8, own.target_mk, '\n');
    while (lines.next()) |line| {
        var words = std.mem.tokenizeScalar(u8, std.mem.sliceTo(line, '#'), ' ');
        if (!std.mem.eql(u8, words.next() orelse continue, b.fmt("{s}.cflags", .{own.name}))) continue;
        _ = words.next();
        while (words.next()) |flag| flags.append(b.allocator, flag) catch @panic("OOM");
    }
    const compat_flags = b.allocator.dupe([]const u8, flags.items) catch @panic("OOM");
    var options = std.mem.tokenizeScalar(u8, @embedFile("aspawn/cflags"), '\n');
    while (options.next()) |option| {
        if (option[0] == '-') flags.append(b.allocator, option) catch @panic("OOM");
    }

    const core = coreOf(b, own, target, optimize);
    core.addCSourceFiles(.{ .files = &sources, .flags = flags.items });
    core.addCMacro("ASPAWN_IMAGE", "\"aspawn-image\""); // .incbin looks for it where headers are
    core.addIncludePath(imageOf(b, own, target, flags.items).getEmittedBinDirectory());
    const aspawn = b.addLibrary(.{ .name = "aspawn", .root_module = core });
    aspawn.installHeadersDirectory(b.path("include"), "", .{});
    b.installArtifact(aspawn);

    // What libaspawn, which needs no libpsys, has of it too, and a function for each system call.
    const calls = coreOf(b, own, target, optimize);
    calls.addCSourceFiles(.{ .files = &psys_sources, .flags = flags.items });
    calls.addCSourceFile(.{ .file = b.path("syscall/symbols.c"), .flags = flags.items });
    const psys = b.addLibrary(.{ .name = "psys", .root_module = calls });
    psys.installHeadersDirectory(b.path("include"), "", .{});
    b.installArtifact(psys);

    const drop_ins = b.createModule(.{ .target = target, .optimize = optimize, .pic = true, .link_libc = true });
    drop_ins.addIncludePath(b.path("include"));
    drop_ins.addIncludePath(b.path("compat/popen_noshell/include"));
    drop_ins.addCSourceFiles(.{ .files = &compat_sources, .flags = compat_flags });
    drop_ins.linkLibrary(aspawn);
    const compat = b.addLibrary(.{ .name = "aspawn-compat", .root_module = drop_ins });
    compat.installHeadersDirectory(b.path("compat/popen_noshell/include"), "", .{});
    b.installArtifact(compat);

    // The command needs no other file.
    const command = b.createModule(.{ .target = target, .optimize = optimize, .pic = false, .stack_protector = false, .strip = true });
    command.addIncludePath(b.path("include"));
    command.addCSourceFiles(.{ .files = &cli_sources, .flags = flags.items });
    command.addAssemblyFile(b.path(b.fmt("syscall/arch/{s}/start.S", .{own.name})));
    command.linkLibrary(aspawn);
    const cli = b.addExecutable(.{ .name = "aspawn-cli", .root_module = command, .linkage = .static });
    cli.entry = .{ .symbol_name = "_start" };
    cli.link_gc_sections = true;
    b.getInstallStep().dependOn(&b.addInstallArtifact(cli, .{ .dest_sub_path = "aspawn" }).step);
}
