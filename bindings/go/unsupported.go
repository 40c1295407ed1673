// SPDX-License-Identifier: MIT

//go:build !linux || !cgo

package aspawn

const _ int = "the package aspawn needs Linux, cgo (CGO_ENABLED=1) and a C compiler"
