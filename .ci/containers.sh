#!/bin/sh
# The container route on a real engine, from a clean clone to `docker compose down`: sh .ci/containers.sh
#
# 1. linters  2. engine  3. preflight without a GPU  4. the commands of docs/CONTAINERS.md, as written, as an ordinary user
# 5. what they left behind; the exercise in a copy  6. the plain route, as root  7. the attacks and interruptions, with
# dockerd on a resolver of the suite's own  8. everything started here is ended again, by its process id.
#
# Runs as root. $PYTHON has the packages of configs/dev.lock and configs/ci.lock (default: .venv/bin/python).
# R3_PAGE names another page to take the commands from; R3_CI_KEEP=1 keeps engine and clone for a look.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)

PYTHON=$(realpath --no-symlinks "${PYTHON:-.venv/bin/python}") # a virtual environment's python is a link
PAGE=${R3_PAGE:-docs/CONTAINERS.md}
EXERCISE=docs/EXERCISE.md
USER_ID=4321 # unused otherwise: an ordinary user with access to Docker's socket and no other right
RESOLVER=127.53.0.1
export R3_ENGINE_STATE="${R3_ENGINE_STATE:-/tmp/r3-engine}"
clone=$R3_ENGINE_STATE/home/project # in a folder of the reader's own, who makes a copy beside it
log=$R3_ENGINE_STATE/tutorial.log

say() { printf '\n== containers: %s\n' "$*"; }
fail() {
    printf 'containers: %s\n' "$*" >&2
    exit 1
}

resolver_pid=
finish() {
    status=$?
    [ -z "$resolver_pid" ] || kill "$resolver_pid" 2>/dev/null || true
    if [ "${R3_CI_KEEP:-}" = 1 ]; then
        say "kept: $R3_ENGINE_STATE (end it with: sh .ci/engine.sh stop)"
    else
        [ ! -d "$clone" ] || (cd "$clone" && docker compose --profile '*' down --timeout 5 >/dev/null 2>&1) || true
        sh .ci/engine.sh stop
    fi
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

# Run a command line in the clone as the ordinary user, and show it as a reader would type it.
as_user() {
    printf '$ %s\n' "$1"
    (cd "$clone" && setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups env HOME="$R3_ENGINE_STATE/home" sh -c "$1")
}

say "linters"
tools=$(dirname "$PYTHON")
"$tools/shellcheck" scripts/*.sh .ci/*.sh
"$tools/hadolint" Dockerfile
"$tools/compose-lint" --fail-on low compose.yaml
echo "shellcheck, hadolint and compose-lint: no finding"

say "engine"
R3_ENGINE_GID=$USER_ID sh .ci/engine.sh start
set -a
# shellcheck source=/dev/null
. "$R3_ENGINE_STATE/env"
set +a

say "a clean clone of what is committed"
git clone --quiet --no-hardlinks "$here" "$clone"
mkdir -p "$R3_ENGINE_STATE/home"
chown -R "$USER_ID:$USER_ID" "$clone" "$R3_ENGINE_STATE/home"

if ! command -v nvidia-smi >/dev/null; then
    say "preflight without an NVIDIA driver: stops at that check with status 1"
    status=0
    as_user ./scripts/preflight.sh 2>"$log" || status=$?
    cat "$log"
    [ "$status" -eq 1 ] || fail "preflight ended with status $status, expected 1"
    grep -q '^FAIL  driver' "$log" || fail "preflight did not stop at the driver"
    grep -q -- '-> install the NVIDIA driver' "$log" || fail "preflight named no remedy"
fi

# The tutorial's promise: after `docker compose down` nothing of the project is left but images.
nothing_left() {
    [ -z "$(docker ps --all --quiet)" ] || fail "docker compose down left a container: $(docker ps --all)"
    left=$(docker network ls --filter type=custom --format '{{.Name}}')
    [ -z "$left" ] || fail "docker compose down left a network: $left"
    left=$(docker volume ls --quiet)
    [ -z "$left" ] || fail "docker compose down left a volume: $left"
    echo "nothing is left but images: no container, no network, no volume"
}

say "the commands of $PAGE, as written"
"$PYTHON" .ci/page_commands.py "$PAGE" cpu >"$R3_ENGINE_STATE/commands"
while read -r command <&3; do
    status=0
    as_user "$command" >"$log.part" 2>&1 </dev/null || status=$?
    # a build prints hundreds of lines: the last ones are enough unless it fails
    if [ "$status" -eq 0 ]; then tail -n 25 "$log.part"; else cat "$log.part"; fi
    cat "$log.part" >>"$log"
    [ "$status" -eq 0 ] || fail "status $status of: $command"
done 3<"$R3_ENGINE_STATE/commands"

say "what they left behind"
"$PYTHON" .ci/check_outputs.py "$clone" "$USER_ID" "$log"
nothing_left

say "the exercise in a copy with containers of its own, as $EXERCISE has it"
commands=$("$PYTHON" .ci/page_commands.py "$EXERCISE" exercise)
as_user "set -e
$commands" >"$log.part" 2>&1 </dev/null || {
    cat "$log.part"
    fail "a command of the exercise failed"
}
grep -A 1 '"modifier_stock", "arguments"' "$log.part" || fail "negatives did not show the renamed tool"
grep -q '^7 refused out of 7; database unchanged' "$log.part" || fail "negatives did not refuse 7 of 7"
[ ! -e "$clone/../r3-exercise" ] || fail "the copy is still there"
nothing_left

say "the plain route, and root without sudo: the containers run as somebody else all the same"
root=$R3_ENGINE_STATE/root
git clone --quiet --no-hardlinks "$here" "$root"
(
    cd "$root"
    env -u SUDO_UID -u SUDO_GID sh scripts/setup.sh
    docker compose build --quiet app
    docker compose --profile acquisition run --rm --no-deps fetch --help >/dev/null
    docker compose run --rm --no-deps app -m src.cli prepare
    docker compose down 2>/dev/null
    [ "$(stat -c %u outputs/stock.db)" = 10001 ] || fail "outputs/stock.db belongs to $(stat -c %u outputs/stock.db)"
)
nothing_left

say "attacks and interruptions"
sh .ci/engine.sh pause
"$PYTHON" tests/containers/resolver.py "$R3_ENGINE_STATE/resolver.log" "$RESOLVER" &
resolver_pid=$!
R3_ENGINE_GID=$USER_ID R3_ENGINE_RESOLVER=$RESOLVER sh .ci/engine.sh start
(
    cd "$clone"
    R3_CI_ENGINE=1 R3_ENGINE_RESOLVER=$RESOLVER R3_ATTACK_RESOLVER_LOG=$R3_ENGINE_STATE/resolver.log \
        "$PYTHON" -m pytest -p no:cacheprovider tests/containers
)
cat "$clone/outputs/attacks.md"
