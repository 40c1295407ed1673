#!/bin/sh
# SPDX-License-Identifier: MIT
# A release as CONTRIBUTING.md says it is made, on a bare Debian 12 with the packages that it names,
# from clones of HEAD with a key of the test's own: by root, and by a user on a machine of another
# name, in another directory, time zone and umask. All files have the same bytes but the signature,
# which has its time.
. "$(dirname "$0")/../../checks/tap.sh"
directory=$(dirname "$0")
system=$(mktemp -d)/bookworm
trap 'rm -rf "${system%/*}"' EXIT
signer="release-test@localhost"
log=${system%/*}/log
unset MAKEFLAGS MAKELEVEL

skip_all()
{
	echo "1..0 # SKIP $*"
	exit
}

# shown if it fails
logged()
{
	"$@" >"$log" 2>&1 </dev/null || {
		tail -n 25 "$log"
		return 1
	}
}

installs()
{
	command=$(sed -n '/^## Release/,/^## Style/s/^apt-get install /&/p' CONTRIBUTING.md)
	[ -n "$command" ] && "$directory/bootstrap" "$system" &&
		logged "$directory/run" "$system" sh -ec "apt-get update -qq && $command && useradd --uid 1000 --create-home user"
}

# What a maintainer fills in, except the tag: another version has other sonames.
clones()
{
	git -c safe.directory='*' clone -q --no-local . "$system/root/aspawn" && logged "$directory/run" "$system" sh -ec "
		gpg --batch -q --passphrase '' --quick-generate-key $signer ed25519 sign 1d
		fingerprint=\$(gpg --with-colons --list-keys $signer | awk -F: '\$1 == \"fpr\" { print \$10 }')
		cd /root/aspawn
		sed -i -e 's|^ADDRESS=.*|ADDRESS=https://aspawn.invalid|' -e 's/^DATE=.*/DATE=2001-02-03/' \\
			-e 's/^CONTACT=.*/CONTACT=$signer/' -e \"s/^KEY=.*/KEY=\$fingerprint/\" RELEASE
		tools/derive.py
		GIT_COMMITTER_DATE=2001-02-03T04:05:06Z git -c user.name=test -c user.email=$signer commit -qam filled
		mkdir '/home/user/another place'
		git clone -q /root/aspawn '/home/user/another place/clone'
		gpgconf --kill all
		cp -R /root/.gnupg /home/user
		chown -R user:user /home/user"
}

made_by_root()
{
	logged "$directory/run" "$system" sh -ec "cd /root/aspawn && umask 022 && make release KEY=$signer" &&
		cp -R "$system/root/aspawn/build/release" "${system%/*}/one"
}

made_by_a_user()
{
	logged unshare --uts sh -c 'hostname another.invalid && exec "$@"' sh "$directory/run" user "$system" sh -ec \
		"cd '/home/user/another place/clone' && umask 077 && TZ=Pacific/Apia LANG=C.UTF-8 make release KEY=$signer" &&
		cp -R "$system/home/user/another place/clone/build/release" "${system%/*}/other"
}

same()
{
	diff -r -x SHA256SUMS.asc "${system%/*}/one" "${system%/*}/other" && ls -l "${system%/*}/one" &&
		test "$(find "${system%/*}/one" -type f | wc -l)" -ge 6
}

verified()
{
	for release in '/root/aspawn' '/home/user/another place/clone'; do
		logged "$directory/run" "$system" sh -ec "cd '$release/build/release' && gpg --export >/root/key.gpg
			gpgv --keyring /root/key.gpg SHA256SUMS.asc SHA256SUMS && sha256sum -c SHA256SUMS" || return
	done
}

[ "$(id -u)" = 0 ] || skip_all "must be run as root"
command -v debootstrap >/dev/null || skip_all "debootstrap is missing"
[ -e .git ] || skip_all "no git checkout"
unshare --mount --pid --uts --fork true 2>/dev/null || skip_all "namespaces are refused"
check "a bare system, with what CONTRIBUTING.md says" installs
check "a key, and two clones with nothing left to fill in" clones
check "root makes it" made_by_root
check "a user makes it on a machine of another name" made_by_a_user
check "they are the same to the byte" same
check "signature and sums are right, as SECURITY.md says" verified
finish
