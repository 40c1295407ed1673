// SPDX-License-Identifier: MIT

//go:build linux && (amd64 || arm64)

// Package first reads the soft limit of descriptors that the process was started with. It imports
// nothing, and its path is before "syscall", so from Go 1.21 on it is initialized before the
// package syscall raises the limit.
package first

// Soft and Hard are the limits; 0: not known.
var Soft, Hard = limits()

// getrlimit stores the limits of descriptors and returns 0.
func getrlimit(to *[2]uint64) int64

func limits() (uint64, uint64) {
	var of [2]uint64
	getrlimit(&of)
	return of[0], of[1]
}
