#!/bin/sh
# SPDX-License-Identifier: MIT
# The files that `make release` makes, from clones of HEAD, with a key of the test's own: that they
# are the same wherever they are made, that an altered byte is seen, and what is refused.
. "$(dirname "$0")/../checks/tap.sh"
validator=${ASPAWN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aspawn}/spdx
work=$(mktemp -d)
export GNUPGHOME="$work/gnupg"
trap 'gpgconf --kill all; rm -rf "$work"' EXIT
signer=release-test@localhost
one=$work/one
other="$work/in another/place"
released=$one/build/release

# make_in DIRECTORY WORD...: of the caller's make nothing is inherited.
make_in()
{
	directory=$1
	shift
	env -u MAKEFLAGS -u MAKELEVEL -u BUILD_DIR -u CC -u CFLAGS -u SOURCE_DATE_EPOCH make -s -C "$directory" "$@"
}

# refused TEXT DIRECTORY WORD...: by make, with the text, and without a file
refused()
{
	text=$1
	shift
	! make_in "$@" >"$work/log" 2>&1 && cat "$work/log" && grep -qF "refused: $text" "$work/log" &&
		[ ! -e "$1/build/release" ]
}

commits()
{
	GIT_COMMITTER_DATE=2001-02-03T04:05:06Z git -C "$one" -c user.name=test -c user.email=test@localhost commit -qam "$1"
}

prepares()
{
	mkdir -m 700 "$GNUPGHOME" && gpg --batch -q --passphrase '' --quick-generate-key "$signer" ed25519 sign 1d &&
		gpg --batch --export "$signer" >"$work/keyring.gpg" && git clone -q . "$one"
}

fingerprint()
{
	gpg --with-colons --list-keys "$signer" | sed -n 's/^fpr:*\([0-9A-F]*\):.*/\1/p'
}

altered_tree_is_refused()
{
	echo >>"$one/README.md" && refused "files are not as they are in the commit" "$one" release KEY="$signer" &&
		git -C "$one" checkout -q README.md && echo >"$one/new" &&
		refused "files are not as they are in the commit" "$one" release KEY="$signer" && rm "$one/new"
}

# set_values NAME=VALUE...: in RELEASE, and what repeats them, as a commit
set_values()
{
	for value; do sed -i "s|^${value%%=*}=.*|$value|" "$one/RELEASE" || return; done
	"$one/tools/derive.py" && commits "$*"
}

# fill NAME=VALUE: the placeholder without which a final version is refused
fill()
{
	refused "9.8.7 would have a placeholder: ${1%%=*} in RELEASE" "$one" release KEY="$signer" && set_values "$1"
}

# A version that no file has.
final_version_is_refused_until_all_is_filled_in()
{
	set_values TAG=v9.8.7 ADDRESS=https://aspawn.example DATE=unreleased CONTACT=authors@aspawn.example KEY=unpublished &&
		refused "CHANGELOG.md has nothing of 9.8.7" "$one" release-files &&
		fill ADDRESS=https://aspawn.invalid && fill DATE=2001-02-02 && fill CONTACT="$signer" &&
		fill KEY=0000000000000000000000000000000000000000 &&
		refused "$signer is not the key that RELEASE names" "$one" release KEY="$signer" && set_values KEY="$(fingerprint)" &&
		refused "DATE in RELEASE is not the day of the commit: 2001-02-03" "$one" release KEY="$signer" &&
		set_values DATE=2001-02-03 &&
		refused "CHANGELOG.md has nothing of 9.8.7" "$one" release KEY="$signer" &&
		printf '## 9.8.7\n\nNew:\n' >>"$one/CHANGELOG.md" && commits CHANGELOG &&
		refused "not everything has the version" "$one" release KEY="$signer" &&
		git -C "$one" reset -q --hard "$(git rev-parse HEAD)"
}

# As CONTRIBUTING.md says; the other clone is that of somebody who compares.
is_filled_in()
{
	set_values ADDRESS=https://aspawn.invalid DATE=2001-02-03 CONTACT="$signer" KEY="$(fingerprint)" &&
		git clone -q "$one" "$other"
}

# It notes its options, of which one has the directory.
other_bytes_are_refused()
{
	printf '#!/bin/sh\nexec clang "$@" -frecord-command-line\n' >"$work/clang" && chmod +x "$work/clang" &&
		refused "libaspawn-preload.so is not the same when it is built again" "$one" release KEY="$signer" CC="$work/clang"
}

is_made()
{
	make_in "$one" release KEY="$signer" && ls "$released"
}

