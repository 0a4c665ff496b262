#!/bin/sh
# Is this machine ready for the tutorial's containers? ./scripts/preflight.sh, or --cpu for the route without a GPU.
#
# Each check prints what it looked at and what it found; the first that fails also prints the remedy and ends the
# script with status 1. It changes nothing on the machine. One check runs `nvidia-smi` inside the server image;
# Docker downloads that image first if it is not there (2.6 GB, needed for `docker compose up -d server` anyway).
set -eu
cd "$(dirname "$0")/.."

# Provisions of the tutorial for the 7B model, not measured minimums.
RAM_GIB=12
DISK_GIB=15
VRAM_GIB=10
DRIVER=570 # NVIDIA_REQUIRE_CUDA=cuda>=12.8 in the server image
COMPOSE_TESTED=2.26

ok() { printf 'ok    %-10s %s\n' "$1" "$2"; }
note() { printf 'note  %-10s %s\n' "$1" "$2"; }
fail() {
    printf 'FAIL  %-10s %s\n      %-10s -> %s\n' "$1" "$2" "" "$3" >&2
    exit 1
}

# at_least 2.26.1 2.20: is the first version the second one or a later one?
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# A line of .env, where compose reads it too; the shell's own environment comes first, as it does for compose.
setting() {
    value=$(printenv "$1" || true)
    [ -n "$value" ] || value=$(sed -n "s/^$1=//p" .env 2>/dev/null | tail -n 1)
    printf '%s' "${value:-$2}"
}

check_machine() {
    found="$(uname -s) $(uname -m)"
    [ "$found" = "Linux x86_64" ] ||
        fail machine "uname says $found" "the pinned images are for Linux x86_64; use such a machine"
    ok machine "$found"
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
    at_least "$engine" 20.10 || fail engine "Docker Engine $engine" "20.10 or later is needed; upgrade Docker Engine"
    ok engine "Docker Engine $engine"
    if leaks "$engine"; then
        note engine "$engine passes name queries of internal networks to the host's resolver (CVE-2024-29018, mended in"
        note "" "23.0.11, 25.0.5 and 26.0.0); compose.yaml closes this with dns: [127.0.0.1]; still, upgrade when you can"
    fi
}

# Versions with CVE-2024-29018; there is no mended 24.0.
leaks() {
    case $1 in
    23.0.*) ! at_least "$1" 23.0.11 ;;
    24.*) true ;;
    25.0.*) ! at_least "$1" 25.0.5 ;;
    *) ! at_least "$1" 23.0 ;;
    esac
}

