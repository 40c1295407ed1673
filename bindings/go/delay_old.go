// SPDX-License-Identifier: MIT

//go:build !go1.20

package aspawn

import "errors"

// ErrWaitDelay is an error of Wait: the program has ended, but not, within WaitDelay, its outputs.
var ErrWaitDelay = errors.New("exec: WaitDelay expired before I/O complete")
