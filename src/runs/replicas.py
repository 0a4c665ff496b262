"""The servers behind one name: a Swarm's service, or any name with several addresses.

The client makes a connection for each exchange and thereby spreads over them. One that serves something else would mix
two models in one run, so they are compared before it begins.
"""

import socket
from urllib.parse import urlsplit

from src.base.errors import Precondition, ServerUnavailable
from src.runs import provenance
from src.runs.differences import differing, listed
from src.runs.records import Server
from src.server.client import Client
from src.server.reply import BadReply, TransportFailure


def survey(server: Client) -> Server:
    """Return what the server says about itself, all its replicas alike, and how many they are.

    Raises `ServerUnavailable` for one that does not answer, `Precondition` for one that serves something else.
    """
    addresses = _addresses(server.config.base_url)
    if len(addresses) < 2:
        return {**_asked(server, ""), "replicas": 1}
    said = {address: _asked(Client(server.config, address), f" at {address}") for address in addresses}
    most = max(said.values(), key=list(said.values()).count)
    for address, found in said.items():
        if different := differing(most, found, list({**most, **found})):
            raise Precondition(
                f"of the {len(said)} servers behind {server.config.base_url} the one at {address} is not like the "
                f"others: {listed(different)}; take it away, or let all serve the same"
            )
    return {**most, "replicas": len(said)}


def _asked(server: Client, where: str) -> Server:
    try:
        return provenance.server(server)
    except (TransportFailure, BadReply) as exc:
        raise ServerUnavailable(f"model server {server.config.base_url}{where}: {exc}; see its log") from None


def _addresses(base_url: str) -> list[str]:
    """The addresses of the server's name; of the two kinds one, since a machine with both has one of each."""
    parts = urlsplit(base_url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or parts.scheme, type=socket.SOCK_STREAM)
    except OSError:  # the exchange itself will say so
        return []
    by_kind = [[str(entry[4][0]) for entry in found if entry[0] == kind] for kind in (socket.AF_INET, socket.AF_INET6)]
    return sorted(set(by_kind[0] or by_kind[1]))
