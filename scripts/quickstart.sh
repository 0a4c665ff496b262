#!/bin/sh
# The whole R3 route on this machine, without a GPU or Docker: sh scripts/quickstart.sh [options of reproduce]
# Needs Python 3.11 or newer and, the first time, a network. Can be run again: it only does what is missing.
set -eu
from=$PWD
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
# Commands that the program prints are pasted where this script was started.
if [ "$from" != "$PWD" ]; then
    R3_PYTHON=$("$python" -c 'import os; from src.base.printable import quoted as q; print(f"cd {q(os.getcwd())} &&")')
    export R3_PYTHON="$R3_PYTHON $python"
fi
exec "$python" -m src.cli --embedded reproduce "$@"
