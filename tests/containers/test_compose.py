"""What compose.yaml says, as compose itself understands it: `docker compose config`.

Needs the compose plugin, no engine. Run alone: python -m pytest tests/containers/test_compose.py
"""

import json
import os
import re
import subprocess
from typing import Any
from urllib.parse import urlsplit

import pytest

from src.server.settings import DEVICE_TAGS
from tests.containers.scene import ROOT

SERVICES = ("app", "server", "server-cpu", "fetch")
PINNED = re.compile(r"^[a-z0-9./-]+:[\w.-]+@sha256:[0-9a-f]{64}$")  # tag for people, digest for the engine

# What a GPU needs, and what only the build of one's own image needs: all that may differ.
GPU = {"image", "command", "deploy", "environment", "tmpfs", "healthcheck"}
OWN_IMAGE = {"image", "build", "command", "healthcheck", "profiles"}


def config(**settings: str) -> dict[str, Any]:
    """What compose makes of compose.yaml with these settings alone, whatever .env and the shell say."""
    command = ["docker", "compose", "--env-file", os.devnull, "--profile", "*", "config", "--format", "json"]
    ours = ("R3_", "LLM_", "LLAMA_", "HF_", "PIP_", "PYTHON_IMAGE", "COMPOSE_")
    env = {key: value for key, value in os.environ.items() if not key.startswith(ours)} | settings
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == "", "compose has a complaint"
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def services(compose: None) -> dict[str, Any]:
    """The services with the defaults of compose.yaml."""
    return dict(config()["services"])


def option(command: list[str], name: str) -> str:
    """The value that follows an option; a missing value shows as the next option."""
    return command[command.index(name) + 1]


