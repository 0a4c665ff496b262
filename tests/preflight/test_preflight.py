"""What `scripts/preflight.sh` accepts, what it only notes, and what it leaves as it is.

Run alone: python -m pytest tests/preflight/test_preflight.py
"""

from pathlib import Path

import pytest

from tests.preflight.conftest import Machine, setup

SMOLLM2 = ("SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432)


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
def test_fixed_engines_are_not_complained_about(machine: Machine, version: str) -> None:
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


def test_what_compose_warns_of_is_shown_and_not_taken_for_ready_in_silence(machine: Machine) -> None:
    warning = 'The "R3_SERVER_CPUS" variable is not set. Defaulting to a blank string.'
    done = machine.preflight("--cpu", FAKE_CONFIG_WARNING=warning)
    assert f"note  compose    it warns: {warning}" in done.stdout
