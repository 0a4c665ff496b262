"""A name server for the attack suite: writes every name it is asked for to a file and answers that there is none.

`python tests/containers/resolver.py LOG ADDRESS` on UDP port 53 of a loopback address, which takes root. It forwards
nothing. Ends with SIGTERM, or by itself after half an hour.
"""

import socket
import sys
import time
from pathlib import Path

LIFE_S = 1800.0
NXDOMAIN = b"\x81\x83"  # response, recursion, "no such name"


def name_in(query: bytes) -> str:
    """Read the first question's name (RFC 1035, 4.1.2)."""
    labels, position = [], 12
    while position < len(query) and (length := query[position]):
        labels.append(query[position + 1 : position + 1 + length].decode("ascii", "replace"))
        position += 1 + length
    return ".".join(labels)


def main(log: Path, address: str) -> None:
    end = time.monotonic() + LIFE_S
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((address, 53))
        server.settimeout(1.0)
        log.write_text("ready\n")
        while time.monotonic() < end:
            try:
                query, client = server.recvfrom(4096)
            except TimeoutError:
                continue
            with log.open("a") as file:
                file.write(f"{name_in(query)}\n")
            server.sendto(query[:2] + NXDOMAIN + query[4:6] + bytes(6) + query[12:], client)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
