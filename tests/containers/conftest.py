"""A running engine with the project's images, or a reason why these tests are skipped.

In CI (R3_CI_ENGINE=1, set by .ci/containers.sh) nothing is skipped: what is missing there is a failure.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.containers import attacks, scene
from tests.containers.attack_list import ATTACKS

CI = os.environ.get("R3_CI_ENGINE") == "1"


def unless(available: bool, reason: str) -> None:
    """Skip with the reason, or fail with it where it must not happen."""
    if not available:
        (pytest.fail if CI else pytest.skip)(reason)


def answers(*command: str) -> bool:
    try:
        return subprocess.run(command, cwd=scene.ROOT, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def only_our_resolver() -> bool:
    """Whether dockerd, in its own view of the file system, knows the suite's name server and no other."""
    state, resolver = os.environ.get("R3_ENGINE_STATE", ""), os.environ.get("R3_ENGINE_RESOLVER")
    try:
        pid = Path(state, "dockerd.pid").read_text(encoding="ascii").strip()
        known = Path("/proc", pid, "root", "etc", "resolv.conf").read_text(encoding="utf-8").split()
    except OSError:
        return False
    return resolver is not None and known == ["nameserver", resolver]


@pytest.fixture(scope="session")
def compose() -> None:
    unless(answers("docker", "compose", "version"), "the docker compose plugin is not installed")


@pytest.fixture(scope="session")
def engine(compose: None) -> None:
    unless(answers("docker", "info"), "no Docker Engine answers")
    for image in (scene.image("app"), scene.image("server-cpu")):
        unless(answers("docker", "image", "inspect", image), f"image {image} is missing: docker compose build")
    unless(
        (scene.OUTPUTS / "stock.db").exists(), "no database: docker compose run --rm --no-deps app -m src.cli prepare"
    )


@pytest.fixture(scope="session")
def server(engine: None) -> Callable[[], None]:
    """A function that starts `server-cpu` unless it runs, and waits until it is healthy."""

    def up() -> None:
        scene.must("compose", "--profile", "cpu", "up", "--detach", "--wait", "server-cpu")

    return up


@pytest.fixture(scope="session")
def outcomes(server: Callable[[], None]) -> dict[tuple[str, str], attacks.Outcome]:
    unless(
        attacks.RESOLVER_LOG in os.environ, f"{attacks.RESOLVER_LOG} is not set: sh .ci/containers.sh sets the scene"
    )
    if not only_our_resolver():  # a name query must reach nobody else, so without this nothing is tried
        pytest.fail("the engine's name server is not the suite's own: sh .ci/containers.sh sets the scene")
    server()
    results = attacks.run_all(ATTACKS)
    attacks.record(results)
    return {(result.service, result.name): result for result in results}
