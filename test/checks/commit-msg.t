#!/bin/sh
# SPDX-License-Identifier: MIT
# The hook tools/hooks/commit-msg takes messages of the form that CONTRIBUTING.md describes, its
# examples among them, and refuses others with a reason.
. "$(dirname "$0")/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

hook()
{
	# shellcheck disable=SC2059
	printf "$1\n" >"$work/message"
	tools/hooks/commit-msg "$work/message" 2>"$work/reason"
}

# takes MESSAGE: a format of printf(1)
takes()
{
	hook "$1" || {
		cat "$work/reason"
		return 1
	}
}

# refuses MESSAGE REASON: with one line that contains REASON
refuses()
{
	if hook "$1"; then
		echo "no refusal of: $1"
		return 1
	fi
	grep -F -- "$2" "$work/reason" && test "$(wc -l <"$work/reason")" = 1
}

takes_the_examples_of_the_document()
{
	awk -v to="$work/example" '/^```text$/ { number++; next } /^```/ { next } /^## / { commits = $2 == "Commits" }
		commits && number { print >(to number) }' CONTRIBUTING.md
	for number in 1 2 3; do
		tools/hooks/commit-msg "$work/example$number" || return 1
	done
}

wide=$(printf '%0101d' 0 | tr 0 x)
check "takes a subject" takes 'wait: keep the limit beside a tracer'
check "takes a subject with a body" takes 'queue: wake all waiters\n\nOnly one of them woke.\n'
check "takes several areas" takes 'bindings/python, node: name the signal'
check "takes verbs that end like others" takes 'core: pass the mask'
check "takes a subject of 72 characters" takes "area: $(printf '%066d' 0 | tr 0 x)"
check "takes a long address in the body" takes "docs: link the report\n\nhttps://$wide\n"
check "ignores comments and the diff" \
	takes "core: pass it\n\nA reason.\n# $wide\n# ------------------------ >8 ------------------------\n+$wide\n"
check "takes the examples of CONTRIBUTING.md" takes_the_examples_of_the_document
check "refuses a subject without an area" refuses 'Keep the limit' 'area: what the commit does'
check "refuses a full stop" refuses 'wait: keep the limit.' 'without a full stop'
check "refuses a fixup" refuses 'fixup! wait: keep the limit' 'area: what the commit does'
check "refuses an empty message" refuses '# a comment' 'area: what the commit does'
check "refuses a subject of 73 characters" refuses "area: $(printf '%067d' 0 | tr 0 x)" '73 characters'
check "refuses two changes" refuses 'wait: keep the limit and the signal' 'second commit'
check "refuses the third person" refuses 'wait: keeps the limit' '"keeps" is not an imperative'
check "refuses the past" refuses 'wait: added a limit' '"added" is not an imperative'
check "refuses a participle" refuses 'wait: adding a limit' '"adding" is not an imperative'
check "refuses a second line" refuses 'wait: keep the limit\nof time' 'second line'
check "refuses a line of 101 characters" refuses "wait: keep the limit\n\nA reason.\n$wide" 'line 4 has'
finish