is_made_again_without_a_key()
{
	(umask 077 && TZ=Pacific/Apia GNUPGHOME=/nonexistent make_in "$other" release-files) &&
		diff -r -x SHA256SUMS.asc "$released" "$other/build/release"
}

verified()
{
	(cd "$1" && gpgv -q --keyring "$work/keyring.gpg" SHA256SUMS.asc SHA256SUMS && sha256sum -c --strict SHA256SUMS)
}

is_verified()
{
	verified "$released" &&
		test "$(wc -l <"$released/SHA256SUMS")" = "$(find "$released" -type f ! -name 'SHA256SUMS*' | wc -l)"
}

# Of each file in turn.
altered_byte_is_seen()
{
	for file in "$released"/*; do
		rm -rf "$work/altered"
		cp -R "$released" "$work/altered" || return
		printf x | dd of="$work/altered/${file##*/}" bs=1 seek=100 conv=notrunc status=none
		! verified "$work/altered" || { echo "not of $file" && return 1; }
	done
}

notes_are_the_versions()
{
	head -n 1 "$released/NOTES.md" | grep -Fx "# aspawn $(sed -n 's/^TAG=v//p' RELEASE) (2001-02-03)" &&
		test "$(wc -l <"$released/NOTES.md")" -gt 2 && ! grep '^## ' "$released/NOTES.md"
}

programs_use_what_was_built()
{
	mkdir "$work/built" && tar -xf "$released"/aspawn-*-linux-*.tar.gz --strip-components=1 -C "$work/built" || return
	cat >"$work/program.c" <<-'END'
		#include <aspawn/command.h>
		int main(void)
		{
			struct aspawn_io io = { sizeof io };
			return aspawn_run(ASPAWN_COMMAND("true"), &io) || io.status;
		}
	END
	for link in "-laspawn -Wl,-rpath,$work/built/usr/local/lib" -l:libaspawn.a; do
		# shellcheck disable=SC2086 # words
		clang -I"$work/built/usr/local/include" "$work/program.c" -L"$work/built/usr/local/lib" $link -o "$work/program" &&
			"$work/program" || return
	done
}

has_the_manual()
{
	tar -xOf "$released"/aspawn-*-site.tar.gz --wildcards '*-site/doc/aspawn_start.3.html' | grep -F '<h1>aspawn_start(3)</h1>'
}

sbom_is_valid()
{
	PYTHONPATH=$validator "$validator/bin/pyspdxtools" -i "$released"/*.spdx.json
}

sbom_has_the_sums()
{
	for file in "$released"/*.tar.gz; do
		grep "\"$(sha256sum <"$file" | cut -d' ' -f1)\"" "$released"/*.spdx.json || return
	done
}

archive_is_no_checkout()
{
	mkdir "$work/unpacked" && tar -xf "$released/aspawn-$(sed -n 's/^TAG=v//p' RELEASE).tar.gz" --strip-components=1 -C "$work/unpacked" &&
		refused "no git checkout" "$work/unpacked" release KEY="$signer"
}

for tool in clang cmark-gfm git gpg gpgv mandoc readelf; do
	command -v $tool >/dev/null || missing="no $tool"
done
[ -e .git ] || missing="no git checkout"
if [ -n "${missing-}" ]; then
	skip "a release" "$missing"
	finish
	exit
fi
check "a throwaway key, and a clone" prepares
check "refused without a key" refused "nobody signs it" "$one" release
check "refused with a key that gpg lacks" refused "gpg has no secret key" "$one" release KEY=nobody@localhost
check "refused where files are not those of the commit" altered_tree_is_refused
check "a final version is refused until RELEASE, CHANGELOG.md and the rest have it" final_version_is_refused_until_all_is_filled_in
check "RELEASE is filled in" is_filled_in
check "refused if the second build has other bytes" other_bytes_are_refused
check "it is made" is_made
check "it is made again in another place, without a key, the same to the byte" is_made_again_without_a_key
check "the signature and the sums are right, of all files" is_verified
check "an altered byte of any file is seen" altered_byte_is_seen
check "the notes are those of the version" notes_are_the_versions
check "a program uses the libraries" programs_use_what_was_built
check "it has the manual as a web site" has_the_manual
check "the SBOM has the sums of the archives" sbom_has_the_sums
if [ -x "$validator/bin/pyspdxtools" ]; then
	check "the SBOM is valid SPDX" sbom_is_valid
else
	skip "the SBOM is valid SPDX" "no spdx-tools"
fi
check "refused in an unpacked archive" archive_is_no_checkout
finish
