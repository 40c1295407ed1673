// SPDX-License-Identifier: MIT

//go:build !linux || !(amd64 || arm64)

package aspawn

const _ int = "the package aspawn needs Linux on amd64 or arm64"
