"""What the images hold and see: files that their user can read whatever the clone's modes, and the bound on processors.

Needs an engine: bash .ci/containers.sh
"""

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.containers.scene import ROOT, docker, must

CONTEXT = ("LICENSE", "configs", "data", "scripts", "src", "tests", "Dockerfile", ".dockerignore")
READS_ALL = (
    "import pathlib; files = [p for p in pathlib.Path('/app').rglob('*') if p.is_file()]; "
    "[p.read_bytes() for p in files]; print(len(files))"
)


@pytest.fixture
def private_clone(tmp_path: Path) -> Path:
    """The files of the build as a clone made under umask 077 has them."""
    for name in CONTEXT:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    for path in tmp_path.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return tmp_path


@pytest.fixture
def built(engine: None, private_clone: Path) -> Iterator[str]:
    """The image `app` of that clone."""
    arguments = json.loads(must("compose", "config", "--format", "json"))["services"]["app"]["build"]["args"]
    tag = "r3-private-clone"
    must(
        "build", "--quiet", "--target", "app", "--tag", tag,
        "--build-arg", f"PYTHON_IMAGE={arguments['PYTHON_IMAGE']}", str(private_clone),
    )  # fmt: skip
    yield tag
    docker("image", "rm", tag)


def test_an_image_of_a_private_clone_can_be_read_by_its_user(built: str) -> None:
    done = docker("run", "--rm", "--network", "none", built, "-c", READS_ALL)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100
    done = docker("run", "--rm", "--network", "none", "--user", "4321:4321", built, "-m", "src.cli", "--help")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("cpus", "share"), [("1", 1.0), ("1.5", 1.5)])
def test_the_cpu_server_sees_its_share_of_the_processors(engine: None, cpus: str, share: float) -> None:
    asks = "from src.server.processors import cpu_quota, threads_for; print(cpu_quota(), threads_for().reading)"
    run = ("compose", "--profile", "cpu", "run", "--rm", "--no-deps", "-T", "--entrypoint", "python", "server-cpu")
    done = docker(*run, "-c", asks, settings={"R3_SERVER_CPUS": cpus})
    assert done.returncode == 0, done.stderr
    seen, threads = done.stdout.split()
    assert (float(seen), int(threads)) == (share, math.floor(share))
