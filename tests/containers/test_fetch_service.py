"""`fetch` in its container: read-only root, an ordinary user, a hub that breaks off. The hub is the suite's own.

Needs an engine: bash .ci/containers.sh
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.containers.scene import ROOT, gateway_of
from tests.fetch import hub as stand_in
from tests.fetch.conftest import FIRST, pin, pinned_file

NAME = "tiny-for-the-test.gguf"
OUTSIDE = ("compose", "--profile", "acquisition", "run", "--rm", "--no-deps", "-T")


@pytest.fixture
def hub(engine: None) -> Iterator[stand_in.Hub]:
    """A hub on this machine's end of the network that fetch is on."""
    with stand_in.serving(gateway_of("bridge")) as server:
        server.files = {NAME: FIRST}
        yield server


@pytest.fixture
def lock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a lock file, where a container may read it and the tutorial's own models are not touched."""
    folder = ROOT / "models" / "lock-of-the-test"
    folder.mkdir()
    source = {"source": "huggingface", "repository": stand_in.REPOSITORY, "revision": stand_in.REVISION}
    pin(folder, "tiny", {**source, "files": [pinned_file(NAME, FIRST)]})
    yield folder
    shutil.rmtree(folder)
    for left in (ROOT / "models").glob(f"{NAME}*"):
        left.unlink()


def fetch(hub: stand_in.Hub, *options: str) -> subprocess.CompletedProcess[str]:
    command = ["docker", *OUTSIDE, "fetch", "--model", "tiny", "--lock", "models/lock-of-the-test/models.lock.json"]
    env = {**os.environ, "HF_ENDPOINT": hub.url}
    return subprocess.run([*command, *options], cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)


def test_a_broken_download_goes_on_in_the_next_container_and_belongs_to_the_user(hub: stand_in.Hub, lock: Path) -> None:
    hub.faults = [stand_in.closes_after(65_536)]
    first = fetch(hub, "--tries", "1")
    assert first.returncode == 3
    assert "65536 of 300000 bytes are kept" in first.stderr
    second = fetch(hub)
    assert second.returncode == 0, second.stderr
    path = ROOT / "models" / NAME
    assert path.read_bytes() == FIRST
    assert path.stat().st_uid == (ROOT / "models").stat().st_uid
    assert ("GET", NAME, "bytes=65536-") in hub.asked
    asked = len(hub.asked)
    assert fetch(hub).returncode == 0
    assert len(hub.asked) == asked, "a file that is there and right was asked for again"
