#!/bin/sh
# The whole R3 route on this machine, without a GPU or Docker: sh scripts/quickstart.sh [options of reproduce]
# Needs Python 3.11 or newer and, the first time, a network. Can be run again: it only does what is missing.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/venv.sh
. scripts/venv.sh

find_python
case " $* " in
*" --help "* | *" -h "*) exec "$python" -m src.cli reproduce "$@" ;;
*" --resume "*) ;;
*) "$python" -m src.cli reproduce --opening "$@" ;; # needs no package, and finds a wrong option before a download
esac
make_venv
install configs/embedded.lock
fetch_model
exec "$python" -m src.cli --embedded reproduce "$@"
