"""What an intruder would try from inside a container: `python -m tests.containers.probes NAME [ARGUMENT ...]`.

Each probe tries one thing and prints one line: `done: ...` when it got through, `refused: ...` with what stopped it.
Probes are bounded in time, bytes and processes, and speak only to addresses that the suite hands to them. Whether an
outcome is right is decided by `tests/containers/attacks.py`, which also runs every probe where nothing protects.
"""

import errno
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

MIB = 1 << 20
CONNECT_S = 3.0  # a refused or dropped connection on one machine shows at once
FORK_TRIES = 300
SETUID_PROGRAM = "/usr/bin/su"  # in every Debian image, owned by root, setuid


def name_of(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, type(error).__name__)


def write(*paths: str) -> str:
    """Create a file in each folder given; one success is a success."""
    refused = set()
    for folder in paths:
        target = Path(folder) / "intruder"
        try:
            target.write_text("was here")
        except OSError as error:
            refused.add(name_of(error))
        else:
            target.unlink()
            return f"done: wrote {target}"
    return f"refused: {' '.join(sorted(refused))}"


def overwrite(*paths: str) -> str:
    """Open existing files for writing, without changing a byte."""
    refused = set()
    for path in paths:
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError as error:
            refused.add(name_of(error))
        else:
            return f"done: opened {path} for writing"
    return f"refused: {' '.join(sorted(refused))}"


def fill(folder: str, limit_mib: str) -> str:
    """Write zeros into a folder until it is full, or past the limit it should have."""
    target, written = Path(folder) / "filler", 0
    try:
        with target.open("wb", buffering=0) as file:
            while written <= int(limit_mib) + 16:
                file.write(bytes(MIB))
                written += 1
    except OSError as error:
        return f"refused: {name_of(error)} after {written} MiB"
    finally:
        target.unlink(missing_ok=True)
    return f"done: wrote {written} MiB"


def execute(folder: str) -> str:
    """Bring a program along and start it."""
    program = Path(folder) / "program"
    try:
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
        subprocess.run([program], check=True)
    except OSError as error:
        return f"refused: {name_of(error)}"
    finally:
        program.unlink(missing_ok=True)
    return "done: ran a program of its own"


def connect(*addresses: str) -> str:
    """Open a TCP connection to each HOST:PORT."""
    refused = set()
    for address in addresses:
        host, port = address.rsplit(":", 1)
        try:
            socket.create_connection((host, int(port)), CONNECT_S).close()
        except OSError as error:
            refused.add("timeout" if isinstance(error, TimeoutError) else name_of(error))
        else:
            return f"done: connected to {address}"
    return f"refused: {' '.join(sorted(refused))}"


def datagram(text: str, *addresses: str) -> str:
    """Send a UDP datagram to each HOST:PORT; the listeners send it back, and the suite sees what arrived."""
    refused = set()
    for address in addresses:
        host, port = address.rsplit(":", 1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.settimeout(CONNECT_S)
            try:
                sender.sendto(text.encode(), (host, int(port)))
                sender.recv(len(text))
            except OSError as error:
                refused.add("timeout" if isinstance(error, TimeoutError) else name_of(error))
            else:
                return f"done: {address} answered"
    return f"refused: {' '.join(sorted(refused))}"


def look_up(name: str) -> str:
    """Send a name query by the container's own resolver; the suite's resolver sees whether it got out."""
    try:
        found = socket.gethostbyname(name)
    except OSError as error:
        return f"refused: {error}"
    return f"done: {name} is {found}"


def setuid() -> str:
    """Start a setuid root program and look at the ids it really got."""
    with subprocess.Popen([SETUID_PROGRAM], stdin=subprocess.PIPE, stdout=-3, stderr=-3) as program:
        try:
            status = _status(program.pid)
            end = time.monotonic() + CONNECT_S
            while status["Name"] != Path(SETUID_PROGRAM).name and time.monotonic() < end:
                time.sleep(0.01)
                status = _status(program.pid)
        finally:
            program.kill()
    effective = status["Uid"].split()[1]
    return "done: runs as root" if effective == "0" else f"refused: still runs as its caller, uid {effective}"


def _status(pid: int | str) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: value.strip() for key, value in (line.split(":", 1) for line in lines)}


def capability() -> str:
    """Use one capability after another; and read what the kernel says is left of them."""
    tries: dict[str, Callable[[], object]] = {
        "chown": lambda: os.chown(_own_file(), 0, 0),
        "setuid": lambda: os.setuid(os.getuid() + 1),
        "raw socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close(),
        "chroot": lambda: os.chroot("/tmp"),
        "mknod": lambda: os.mknod("/tmp/device", 0o20600, os.makedev(1, 3)),
    }
    for name, attempt in tries.items():
        try:
            attempt()
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EACCES):
                raise
        else:
            return f"done: {name}"
    status = _status("self")
    left = ", ".join(f"{name} {int(status[name], 16)}" for name in ("CapBnd", "CapEff", "NoNewPrivs"))
    return f"refused: EPERM, {left}"


def _own_file() -> str:
    path = Path("/tmp/mine")
    path.touch()
    return str(path)


def fork() -> str:
    """Start children until the kernel says no."""
    children: list[int] = []
    try:
        while len(children) < FORK_TRIES:
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            children.append(pid)
    except OSError as error:
        return f"refused: {name_of(error)} after {len(children)} processes"
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            os.waitpid(pid, 0)
    return f"done: started {len(children)} processes"


def allocate(mib: str) -> str:
    """Take memory and use every page of it; the kernel ends the process that goes too far."""
    blocks = []
    for _ in range(int(mib) // 16):
        blocks.append(b"\1" * (16 * MIB))
    return f"done: used {len(blocks) * 16} MiB"


def write_database(path: str) -> str:
    """Change a row through the connection that the agent is given."""
    from src.tools import readonly

    return _change(readonly(path))


def write_database_plainly(path: str) -> str:
    """The same change through an ordinary connection: what the first one protects from."""
    return _change(sqlite3.connect(path))


def _change(db: sqlite3.Connection) -> str:
    try:
        db.execute("UPDATE products SET stock = stock")
        db.commit()
    except sqlite3.OperationalError as error:
        return f"refused: {error}"
    finally:
        db.close()
    return "done: changed a row"


def read(*paths: str) -> str:
    """Open files or sockets that hold secrets or give power over the host."""
    there = [path for path in paths if os.path.lexists(path)]
    return f"done: {there[0]} is there" if there else "refused: ENOENT"


PROBES: dict[str, Callable[..., str]] = {
    probe.__name__: probe
    for probe in (
        write,
        overwrite,
        fill,
        execute,
        connect,
        datagram,
        look_up,
        setuid,
        capability,
        fork,
        allocate,
        write_database,
        write_database_plainly,
        read,
    )
}

if __name__ == "__main__":
    print(PROBES[sys.argv[1]](*sys.argv[2:]), flush=True)
