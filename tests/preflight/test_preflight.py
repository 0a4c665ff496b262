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
"buildx version") [ -n "$FAKE_BUILDX" ] || { echo "docker: unknown command: docker buildx" >&2; exit 1; }
    echo "github.com/docker/buildx $FAKE_BUILDX 0123abc" ;;
"compose config --quiet") [ -z "$FAKE_CONFIG_ERROR" ] || { echo "$FAKE_CONFIG_ERROR" >&2; exit 15; } ;;
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
# What the docker command really prints when it fails: the reason is never its last line.
RUN_HINT = "\n\nRun 'docker run --help' for more information"
RUN_HINT_20 = '\ntime="2026-11-30T16:00:00Z" level=error msg="error waiting for container: context canceled"'
NO_TOOLKIT = 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]]'
HOOK = (
    "docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime "
    "create failed: runc create failed: unable to start container process: error during container init: error running "
    "prestart hook #0: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'\n"
    "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object "
    "file: no such file or directory: unknown"
)
NO_HOST = (
    'Error response from daemon: Get "https://registry.example/v2/": dial tcp: lookup registry.example on '
    "127.0.0.53:53: no such host"
)
GONE = "Error response from daemon: manifest for example/server@sha256:0 not found: manifest unknown: manifest unknown"
BAD_ENV = (
    'time="2026-11-30T16:21:49Z" level=warning msg="The \\"X\\" variable is not set. Defaulting to a blank string."\n'
    "error while interpolating services.server.cpus: failed to cast to expected type: strconv.ParseFloat: parsing "
    '"many": invalid syntax'
)
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
        "FAIL  vram       4000 MiB free on card 0, 10 GiB needed",
        "nvidia-smi",
    ),
    (
        "the better card is not the first",
        {"FAKE_CARDS": "570.1, 4000, RTX\n570.1, 9000, RTX\n570.1, 24000, RTX"},
        "FAIL  vram       4000 MiB free on card 0, 10 GiB needed; card 2 has 24000, but count: 1 takes card 0",
        'device_ids: ["2"]',
    ),
    (
        "rootless Docker",
        {"FAKE_SECURITY": " name=rootless"},
        "FAIL  engine     this Docker runs rootless",
        "docker context use default",
    ),
    (
        "mapped ids",
        {"FAKE_SECURITY": " name=userns"},
        "FAIL  engine     this Docker maps the ids of its containers (userns-remap)",
        "daemon.json",
    ),
    (
        "no buildx where Compose builds with it",
        {"FAKE_BUILDX": "", "FAKE_COMPOSE": "2.37.0"},
        "FAIL  buildx     docker buildx is not there",
        "docker-buildx-plugin",
    ),
    (
        "buildx that Compose refuses",
        {"FAKE_BUILDX": "0.13.1+ds1", "FAKE_COMPOSE": "v5.0.0"},
        "FAIL  buildx     docker compose build of Compose 5.0.0 refuses buildx 0.13.1+ds1",
        "0.17 or later",
    ),
    (
        "a mistake in .env",
        {"FAKE_CONFIG_ERROR": BAD_ENV},
        "FAIL  compose    docker compose config: error while interpolating services.server.cpus",
        "mend the line it names, in .env or compose.yaml",
    ),
    (
        "full disk",
        {"FAKE_FREE_MIB": "15359"},
        "FAIL  disk       15359 MiB free in this folder, 15 GiB needed",
        "free some space",
    ),
    (
        "no toolkit",
        {"FAKE_RUN_ERROR": NO_TOOLKIT + RUN_HINT},
        f"FAIL  toolkit    nvidia-smi in a container: {NO_TOOLKIT}",
        "nvidia-ctk runtime configure --runtime=docker",
    ),
    (
        "no toolkit, older docker command",
        {"FAKE_RUN_ERROR": NO_TOOLKIT + RUN_HINT_20},
        f"FAIL  toolkit    nvidia-smi in a container: {NO_TOOLKIT}",
        "nvidia-ctk runtime configure --runtime=docker",
    ),
    (
        "a toolkit without its library",
        {"FAKE_RUN_ERROR": HOOK + RUN_HINT},
        "FAIL  toolkit    nvidia-smi in a container: nvidia-container-cli: initialization error",
        "nvidia-ctk runtime configure --runtime=docker",
    ),
    (
        "nvidia-smi fails in the container",
        {"FAKE_RUN_ERROR": "\nFailed to initialize NVML: Unknown Error\n"},
        "FAIL  toolkit    nvidia-smi in a container: Failed to initialize NVML",
        "nvidia-ctk runtime configure --runtime=docker",
    ),
    (
        "no way to the registry",
        {"FAKE_PULL": NO_HOST},
        f"FAIL  image      docker pull example/server@sha256:0: {NO_HOST}",
        "LLAMA_IMAGE",
    ),
    (
        "the digest is gone",
        {"FAKE_PULL": GONE},
        f"FAIL  image      docker pull example/server@sha256:0: {GONE}",
        "LLAMA_IMAGE",
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


def test_an_image_that_is_not_there_is_downloaded_in_view_before_it_is_tried(machine: Machine) -> None:
    done = machine.preflight(FAKE_PULL="works")
    assert done.returncode == 0, done.stderr
    assert "0: Pulling from example/server" in done.stdout
    commands = (machine.programs / "log").read_text().splitlines()
    assert [command.split()[1] for command in commands] == ["pull", "run"]


def test_a_failed_download_is_not_taken_for_a_missing_toolkit(machine: Machine) -> None:
    done = machine.preflight(FAKE_PULL=NO_HOST)
    assert "nvidia-ctk" not in done.stderr
    assert "docker run" not in (machine.programs / "log").read_text()


@pytest.mark.parametrize("free", ["[N/A]", "[Not Supported]", ""])
def test_free_video_memory_that_is_no_number_is_a_note(machine: Machine, free: str) -> None:
    done = machine.preflight(FAKE_CARDS=f"570.1, {free}, NVIDIA GB10")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "note  vram" in done.stdout


def test_an_older_compose_needs_no_buildx(machine: Machine) -> None:
    done = machine.preflight("--cpu", FAKE_BUILDX="", FAKE_COMPOSE="2.26.1-4")  # tried: it built with none installed
    assert done.returncode == 0, done.stderr
    assert "note  buildx" in done.stdout


def test_an_older_compose_takes_an_older_buildx(machine: Machine) -> None:
    done = machine.preflight("--cpu", FAKE_BUILDX="0.13.1+ds1", FAKE_COMPOSE="2.40.1")
    assert done.returncode == 0, done.stderr
    assert "ok    buildx     buildx 0.13.1+ds1" in done.stdout


def test_selinux_is_a_note_with_the_command_that_labels_the_folders(machine: Machine) -> None:
    for done in (
        machine.preflight("--cpu", FAKE_SECURITY=" name=selinux"),
        setup(machine, FAKE_SECURITY=" name=selinux"),
    ):
        assert done.returncode == 0, done.stderr
        assert "sudo chcon -Rt container_file_t configs data src tests scripts models outputs" in done.stdout


def setup(machine: Machine, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    return machine.run("sh", "scripts/setup.sh", *options, **env)


@pytest.mark.parametrize(("kind", "words"), [("rootless", "runs rootless"), ("userns", "userns-remap")])
def test_setup_names_an_engine_that_maps_ids_and_its_remedy(machine: Machine, kind: str, words: str) -> None:
    done = setup(machine, FAKE_SECURITY=f" name={kind}")
    assert done.returncode == 0, done.stderr
    assert words in done.stdout
    assert "note: use the ordinary engine" in done.stdout or "note: take userns-remap out" in done.stdout
    assert "note" not in setup(machine).stdout


def test_after_the_cpu_route_the_other_one_looks_for_the_7b_and_names_what_is_left(machine: Machine) -> None:
    setup(machine, "--cpu")
    done = machine.preflight()
    assert done.returncode == 0, done.stderr
    first = "models/qwen2.5-7b-instruct-q4_k_m-00001-of-00002.gguf is not there yet; fetch --model r3 brings it"
    assert first in done.stdout
    assert "SmolLM2" not in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("note  route")]
    assert "R3_MODEL=embedded" in line and "COMPOSE_PROFILES=cpu" in line
    assert "take R3_MODEL and COMPOSE_PROFILES out of .env" in line
    again = setup(machine)
    assert again.returncode == 0, again.stderr
    assert "R3_MODEL=embedded" in again.stdout and "COMPOSE_PROFILES=cpu" in again.stdout
    assert "take R3_MODEL and COMPOSE_PROFILES out of .env" in again.stdout


def test_a_folder_prepared_for_a_card_is_told_nothing_about_the_other_route(machine: Machine) -> None:
    assert "note" not in setup(machine).stdout
    assert "route" not in machine.preflight().stdout


QUOTED = ['"qwen-0.5b"', "'qwen-0.5b'", "qwen-0.5b  # better words", "qwen-0.5b "]


@pytest.mark.parametrize("written", QUOTED)
def test_a_value_of_dot_env_is_read_as_compose_reads_it(machine: Machine, written: str) -> None:
    (machine.project / ".env").write_text(f"R3_MODEL={written}\n")
    setup(machine)
    done = machine.preflight("--cpu")
    assert done.returncode == 0, done.stderr
    assert "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf is not there yet" in done.stdout


@pytest.mark.parametrize("mode", [0o2755, 0o1777, 0o3770])
def test_a_folder_with_a_special_mode_is_accepted(machine: Machine, mode: int) -> None:
    setup(machine)
    (machine.project / "outputs").chmod(mode)
    done = machine.preflight("--cpu")
    assert done.returncode == 0, done.stderr
    assert f"mode {mode:o}" in done.stdout


def test_without_dot_env_the_note_says_who_would_write_and_whose_the_folder_is(machine: Machine) -> None:
    (machine.project / "outputs").mkdir()
    owner = (machine.project / "outputs").stat().st_uid
    done = machine.preflight("--cpu")
    assert done.returncode == 0, done.stderr
    assert f"without .env the containers run as 10001 and cannot write what belongs to {owner}" in done.stdout
    assert "next: sh scripts/setup.sh" in done.stdout


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


@pytest.mark.skipif(os.getuid() != 0, reason="an ordinary user's containers run as that user, who reads the files")
def test_setup_by_root_names_sources_that_the_containers_cannot_read(machine: Machine) -> None:
    (machine.project / "configs" / "app.lock").chmod(0o600)
    done = setup(machine)
    assert done.returncode == 0, done.stderr
    assert "note: user 10001 cannot read configs/app.lock: chmod -R o+rX configs data scripts src tests" in done.stdout
    (machine.project / "configs" / "app.lock").chmod(0o644)
    assert "cannot read" not in setup(machine).stdout


def test_line_endings_do_not_depend_on_the_machine_of_the_clone() -> None:
    asked = ["git", "check-attr", "eol", "binary", "--", "scripts/setup.sh", "docs/report.png"]
    said = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "scripts/setup.sh: eol: lf\n" in said
    assert "docs/report.png: binary: set\n" in said
    kept = subprocess.run(["git", "ls-files", "--eol"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "i/crlf" not in kept and "i/mixed" not in kept
