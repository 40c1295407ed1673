// SPDX-License-Identifier: MIT

// Package action has what a child does before it executes the program:
//
//	cmd.Actions = []action.Action{
//		action.Chdir("/srv"),
//		action.Rlimit(action.RLIMIT_CPU, 10, 11),
//		action.Closefrom(3),
//	}
//
// Actions are performed in their order, in the child, by C: no Go runs there. The first one that
// fails ends the child, and the error names it. They come after what the other fields of Cmd ask
// for. A function with [copy] in its text needs memory of its own: the child executes a small
// program of the library first, or, where that is not possible, begins in a copy of the memory,
// as by fork(2).
package action

import (
	"unsafe"

	"aspawn.example/bindings/go/internal"
)

// An Action is made by one of the functions of this package.
type Action struct {
	kind     int64
	operands []any
}

func init() {
	internal.Read = func(of any) (int64, []any) { return of.(Action).kind, of.(Action).operands }
}

// A Descriptor is an *os.File, or a number that the program has then: FD. A file's number is that
// of this process, unless ExtraFiles or an earlier action has replaced it in the program.
type Descriptor interface{ Fd() uintptr }

// An FD is a number of a descriptor of the program: a standard stream, one of ExtraFiles, or what
// an earlier action has made.
type FD int

// AtCwd is the current directory, in place of a descriptor.
const AtCwd FD = -100

// Fd returns the number.
func (fd FD) Fd() uintptr { return uintptr(fd) }

// A Resource is one of the RLIMIT constants.
type Resource int

func of(kind int64, operands ...any) Action { return Action{kind, operands} }

// A string that is NULL in C if it is empty.
func optional(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// A set of numbers from first on as C has it, for signals at least what the kernel reads. A number
// that nothing has makes it NULL, which is invalid.
func bitSet[T ~int](first T, numbers []T) []byte {
	set := make([]byte, 16)
	for _, number := range numbers {
		bit := number - first
		if bit < 0 || bit >= 1<<16 {
			return nil
		}
		for int(bit/8) >= len(set) {
			set = append(set, make([]byte, 8)...)
		}
		set[bit/8] |= 1 << (bit % 8)
	}
	return set
}

// A copy of the bytes.
func raw[T any](of []T) []byte {
	if len(of) == 0 {
		return nil
	}
	size := len(of) * int(unsafe.Sizeof(of[0]))
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&of[0])), size)...)
}
