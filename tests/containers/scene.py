"""The engine's commands, and what the attacks aim at: networks, listeners and a copy of the database, all made here.

Everything lies on this machine and is removed again. Nothing is attacked here.
"""

import functools
import ipaddress
import json
import os
import secrets
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUTPUTS = ROOT / "outputs"
SCRATCH = OUTPUTS / "attack-scratch"
COMMAND_S = 120
LISTENER_PORT = 8099


def docker(*args: str, settings: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a docker command in the project's folder; `settings` stand before those of .env."""
    env = {**os.environ, **(settings or {})}
    return subprocess.run(["docker", *args], cwd=ROOT, env=env, capture_output=True, text=True, timeout=COMMAND_S)


def must(*args: str) -> str:
    """Run a docker command that has to succeed; returns what it printed."""
    done = docker(*args)
    if done.returncode:
        raise RuntimeError(f"docker {' '.join(args)}: {done.stderr.strip()}")
    return done.stdout.strip()


@functools.cache
def project() -> str:
    """The name compose gives to this copy of the project, and to its images and networks."""
    return str(json.loads(must("compose", "config", "--format", "json"))["name"])


def image(service: str = "app") -> str:
    """The image that compose built for a service; the project's name is in it, so that copies never share one."""
    return f"{project()}-{service}"


class Scene:
    """What the attacks aim at, all of it made by the suite on this machine and removed again."""

    def __init__(self) -> None:
        self.words: dict[str, str] = {}
        self.arrived: set[str] = set()  # texts of the datagrams that reached this machine

    def fill_in(self, parts: tuple[str, ...]) -> list[str]:
        return [part.format(**self.words) for part in parts]

    @contextmanager
    def ready(self) -> Iterator["Scene"]:
        tag = secrets.token_hex(4)
        with ExitStack() as stack:
            other = stack.enter_context(network(f"r3-attack-{tag}"))
            internal = stack.enter_context(network(f"r3-attack-{tag}-internal", "--internal"))
            listener = stack.enter_context(listening_container(other))
            port = stack.enter_context(listening_on_host())
            echo = stack.enter_context(echoing_on_host(self.arrived))
            server = must("compose", "ps", "--quiet", "server-cpu")
            inside = next(iter(json.loads(must("inspect", server))[0]["NetworkSettings"]["Networks"].items()))
            host, gateway = gateway_of(other), gateway_of(inside[0])
            SCRATCH.mkdir(exist_ok=True)
            stack.callback(shutil.rmtree, SCRATCH)
            shutil.copy(OUTPUTS / "stock.db", SCRATCH / "stock.db")
            self.words = {
                "other": f"{listener}:{LISTENER_PORT}",
                "other_network": other,
                "internal_network": internal,
                "inside_network": inside[0],
                "host": f"{host}:{port}",
                "gateway": f"{gateway}:{port}",
                "host_udp": f"{host}:{echo}",
                "gateway_udp": f"{gateway}:{echo}",
                "server": f"{inside[1]['IPAddress']}:8080",
                "tag": tag,
                "owner": "{0.st_uid}:{0.st_gid}".format((ROOT / "src").stat()),
                "database": f"/app/outputs/{SCRATCH.name}/stock.db",
                "model": f"/models/{model_file()}",
                "env": str(ROOT / ".env"),
            }
            yield self


@contextmanager
def network(name: str, *options: str) -> Iterator[str]:
    must("network", "create", *options, name)
    try:
        yield name
    finally:
        docker("network", "rm", name)


def gateway_of(network_name: str) -> str:
    """The host's address on a network; where the engine keeps none for it (28 and later), the first of the subnet."""
    config = json.loads(must("network", "inspect", network_name))[0]["IPAM"]["Config"][0]
    return str(config.get("Gateway") or next(ipaddress.ip_network(config["Subnet"]).hosts()))


@contextmanager
def listening_container(network_name: str) -> Iterator[str]:
    """A container that answers on the other network; yields its address."""
    serve = ("-m", "http.server", str(LISTENER_PORT), "--directory", "/app/data")
    name = must("run", "--detach", "--rm", "--network", network_name, image(), *serve)
    try:
        networks = json.loads(must("inspect", name))[0]["NetworkSettings"]["Networks"]
        yield str(networks[network_name]["IPAddress"])
    finally:
        docker("rm", "--force", name)


@contextmanager
def _answering(server: socket.socket, answer: Callable[[], object]) -> Iterator[int]:
    """Call `answer` for whatever arrives at the socket, in a thread, until the block ends; yields the port."""
    ended = threading.Event()
    server.settimeout(0.2)

    def work() -> None:
        while not ended.is_set():
            with suppress(TimeoutError):
                answer()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield int(server.getsockname()[1])
    finally:
        ended.set()
        thread.join()


@contextmanager
def listening_on_host() -> Iterator[int]:
    """A service of this machine, on all its addresses; yields its port."""
    with (
        socket.create_server(("0.0.0.0", 0)) as server,
        _answering(server, lambda: server.accept()[0].close()) as port,
    ):
        yield port


@contextmanager
def echoing_on_host(arrived: set[str]) -> Iterator[int]:
    """A UDP service of this machine that sends back what it gets and notes it in `arrived`; yields its port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("0.0.0.0", 0))

        def echo() -> None:
            text, sender = server.recvfrom(256)
            arrived.add(text.decode("ascii", "replace"))
            server.sendto(text, sender)

        with _answering(server, echo) as port:
            yield port


def model_file() -> str:
    """The file that server-cpu loads, by .env and the lock file."""
    command = json.loads(must("compose", "--profile", "cpu", "config", "--format", "json"))["services"]["server-cpu"]
    key = command["command"][command["command"].index("--model-key") + 1]
    pinned = json.loads((ROOT / "configs" / "models.lock.json").read_text())
    return str(pinned[key]["files"][0]["name"])
