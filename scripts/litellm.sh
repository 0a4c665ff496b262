#!/bin/sh
# Four questions through a real LiteLLM proxy that asks for a key, in front of the embedded server: sh scripts/litellm.sh
#
# Shows what a gateway changes (a key, other names, no /props) and what it does not: the same questions are put to the
# server directly, and proposals, observations and answers must be the same. Needs Python 3.11 or newer and, the first
# time, a network; LiteLLM goes into .venv/litellm (650 MB). Both servers listen on the loopback only and are ended here.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/venv.sh
. scripts/venv.sh

WAIT_S=120     # for a server to start; LiteLLM reads a thousand modules
IDS='0, 1, 2, 9' # of the questions: a stock of 0, two more, a product that does not exist

unset LLM_BASE_URL LLM_MODEL LLM_API_KEY LLM_API_KEY_FILE # the caller's own server has no part in this
work=$(mktemp -d)
started=''
finish() {
    for pid in $started; do kill "$pid" 2>/dev/null || true; done
    for pid in $started; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

wrong() { # the last lines of the log $1, then what is wrong
    tail -n 5 "$1" >&2
    shift
    printf 'litellm.sh: %s\n' "$*" >&2
    exit 1
}
until_true() { # $1: the process; $2: its log; then the command
    pid=$1 log=$2 waited=0
    shift 2
    until "$@" >/dev/null 2>&1; do
        kill -0 "$pid" 2>/dev/null || wrong "$log" "it ended before it served"
        [ "$waited" -lt "$WAIT_S" ] || wrong "$log" "it did not serve within $WAIT_S s"
        sleep 1
        waited=$((waited + 1))
    done
}
answers() { # $1: an address
    .venv/bin/python -c 'import sys, urllib.request as u; u.build_opener(u.ProxyHandler({})).open(sys.argv[1], timeout=5)' "$1"
}
r3() { # $1: a folder of results; then a command
    folder=$1
    shift
    .venv/bin/python -m src.cli --outputs "$work/$folder" "$@"
}

find_python
make_venv
install configs/embedded.lock
fetch_model
if ! .venv/litellm/bin/python -c 'import pip' 2>/dev/null; then
    rm -f .venv/litellm.lock.done
    "$python" -m venv --clear .venv/litellm
fi
python=.venv/litellm/bin/python
install configs/litellm.lock

say "starting the embedded server"
.venv/bin/python -m src.server.embedded_server >"$work/server" 2>"$work/server.log" &
started=$!
until_true "$started" "$work/server.log" grep -q '"url"' "$work/server"
server=$(.venv/bin/python -c 'import json, sys; print(json.load(open(sys.argv[1]))["url"])' "$work/server")

say "starting LiteLLM before it, with a key"
(umask 077 && .venv/bin/python -c 'import secrets; print("sk-" + secrets.token_hex(16))' >"$work/key")
cat >"$work/config.yaml" <<EOF
model_list:
  - model_name: stock
    litellm_params: {model: openai/stock, api_base: "$server/v1", api_key: none}
EOF
port=$(.venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# Of its own accord it would ask the network for a list of prices and report its use.
LITELLM_MASTER_KEY=$(cat "$work/key") LITELLM_LOCAL_MODEL_COST_MAP=True LITELLM_TELEMETRY=False \
    .venv/litellm/bin/litellm --config "$work/config.yaml" --host 127.0.0.1 --port "$port" >"$work/gateway.log" 2>&1 &
gateway_pid=$!
started="$started $gateway_pid"
until_true "$gateway_pid" "$work/gateway.log" answers "http://127.0.0.1:$port/health/liveliness"
gateway=http://127.0.0.1:$port

.venv/bin/python - "$work/questions.json" <<EOF
import json, sys
data = json.load(open("data/products.json", encoding="utf-8"))
data["queries"] = [query for query in data["queries"] if query["id"] in ($IDS)]
json.dump(data, open(sys.argv[1], "w", encoding="utf-8"))
EOF
for folder in gateway direct; do r3 "$folder" prepare --data "$work/questions.json" >/dev/null; done

say "without the key"
status=0
LLM_BASE_URL=$gateway r3 gateway agent --data "$work/questions.json" 2>"$work/refused" || status=$?
cat "$work/refused"
if [ "$status" -ne 3 ] || ! grep -q 'HTTP 401 .* LLM_API_KEY' "$work/refused"; then
    wrong "$work/gateway.log" "status $status without the key; expected 3, and a line with HTTP 401 and LLM_API_KEY"
fi

say "with the key, through LiteLLM"
LLM_BASE_URL=$gateway LLM_MODEL=stock LLM_API_KEY_FILE=$work/key r3 gateway agent --data "$work/questions.json" ||
    wrong "$work/gateway.log" "agent ended with status $?"
say "the same questions, directly"
LLM_BASE_URL=$server r3 direct agent --data "$work/questions.json" || wrong "$work/server.log" "agent ended with status $?"
say "the two runs compared"
.venv/bin/python - "$work" <<EOF || wrong "$work/gateway.log" "LiteLLM changed the results, or one is wrong"
import json, sys
from pathlib import Path

from src.measures import compare

runs = [compare.load(Path(sys.argv[1], folder))[0] for folder in ("direct", "gateway")]
seen = [result["trace"][0]["observation"] for result in runs[1]["results"]]
changed = compare.changed(runs)
print(f"{len(changed)} of {len(seen)} questions changed", *changed, sep="\n")
right = [thing.get("stock") for thing in seen] == [0, 9, 69, None] and seen[3] == {"found": False}
sys.exit(bool(changed) or not right)
EOF
if grep -rqF "$(cat "$work/key")" "$work/gateway" "$work/refused"; then wrong "$work/refused" "the key was written down"; fi
say "done: LiteLLM $("$python" -c 'from importlib.metadata import version; print(version("litellm"))')"
