#!/bin/sh
# The whole R3 route on this machine, without a GPU or Docker: sh scripts/quickstart.sh [options of reproduce]
# Needs Python 3.11 or newer and, the first time, a network. Can be run again: it only does what is missing.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/venv.sh
. scripts/venv.sh

find_python
make_venv
install configs/embedded.lock
fetch_model
say "running the route: prepare, 30 questions, refusals, measures (2 to 5 minutes on two cores)"
exec "$python" -m src.cli --embedded reproduce "$@"
