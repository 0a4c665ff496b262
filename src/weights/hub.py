"""Downloads one pinned file from the Hugging Face hub into a partial file, resuming from what is there.

Address, token, session and the interpretation of errors come from `huggingface_hub`. The loop is ours because
`hf_hub_download` of 2.4.0 deletes a partial file when it fails and waits for as long as a server asks.
Nothing here decides whether the bytes are correct: `fetch` checks before it renames.
"""

import os
import re
import sys
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx2
from huggingface_hub import constants, get_hf_file_metadata, get_session, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status, parse_ratelimit_headers

from src.base import environment
from src.base.errors import CheckFailed, Precondition, SourceUnavailable
from src.base.progress import Bytes
from src.weights import hub_settings
from src.weights.models import Model, ModelFile

# What the HTTP library raises for a variable; the upper-case names come first, as in its own order.
STUMBLES = (ImportError, ValueError, httpx2.InvalidURL)
PROXIES = [name for upper in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY") for name in (upper, upper.lower())]
RETRY_STATUS = {408, 429, 500, 502, 503, 504}  # temporary trouble; any other status is final
FIRST_WAIT_S = 1.0  # doubled after each failure in a row
MAX_WAIT_S = 120.0  # if a server asks for more, the command ends and says when to run it again
NEW_LIFE_BYTES = 1 << 20  # an attempt that brought this much resets the count of failures
CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"  # OpenSSL's word for it, all that the HTTP library leaves of the reason
SHA256 = re.compile("[0-9a-f]{64}")
HINTS = {
    401: "not authorised, or no such repository; the pinned ones are public: look at HF_TOKEN, HF_ENDPOINT",
    403: "forbidden; look at HF_TOKEN, HF_ENDPOINT and the proxy",
    404: "no such file at the pinned revision; look at HF_ENDPOINT",
    429: "too many requests",
}


def download(model: Model, pinned: ModelFile, part: Path, tries: int) -> None:
    """Bring `part` to the pinned size, giving up after `tries` attempts in a row with hardly any progress.

    Raises `CheckFailed` when the hub offers another file than the pinned one, `SourceUnavailable` when it
    cannot be reached, refuses or gave up, `OSError` when the disk does. What was received stays in `part`.
    """
    _connect()
    url = hf_hub_url(model.repository, pinned.name, revision=model.revision)
    failures = 0
    with Bytes(f"download {pinned.name}", pinned.size, _size(part)) as progress:
        while True:
            before = _size(part)
            try:
                _check_offer(url, model, pinned)
                return _receive(url, pinned, part, progress)
            except (httpx2.TransportError, HfHubHTTPError) as error:
                failures = 1 if _size(part) - before >= NEW_LIFE_BYTES else failures + 1
                trouble = f"{pinned.name}: {_explain(error)}"
                if not _passing(error) or failures >= tries:
                    raise SourceUnavailable(_last_words(trouble, pinned, part, url, failures)) from error
                _pause(error, trouble, failures)
            except OfflineModeIsEnabled as error:
                raise SourceUnavailable(
                    f"{pinned.name} is missing and {hub_settings.offline()} forbids the network; unset it to download"
                ) from error


def _connect() -> None:
    """Make the library's session now, so that a variable of its HTTP library can be named."""
    try:
        get_session()
    except STUMBLES as error:
        name = next((name for name in PROXIES if os.environ.get(name) and _stumbles_over(name)), "a proxy variable")
        why = "SOCKS needs a package that is not here" if isinstance(error, ImportError) else "not an address"
        raise Precondition(
            f"{name} names no proxy that can be used ({why}); give an http:// address, or unset it"
        ) from None


def _stumbles_over(name: str) -> bool:
    with environment.changed({other: None for other in PROXIES if other != name}):
        try:
            httpx2.Client().close()
        except STUMBLES:
            return True
    return False


def _check_offer(url: str, model: Model, pinned: ModelFile) -> None:
    """Refuse before the first byte when what the hub announces is not the pinned file."""
    timeout = constants.HF_HUB_ETAG_TIMEOUT
    offer = get_hf_file_metadata(url, timeout=timeout, headers=build_hf_headers())
    if offer.commit_hash is None:
        raise SourceUnavailable(
            f"{url} did not answer like a Hugging Face hub (no X-Repo-Commit header); "
            "look at HF_ENDPOINT, the proxy and the network's login page"
        )
    checks = [("revision", offer.commit_hash, model.revision), ("bytes", offer.size, pinned.size)]
    if offer.etag and SHA256.fullmatch(offer.etag):  # the ETag of a large file is its SHA-256
        checks.append(("SHA-256", offer.etag, pinned.sha256))
    for what, found, expected in checks:
        if found is not None and found != expected:
            raise CheckFailed(
                f"{pinned.name}: the hub offers another file ({what} {found}, expected {expected}); "
                "nothing was downloaded in its place"
            )


def _receive(url: str, pinned: ModelFile, part: Path, progress: Bytes) -> None:
    """Append the missing bytes to `part`; returns only when the pinned size is reached."""
    have = _size(part)
    if have == pinned.size:
        return
    headers = {**build_hf_headers(), "Accept-Encoding": "identity", "Range": f"bytes={have}-"}
    with (
        get_session().stream("GET", url, headers=headers, timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT) as reply,
        part.open("ab") as file,
    ):
        hf_raise_for_status(reply)
        if not _continues(reply, have):
            file.truncate(0)
            progress(-have)
            have = 0
        for block in reply.iter_bytes():  # as they arrive, so that an error costs no byte already received
            have += len(block)
            if have > pinned.size:
                raise CheckFailed(f"{pinned.name}: the hub sent more than the expected {pinned.size} bytes")
            file.write(block)
            progress(len(block))
    if have < pinned.size:
        raise httpx2.RemoteProtocolError(f"the reply ended at byte {have} of {pinned.size}")


def _continues(reply: httpx2.Response, have: int) -> bool:
    """Say whether the reply starts at byte `have`; a server may ignore a range and send the whole file."""
    return reply.status_code == 206 and reply.headers.get("Content-Range", "").startswith(f"bytes {have}-")


def _passing(error: httpx2.TransportError | HfHubHTTPError) -> bool:
    """Say whether trying again can help."""
    if isinstance(error, HfHubHTTPError):
        return error.response.status_code in RETRY_STATUS
    return not (isinstance(error, httpx2.UnsupportedProtocol) or CERTIFICATE in str(error))


def _explain(error: httpx2.TransportError | HfHubHTTPError) -> str:
    """Describe the failure in a few words on one line."""
    if isinstance(error, httpx2.TimeoutException):
        return f"no answer in time ({type(error).__name__}; seconds: HF_HUB_DOWNLOAD_TIMEOUT)"
    if CERTIFICATE in str(error):
        return (
            "its certificate does not verify; for a private authority set SSL_CERT_FILE to a file with its certificate"
        )
    if not isinstance(error, HfHubHTTPError):
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    status = error.response.status_code
    return f"HTTP {status} ({HINTS.get(status, error.response.reason_phrase)})"


def _pause(error: httpx2.TransportError | HfHubHTTPError, trouble: str, failures: int) -> None:
    """Wait as long as the server asks, else a doubling time; never longer than `MAX_WAIT_S`."""
    wait = min(FIRST_WAIT_S * 2 ** (failures - 1), MAX_WAIT_S)
    if isinstance(error, HfHubHTTPError) and (asked := _asked_wait(error.response)) is not None:
        if asked > MAX_WAIT_S:
            raise SourceUnavailable(
                f"{trouble}; the hub asks to wait {asked:.0f} s, more than the {MAX_WAIT_S:.0f} s "
                "this command waits: run it again then and it resumes"
            ) from error
        wait = max(asked, wait)
    print(f"{trouble}; trying again in {wait:.0f} s", file=sys.stderr, flush=True)
    time.sleep(wait)


def _asked_wait(reply: httpx2.Response) -> float | None:
    """Read `Retry-After` (RFC 9110: seconds or a date) or the hub's rate-limit header, in seconds."""
    limit = parse_ratelimit_headers(reply.headers)
    if reply.status_code == 429 and limit is not None and limit.remaining == 0:
        return float(limit.reset_in_seconds)
    text = reply.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max((parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return None


def _last_words(trouble: str, pinned: ModelFile, part: Path, url: str, failures: int) -> str:
    """Say what failed, how often, where, and what was kept."""
    often = f", {failures} times in a row" if failures > 1 else ""
    have = _size(part)
    kept = f"{have} of {pinned.size} bytes are kept in {part.name}; run the same command again to resume"
    return f"{trouble}{often}, at {url}; {kept if have else 'nothing was received'}"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
