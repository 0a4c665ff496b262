"""The stack of configs/swarm beside compose.yaml: the same services as far as a stack can say them.

Needs the compose plugin, no engine. Run alone: python -m pytest tests/containers/test_stack.py
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from src.weights import models
from tests.containers.scene import ROOT

SWARM = ROOT / "configs" / "swarm"
PAGE = ROOT / "docs" / "SWARM.md"
TWINS = {"cpu": "server-cpu", "gpu": "server"}  # the service of compose.yaml that a kind of node runs
KEY = ["--api-key-file", "/run/secrets/llm_api_key"]

# What compose.yaml has and a stack cannot express; docs/SWARM.md says what stands in.
NOT_IN_A_STACK = {"security_opt", "memswap_limit", "restart", "profiles", "build", "pull_policy"}
# What is compared piece by piece below, or is the Swarm's own.
COMPARED = {"volumes", "tmpfs", "mem_limit", "cpus", "pids_limit", "deploy", "command", "entrypoint", "networks"}
OWN = {"secrets", "configs", "image", "network_mode"}  # `fetch` of compose.yaml is on the engine's own bridge


def config(*files: Path, **settings: str) -> dict[str, Any]:
    """What compose makes of these files with these settings alone."""
    named = [word for file in files for word in ("-f", str(file))]
    command = ["docker", "compose", "--env-file", os.devnull, *named, "--profile", "*", "config", "--format", "json"]
    env = {key: value for key, value in os.environ.items() if not key.startswith(("R3_", "LLM_", "LLAMA_", "COMPOSE_"))}
    given = {"LLM_API_KEY_FILE": "/key", "COMPOSE_PROJECT_NAME": "r3", **settings}
    done = subprocess.run(command, cwd=ROOT, env=env | given, capture_output=True, text=True, check=True, timeout=60)
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def compose_services(compose: None) -> dict[str, Any]:
    return dict(config(ROOT / "compose.yaml")["services"])


@pytest.fixture(params=TWINS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stack(compose: None, kind: str) -> dict[str, Any]:
    return config(SWARM / "stack.yaml", SWARM / f"{kind}.yaml")


def pairs(stack: dict[str, Any], compose_services: dict[str, Any], kind: str) -> list[tuple[Any, Any]]:
    services = stack["services"]
    return [(services["server"], compose_services[TWINS[kind]]), (services["fetch"], compose_services["fetch"])]


def test_what_both_can_say_is_the_same(stack: dict[str, Any], compose_services: dict[str, Any], kind: str) -> None:
    for ours, theirs in pairs(stack, compose_services, kind):
        for key in (ours.keys() | theirs.keys()) - NOT_IN_A_STACK - COMPARED - OWN - {"environment", "dns"}:
            assert ours.get(key) == theirs.get(key), key
    server, twin = pairs(stack, compose_services, kind)[0]
    assert server["dns"] == twin["dns"]
    assert server.get("environment") == twin.get("environment")
    fetch, fetch_twin = pairs(stack, compose_services, kind)[1]
    assert fetch["environment"].keys() == fetch_twin["environment"].keys()


def test_limits_are_the_same_in_the_words_of_a_stack(
    stack: dict[str, Any], compose_services: dict[str, Any], kind: str
) -> None:
    for ours, theirs in pairs(stack, compose_services, kind):
        limits = ours["deploy"]["resources"]["limits"]
        assert int(limits["memory"]) == int(theirs["mem_limit"])
        assert float(limits["cpus"]) == float(theirs["cpus"])
        assert limits["pids"] == theirs["pids_limit"]


def mebibytes(option: str) -> int:
    number, unit = re.search(r"size=(\d+)([mg])", option).groups()  # type: ignore[union-attr]
    return int(number) * (1024 if unit == "g" else 1)


def test_mounts_are_written_where_compose_lets_them_be(
    stack: dict[str, Any], compose_services: dict[str, Any], kind: str
) -> None:
    for ours, theirs in pairs(stack, compose_services, kind):
        (temporary,) = [mount for mount in ours["volumes"] if mount["type"] == "tmpfs"]
        (there,) = theirs["tmpfs"]
        assert temporary["target"] == there.partition(":")[0]
        assert int(temporary["tmpfs"]["size"]) == mebibytes(there) << 20
        (weights,) = [mount for mount in ours["volumes"] if mount["type"] != "tmpfs"]
        (models_there,) = [mount for mount in theirs["volumes"] if mount["target"] in ("/models", "/app/models")]
        assert weights["type"] == "volume" and weights["source"] == "models"
        assert bool(weights.get("read_only")) == bool(models_there.get("read_only"))


def test_the_server_is_started_as_compose_starts_it_and_asks_for_the_key(
    stack: dict[str, Any], compose_services: dict[str, Any], kind: str
) -> None:
    server, twin = pairs(stack, compose_services, kind)[0]
    assert server["command"] == [*twin["command"], *KEY]
    (secret,) = server["secrets"]
    assert KEY[1] == f"/run/secrets/{secret['target']}"
    assert (secret["uid"], f"{secret['gid']}:") == (server["user"].split(":")[0], f"{secret['uid']}:")
    if kind == "gpu":
        assert server["image"] == twin["image"]


def test_the_network_is_internal_and_open_to_the_client_alone(stack: dict[str, Any]) -> None:
    inside = stack["networks"]["inside"]
    assert (inside["driver"], inside["internal"], inside["attachable"]) == ("overlay", True, True)
    server = stack["services"]["server"]
    assert list(server["networks"]) == ["inside"] and "server" in server["networks"]["inside"]["aliases"]
    assert "ports" not in server and server["deploy"]["endpoint_mode"] == "dnsrr"
    assert list(stack["services"]["fetch"]["networks"]) == ["outside"]


def test_every_node_fetches_the_model_that_its_server_loads(stack: dict[str, Any], kind: str) -> None:
    fetch, server = stack["services"]["fetch"], stack["services"]["server"]
    assert fetch["deploy"]["mode"] == "global-job"
    key = fetch["environment"]["R3_MODEL"]
    first = models.load(key).files[0].name
    loads = server["command"]
    if kind == "gpu":
        assert loads[loads.index("--model") + 1] == f"/models/{first}"
    else:
        assert loads[loads.index("--model-key") + 1] == key
    assert fetch["command"] == ["--dest", loads[loads.index("--models") + 1] if kind == "cpu" else "/models"]


def test_a_cuda_server_compares_its_weights_with_the_lock_file_first(tmp_path: Path, compose: None) -> None:
    pinned = [f"{file.sha256}  {file.name}" for file in models.load("r3").files]
    assert (SWARM / "r3.sha256").read_text(encoding="ascii").splitlines() == pinned
    server = config(SWARM / "stack.yaml", SWARM / "gpu.yaml")["services"]["server"]
    assert [item["target"] for item in server["configs"]] == ["/r3.sha256"]
    shell, option, script, name = server["entrypoint"]
    script = script.replace("$$", "$").replace("/models", str(tmp_path)).replace("/r3.sha256", str(tmp_path / "sums"))
    script = script.replace("cd /app", "true").replace("/app/llama-server", "echo started")
    (tmp_path / "weights").write_bytes(b"right")
    done = subprocess.run(["sha256sum", "weights"], cwd=tmp_path, capture_output=True, text=True, check=True)
    (tmp_path / "sums").write_text(done.stdout)
    run = [shell, option, script, name, "--model", "a b"]
    assert subprocess.run(run, capture_output=True, text=True).stdout == "weights: OK\nstarted --model a b\n"
    (tmp_path / "weights").write_bytes(b"wrong")
    refused = subprocess.run(run, capture_output=True, text=True)
    assert refused.returncode != 0 and refused.stdout == "weights: FAILED\n"


def test_the_clients_container_keeps_its_protections_on_the_swarms_network(
    compose_services: dict[str, Any], compose: None
) -> None:
    there = config(ROOT / "compose.yaml", SWARM / "client.yaml")
    app, plain = there["services"]["app"], compose_services["app"]
    key = {"LLM_API_KEY_FILE": "/run/secrets/llm_api_key"}
    assert app["environment"] == plain["environment"] | key
    (mount,) = [mount for mount in app["volumes"] if mount not in plain["volumes"]]
    assert (mount["source"], mount["target"], mount["read_only"]) == ("/key", key["LLM_API_KEY_FILE"], True)
    assert {name for name in app.keys() | plain.keys() if app.get(name) != plain.get(name)} == {
        "environment",
        "volumes",
    }
    assert there["networks"]["inside"] == {"name": "r3_inside", "external": True, "ipam": {}}


def test_the_page_names_what_a_stack_cannot_say() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "no-new-privileges" in text and "swap" in text
