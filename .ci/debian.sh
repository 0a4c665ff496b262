# shellcheck shell=sh
# What this machine knows about Debian's archive and Python's index, read when it runs: nothing here names a host, an
# index or a certificate. Sourced by engine.sh and pythons.sh.

# The first archive of the machine's own apt sources, in either of apt's two formats.
archive() {
    sed -n -e 's/^URIs:[[:space:]]*\([^[:space:]]*\).*/\1/p' \
        -e 's/^deb[[:space:]]\(\[[^]]*\][[:space:]]*\)\{0,1\}\([^[:space:]]*\)[[:space:]].*/\2/p' \
        /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -n 1
}

# The pip settings of another root file system on this machine: its certificates, its index and its proxy.
pip_settings() {
    echo '[global]'
    echo 'cert = /etc/ssl/certs/ca-certificates.crt'
    for key in index-url extra-index-url trusted-host proxy; do
        # only addresses: a file:// index or a constraint file of this machine is not there in another root
        value=$(python3 -m pip config get "global.$key" 2>/dev/null | grep -v 'file:' || true)
        [ -z "$value" ] || echo "$key = $value"
    done
}
