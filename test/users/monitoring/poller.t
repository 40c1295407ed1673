#!/bin/sh
# SPDX-License-Identifier: MIT
# The poller with what it is for: the plugins of a monitoring system, and a command on many hosts.
# CHECKS=2000 for fewer checks.
. "$(dirname "$0")/../../checks/tap.sh"
poller=$(realpath "${BUILD_DIR:-build}")/examples/poller
work=$(mktemp -d)
sshd=
trap 'test -z "$sshd" || kill "$sshd"; rm -rf "$work"' EXIT
cd "$work" || exit 1

# Thousands, of which each must have the outcome and the output of its kind.
monitoring_plugins()
{
	cat >list <<-L
		$plugins/check_dummy 0 fine
		$plugins/check_dummy 1
		$plugins/check_dummy 2
		$plugins/check_dummy 3
		$plugins/check_procs -w 1:
		$plugins/check_users -w 1000 -c 2000
		$plugins/check_swap -w 0 -c 0 -n ok
		$plugins/check_file_age -w 999999999 -c 999999999 -f /etc/passwd
	L
	of_each=$((${CHECKS:-10000} / 8))
	timeout -s KILL 300 "$poller" --concurrency 32 --timeout 60 --json --repeat $of_each list >out
	test $? -eq 0 && python3 - $of_each <<-'P'
		import collections, json, sys
		rows = collections.Counter()
		for row in map(json.loads, open('out', encoding='utf-8')):
		    rows[row['line'], row['outcome'], row['output'].split(' ')[0].split(':')[0]] += 1
		assert set(rows.values()) == {int(sys.argv[1])} and len(rows) == 8, rows
		assert [key[1] for key in sorted(rows)][:4] == ['ok', 'warning', 'critical', 'unknown'], rows
	P
}

# By ssh, as root or anybody: a server of its own, with keys of its own, on the loopback. Its
# users have an empty home, for what a shell reads at home (bash does below sshd) may wait.
start_sshd()
{
	mkdir -p home ssh && chmod 700 ssh && ssh-keygen -q -t ed25519 -N '' -f ssh/host && ssh-keygen -q -t ed25519 -N '' -f ssh/key || return 1
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	seq -f '127.0.0.%g' 1 12 >hosts
	{
		printf '%s\n' "Port $port" "HostKey $work/ssh/host" "AuthorizedKeysFile $work/ssh/key.pub" \
			"StrictModes no" "UsePAM no" "PidFile none" "MaxStartups 100" "SetEnv HOME=$work/home" "PermitUserRC no"
		sed 's/^/ListenAddress /' hosts
	} >ssh/config
	test "$(id -u)" -ne 0 || mkdir -p /run/sshd
	/usr/sbin/sshd -D -e -f "$work/ssh/config" >ssh/log 2>&1 &
	sshd=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		ssh-keyscan -p "$port" 127.0.0.12 2>/dev/null | grep -q . && break
		sleep 0.5
	done
}

over_ssh()
{
	echo 127.0.0.13 >>hosts # where nobody listens
	timeout -s KILL 120 "$poller" --output --concurrency 5 --timeout 60 --each hosts ssh -p "$port" -i ssh/key -o BatchMode=yes \
		-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
		{} 'echo "this is ${SSH_CONNECTION#* * }"; echo "it has $(nproc) processors" >&2' >out
	cat out
	sed 's/^/sshd: /' ssh/log | tail -n 5
	for i in $(seq 12); do echo "127.0.0.$i| this is 127.0.0.$i $port"; done | sort >expected
	grep 'this is' out | sort | diff expected - && test "$(grep -c 'it has .* processors' out)" -eq 12 &&
		grep -x " *12 ok" out && grep -x " *1 exited" out && grep '^127.0.0.13: exited 255, line 13' out
}

plugins=/usr/lib/nagios/plugins
if test -x $plugins/check_dummy; then
	check "the plugins of a monitoring system" monitoring_plugins
else
	skip "the plugins of a monitoring system" "no monitoring-plugins-basic"
fi
if test -x /usr/sbin/sshd && command -v ssh-keygen >/dev/null; then
	start_sshd
	check "a command on many hosts, by ssh" over_ssh
else
	skip "a command on many hosts, by ssh" "no openssh-server and openssh-client"
fi
finish
