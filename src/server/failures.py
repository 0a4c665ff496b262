"""What went wrong with an exchange, in words that a person can act on, and on which side.

The libraries' own texts carry object addresses and whole URLs, and sound alike for a server that is gone and a program
that has run out of descriptors. Nothing here opens a connection.
"""

import errno
import http.client
import os
import socket
import ssl

import urllib3

from src.base.errors import Precondition
from src.base.printable import excerpt
from src.server.reply import TransportFailure


class Unreachable(TransportFailure):
    """Nothing listens there, or the machine cannot be found."""


class UnknownHost(Unreachable):
    """The host name cannot be resolved."""


class TooSlow(TransportFailure):
    """The server took the request and did not answer in time."""


class Untrusted(TransportFailure):
    """The encrypted connection could not be made; trying again changes nothing."""


class Ours(Precondition):
    """The exchange failed on this machine; the server had no part in it, and no question is lost."""


# The operating system's reasons that are on our side, each with its remedy.
LOCAL = {
    errno.EMFILE: "this program may open no more files; raise the limit (ulimit -n), or start anew with fewer --jobs",
    errno.ENFILE: "this machine has no more files to open; end other programs",
    errno.ENOMEM: "this machine has no memory left for a connection; end other programs",
    errno.ENOBUFS: "this machine has no memory left for a connection; end other programs",
    errno.ENETUNREACH: "this machine has no route there; look at its network and LLM_BASE_URL",
    errno.ENETDOWN: "this machine's network is down",
    errno.EADDRNOTAVAIL: "this machine has no address or port of its own left for that; look at LLM_BASE_URL",
    errno.EAFNOSUPPORT: "this machine does not speak that kind of address; look at LLM_BASE_URL",
    errno.EACCES: "this machine does not allow the connection; look at its firewall",
    errno.EPERM: "this machine does not allow the connection; look at its firewall",
}
OFF = {errno.EHOSTUNREACH, errno.EHOSTDOWN}  # that machine does not answer its neighbours
TIMEOUTS = (TimeoutError, urllib3.exceptions.ReadTimeoutError)
TOO_SLOW = "no complete reply within"
UNREADABLE = (AttributeError, LookupError, TypeError)  # what the libraries' own reading of a broken header ends with
NO_THREAD = "can't start new thread"  # the words of Python's RuntimeError, which has no number
AUTHORITY = "; for a private authority set SSL_CERT_FILE to a file with its certificate"


def named(exc: BaseException, connect_s: float, reply_s: float) -> TransportFailure:
    """Return the failure that a library's `exc` stands for; the seconds are the limits that applied.

    Raises `Ours` when the reason is on this machine.
    """
    chain = [exc]
    while (inner := chain[-1].__cause__ or chain[-1].__context__ or _wrapped(chain[-1])) and inner not in chain:
        chain.append(inner)
    _raise_ours(chain)
    for link in chain:
        if isinstance(link, ssl.SSLCertVerificationError):
            return Untrusted(f"its certificate does not verify: {excerpt(link.verify_message)}{AUTHORITY}")
        if isinstance(link, OSError) and link.errno in OFF:
            return Unreachable(f"no connection: {link.strerror}")
    for kinds, failure in (
        (urllib3.exceptions.NameResolutionError, UnknownHost("the host name is unknown")),
        (ssl.SSLError, Untrusted("no encrypted connection: is LLM_BASE_URL rather http:// there?")),
        (ConnectionRefusedError, Unreachable("connection refused")),
        (urllib3.exceptions.ConnectTimeoutError, Unreachable(f"no connection within {connect_s:g} s")),
        (TIMEOUTS, TooSlow(f"{TOO_SLOW} {reply_s:g} s")),
        (http.client.RemoteDisconnected, TransportFailure("the server closed the connection without a reply")),
        (ConnectionResetError, TransportFailure("connection reset")),
        (http.client.BadStatusLine, TransportFailure("the reply is not HTTP")),
        (http.client.IncompleteRead, TransportFailure("the reply was cut short")),
        (UNREADABLE, TransportFailure("the reply's headers cannot be read")),
    ):
        if any(isinstance(link, kinds) for link in chain):
            return failure
    return TransportFailure(excerpt(f"{type(chain[-1]).__name__}: {chain[-1]}"))


def _raise_ours(chain: list[BaseException]) -> None:
    for link in chain:
        if isinstance(link, RuntimeError) and str(link) == NO_THREAD:
            raise Ours(
                "this program may start no more threads; raise the limit (ulimit -u), or start anew with fewer --jobs"
            )
        # Subtle: a TLS error is an OSError whose number counts something else, and 1 is EPERM.
        number = link.errno if isinstance(link, OSError) and not isinstance(link, ssl.SSLError) else None
        if isinstance(link, socket.gaierror):  # its numbers are others, and it does not tell what it lacked
            number = _no_descriptor()
        if number in LOCAL:
            raise Ours(f"the model server was not asked: {LOCAL[number]}")


def _no_descriptor() -> int | None:
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as exc:
        return exc.errno
    return None


def _wrapped(exc: BaseException) -> BaseException | None:
    """The exception that requests and urllib3 hand over as an argument or a `reason` rather than as a cause."""
    candidates = [getattr(exc, "reason", None), *exc.args]
    return next((found for found in candidates if isinstance(found, BaseException)), None)
