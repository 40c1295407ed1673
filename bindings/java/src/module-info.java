// SPDX-License-Identifier: MIT
/** Starts programs without suspending the caller, on Linux; elsewhere by ProcessBuilder. */
module aspawn {
    exports aspawn;
}
