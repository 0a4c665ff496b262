#!/bin/sh
# Is this machine ready for the tutorial's containers? ./scripts/preflight.sh, or --cpu for the route without a GPU.
#
# Each check prints what it looked at and what it found; the first that fails also prints the remedy and ends the
# script with status 1. It changes nothing on the machine except for one download: the last check runs `nvidia-smi`
# inside the server image, which is fetched first if missing (2.6 GB, needed for `docker compose up -d server` anyway).
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/machine.sh
. scripts/machine.sh
# shellcheck source=scripts/preflight_docker.sh
. scripts/preflight_docker.sh

# Provisions of the tutorial for the 7B model, not measured minimums.
RAM_GIB=12
DISK_GIB=15
VRAM_GIB=10
DRIVER=570 # NVIDIA_REQUIRE_CUDA=cuda>=12.8 in the server image

ok() { printf 'ok    %-10s %s\n' "$1" "$2"; }
note() { printf 'note  %-10s %s\n' "$1" "$2"; }
fail() {
    printf 'FAIL  %-10s %s\n      %-10s -> %s\n' "$1" "$2" "" "$3" >&2
    exit 1
}

# at_least 2.26.1 2.20: is the first version at least the second?
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

check_machine() {
    found="$(uname -s) $(uname -m)"
    [ "$found" = "Linux x86_64" ] ||
        fail machine "uname says $found" "the pinned images are for Linux x86_64; use such a machine"
    ok machine "$found"
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
    check_vram
}

# The first card, whatever the others have: it is the one that `count: 1` in compose.yaml gives to the server.
check_vram() {
    first=$(printf '%s\n' "$cards" | head -n 1)
    free=$(printf '%s' "$first" | cut -d , -f 2 | tr -d ' ')
    name=$(printf '%s' "$first" | cut -d , -f 3)
    case $free in
    '' | *[!0-9]*)
        note vram "nvidia-smi says \"$free\" for the free memory of$name; $VRAM_GIB GiB are needed"
        return
        ;;
    esac
    if [ "$free" -ge $((VRAM_GIB * 1024)) ]; then
        ok vram "$free MiB free on$name"
        return
    fi
    better=$(printf '%s\n' "$cards" | awk -F ', *' -v need=$((VRAM_GIB * 1024)) \
        'NR > 1 && $2 + 0 >= need { print NR - 1, $2; exit }')
    [ -z "$better" ] ||
        fail vram "$free MiB free on card 0, $VRAM_GIB GiB needed; card ${better% *} has ${better#* }, but count: 1 takes card 0" \
            "free card 0, or in compose.yaml put device_ids: [\"${better% *}\"] in place of count: 1"
    fail vram "$free MiB free on card 0, $VRAM_GIB GiB needed" "end what uses the card (nvidia-smi lists it)"
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

# The folders the containers write to, once setup.sh has said under which ids.
check_folders() {
    uid=$(setting R3_UID 10001)
    if [ ! -e .env ]; then
        owner=$(stat -c %u outputs 2>/dev/null || id -u)
        [ "$owner" = "$uid" ] || note folders "without .env the containers run as $uid and cannot write what belongs to $owner"
        note folders ".env is not there yet; next: sh scripts/setup.sh"
        return
    fi
    for folder in models outputs; do
        [ -d "$folder" ] || fail folders "$folder/ is missing" "sh scripts/setup.sh"
        owner=$(stat -c %u "$folder") mode=$(stat -c %a "$folder")
        case $owner:$mode in
        "$uid":7?? | "$uid":[1-7]7??) ok folders "$folder/ belongs to $owner, mode $mode" ;;
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
    brings=fetch
    [ "$(setting R3_MODEL "$model")" = "$model" ] || brings="fetch --model $model"
    printf '%s\n' "$pinned" | while read -r name size; do
        if [ ! -e "models/$name" ]; then
            note model "models/$name is not there yet; $brings brings it"
        elif [ "$(stat -c %s "models/$name")" != "$size" ]; then
            fail model "models/$name has $(stat -c %s "models/$name") bytes, expected $size" \
                "move it away, then: docker compose --profile acquisition run --rm --no-deps $brings"
        else
            ok model "models/$name, $size bytes"
        fi
    done
}

# What setup.sh --cpu left in .env: `server` loads r3 regardless, but `fetch` and a plain build follow it.
check_route() {
    left=$(cpu_lines)
    [ -z "$left" ] || note route ".env still says $left, for the route without a GPU: $ROUTE_REMEDY"
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
    check_route
    check_model r3
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
