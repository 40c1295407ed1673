// SPDX-License-Identifier: MIT

//go:build linux && (amd64 || arm64) && go1.20

package aspawn

import "os/exec"

// ErrWaitDelay is that of os/exec.
var ErrWaitDelay = exec.ErrWaitDelay
