"""A machine of every kind, made of small stand-ins for `docker`, `nvidia-smi`, `df` and `uname` on PATH.

No engine is needed, and none is spoken to.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MENDED = "28.2.2"

DOCKER = """#!/bin/sh
case "$*" in
"version "*) [ -z "$FAKE_ENGINE_ERROR" ] || { echo "$FAKE_ENGINE_ERROR" >&2; exit 1; }; echo "$FAKE_ENGINE" ;;
"compose version --short") [ -n "$FAKE_COMPOSE" ] || exit 1; echo "$FAKE_COMPOSE" ;;
"buildx version") [ -n "$FAKE_BUILDX" ] || { echo "docker: unknown command: docker buildx" >&2; exit 1; }
    echo "github.com/docker/buildx $FAKE_BUILDX 0123abc" ;;
"compose config --quiet") [ -z "$FAKE_CONFIG_ERROR" ] || { echo "$FAKE_CONFIG_ERROR" >&2; exit 15; }
    [ -z "$FAKE_CONFIG_WARNING" ] || echo "$FAKE_CONFIG_WARNING" >&2 ;;
"compose config server") printf 'services:\\n  server:\\n    image: example/server@sha256:0\\n' ;;
"info "*Security*) echo "[name=seccomp,profile=builtin$FAKE_SECURITY name=cgroupns]" ;;
"info "*) echo "$PWD" ;;
"image inspect "*) [ -z "$FAKE_PULL" ] ;;
"pull "*) echo "docker $*" >>"$FAKE_LOG"; echo "0: Pulling from example/server"
    [ "$FAKE_PULL" = works ] || { echo "$FAKE_PULL" >&2; exit 1; } ;;
"run "*) echo "docker $*" >>"$FAKE_LOG"; [ -z "$FAKE_RUN_ERROR" ] || { echo "$FAKE_RUN_ERROR" >&2; exit 125; }
    echo "GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-0)" ;;
*) echo "unexpected: docker $*" >&2; exit 99 ;;
esac
"""

NVIDIA_SMI = """#!/bin/sh
[ -z "$FAKE_SMI_ERROR" ] || { echo "$FAKE_SMI_ERROR"; exit 9; }
echo "$FAKE_CARDS"
"""
DF = """#!/bin/sh
echo Filesystem 1048576-blocks Used Available Capacity Mounted on
echo /dev/x 999999 1 "$FAKE_FREE_MIB" 1% /
"""
UNAME = """#!/bin/sh
case $1 in -s) echo "$FAKE_SYSTEM" ;; -m) echo "$FAKE_ARCH" ;; esac
"""


# All that the scripts may use; nothing else of this machine is on their PATH, least of all a real nvidia-smi.
TOOLS = [
    "awk",
    "cat",
    "chmod",
    "chown",
    "cut",
    "dirname",
    "env",
    "grep",
    "head",
    "id",
    "mkdir",
    "nproc",
    "printenv",
    "pwd",
    "sed",
    "sh",
    "sort",
    "stat",
    "tail",
    "touch",
    "tr",
    "umask",
]


@dataclass
class Machine:
    """A copy of the project with stand-in programs; `env` says what they answer."""

    project: Path
    programs: Path
    env: dict[str, str] = field(default_factory=dict)

    def install(self, name: str, text: str) -> None:
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def run(self, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
        ours = ("R3_", "COMPOSE_", "SUDO_", "DOCKER_")
        clean = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        path = f"{self.programs}:/usr/bin:/bin"
        whole = {
            **clean,
            "PATH": path,
            "HOME": str(self.project),
            "FAKE_LOG": str(self.programs / "log"),
            **self.env,
            **env,
        }
        return subprocess.run(command, cwd=self.project, env=whole, capture_output=True, text=True, timeout=60)

    def preflight(self, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.run("./scripts/preflight.sh", *options, **env)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine that is ready: every test takes one thing away."""
    project, programs = tmp_path / "project", tmp_path / "bin"
    programs.mkdir()
    for folder in ("scripts", "configs"):
        shutil.copytree(ROOT / folder, project / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "compose.yaml", project)
    ready = Machine(project, programs)
    ready.env = {
        "FAKE_ENGINE": MENDED,
        "FAKE_COMPOSE": "v2.40.0",
        "FAKE_BUILDX": "v0.17.1",
        "FAKE_CARDS": "570.86.10, 24000, NVIDIA GeForce RTX 3090",
        "FAKE_FREE_MIB": "50000",
        "FAKE_SYSTEM": "Linux",
        "FAKE_ARCH": "x86_64",
    }
    for name in TOOLS:
        if found := shutil.which(name):
            (programs / name).symlink_to(found)
    for name, text in (("docker", DOCKER), ("nvidia-smi", NVIDIA_SMI), ("df", DF), ("uname", UNAME)):
        ready.install(name, text)
    # /proc/meminfo cannot be replaced: the tutorial's 12 GiB become what every machine has
    script = project / "scripts" / "preflight.sh"
    script.write_text(
        script.read_text().replace("RAM_GIB=12", "RAM_GIB=0").replace("embedded) echo 2 3", "embedded) echo 0 3")
    )
    return ready


def setup(machine: Machine, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    return machine.run("sh", "scripts/setup.sh", *options, **env)
