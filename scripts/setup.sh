#!/bin/sh
# Prepare this folder for docker compose: sh scripts/setup.sh [--cpu]
#
# Makes models/ and outputs/ and writes what compose needs to know into .env: the ids the containers run under, so
# that what they write belongs to you, and the number of processors. --cpu also selects the route without a GPU.
# Can be run again: a line that is already in .env is kept as it is. Installs nothing, downloads nothing.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/machine.sh
. scripts/machine.sh

CONTAINER_ID=10001 # for root without sudo: no container runs as root

say() { printf 'setup: %s\n' "$*"; }
fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 2
}

cpu=no
case "$#:${1:-}" in
0:) ;;
1:--cpu) cpu=yes ;;
*) fail "usage: sh scripts/setup.sh [--cpu]" ;;
esac

# Whose ids: the caller's; behind sudo the caller's own; for plain root an unused id.
uid=$(id -u) gid=$(id -g)
if [ "$uid" -eq 0 ]; then
    uid=${SUDO_UID:-$CONTAINER_ID} gid=${SUDO_GID:-$CONTAINER_ID}
    [ "$uid" -ne 0 ] || uid=$CONTAINER_ID gid=$CONTAINER_ID
fi

# Add KEY=VALUE unless the key exists; say so when its value differs.
keep_or_add() {
    if grep -q "^$1=" .env; then
        [ "$(kept "$1")" = "$2" ] || say ".env keeps $1=$(kept "$1") (this machine and call would give $2)"
    else
        printf '%s=%s\n' "$1" "$2" >>.env
        say ".env gets $1=$2"
    fi
}

if [ ! -e .env ]; then
    (umask 077 && printf '# Written by scripts/setup.sh; .env.example explains every line.\n' >.env)
fi
[ -w .env ] || fail ".env cannot be written by user $(id -u); its owner is $(stat -c %U .env)"
[ -z "$(tail -c 1 .env)" ] || echo >>.env # an edit may have left the last line open

keep_or_add R3_UID "$uid"
keep_or_add R3_GID "$gid"
keep_or_add R3_SERVER_CPUS "$(nproc)"
if [ "$cpu" = yes ]; then
    keep_or_add COMPOSE_PROFILES cpu
    keep_or_add R3_MODEL embedded
fi

if [ "$cpu" = no ]; then
    left=$(cpu_lines)
    [ -z "$left" ] || say "note: .env still says $left, for the route without a GPU: $ROUTE_REMEDY"
fi

# What is written here suits the ordinary engine; any other kind is named, so that it comes as no surprise.
kind=$(docker info --format '{{.SecurityOptions}}' 2>/dev/null || true)
foreign_ids "$kind" | while read -r line; do say "note: $line"; done
case $kind in *name=selinux*) say "note: $SELINUX_NOTE" ;; esac

uid=$(kept R3_UID) gid=$(kept R3_GID)
for folder in models outputs; do
    mkdir -p "$folder" || fail "$folder/ cannot be made by user $(id -u) in $(pwd)"
    if [ "$(id -u)" -eq 0 ]; then
        chown -Rh "$uid:$gid" "$folder"
        # .env names the secrets, if any; whoever runs compose must be able to read it
        [ -z "${SUDO_UID:-}" ] || chown "$uid:$gid" .env
    elif [ "$(stat -c %u "$folder")" != "$uid" ]; then
        fail "$folder/ belongs to $(stat -c %U "$folder"), the containers run as $uid: sudo chown -R $uid:$gid $folder"
    elif [ ! -w "$folder" ] || [ ! -x "$folder" ]; then
        fail "$folder/ has mode $(stat -c %a "$folder"), its owner must be able to write: chmod u+rwx $folder"
    fi
done
# A clone made under umask 077 by another user than that of the containers, such as root.
closed=$(find configs data scripts src tests ! -user "$uid" ! -perm -o=r 2>/dev/null | head -n 1)
[ -z "$closed" ] || say "note: user $uid cannot read $closed: chmod -R o+rX configs data scripts src tests"
if [ "$(id -u)" -eq 0 ]; then
    say "models/ and outputs/ belong to $uid:$gid now, the ids the containers run under"
fi
say "done; next: docker compose build"
