#!/bin/sh
# All tests that need no container engine: sh scripts/test.sh [options of pytest for the larger suites]
# Makes what it needs: a virtual environment, the hash-locked packages, the embedded model. Can be run again.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/venv.sh
. scripts/venv.sh

find_python
say "the 14 public tests, as in the tutorial, before anything is installed"
"$python" -m unittest discover -s tests -v
make_venv
install configs/dev.lock
fetch_model
say "the larger suites: command line, embedded server on the real model, and the rest"
exec "$python" -m pytest "$@"
