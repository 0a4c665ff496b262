# shellcheck shell=sh
# The checks of preflight.sh that involve Docker: engine, Compose, buildx, and a card inside a container.
# Sourced by preflight.sh, whose ok, note, fail and at_least they use.

ENGINE=20.10
COMPOSE_TESTED=2.26
COMPOSE_BAKES=2.37  # from here on `docker compose build` hands over to buildx (docker/compose#12699)
COMPOSE_ASKS=2.40.2 # from here on it ends with "compose build requires buildx 0.17 or later" (docker/compose#13295)
BUILDX=0.17

# The line of a failed command that says why. The docker command's own last line is a hint at its help, or, before
# 23.0, "error waiting for container"; the toolkit's reason is on a line of its own after the daemon's.
cause() {
    printf '%s\n' "$1" | awk '
        /nvidia-container-cli:/ && !toolkit { toolkit = $0 }
        /Error response|error running/ && !daemon { daemon = $0 }
        NF && !first { first = $0 }
        END { print toolkit ? toolkit : daemon ? daemon : first }'
}

check_docker() {
    command -v docker >/dev/null || fail docker "no docker command" "install Docker Engine: docs.docker.com/engine/install"
    if ! engine=$(docker version --format '{{.Server.Version}}' 2>&1); then
        case $engine in
        *"permission denied"*) remedy="add yourself to the group that owns Docker's socket (docker), then log in again" ;;
        *) remedy="start it: sudo systemctl start docker" ;;
        esac
        fail engine "$(printf '%s' "$engine" | tail -n 1)" "$remedy"
    fi
    at_least "$engine" "$ENGINE" || fail engine "Docker Engine $engine" "20.10 or later is needed; upgrade Docker Engine"
    ok engine "Docker Engine $engine"
    if leaks "$engine"; then
        note engine "$engine passes name queries of internal networks to the host's resolver (CVE-2024-29018, fixed in"
        note "" "23.0.11, 25.0.5 and 26.0.0); compose.yaml closes this with dns: [127.0.0.1]; still, upgrade when you can"
    fi
    check_ids
}

# Versions with CVE-2024-29018; there is no fixed 24.0 release.
leaks() {
    case $1 in
    23.0.*) ! at_least "$1" 23.0.11 ;;
    24.*) true ;;
    25.0.*) ! at_least "$1" 25.0.5 ;;
    *) ! at_least "$1" 23.0 ;;
    esac
}

check_ids() {
    kind=$(docker info --format '{{.SecurityOptions}}' 2>/dev/null || true)
    foreign=$(foreign_ids "$kind")
    [ -z "$foreign" ] ||
        fail engine "$(printf '%s' "$foreign" | head -n 1)" "$(printf '%s' "$foreign" | tail -n 1)"
    case $kind in *name=selinux*) note engine "$SELINUX_NOTE" ;; esac
}

check_compose() {
    if ! compose=$(docker compose version --short 2>/dev/null); then
        fail compose "docker compose is not there" "install the Compose plugin: docs.docker.com/compose/install/linux"
    fi
    compose=${compose#v}
    at_least "$compose" 2.0 || fail compose "Compose $compose" "Compose 2 is needed (docker compose, not docker-compose)"
    ok compose "Docker Compose $compose"
    at_least "$compose" "$COMPOSE_TESTED" || note compose "tested with $COMPOSE_TESTED and later"
    if ! said=$(docker compose config --quiet 2>&1); then
        said=$(printf '%s\n' "$said" | tail -n 1) # warnings come first
        fail compose "docker compose config: $said" "mend the line it names, in .env or compose.yaml"
    fi
    # An older Compose that cannot read a default warns, and starts the service with an empty value all the same.
    [ -z "$said" ] || printf '%s\n' "$said" | sort -u | while read -r line; do note compose "it warns: $line"; done
    check_buildx
}

# What `docker compose build` builds with: newer Compose leaves it to buildx, older ones have a builder of their own.
check_buildx() {
    remedy="install docker-buildx-plugin (Docker's packages) or docker-buildx (Debian's, Ubuntu's), $BUILDX or later"
    if ! buildx=$(docker buildx version 2>/dev/null); then
        ! at_least "$compose" "$COMPOSE_BAKES" ||
            fail buildx "docker buildx is not there, and docker compose build of Compose $compose needs it" "$remedy"
        note buildx "docker buildx is not there; Compose $compose has a builder of its own"
        return
    fi
    buildx=$(printf '%s' "$buildx" | awk 'NR == 1 { print $2 }')
    buildx=${buildx#v}
    ! at_least "$compose" "$COMPOSE_ASKS" || at_least "$buildx" "$BUILDX" ||
        fail buildx "docker compose build of Compose $compose refuses buildx $buildx" "$remedy"
    ok buildx "buildx $buildx"
}

# Whether a container sees the card, tried in the server's own image, since that is the one that must.
check_toolkit() {
    image=$(docker compose config server 2>/dev/null | sed -n 's/^ *image: *//p' | head -n 1)
    [ -n "$image" ] || fail toolkit "compose.yaml names no server image" "start again from a fresh copy of the project"
    docker image inspect "$image" >/dev/null 2>&1 || pull "$image"
    if ! seen=$(docker run --rm --gpus all --network none --read-only --cap-drop ALL \
        --security-opt no-new-privileges:true --entrypoint nvidia-smi "$image" --list-gpus 2>&1); then
        fail toolkit "nvidia-smi in a container: $(cause "$seen")" \
            "install NVIDIA Container Toolkit, then: sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker"
    fi
    ok toolkit "a container sees $(printf '%s' "$seen" | head -n 1 | cut -d '(' -f 1)"
}

# A step of its own: a download that fails has nothing to do with the card.
pull() {
    note image "downloading $1"
    { said=$(docker pull "$1" 2>&1 >&3); } 3>&1 ||
        fail image "docker pull $1: $(cause "$said")" \
            "look at the network, the proxy and the registry; a mirror's name goes into .env as LLAMA_IMAGE"
    ok image "$1"
}
