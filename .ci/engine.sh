#!/bin/sh
# A Docker Engine of our own for CI, on Debian 12, where no image can be pulled: `sh .ci/engine.sh start|pause|stop`.
#
# start: installs the engine with apt, takes the compose and buildx plugins out of Debian 13's packages, starts
#        dockerd on a socket of its own, and imports a stand-in for the Python base image. Prints nothing secret;
#        what a caller needs to know is in $R3_ENGINE_STATE/env (shell assignments).
# pause: ends the dockerd that `start` started, by its recorded process id; a new `start` finds the images again.
# stop:  the same, and removes its data.
#
# R3_ENGINE_GID gives the socket to a group, so that CI can follow the tutorial as an ordinary user.
# R3_ENGINE_RESOLVER is the name server that dockerd finds in /etc/resolv.conf; the attack suite listens there.
#
# Nothing here names an archive, an index or a certificate: they are read from this machine when it runs.
# Downloads and the root file system are kept in the cache folder, so a second run takes seconds.
set -eu
# shellcheck source=.ci/debian.sh
. "$(dirname "$0")/debian.sh"

CACHE=${R3_CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/r3-ci}
STATE=${R3_ENGINE_STATE:-/tmp/r3-engine} # short: a socket's path has at most 107 bytes
PACKAGES="docker.io iptables iproute2 debootstrap tini ca-certificates"
PLUGIN_SUITE=trixie # Debian 13: Compose 2 and buildx; both need no more than libc6 >= 2.34
BASE_TAG=r3-ci/python:stand-in
WAIT_S=60 # for the socket; a cold machine needs about 5

say() { printf 'engine: %s\n' "$*"; }
fail() {
    printf 'engine: %s\n' "$*" >&2
    exit 1
}

install_packages() {
    missing=
    for package in $PACKAGES; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
    [ -z "$missing" ] && return
    say "installing$missing"
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of package names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >"$STATE/apt.log" 2>&1 ||
        fail "apt-get install failed: $(tail -n 1 "$STATE/apt.log")"
}

