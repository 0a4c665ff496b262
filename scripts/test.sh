#!/bin/sh
# All tests that need no container engine (those are .ci/containers.sh's): sh scripts/test.sh [options and paths of pytest for the larger suites]
# Makes what it needs: a virtual environment, the hash-locked packages, the embedded model. Can be run again.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/venv.sh
. scripts/venv.sh

BESIDE="tests/embedded tests/docs tests/hostile tests/layers tests/properties" # about half of the time

find_python
say "the 14 public tests, as in the tutorial, before anything is installed"
"$python" -m unittest discover -s tests -v
make_venv
install configs/dev.lock
fetch_model
say "the larger suites: command line, embedded server on the real model, and the rest"
[ $# -eq 0 ] || exec "$python" -m pytest "$@"

log=$(mktemp)
# shellcheck disable=SC2086 # a list of folders
"$python" -m pytest $BESIDE >"$log" 2>&1 &
beside=$!
# "|| true": under set -e a failing command of this trap, kill on a process that has ended, would become the script's status
trap 'kill "$beside" 2>/dev/null || true; rm -f "$log"' EXIT
trap 'exit 1' INT TERM
others=0 these=0
# shellcheck disable=SC2046,SC2086 # a list of options
"$python" -m pytest --ignore=tests/containers $(printf -- '--ignore=%s ' $BESIDE) || others=$?
say "the suites that ran beside these: $BESIDE"
wait "$beside" || these=$?
cat "$log"
if [ "$others" -ne 0 ] || [ "$these" -ne 0 ]; then
    fail "a suite failed (status $others and $these), see above"
fi