def test_the_services_are_the_tutorials_and_the_cpu_twin(services: dict[str, Any]) -> None:
    assert set(services) == set(SERVICES)
    assert services["fetch"]["profiles"] == ["acquisition"]
    assert services["server-cpu"]["profiles"] == ["cpu"]
    assert "profiles" not in services["app"]
    assert "profiles" not in services["server"]


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_hardened(services: dict[str, Any], name: str) -> None:
    service = services[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert re.fullmatch("[1-9][0-9]*:[1-9][0-9]*", service["user"])
    assert service["init"] is True
    assert service["restart"] == "no"
    assert int(service["mem_limit"]) == int(service["memswap_limit"]) > 0
    assert float(service["cpus"]) > 0
    assert 0 < service["pids_limit"] <= 256
    assert all("size=" in mount and "noexec" in mount for mount in service["tmpfs"])
    assert not {"privileged", "cap_add", "devices", "ports", "pid", "ipc"} & set(service)


@pytest.mark.parametrize("name", SERVICES)
def test_a_mount_is_written_only_where_the_role_needs_it(services: dict[str, Any], name: str) -> None:
    written = [mount["target"] for mount in services[name]["volumes"] if not mount.get("read_only")]
    assert written == {"app": ["/app/outputs"], "fetch": ["/app/models"]}.get(name, [])
    assert not any(".sock" in mount["source"] for mount in services[name]["volumes"])


def test_only_fetch_reaches_outside(services: dict[str, Any]) -> None:
    for name in ("app", "server", "server-cpu"):
        assert list(services[name]["networks"]) == ["inside"]
        assert services[name]["dns"] == ["127.0.0.1"]  # CVE-2024-29018
        assert "network_mode" not in services[name]
    assert services["fetch"]["network_mode"] == "bridge" and not services["fetch"].get("networks")


def test_every_network_is_one_that_down_removes_with_no_profile_active(services: dict[str, Any]) -> None:
    """`down` knows the networks of the services active then: one that only a profile uses would stay behind."""
    always = [service for service in services.values() if "profiles" not in service]
    made = config()
    assert set(made["networks"]) == {network for service in always for network in service["networks"]} == {"inside"}
    assert not made.get("volumes")


def test_the_inner_network_has_no_way_out_for_either_version_of_ip(compose: None) -> None:
    inside = config()["networks"]["inside"]
    assert inside["internal"] is True
    assert inside["enable_ipv6"] is False
    assert inside["driver_opts"] == {"com.docker.network.bridge.inhibit_ipv4": "true"}


FETCH_ONLY = (
    "HF_ENDPOINT", "HF_TOKEN", "HF_HUB_DOWNLOAD_TIMEOUT", "HF_HUB_ETAG_TIMEOUT", "HF_HUB_OFFLINE", "PIP_INDEX_URL",
    "HTTPS_PROXY", "NO_PROXY",
)  # fmt: skip


def test_the_settings_of_the_download_reach_fetch_and_nothing_else(compose: None) -> None:
    given = {name: f"value-of-{name}" for name in FETCH_ONLY}
    services = config(**given)["services"]
    assert services["fetch"]["environment"] == {**given, "R3_MODEL": "r3", "SSL_CERT_FILE": ""}
    for name in ("app", "server", "server-cpu"):
        assert not set(given) & set(services[name]["environment"])
    page = (ROOT / "docs" / "MODEL_ACQUISITION.md").read_text(encoding="utf-8")
    told = page[page.index("In a container ") :].partition("\n\n")[0]
    assert set(re.findall(r"`([A-Z0-9_]+)`", told)) == {*given, "R3_MODEL"}


def test_threads_that_are_set_reach_the_cpu_server(compose: None) -> None:
    assert config(R3_THREADS="3")["services"]["server-cpu"]["environment"]["R3_THREADS"] == "3"


def test_server_differs_from_its_cpu_twin_only_in_what_the_gpu_and_the_own_image_need(services: dict[str, Any]) -> None:
    gpu, cpu = services["server"], services["server-cpu"]
    differing = {key for key in gpu.keys() | cpu.keys() if gpu.get(key) != cpu.get(key)}
    assert differing <= GPU | OWN_IMAGE
    assert gpu["deploy"]["resources"]["reservations"]["devices"] == [
        {"driver": "nvidia", "count": 1, "capabilities": ["gpu"]}
    ]
    assert "limits" not in gpu["deploy"]["resources"]
    assert set(gpu["environment"]) == {"CUDA_CACHE_PATH", "LLAMA_ARG_TAGS"}
    assert gpu["environment"]["LLAMA_ARG_TAGS"] in DEVICE_TAGS
    assert gpu["healthcheck"].keys() == cpu["healthcheck"].keys()
    for key in ("interval", "timeout", "retries", "start_period"):
        assert gpu["healthcheck"][key] == cpu["healthcheck"][key]


def test_both_servers_answer_to_the_same_name_and_read_the_same_folder(services: dict[str, Any]) -> None:
    for name in ("server", "server-cpu"):
        assert "server" in services[name]["networks"]["inside"]["aliases"]
        assert [(mount["target"], mount["read_only"]) for mount in services[name]["volumes"]] == [("/models", True)]


def test_client_command_and_health_check_agree_on_the_port(services: dict[str, Any]) -> None:
    port = urlsplit(services["app"]["environment"]["LLM_BASE_URL"]).port
    for name in ("server", "server-cpu"):
        assert option(services[name]["command"], "--port") == str(port)
        assert option(services[name]["command"], "--host") == "0.0.0.0"
        assert str(port) in " ".join(services[name]["healthcheck"]["test"])


# llama.cpp's options by arity, from the table of flags in its server's README.
WITH_VALUE = {
    "--model", "--alias", "--host", "--port", "--gpu-layers", "--ctx-size", "--batch-size", "--ubatch-size",
    "--flash-attn", "--parallel", "--cache-ram", "--fit", "--threads", "--threads-http",
}  # fmt: skip
WITHOUT_VALUE = {"--no-cache-prompt", "--no-slots", "--no-webui", "--offline"}


def test_every_option_of_the_cuda_server_has_its_value_and_no_other(services: dict[str, Any]) -> None:
    rest = list(services["server"]["command"])
    seen: dict[str, str] = {}
    while rest:
        name = rest.pop(0)
        assert name in WITH_VALUE | WITHOUT_VALUE, name
        seen[name] = rest.pop(0) if name in WITH_VALUE else ""
        assert not seen[name].startswith("-"), f"{name} swallowed {seen[name]}"
    assert seen["--flash-attn"] == "on"
    assert seen["--parallel"] == "1"
    assert seen["--cache-ram"] == "0"
    assert seen["--fit"] == "off"
    assert seen["--threads"] == "1"  # it spins, and the bound on processors may be 1
    assert int(seen["--threads-http"]) < services["server"]["pids_limit"] / 2
    assert set(seen) == WITH_VALUE | WITHOUT_VALUE


def test_the_cuda_server_loads_the_first_part_of_the_pinned_model_under_its_label(services: dict[str, Any]) -> None:
    pinned = json.loads((ROOT / "configs" / "models.lock.json").read_text())["r3"]
    command = services["server"]["command"]
    assert option(command, "--model") == f"/models/{pinned['files'][0]['name']}"
    assert option(command, "--alias") == f"{pinned['name']} {pinned['quantisation']}"


def test_both_servers_have_the_same_slots_context_and_batch(services: dict[str, Any]) -> None:
    from src.server.embedded_server import BATCH_TOKENS, settings

    gpu, cpu = services["server"]["command"], services["server-cpu"]["command"]
    assert option(gpu, "--parallel") == option(cpu, "--slots") == str(settings()["n_parallel"])
    assert option(gpu, "--ctx-size") == option(cpu, "--ctx") == str(settings()["n_ctx"])
    assert option(gpu, "--batch-size") == option(gpu, "--ubatch-size") == str(BATCH_TOKENS)
    assert settings()["cache_prompt"] is False
    assert settings()["cache_ram_mib"] == 0
    assert settings()["endpoint_slots"] is False


def test_images_from_a_registry_are_pinned_by_tag_and_digest(services: dict[str, Any]) -> None:
    assert PINNED.match(services["server"]["image"])
    for name in ("app", "server-cpu", "fetch"):
        assert PINNED.match(services[name]["build"]["args"]["PYTHON_IMAGE"])
    default = re.search("^ARG PYTHON_IMAGE=(.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert default is not None
    assert default[1] == services["app"]["build"]["args"]["PYTHON_IMAGE"]


def test_app_and_fetch_are_one_image_that_is_built_here_and_never_pulled(services: dict[str, Any]) -> None:
    ours = f"{config()['name']}-app"  # with the project's name, so that two copies never share one
    assert services["app"]["image"] == services["fetch"]["image"] == ours
    assert services["app"]["build"] == services["fetch"]["build"]
    assert services["app"]["pull_policy"] == services["fetch"]["pull_policy"] == "never"
    assert "image" not in services["server-cpu"]


def test_a_build_touches_no_image_but_the_python_base(services: dict[str, Any]) -> None:
    assert {name for name in SERVICES if "build" in services[name]} == {"app", "server-cpu", "fetch"}
    sources = re.findall("^FROM ([^ ]+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    stages = re.findall("^FROM .* AS ([^ ]+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert set(sources) - set(stages) == {"${PYTHON_IMAGE}"}


def test_settings_in_the_example_are_those_that_compose_reads(services: dict[str, Any]) -> None:
    example = (ROOT / ".env.example").read_text()
    offered = set(re.findall(r"^#?([A-Z][A-Z0-9_]+)=", example, re.MULTILINE))
    text = (ROOT / "compose.yaml").read_text()
    read = set(re.findall(r"\$\{([A-Z0-9_]+)", text)) | set(
        re.findall(r"^      ([A-Z0-9_]+):(?: #.*)?$", text, re.MULTILINE)
    )
    assert offered == read - {"COMPOSE_PROJECT_NAME"} | {"COMPOSE_PROFILES"}  # compose itself sets the name
    assert re.findall(r"^#?([A-Z][A-Z0-9_]+)=$", example, re.MULTILINE) == [], "a blank value is not a good example"
    for pinned in re.findall(r"\$\{(?:PYTHON|LLAMA)_IMAGE:-([^}]+)\}", text):
        assert pinned in example