check_compose() {
    if ! compose=$(docker compose version --short 2>/dev/null); then
        fail compose "docker compose is not there" "install the Compose plugin: docs.docker.com/compose/install/linux"
    fi
    compose=${compose#v}
    at_least "$compose" 2.0 || fail compose "Compose $compose" "Compose 2 is needed (docker compose, not docker-compose)"
    ok compose "Docker Compose $compose"
    at_least "$compose" "$COMPOSE_TESTED" || note compose "tested with $COMPOSE_TESTED and later"
}

check_driver() {
    cpu_hint="without a GPU: ./scripts/preflight.sh --cpu"
    command -v nvidia-smi >/dev/null ||
        fail driver "no nvidia-smi command" "install the NVIDIA driver ($DRIVER or later); $cpu_hint"
    if ! cards=$(nvidia-smi --query-gpu=driver_version,memory.free,name --format=csv,noheader,nounits 2>&1); then
        fail driver "nvidia-smi: $(printf '%s' "$cards" | tail -n 1)" "repair the NVIDIA driver; $cpu_hint"
    fi
    driver=$(printf '%s\n' "$cards" | head -n 1 | cut -d , -f 1)
    at_least "$driver" "$DRIVER" ||
        fail driver "NVIDIA driver $driver" "the server image needs CUDA 12.8: upgrade to driver $DRIVER or later"
    ok driver "NVIDIA driver $driver"
    best=$(printf '%s\n' "$cards" | sort -t , -k 2 -n -r | head -n 1)
    free=$(printf '%s' "$best" | cut -d , -f 2 | tr -d ' ')
    [ "${free%%.*}" -ge $((VRAM_GIB * 1024)) ] ||
        fail vram "$free MiB free at best, $VRAM_GIB GiB needed" "end what uses the card (nvidia-smi lists it)"
    ok vram "$free MiB free on$(printf '%s' "$best" | cut -d , -f 3)"
}

check_memory() {
    free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
    [ "$free" -ge $(($1 * 1024)) ] || fail memory "$free MiB available, $1 GiB needed" "close other programs or add memory"
    ok memory "$free MiB available, $1 GiB needed"
}

check_disk() {
    storage=$(docker info --format '{{.DockerRootDir}}' 2>/dev/null || true)
    for place in . "$storage"; do
        name="this folder"
        [ "$place" = . ] || name="Docker's storage"
        if ! free=$(df -Pm "$place" 2>/dev/null | awk 'NR == 2 { print $4 }') || [ -z "$free" ]; then
            note disk "$name ($place) cannot be looked at from here; $1 GiB are needed there"
            continue
        fi
        [ "$free" -ge $(($1 * 1024)) ] ||
            fail disk "$free MiB free in $name, $1 GiB needed" "free some space (docker system df shows Docker's share)"
        ok disk "$free MiB free in $name, $1 GiB needed"
    done
}

check_toolkit() {
    image=$(docker compose config server 2>/dev/null | sed -n 's/^ *image: *//p' | head -n 1)
    [ -n "$image" ] || fail toolkit "compose.yaml names no server image" "start again from a fresh copy of the project"
    docker image inspect "$image" >/dev/null 2>&1 || note toolkit "downloading $image"
    if ! seen=$(docker run --rm --gpus all --network none --read-only --cap-drop ALL \
        --security-opt no-new-privileges:true --entrypoint nvidia-smi "$image" --list-gpus 2>&1); then
        fail toolkit "nvidia-smi in a container: $(printf '%s' "$seen" | tail -n 1)" \
            "install NVIDIA Container Toolkit, then: sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker"
    fi
    ok toolkit "a container sees $(printf '%s' "$seen" | head -n 1 | cut -d '(' -f 1)"
}

# The folders the containers write to, once setup.sh has said under which ids.
check_folders() {
    [ -e .env ] || { note folders ".env is not there yet; next: sh scripts/setup.sh"; return; }
    uid=$(setting R3_UID 10001)
    for folder in models outputs; do
        [ -d "$folder" ] || fail folders "$folder/ is missing" "sh scripts/setup.sh"
        owner=$(stat -c %u "$folder") mode=$(stat -c %a "$folder")
        case $owner:$mode in
        "$uid":7??) ok folders "$folder/ belongs to $owner, mode $mode" ;;
        *) fail folders "$folder/ belongs to $owner, mode $mode; the containers run as $uid" \
            "sudo chown $uid $folder && sudo chmod u+rwx $folder" ;;
        esac
    done
}

# The model's files by their exact names and sizes; the full check with SHA-256 is fetch's.
check_model() {
    model=$1
    pinned=$(awk -v key="\"$model\":" '
        /^  "/ { inside = ($1 == key) }
        inside && /"name": ".*\.gguf"/ { gsub(/[",]/, "", $2); name = $2 }
        inside && name && /"size":/ { gsub(/,/, "", $2); print name, $2; name = "" }' configs/models.lock.json)
    [ -n "$pinned" ] || fail model "R3_MODEL=$model is not in configs/models.lock.json" "use r3, embedded or qwen-0.5b"
    printf '%s\n' "$pinned" | while read -r name size; do
        if [ ! -e "models/$name" ]; then
            note model "models/$name is not there yet; fetch brings it"
        elif [ "$(stat -c %s "models/$name")" != "$size" ]; then
            fail model "models/$name has $(stat -c %s "models/$name") bytes, expected $size" \
                "move it away, then: docker compose --profile acquisition run --rm --no-deps fetch"
        else
            ok model "models/$name, $size bytes"
        fi
    done
}

# What the CPU route needs, by model: memory and disk in GiB; for r3 the file alone has 4.7 GB.
cpu_needs() {
    case $1 in
    embedded) echo 2 3 ;;
    r3) echo 8 12 ;;
    *) echo 3 5 ;;
    esac
}

case "$#:${1:-}" in
0:)
    check_machine
    check_docker
    check_compose
    check_driver
    check_memory "$RAM_GIB"
    check_disk "$DISK_GIB"
    check_toolkit
    check_folders
    check_model "$(setting R3_MODEL r3)"
    ;;
1:--cpu)
    check_machine
    check_docker
    check_compose
    model=$(setting R3_MODEL embedded)
    needs=$(cpu_needs "$model")
    check_memory "${needs% *}"
    check_disk "${needs#* }"
    check_folders
    check_model "$model"
    ;;
*)
    echo "usage: ./scripts/preflight.sh [--cpu]" >&2
    exit 2
    ;;
esac
echo "ready"
