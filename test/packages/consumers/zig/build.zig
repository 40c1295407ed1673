// SPDX-License-Identifier: MIT
const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const aspawn = b.dependency("aspawn", .{ .target = target, .optimize = optimize });

    const run = b.createModule(.{ .target = target, .optimize = optimize, .link_libc = true });
    run.addCSourceFile(.{ .file = b.path("run.c") });
    run.linkLibrary(aspawn.artifact("aspawn"));
    b.installArtifact(b.addExecutable(.{ .name = "run", .root_module = run }));

    const both = b.createModule(.{ .target = target, .optimize = optimize, .link_libc = true });
    both.addCSourceFile(.{ .file = b.path("both.c") });
    both.linkLibrary(aspawn.artifact("aspawn"));
    both.linkLibrary(aspawn.artifact("psys"));
    b.installArtifact(b.addExecutable(.{ .name = "both", .root_module = both }));

    const drop_in = b.createModule(.{ .target = target, .optimize = optimize, .link_libc = true });
    drop_in.addCSourceFile(.{ .file = b.path("drop_in.c") });
    drop_in.linkLibrary(aspawn.artifact("aspawn-compat"));
    b.installArtifact(b.addExecutable(.{ .name = "drop-in", .root_module = drop_in }));
}
