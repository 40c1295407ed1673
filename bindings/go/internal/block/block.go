// SPDX-License-Identifier: MIT

//go:build linux && (amd64 || arm64)

// Package block has the C library as code in the program's text, and calls it without cgo.
//
// No call of C is a system call for Go's scheduler: a goroutine that is in one cannot be preempted,
// and a collection of garbage waits for it. So Call is for what never waits. What may wait is for
// CallWaiting.
package block

import (
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// An Entry is the address of a function in the block.
type Entry uintptr

// What block.c gets. Pointers are to memory that does not move: the arguments, and what they point
// to, are never on a goroutine's stack. C keeps none of the pointers.
type arguments struct {
	pointer [8]unsafe.Pointer
	number  [4]int64
}

func newArguments(number int64, pointers []unsafe.Pointer) *arguments {
	of := &arguments{number: [4]int64{number}}
	copy(of.pointer[:], pointers)
	return of
}

// The block. Not to be called.
func code()

// Not noescape: what the arguments point to must be on the heap.
func call(entry Entry, of *arguments) int64

// Call calls an entry that does not wait.
func Call(entry Entry, number int64, pointers ...unsafe.Pointer) int64 {
	of := newArguments(number, pointers)
	r := call(entry, of)
	runtime.KeepAlive(of)
	return r
}

// At the top of a thread's stack, as block.c has it.
type thread struct {
	entry, of uintptr
	result    int64
	runs      int32
}

const stackSize, futexWait = 128 << 10, 0

// CallWaiting calls an entry that may wait, on a thread that lasts as long as the call, and waits
// in Go. The thread has the credentials, directory and descriptors of the calling one. Where no
// thread can be made, as after unshare(CLONE_NEWPID), this is Call.
func CallWaiting(entry Entry, number int64, pointers ...unsafe.Pointer) int64 {
	stack := Memory(stackSize)
	if stack == nil {
		return Call(entry, number, pointers...)
	}
	defer syscall.Munmap(stack)
	syscall.Mprotect(stack[:os.Getpagesize()], syscall.PROT_NONE)
	top := (*thread)(unsafe.Pointer(&stack[stackSize-64]))
	of := newArguments(number, pointers)
	if Call(Thread, int64(entry), unsafe.Pointer(top), unsafe.Pointer(of)) < 0 {
		return Call(entry, number, pointers...)
	}
	for atomic.LoadInt32(&top.runs) != 0 {
		syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&top.runs)), futexWait, 1, 0, 0, 0)
	}
	runtime.KeepAlive(of)
	return top.result
}

// Memory returns so many bytes for C, which are not Go's; nil: there are none.
func Memory(size int) []byte {
	memory, _ := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	return memory
}
