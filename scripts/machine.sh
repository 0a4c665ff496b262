# shellcheck shell=sh
# What preflight.sh and setup.sh both need to know: a line of .env as compose reads it, and what kind of engine
# is running. Both source it from the project's folder. It prints and changes nothing by itself.

# The value of a line of .env, as compose reads it: the last line counts, one pair of quotes is removed, and in an
# unquoted value anything after a space and a number sign is a comment.
kept() {
    sed -n "s/^$1=//p" .env 2>/dev/null | tail -n 1 |
        sed -e 's/^"\([^"]*\)".*$/\1/' -e t -e "s/^'\([^']*\)'.*\$/\1/" -e t \
            -e 's/[[:space:]]#.*$//' -e 's/[[:space:]]*$//'
}

# The same with a default; the shell's own environment comes first, as it does for compose.
setting() {
    value=$(printenv "$1" || true)
    [ -n "$value" ] || value=$(kept "$1")
    printf '%s' "${value:-$2}"
}

# The settings of the route without a GPU, which are wrong for `server` on a card: "R3_MODEL=embedded ...", or nothing.
cpu_lines() {
    model=$(setting R3_MODEL r3) profiles=$(setting COMPOSE_PROFILES '')
    lines=
    [ "$model" = r3 ] || lines="R3_MODEL=$model"
    case ,$profiles, in *,cpu,*) lines="$lines${lines:+ }COMPOSE_PROFILES=$profiles" ;; esac
    printf '%s' "$lines"
}
# Used by both scripts.
# shellcheck disable=SC2034
ROUTE_REMEDY="for a card take R3_MODEL and COMPOSE_PROFILES out of .env and the shell, or fetch with: fetch --model r3"

# Why the ids in a container differ from this machine's, and what to do: two lines, or nothing if they do not.
# setup.sh gives the containers the user's own ids; where the engine maps them, outputs/ cannot be written.
foreign_ids() {
    case $1 in
    *name=rootless*)
        echo "this Docker runs rootless: the ids of its containers are not yours, and they cannot write your folders"
        echo "use the ordinary engine: docker context use default, with DOCKER_HOST unset"
        ;;
    *name=userns*)
        echo "this Docker maps the ids of its containers (userns-remap), so they cannot write your folders"
        echo "take userns-remap out of /etc/docker/daemon.json, then: sudo systemctl restart docker"
        ;;
    esac
}

# The note for machines where SELinux guards files: without this label containers may not read the project.
# shellcheck disable=SC2034
SELINUX_NOTE="SELinux: if a container may not read its files: sudo chcon -Rt container_file_t configs data src tests scripts models outputs"
