"""Precautions that a file system may lack: locks, forced writes, a count of free bytes.

A network share, FUSE or an old kernel may refuse each of them. No result depends on them, so a refusal is
noted, or ignored, and the work goes on; a disk that is full or broken still ends it.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from src.base.errors import Precondition

# What a file system answers to an operation that it does not support.
LACKING = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}


@contextmanager
def exclusive(folder: Path, taken: str, note: Callable[[str], object]) -> Iterator[None]:
    """Hold a folder for one process at a time while the block runs; the lock ends with the process, however that ends.

    Raises `Precondition` with the words `taken` when another process holds it; `note` is told where there are no locks.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)  # the folder itself: no lock file to leave behind
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Precondition(taken) from None
        except OSError as exc:
            note(f"note: {folder} cannot be locked ({exc.strerror}); start nothing else that writes there")
        yield
    finally:
        os.close(handle)


def sync(handle: int) -> None:
    """Force an open file or folder to the disk, where the file system can."""
    try:
        os.fsync(handle)
    except OSError as exc:
        if exc.errno not in LACKING:
            raise


def sync_folder(folder: Path) -> None:
    """Force the folder's entries to the disk: until then a power cut may bring back the old name."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync(handle)
    finally:
        os.close(handle)


def free(folder: Path) -> float:
    """Return the bytes free, infinity where the file system does not count them; a FUSE one may say 0 of 0."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return float("inf")
    return usage.free if usage.total else float("inf")
