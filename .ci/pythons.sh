#!/bin/sh
# The suites that depend most on Python and SQLite, under the Pythons of newer Debians: sh .ci/pythons.sh
#
# For each Debian: a root file system by debootstrap (kept in the cache folder), the packages of configs/dev.lock in an
# environment of its own, and a copy of the project, by chroot. The mounts are those of a namespace and end with it.
# Runs as root on Debian. A Python that the archive does not serve is skipped, and the last lines say so.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=.ci/debian.sh
. .ci/debian.sh

CACHE=${R3_CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/r3-ci}
SUITES="tests/test_*.py tests/properties/test_gate.py tests/run_sql tests/faults/test_replies.py tests/cli"
PYTHONS="trixie:python3.13 forky:python3.14" # Debian 13, and the one that follows it
PACKAGES="ca-certificates,libgomp1" # the second: OpenMP, for the embedded server

say() { printf '== pythons: %s\n' "$*"; }
fail() {
    printf 'pythons: %s\n' "$*" >&2
    exit 1
}

[ "$(id -u)" -eq 0 ] || fail "needs root: debootstrap and chroot"
command -v debootstrap >/dev/null || {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
}
mkdir -p "$CACHE"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# A root is kept under the names of what is in it, so that another list of packages makes another one.
kept() { printf '%s/%s,%s,%s.tar' "$CACHE" "$1" "$2" "$PACKAGES"; }

# Make a minimal root of that Debian with that Python, unless it is kept; false when the archive does not serve it.
have_root() {
    [ -f "$(kept "$1" "$2")" ] && return
    from=$(archive)
    [ -n "$from" ] || fail "no Debian archive in this machine's apt sources"
    say "debootstrap of $1, once (about a minute)"
    rm -rf "${CACHE:?}/$1"
    # the script of sid fits every newer Debian, also one that this debootstrap does not know by name
    debootstrap --variant=minbase --include="$2,$2-venv,$PACKAGES" "$1" "$CACHE/$1" "$from" \
        /usr/share/debootstrap/scripts/sid >"$work/debootstrap.log" 2>&1 || {
        rm -rf "${CACHE:?}/$1"
        return 1
    }
    rm -rf "${CACHE:?}/$1"/var/cache/apt/archives/*.deb "$CACHE/$1"/var/lib/apt/lists/*
    tar -C "$CACHE/$1" -cf "$CACHE/$1.tar.part" . && mv "$CACHE/$1.tar.part" "$(kept "$1" "$2")"
    rm -rf "${CACHE:?}/$1"
}

# Unpack the root and put into it what the tests need of this machine and of the project.
furnish() {
    root=$work/$1
    mkdir -p "$root/project"
    tar -C "$root" -xf "$(kept "$1" "$2")"
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
    pip_settings >"$root/etc/pip.conf"
    git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -C "$root/project" -xf -
    cp models/*.gguf "$root/project/models/"
}

# Run a command line in the root, with its own /proc and this machine's devices.
within() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount sh -c 'mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" &&
        exec chroot "$1" /usr/bin/env -u PYTHONDONTWRITEBYTECODE -u PIP_FIND_LINKS -u PIP_CONFIG_FILE \
            PATH=/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 sh -ec "cd /project && $2"' sh "$root" "$1"
}

skipped=
for entry in $PYTHONS; do
    debian=${entry%:*} python=${entry#*:}
    if ! have_root "$debian" "$python"; then
        skipped="$skipped
   $python: not to be had from $debian ($(grep -v '^I:' "$work/debootstrap.log" | tail -n 1))"
        continue
    fi
    furnish "$debian" "$python"
    within "$python -m venv /venv && python -m pip install --disable-pip-version-check --quiet --require-hashes -r configs/dev.lock"
    within "python -c 'import sqlite3, sys; print(\"== pythons: Python\", sys.version.split()[0], \"SQLite\", sqlite3.sqlite_version)'"
    within "python -m compileall -q src && python -m unittest discover -s tests && python -m pytest -q --suites -p no:cacheprovider -n auto --dist worksteal $SUITES"
    rm -rf "$root"
done
[ -z "$skipped" ] || say "skipped:$skipped"
say "done"
