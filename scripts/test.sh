#!/bin/sh
# The tests that need no container engine: sh scripts/test.sh [--all] [options and paths of pytest]
#
# Without --all: the 14 public tests, then everything quick and a few of each slow kind. With --all: everything.
# Makes what it needs: a virtual environment, the hash-locked packages, the embedded model. Can be run again.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/venv.sh
. scripts/venv.sh
unset PYTHONDONTWRITEBYTECODE

depth=--quick
if [ "${1:-}" = --all ]; then
    depth=
    shift
fi

find_python
say "the 14 public tests, as in the tutorial, before anything is installed"
"$python" -m unittest discover -s tests -v
make_venv
install configs/dev.lock
fetch_model
"$python" -m compileall -q src # else each of hundreds of processes compiles what it imports: they write none
if [ -n "$depth" ]; then
    say "the larger suites without the slowest tests (everything: sh scripts/test.sh --all)"
else
    say "the larger suites, everything"
fi
# exec: pytest itself gets the signals, and ends its workers and what they started. The engine's suite is .ci/containers.sh's.
# shellcheck disable=SC2086 # one word or none
exec "$python" -m pytest -q --suites $depth --numprocesses auto --dist worksteal --ignore=tests/containers "$@"
