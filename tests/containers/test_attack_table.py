"""The attack suite about itself, without an engine: what it leaves out, where it aims, and the table in the documents.

Run alone: python -m pytest tests/containers/test_attack_table.py
"""

import json
import re
from pathlib import Path

import pytest

from tests.containers import attacks, scene
from tests.containers.attack_list import ATTACKS, Attack

QUERIES = [attack for attack in ATTACKS if attack.probe[0] == "look_up"]


@pytest.mark.parametrize("attack", QUERIES, ids=lambda attack: attack.service)
def test_without_a_resolver_of_its_own_no_name_query_is_sent_and_the_table_says_so(
    attack: Attack, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, ...]] = []
    monkeypatch.delenv(attacks.RESOLVER_LOG, raising=False)
    monkeypatch.setattr(attacks, "docker", lambda *args, **_: sent.append(args))
    result = attacks.run(attack, scene.Scene())
    assert sent == []
    assert not result.tried and not result.held
    row = attacks.table([result]).splitlines()[-1]
    assert "not tried" in row and row.endswith("| - |")


def test_every_service_that_must_not_look_up_names_is_asked_to() -> None:
    assert {attack.service for attack in QUERIES} == {"app", "server-cpu"}


@pytest.mark.parametrize(
    ("config", "address"),
    [
        ({"Subnet": "172.20.0.0/16", "Gateway": "172.20.0.9"}, "172.20.0.9"),
        ({"Subnet": "172.20.0.0/16"}, "172.20.0.1"),  # Engine 28 and later, internal with inhibit_ipv4: moby#49261
        ({"Subnet": "172.20.0.0/16", "Gateway": ""}, "172.20.0.1"),
    ],
)
def test_a_network_without_a_gateway_is_aimed_at_by_its_first_address(
    config: dict[str, str], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scene, "must", lambda *_: json.dumps([{"IPAM": {"Config": [config]}}]))
    assert scene.gateway_of("inside") == address


def test_no_two_attacks_share_a_name_that_travels() -> None:
    travelling = [attack.probe[1] for attack in ATTACKS if attack.probe[0] in ("look_up", "datagram")]
    assert len(travelling) == len(set(travelling)) == 4


def test_the_table_in_the_documents_has_every_attack_and_every_one_was_stopped() -> None:
    text = (scene.ROOT / "docs" / "SECURITY.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    told = [row for row in rows if len(row) == 6 and row[0] in {attack.service for attack in ATTACKS}]
    assert [(row[0], row[1], row[2]) for row in told] == [(a.service, a.name, a.protection) for a in ATTACKS]
    for row, attack in zip(told, ATTACKS, strict=True):
        assert re.search(attack.stopped, row[3]), row
        assert row[4].startswith("done: ") and row[5] == "yes", row
    assert re.search(r"Engine [\d.+\w-]+, Compose [\d.-]+, 20\d\d-\d\d-\d\d", text)


def test_the_command_for_the_table_is_a_file_that_is_there() -> None:
    text = (scene.ROOT / "docs" / "SECURITY.md").read_text(encoding="utf-8")
    assert "python tests/containers/attacks.py" in text
    assert Path(attacks.__file__).relative_to(scene.ROOT) == Path("tests/containers/attacks.py")
