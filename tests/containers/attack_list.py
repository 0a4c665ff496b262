"""The attacks, as data: where each runs, what its probe is told, and what must stop it.

Words in braces are filled in by `tests/containers/attacks.py` with what the suite has put up on this machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

APP_FOLDERS = (
    "/",
    "/app",
    "/app/src",
    "/app/data",
    "/app/configs",
    "/app/tests",
    "/etc",
    "/opt/venv",
    "/usr",
    "/var/tmp",
)
APP_FILES = ("/app/src/tools.py", "/app/data/products.json", "/app/configs/models.lock.json", "/opt/venv/pyvenv.cfg")
SECRETS = ("/var/run/docker.sock", "/run/docker.sock", "/app/.env", "/app/.git")

# Outcomes of a probe when the protection holds.
READ_ONLY = "^refused: EROFS$"
READ_ONLY_FILES = "^refused: (EACCES )?EROFS$"  # EACCES alone would be the doing of the files' owner, not of the mount
FULL = "^refused: ENOSPC after 6[0-4] MiB$"
NO_EXEC = "^refused: EACCES$"
SAME_USER = "^refused: still runs as its caller, uid [1-9]"
NO_CAPABILITY = "^refused: EPERM, CapBnd 0, CapEff 0, NoNewPrivs 1$"
MANY = "^refused: EAGAIN after 2[0-9][0-9] processes$"
TOO_MANY = "^refused: EAGAIN after [1-6]?[0-9] processes$"
KILLED = "^refused: killed, status 137$"
NO_WAY = "^refused: [A-Za-z ]+$"
NOTHING_ARRIVED = "^refused: .*; nothing arrived$"
NO_ROUTE = "^refused: the host has no route"
NOT_THERE = "^refused: ENOENT$"
READ_ONLY_DATABASE = "^refused: attempt to write a readonly database$"

# docker run options of the control, the same image without protection.
AS_ROOT = ("--user", "0:0")
AS_NOBODY_SPECIAL = ("--user", "10001:10001")
ON_OTHER_NETWORK = ("--network", "{other_network}")
ON_INTERNAL_NETWORK = ("--network", "{internal_network}")
AS_OWNER = ("--user", "{owner}")  # whoever owns the files: only the mount stands in the way
ON_INSIDE = ("--network", "{inside_network}")


@dataclass(frozen=True)
class Attack:
    """One attempt; `stopped` is the pattern of its outcome when `protection` holds."""

    service: str
    name: str
    probe: tuple[str, ...]
    protection: str
    stopped: str
    control: tuple[str, ...] = AS_ROOT
    run_options: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)  # in place of .env, in a container of its own


OUT = ("connect", "{other}", "{host}", "{gateway}")
SMALL = {"R3_SERVER_MEMORY": "256m"}  # the default, 12 GiB, is more than a test may take

ATTACKS = [
    Attack("app", "write outside outputs/ and /tmp", ("write", *APP_FOLDERS), "read_only, mounts :ro", READ_ONLY),
    Attack("app", "the same as root", ("write", *APP_FOLDERS), "read_only, mounts :ro", READ_ONLY, AS_ROOT, AS_ROOT),
    Attack(
        "app",
        "change sources, data, packages",
        ("overwrite", *APP_FILES),
        "read_only, mounts :ro",
        READ_ONLY_FILES,
        AS_ROOT,
        AS_OWNER,
    ),
    Attack("app", "fill /tmp", ("fill", "/tmp", "64"), "tmpfs of 64 MiB", FULL),
    Attack("app", "run a program brought along", ("execute", "/tmp"), "tmpfs noexec", NO_EXEC),
    Attack("app", "gain root by a setuid program", ("setuid",), "no-new-privileges", SAME_USER, AS_NOBODY_SPECIAL),
    Attack("app", "use a capability", ("capability",), "cap_drop: ALL", NO_CAPABILITY),
    Attack("app", "fork without end", ("fork",), "pids_limit: 256", MANY),
    Attack("app", "take 1 GiB of memory", ("allocate", "1024"), "mem_limit: 512m, no swap", KILLED),
    Attack("app", "reach another network", ("connect", "{other}"), "networks kept apart", NO_WAY, ON_OTHER_NETWORK),
    Attack(
        "app",
        "reach a service of the host",
        ("connect", "{host}", "{gateway}"),
        "internal, bridge without address",
        NO_WAY,
        ON_OTHER_NETWORK,
    ),
    Attack(
        "app",
        "send a datagram to the host",
        ("datagram", "app-{tag}", "{host_udp}", "{gateway_udp}"),
        "internal, bridge without address",
        NOTHING_ARRIVED,
        ON_OTHER_NETWORK,
    ),
    Attack(
        "app",
        "send a name query out",
        ("look_up", "app-{tag}.attack.test"),
        "dns: [127.0.0.1]",
        NOTHING_ARRIVED,
        ON_INTERNAL_NETWORK,
    ),
    Attack(
        "app",
        "find .env or the engine's socket",
        ("read", *SECRETS),
        "not mounted",
        NOT_THERE,
        ("-v", "{env}:/app/.env:ro"),
    ),
    Attack(
        "app", "write to the agent's database", ("write_database", "{database}"), "SQLite mode=ro", READ_ONLY_DATABASE
    ),
    Attack("server-cpu", "change the model", ("overwrite", "{model}"), "models mounted :ro", READ_ONLY_FILES),
    Attack("server-cpu", "write anywhere", ("write", "/models", "/app", "/"), "read_only, mounts :ro", READ_ONLY),
    Attack("server-cpu", "fill /tmp", ("fill", "/tmp", "64"), "tmpfs of 64 MiB", FULL),
    Attack("server-cpu", "run a program brought along", ("execute", "/tmp"), "tmpfs noexec", NO_EXEC),
    Attack(
        "server-cpu", "gain root by a setuid program", ("setuid",), "no-new-privileges", SAME_USER, AS_NOBODY_SPECIAL
    ),
    Attack("server-cpu", "use a capability", ("capability",), "cap_drop: ALL", NO_CAPABILITY),
    Attack("server-cpu", "fork without end", ("fork",), "pids_limit: 256", MANY),
    Attack(
        "server-cpu",
        "take 512 MiB where the bound is 256",
        ("allocate", "512"),
        "mem_limit by R3_SERVER_MEMORY, no swap",
        KILLED,
        settings=SMALL,
    ),
    Attack(
        "server-cpu",
        "send a datagram to the host",
        ("datagram", "server-{tag}", "{host_udp}", "{gateway_udp}"),
        "internal, bridge without address",
        NOTHING_ARRIVED,
        ON_OTHER_NETWORK,
    ),
    Attack(
        "server-cpu",
        "send a name query out",
        ("look_up", "server-{tag}.attack.test"),
        "dns: [127.0.0.1]",
        NOTHING_ARRIVED,
        ON_INTERNAL_NETWORK,
    ),
    Attack("server-cpu", "reach another network or the host", OUT, "internal network", NO_WAY, ON_OTHER_NETWORK),
    Attack(
        "the host",
        "reach the model server",
        ("connect", "{server}"),
        "no published port, no address",
        NO_ROUTE,
    ),
    Attack("fetch", "write outside models/", ("write", *APP_FOLDERS), "read_only", READ_ONLY),
    Attack(
        "fetch",
        "change sources or pins",
        ("overwrite", *APP_FILES[:3]),
        "read_only",
        READ_ONLY_FILES,
        AS_ROOT,
        AS_OWNER,
    ),
    Attack("fetch", "run a program brought along", ("execute", "/tmp"), "tmpfs noexec", NO_EXEC),
    Attack("fetch", "fork without end", ("fork",), "pids_limit: 64", TOO_MANY),
    Attack("fetch", "take 2 GiB of memory", ("allocate", "2048"), "mem_limit: 1g, no swap", KILLED),
    Attack(
        "fetch",
        "reach the model server",
        ("connect", "{server}"),
        "not on its network",
        f"{NO_WAY}|{NO_ROUTE}",
        ON_INSIDE,
    ),
    Attack("fetch", "gain root by a setuid program", ("setuid",), "no-new-privileges", SAME_USER, AS_NOBODY_SPECIAL),
    Attack("fetch", "use a capability", ("capability",), "cap_drop: ALL", NO_CAPABILITY),
]
