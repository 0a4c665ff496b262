"""The connections under `client`: each leaves a handle by which a deadline can cut it, and reads chunks strictly.

It uses internals of urllib3 and `http.client`; the fault suite fails when an upgrade changes
them. Nothing here knows what is asked.
"""

import http.client
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import urllib3
from requests.adapters import HTTPAdapter

from src.base import certificates


class _Reply(http.client.HTTPResponse):
    """The last reply of its connection; a chunk of negative size is refused.

    The library would read such a chunk to the end of the connection, whatever the limit.
    """

    def begin(self) -> None:
        super().begin()
        self.will_close = True  # whatever the server says: nothing after this reply is ever read as the next one
        for name in ("Set-Cookie", "Set-Cookie2"):  # never sent back; a broken one makes the library print a traceback
            del self.headers[name]

    def _safe_read(self, amt: int) -> bytes:
        if amt < 0:
            raise http.client.IncompleteRead(b"")
        return super()._safe_read(amt)  # type: ignore[misc, no-any-return]  # private, and the same since Python 2


@contextmanager
def _going_to(link: urllib3.connection.HTTPConnection, address: str | None) -> Iterator[None]:
    """Let a connection that is being made go to this address and keep its name."""
    named = link._dns_host
    link._dns_host = address or named
    try:
        yield
    finally:
        link._dns_host = named


def adapter(
    live: list[Any], expired: Callable[[], bool], authorities: Sequence[str] = (), address: str | None = None
) -> HTTPAdapter:
    """An adapter whose connections leave their socket in `live`, for the deadline to shut.

    `expired` says whether the deadline has already passed: looking up a host name can take longer than the whole time,
    and until then there is no socket to shut. Certificates of `authorities` are trusted besides the usual ones.
    With `address` connections go there, whatever addresses the server's name has; the request and TLS keep the name.
    """

    def noted(sock: socket.socket) -> socket.socket:
        """Leave a second handle of a new connection in `live`; TLS takes over the first before its handshake."""
        while live:
            live.pop().close()
        live.append(sock.dup())
        if expired():  # checked once the handle is there, so that one of the two sides always sees the other
            sock.close()
            raise TimeoutError
        return sock

    class Plain(urllib3.connection.HTTPConnection):
        response_class = _Reply

        def _new_conn(self) -> socket.socket:
            with _going_to(self, address):
                return noted(super()._new_conn())

    class Secure(urllib3.connection.HTTPSConnection):
        response_class = _Reply

        def _new_conn(self) -> socket.socket:
            with _going_to(self, address):
                return noted(super()._new_conn())

    plain = type("PlainPool", (urllib3.HTTPConnectionPool,), {"ConnectionCls": Plain})
    secure = type("SecurePool", (urllib3.HTTPSConnectionPool,), {"ConnectionCls": Secure})
    made = HTTPAdapter(pool_connections=1, pool_maxsize=1, max_retries=0)
    if authorities:
        made.poolmanager.connection_pool_kw["ssl_context"] = certificates.context(authorities)
    made.poolmanager.pool_classes_by_scheme = {"http": plain, "https": secure}
    return made
