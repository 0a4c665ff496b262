#!/bin/sh
# Two Docker Engines on one machine, as two machines would be: `sh .ci/nodes.sh start|stop`.
#
# Each dockerd has a network namespace of its own, and the two are joined by a cable (a veth pair) and by nothing else:
# no bridge on this machine, no rule in its firewall, no way out. Addresses are of a range kept for documentation.
# start: brings both up and writes their sockets into $R3_NODES_STATE/env (shell assignments).
# stop:  ends both by their recorded process ids and removes what was made: data, namespaces, and with them the cable.
set -eu

STATE=${R3_NODES_STATE:-/tmp/r3-nodes} # short: a socket's path has at most 107 bytes
NET=198.51.100 # TEST-NET-2
WAIT_S=60

say() { printf 'nodes: %s\n' "$*"; }
fail() {
    printf 'nodes: %s\n' "$*" >&2
    exit 1
}

running() { # $1: the node; its recorded process is alive and is dockerd
    pid=$(cat "$STATE/$1/dockerd.pid" 2>/dev/null) && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ]
}

# nsenter and not `ip netns exec`: that one hides the control groups, and then no CPU limit can be set.
inside() { # $1: the node; the rest: a command
    node=$1
    shift
    nsenter --net="/run/netns/r3-node$node" "$@"
}

start_node() { # $1: 1 or 2
    dir=$STATE/$1
    mkdir -p "$dir/run" /run/docker
    rm -f "$dir/dockerd.pid"
    : >"$dir/resolv.conf" # no name server: nothing to ask and nobody to ask it of
    # In a mount namespace of its own, where /run/docker is its own folder: two engines would share one there.
    # shellcheck disable=SC2016 # expanded by the inner shell
    inside "$1" unshare --mount --uts sh -c \
        'hostname "$2" && mount --bind "$1/run" /run/docker && mount --bind "$1/resolv.conf" /etc/resolv.conf && shift 2 && exec "$@"' sh "$dir" "node$1" \
        dockerd --host "unix://$dir/docker.sock" --data-root "$dir/data" --exec-root "$dir/exec" \
        --pidfile "$dir/dockerd.pid" --bridge none --no-new-privileges --group "${R3_ENGINE_GID:-0}" >"$dir/dockerd.log" 2>&1 </dev/null &
    waited=0
    until DOCKER_HOST=unix://$dir/docker.sock docker info >/dev/null 2>&1; do
        [ "$waited" -lt "$WAIT_S" ] || fail "dockerd $1 did not answer in $WAIT_S s: $(tail -n 1 "$dir/dockerd.log")"
        sleep 1
        waited=$((waited + 1))
    done
    say "node $1: dockerd, process $(cat "$dir/dockerd.pid"), address $NET.$1"
}

start() {
    for node in 1 2; do
        ip netns add "r3-node$node"
        inside "$node" ip link set lo up
    done
    ip link add eth0 netns r3-node1 type veth peer name eth0 netns r3-node2
    for node in 1 2; do
        inside "$node" ip addr add "$NET.$node/24" dev eth0
        inside "$node" ip link set eth0 up
        inside "$node" ip route add default via "$NET.$((3 - node))" # Swarm looks for one; it ends at the other node
        start_node "$node"
    done
    cat >"$STATE/env" <<EOF
NODE1=unix://$STATE/1/docker.sock
NODE2=unix://$STATE/2/docker.sock
ADDRESS1=$NET.1
EOF
}

stop() {
    for node in 1 2; do
        if running "$node"; then
            kill "$pid"
            waited=0
            while running "$node" && [ "$waited" -lt "$WAIT_S" ]; do
                sleep 1
                waited=$((waited + 1))
            done
            if running "$node"; then fail "dockerd $pid did not end"; fi
        fi
        # subtle: a mount left in the data folder would make rm reach through it
        if grep -q " $STATE/" /proc/mounts; then
            grep " $STATE/" /proc/mounts | cut -d ' ' -f 2 | sort -r | xargs -r -n 1 umount
        fi
        [ ! -e "/run/netns/r3-node$node" ] || ip netns delete "r3-node$node"
    done
    rm -rf "$STATE"
}

[ "$(id -u)" -eq 0 ] || fail "needs root: it starts dockerd"
case ${1:-} in
start) start ;;
stop) stop ;;
*) fail "usage: sh .ci/nodes.sh start|stop" ;;
esac
