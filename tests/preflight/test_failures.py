"""What `scripts/preflight.sh` says, check by check, when one thing is missing: the cause, and the remedy that fits it.

Run alone: python -m pytest tests/preflight/test_failures.py
"""

import pytest

from tests.preflight.conftest import Machine

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


def test_a_failed_download_is_not_taken_for_a_missing_toolkit(machine: Machine) -> None:
    done = machine.preflight(FAKE_PULL=NO_HOST)
    assert "nvidia-ctk" not in done.stderr
    assert "docker run" not in (machine.programs / "log").read_text()
