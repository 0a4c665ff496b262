"""Every protection of compose.yaml is attacked from inside, and every attack works where nothing protects.

Needs an engine: bash .ci/containers.sh
"""

import pytest

from tests.containers.attack_list import ATTACKS, Attack
from tests.containers.attacks import Outcome


@pytest.mark.parametrize("attack", ATTACKS, ids=[f"{attack.service}: {attack.name}" for attack in ATTACKS])
def test_the_attack_is_stopped_as_documented(attack: Attack, outcomes: dict[tuple[str, str], Outcome]) -> None:
    result = outcomes[attack.service, attack.name]
    assert result.control.startswith("done: "), f"without protection: {result.control}"
    assert result.held, result.protected