# Compose and buildx as plugins of this run only: apt checks the signatures, dpkg-deb unpacks, nothing is installed.
unpack_plugins() {
    plugins=$CACHE/docker-config/cli-plugins
    [ -x "$plugins/docker-compose" ] && [ -x "$plugins/docker-buildx" ] && return
    from=$(archive)
    [ -n "$from" ] || fail "no Debian archive in this machine's apt sources"
    apt=$CACHE/apt
    mkdir -p "$apt/lists/partial" "$apt/cache" "$apt/deb" "$plugins"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $PLUGIN_SUITE main" >"$apt/sources.list"
    options="-o Dir::Etc::SourceList=$apt/sources.list -o Dir::Etc::SourceParts=/dev/null
        -o Dir::State::Lists=$apt/lists -o Dir::Cache=$apt/cache -o APT::Sandbox::User=root"
    # shellcheck disable=SC2086 # a list of options
    (cd "$apt/deb" && apt-get $options update -qq && apt-get $options download -qq docker-compose docker-buildx) ||
        fail "the compose and buildx plugins could not be downloaded"
    for package in "$apt"/deb/*.deb; do
        dpkg-deb --extract "$package" "$apt/unpacked"
    done
    for plugin in docker-compose docker-buildx; do
        found=$(find "$apt/unpacked" -type f -path "*cli-plugins/$plugin" | head -n 1)
        [ -n "$found" ] || fail "$plugin is not in its Debian package"
        cp "$found" "$plugins/$plugin"
    done
    rm -rf "$apt"
}

# The client's configuration lies beside the socket, where an ordinary user can read it too.
configure_client() {
    mkdir -p "$STATE/docker-config"
    cp -R "$CACHE/docker-config/cli-plugins" "$STATE/docker-config/"
    say "Compose $(docker compose version --short), from $PLUGIN_SUITE"
}

running() { # the process recorded is alive and is dockerd, not a later process with the same number
    pid=$(cat "$STATE/dockerd.pid" 2>/dev/null) && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ]
}

start_engine() {
    running && return
    rm -f "$STATE/dockerd.pid"
    cp /etc/resolv.conf "$STATE/resolv.conf"
    [ -z "${R3_ENGINE_RESOLVER:-}" ] || echo "nameserver $R3_ENGINE_RESOLVER" >"$STATE/resolv.conf"
    # In a mount namespace of its own, so that nobody else sees its resolv.conf.
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount sh -c 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"' sh "$STATE/resolv.conf" \
        dockerd --host "unix://$STATE/docker.sock" --group "${R3_ENGINE_GID:-0}" --data-root "$STATE/data" \
        --exec-root "$STATE/exec" --pidfile "$STATE/dockerd.pid" >"$STATE/dockerd.log" 2>&1 </dev/null &
    waited=0
    until docker info >/dev/null 2>&1; do
        [ "$waited" -lt "$WAIT_S" ] || fail "dockerd did not answer in $WAIT_S s: $(tail -n 1 "$STATE/dockerd.log")"
        sleep 1
        waited=$((waited + 1))
    done
    say "dockerd $(docker version --format '{{.Server.Version}}') after $waited s, process $(cat "$STATE/dockerd.pid")"
}

# A minimal Debian with Python, imported as an image. Debian 12's Python is 3.11; the pinned base has 3.12: the
# lock files serve both.
import_root() {
    tarball=$CACHE/rootfs.tar
    if [ ! -f "$tarball" ]; then
        say "debootstrap, once (about a minute)"
        # shellcheck source=/dev/null
        suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
        rm -rf "$CACHE/rootfs"
        debootstrap --variant=minbase --include=python3,python3-venv,python3-pip,ca-certificates \
            "$suite" "$CACHE/rootfs" "$(archive)" >"$STATE/debootstrap.log" 2>&1 ||
            fail "debootstrap failed: $(tail -n 1 "$STATE/debootstrap.log")"
        rm -rf "$CACHE/rootfs"/var/cache/apt/archives/*.deb "$CACHE/rootfs"/var/lib/apt/lists/*
        tar -C "$CACHE/rootfs" -cf "$tarball.part" . && mv "$tarball.part" "$tarball"
        rm -rf "$CACHE/rootfs"
    fi
    docker image inspect r3-ci/rootfs >/dev/null 2>&1 || docker import "$tarball" r3-ci/rootfs >/dev/null
}

# The stand-in base: that root, this machine's certificates and pip settings (an index, a proxy and a certificate
# bundle are facts of the machine, so they are read here and go into an image that never leaves it).
build_base() {
    docker image inspect "$BASE_TAG" >/dev/null 2>&1 && return
    context=$STATE/base
    rm -rf "$context"
    mkdir -p "$context"
    cp /etc/ssl/certs/ca-certificates.crt "$context/ca-certificates.crt"
    # beside the machine's own sources the one that .ci/swarm.sh runs on the network of its nodes
    {
        pip_settings | grep -v '^trusted-host'
        echo "trusted-host = $(pip_settings | sed -n 's/^trusted-host = //p') 198.51.100.1"
    } >"$context/pip.conf"
    cat >"$context/Dockerfile" <<'EOF'
FROM r3-ci/rootfs
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY pip.conf /etc/pip.conf
RUN ln -s python3 /usr/bin/python
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
EOF
    docker build --quiet --tag "$BASE_TAG" "$context" >/dev/null
    say "base image: $BASE_TAG ($(docker run --rm "$BASE_TAG" python --version), stands in for the pinned one)"
}

write_env() {
    chgrp -R "${R3_ENGINE_GID:-0}" "$STATE/docker-config" # last: buildx keeps files of its own there
    chmod -R g+rwX "$STATE/docker-config"
    cat >"$STATE/env" <<EOF
DOCKER_HOST=unix://$STATE/docker.sock
DOCKER_CONFIG=$STATE/docker-config
PYTHON_IMAGE=$BASE_TAG
EOF
}

# End dockerd but keep its images, for a start with other settings.
pause_engine() {
    if running; then
        say "ending dockerd, process $pid"
        kill "$pid"
        waited=0
        while running && [ "$waited" -lt "$WAIT_S" ]; do
            sleep 1
            waited=$((waited + 1))
        done
        if running; then fail "dockerd $pid did not end"; fi
    fi
}

stop_engine() {
    pause_engine
    # subtle: a mount left in the data folder would make rm reach through it
    if grep -q " $STATE/" /proc/mounts; then
        grep " $STATE/" /proc/mounts | cut -d ' ' -f 2 | sort -r | xargs -r -n 1 umount
    fi
    rm -rf "$STATE"
}

[ "$(id -u)" -eq 0 ] || fail "needs root: it starts dockerd"
export DOCKER_HOST="unix://$STATE/docker.sock" DOCKER_CONFIG="$STATE/docker-config"
case ${1:-} in
start)
    mkdir -p "$STATE" "$CACHE/docker-config"
    install_packages
    unpack_plugins
    configure_client
    start_engine
    import_root
    build_base
    write_env
    ;;
pause) pause_engine ;;
stop) stop_engine ;;
*) fail "usage: sh .ci/engine.sh start|pause|stop" ;;
esac
