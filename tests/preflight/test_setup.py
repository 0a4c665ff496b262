"""`scripts/setup.sh`: what it writes, keeps and names; and how `.env` leads `preflight.sh` afterwards.

Run alone: python -m pytest tests/preflight/test_setup.py
"""

import os
import subprocess

import pytest

from tests.preflight.conftest import ROOT, Machine, setup


def test_selinux_is_a_note_with_the_command_that_labels_the_folders(machine: Machine) -> None:
    for done in (
        machine.preflight("--cpu", FAKE_SECURITY=" name=selinux"),
        setup(machine, FAKE_SECURITY=" name=selinux"),
    ):
        assert done.returncode == 0, done.stderr
        assert "sudo chcon -Rt container_file_t configs data src tests scripts models outputs" in done.stdout


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


@pytest.mark.parametrize("line", ["R3_MODEL=qwen-0.5b", "COMPOSE_PROFILES=cpu", 'COMPOSE_PROFILES="acquisition,cpu"'])
def test_one_line_of_the_other_route_is_enough_to_be_named(machine: Machine, line: str) -> None:
    setup(machine)
    with (machine.project / ".env").open("a") as file:
        file.write(f"{line}\n")
    plain = line.replace('"', "")
    assert f"note  route      .env still says {plain}, for the route" in machine.preflight().stdout
    assert f"setup: note: .env still says {plain}, for the route" in setup(machine).stdout


QUOTED = ['"qwen-0.5b"', "'qwen-0.5b'", "qwen-0.5b  # better words", "qwen-0.5b "]


@pytest.mark.parametrize("written", QUOTED)
def test_a_value_of_dot_env_is_read_as_compose_reads_it(machine: Machine, written: str) -> None:
    (machine.project / ".env").write_text(f"R3_MODEL={written}\n")
    setup(machine)
    done = machine.preflight("--cpu")
    assert done.returncode == 0, done.stderr
    assert "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf is not there yet" in done.stdout


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
