"""scripts/preflight.sh and scripts/setup.sh against machines of every kind, made of small stand-ins for `docker`,
`nvidia-smi`, `df` and `uname` on PATH. No engine is needed, and none is spoken to.

Run alone: python -m pytest tests/preflight
"""

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMOLLM2 = ("SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432)
MENDED = "28.2.2"

DOCKER = """#!/bin/sh
case "$*" in
"version "*) [ -z "$FAKE_ENGINE_ERROR" ] || { echo "$FAKE_ENGINE_ERROR" >&2; exit 1; }; echo "$FAKE_ENGINE" ;;
"compose version --short") [ -n "$FAKE_COMPOSE" ] || exit 1; echo "$FAKE_COMPOSE" ;;
"compose config server") printf 'services:\\n  server:\\n    image: example/server@sha256:0\\n' ;;
"info "*) echo "$PWD" ;;
"image inspect "*) exit 0 ;;
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
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("R3_", "COMPOSE_", "SUDO_"))}
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


def tree(folder: Path) -> dict[str, tuple[float, int]]:
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_mode) for path in folder.rglob("*")}


@pytest.mark.parametrize("options", [(), ("--cpu",)])
def test_a_ready_machine_passes_and_is_not_changed(machine: Machine, options: tuple[str, ...]) -> None:
    machine.run("sh", "scripts/setup.sh")
    before = tree(machine.project)
    done = machine.preflight(*options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "ready"
    assert tree(machine.project) == before


FAILURES = [
    (
        "another system",
        {"FAKE_SYSTEM": "Darwin", "FAKE_ARCH": "arm64"},
        "FAIL  machine    uname says Darwin arm64",
        "use such a machine",
    ),
    (
        "no right to the socket",
        {"FAKE_ENGINE_ERROR": "permission denied while trying"},
        "FAIL  engine     permission denied",
        "group",
    ),
    (
        "engine not started",
        {"FAKE_ENGINE_ERROR": "Cannot connect to the Docker daemon"},
        "FAIL  engine     Cannot connect",
        "systemctl start docker",
    ),
    ("old engine", {"FAKE_ENGINE": "19.03.15"}, "FAIL  engine     Docker Engine 19.03.15", "upgrade"),
    ("no compose", {"FAKE_COMPOSE": ""}, "FAIL  compose", "install the Compose plugin"),
    ("compose 1", {"FAKE_COMPOSE": "1.29.2"}, "FAIL  compose    Compose 1.29.2", "Compose 2 is needed"),
    (
        "broken driver",
        {"FAKE_SMI_ERROR": "Driver/library version mismatch"},
        "FAIL  driver     nvidia-smi: Driver/library",
        "repair",
    ),
    ("old driver", {"FAKE_CARDS": "535.10, 24000, RTX"}, "FAIL  driver     NVIDIA driver 535.10", "570 or later"),
    (
        "video memory in use",
        {"FAKE_CARDS": "570.1, 4000, RTX\n570.1, 9000, RTX"},
        "FAIL  vram       9000 MiB free at best, 10 GiB needed",
        "nvidia-smi",
    ),
    (
        "full disk",
        {"FAKE_FREE_MIB": "15359"},
        "FAIL  disk       15359 MiB free in this folder, 15 GiB needed",
        "free some space",
    ),
    (
        "no toolkit",
        {"FAKE_RUN_ERROR": 'could not select device driver "" with capabilities: [[gpu]].'},
        "FAIL  toolkit    nvidia-smi in a container: could not select device driver",
        "nvidia-ctk runtime configure --runtime=docker",
    ),
]


@pytest.mark.parametrize(("name", "env", "found", "remedy"), FAILURES, ids=[row[0] for row in FAILURES])
def test_what_is_missing_is_named_with_its_remedy_and_ends_the_check(
    machine: Machine, name: str, env: dict[str, str], found: str, remedy: str
) -> None:
    done = machine.preflight(**env)
    assert done.returncode == 1
    first, second = done.stderr.splitlines()
    assert first.startswith(found)
    assert "->" in second
    assert remedy in second
    assert "ready" not in done.stdout


@pytest.mark.parametrize("options", [(), ("--cpu",)])
def test_too_little_memory_is_named(machine: Machine, options: tuple[str, ...]) -> None:
    script = machine.project / "scripts" / "preflight.sh"
    script.write_text(script.read_text().replace("RAM_GIB=0", "RAM_GIB=99999").replace("echo 0 3", "echo 99999 3"))
    done = machine.preflight(*options)
    assert done.returncode == 1
    assert done.stderr.startswith("FAIL  memory")
    assert "99999 GiB needed" in done.stderr


def test_without_a_driver_the_full_check_stops_there_and_the_cpu_check_passes(machine: Machine) -> None:
    (machine.programs / "nvidia-smi").unlink()
    done = machine.preflight()
    assert done.returncode == 1
    assert done.stderr.startswith("FAIL  driver     no nvidia-smi command")
    assert "./scripts/preflight.sh --cpu" in done.stderr
    assert not any(line.startswith(("ok    memory", "ok    disk")) for line in done.stdout.splitlines())
    assert machine.preflight("--cpu").returncode == 0


def test_the_toolkit_is_tried_in_the_server_image_itself(machine: Machine) -> None:
    assert machine.preflight().returncode == 0
    command = (machine.programs / "log").read_text()
    assert "--gpus all" in command
    assert "--entrypoint nvidia-smi example/server@sha256:0" in command


LEAKING = ["20.10.24+dfsg1", "23.0.10", "24.0.9", "25.0.4"]
TIGHT = ["23.0.11", "25.0.5", "26.0.0", "28.2.2"]


@pytest.mark.parametrize("version", LEAKING)
def test_engines_that_leak_name_queries_are_told_apart(machine: Machine, version: str) -> None:
    done = machine.preflight("--cpu", FAKE_ENGINE=version)
    assert done.returncode == 0
    assert "CVE-2024-29018" in done.stdout


@pytest.mark.parametrize("version", TIGHT)
def test_mended_engines_are_not_complained_about(machine: Machine, version: str) -> None:
    assert "CVE-2024-29018" not in machine.preflight("--cpu", FAKE_ENGINE=version).stdout


def test_a_model_file_of_the_wrong_size_is_named(machine: Machine) -> None:
    name, size = SMOLLM2
    (machine.project / "models").mkdir()
    (machine.project / "models" / name).write_bytes(b"short")
    done = machine.preflight("--cpu")
    assert done.returncode == 1
    assert f"models/{name} has 5 bytes, expected {size}" in done.stderr
    assert "ready" not in done.stdout


def test_both_parts_of_the_tutorials_model_are_looked_for(machine: Machine) -> None:
    done = machine.preflight()
    assert "models/qwen2.5-7b-instruct-q4_k_m-00001-of-00002.gguf is not there yet" in done.stdout
    assert "models/qwen2.5-7b-instruct-q4_k_m-00002-of-00002.gguf is not there yet" in done.stdout


def test_an_unknown_model_is_refused(machine: Machine) -> None:
    done = machine.preflight("--cpu", R3_MODEL="llama")
    assert done.returncode == 1
    assert "R3_MODEL=llama is not in configs/models.lock.json" in done.stderr


def test_a_folder_the_containers_cannot_write_is_named(machine: Machine) -> None:
    machine.run("sh", "scripts/setup.sh")
    (machine.project / "outputs").chmod(0o555)
    done = machine.preflight("--cpu")
    (machine.project / "outputs").chmod(0o755)
    assert done.returncode == 1
    assert done.stderr.startswith("FAIL  folders    outputs/ belongs to")


@pytest.mark.parametrize("options", [("--gpu",), ("--cpu", "x")])
def test_unknown_options_are_refused(machine: Machine, options: tuple[str, ...]) -> None:
    assert machine.preflight(*options).returncode == 2
    assert machine.run("sh", "scripts/setup.sh", *options).returncode == 2


def test_setup_writes_ids_that_are_never_root_and_a_second_run_changes_nothing(machine: Machine) -> None:
    first = machine.run("sh", "scripts/setup.sh", "--cpu")
    assert first.returncode == 0, first.stderr
    lines = (machine.project / ".env").read_text().splitlines()
    ids = {line.split("=")[0]: int(line.split("=")[1]) for line in lines if line.startswith(("R3_UID", "R3_GID"))}
    assert set(ids) == {"R3_UID", "R3_GID"}
    assert min(ids.values()) > 0
    assert (machine.project / "outputs").stat().st_uid == ids["R3_UID"]
    assert "COMPOSE_PROFILES=cpu" in lines
    assert (machine.project / ".env").stat().st_mode & 0o077 == 0
    before = (machine.project / ".env").read_bytes()
    assert machine.run("sh", "scripts/setup.sh", "--cpu").returncode == 0
    assert (machine.project / ".env").read_bytes() == before


def test_setup_keeps_what_was_edited_even_without_a_last_newline(machine: Machine) -> None:
    (machine.project / ".env").write_text("R3_MODEL=qwen-0.5b\nHF_TOKEN=secret")
    done = machine.run("sh", "scripts/setup.sh", "--cpu")
    assert done.returncode == 0, done.stderr
    text = (machine.project / ".env").read_text()
    assert text.startswith("R3_MODEL=qwen-0.5b\nHF_TOKEN=secret\nR3_UID=")
    assert text.count("R3_MODEL=") == 1
    assert ".env keeps R3_MODEL=qwen-0.5b" in done.stdout
    assert "secret" not in done.stdout + done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be behind sudo")
def test_setup_behind_sudo_takes_the_callers_ids(machine: Machine) -> None:
    machine.run("sh", "scripts/setup.sh", SUDO_UID="1234", SUDO_GID="1235")
    assert "R3_UID=1234\nR3_GID=1235\n" in (machine.project / ".env").read_text()
    assert (machine.project / "models").stat().st_uid == 1234
