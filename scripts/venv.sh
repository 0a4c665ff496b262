# shellcheck shell=sh
# Shared by quickstart.sh and test.sh, which source it from the project root: an interpreter, a virtual environment,
# packages from a hash-locked file. Prints what it does; each failure ends the script with one line and a remedy.

unset PYTHONSAFEPATH # it would hide the project from its own Python: the current folder is the project's by now
NEEDED_MIB=600 # packages take about 350, the model and its download 200

say() { printf '== %s\n' "$*" >&2; }
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 2
}

# Set $python to an interpreter of version 3.11 or newer: $PYTHON if given, else the first that fits.
find_python() {
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
        python=$(command -v "$candidate" 2>/dev/null) || continue
        "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return
    done
    found=$("${PYTHON:-python3}" --version 2>&1) || found="no Python"
    fail "Python 3.11 or newer is needed, found $found; install one and name it: PYTHON=/path/to/python3.11 sh $0"
}

# Make .venv unless there is a working one.
make_venv() {
    if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
        free=$(df -Pm . | awk 'NR == 2 { print $4 }')
        [ "$free" -ge "$NEEDED_MIB" ] || fail "this disk has $free MiB free, $NEEDED_MIB are needed; free some space"
        say "making a virtual environment in .venv with $("$python" --version)"
        "$python" -m venv --clear .venv >/dev/null ||
            fail "$python cannot make a virtual environment; on Debian and Ubuntu install python3-venv, then run this again"
    fi
    python=.venv/bin/python
    # So that the environment's Python finds the project from any folder, and where PYTHONSAFEPATH hides the current one.
    for site in .venv/lib/python3.*/site-packages; do
        [ ! -d "$site" ] || echo ../../../.. >"$site/stock-assistant.pth"
    done
}

# Install the packages of a lock file; does nothing if the same file was installed before.
install() {
    stamp=.venv/$(basename "$1").done
    cmp -s "$1" "$stamp" && return
    say "installing the packages of $1 (checked by hash)"
    log=.venv/pip.log
    # Settings for another place than .venv do not apply here.
    if ! (unset PIP_TARGET PIP_PREFIX PIP_ROOT && PIP_USER=0 "$python" -m pip install --disable-pip-version-check \
        --require-hashes -r "$1" >"$log" 2>&1); then
        if grep -q 'No space left on device' "$log"; then
            fail "the disk is full; free some space and run this again"
        fi
        reason=$(grep '^ERROR' "$log" | tail -n 1)
        if grep -qE 'connection broken|Could not fetch URL|ProxyError' "$log"; then
            remedy="check the network, then run this again"
        elif grep -q 'No matching distribution' "$log"; then
            remedy="check the network, then run this again; where it is fine, the index has no wheel for this Python and system"
        else
            remedy="do what it says, then run this again"
        fi
        fail "the packages could not be installed (${reason:-see $log}); $remedy; details in $log"
    fi
    cp "$1" "$stamp"
}

# Fetch the model of the embedded server; needs no network if it is there and correct.
fetch_model() {
    say "checking the embedded model, or fetching it (98 MB)"
    "$python" scripts/fetch_model.py --model embedded >/dev/null || exit
}
