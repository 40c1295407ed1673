#!/bin/sh
# SPDX-License-Identifier: MIT
# PHP, by its own tests that start programs.
. "$(dirname "$0")/compare.sh"
needs php
source_of php8.2

# One of them copies a file of 4 GiB.
results()
{
	cp -r "$source/run-tests.php" "$source/tests" .
	mkdir -p ext Zend
	cp -r "$source/ext/standard" ext
	cp -r "$source/Zend/tests" Zend
	grep -rlE '[^_a-z>](popen|proc_open|exec|shell_exec|passthru|system|mail)\(' --include='*.phpt' \
		ext/standard tests Zend | grep -v /bug81145 | sort >names
	xargs env TEST_PHP_EXECUTABLE="$(command -v php)" ${preloading:+LD_PRELOAD="$preloading"} \
		php run-tests.php -q -n -j4 --no-color --no-progress <names 2>&1 |
		sed -n 's/^\([A-Z]*\) .* \[\([^][]*\.phpt\)\].*/\2\t\1/p'
}

binds "pclose popen" php --version
same "PHP $(php -r 'echo PHP_VERSION;')" 90
finish
