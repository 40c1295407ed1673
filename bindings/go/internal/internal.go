// SPDX-License-Identifier: MIT

// Package internal is between the packages action and aspawn.
package internal

// Read returns the number and the operands of an action.Action, which nobody else can read or
// change: C trusts in their lengths.
var Read func(action any) (kind int64, operands []any)
