// SPDX-License-Identifier: MIT

//go:build go1.20

package aspawn

import "os/exec"

// ErrWaitDelay is that of os/exec.
var ErrWaitDelay = exec.ErrWaitDelay
