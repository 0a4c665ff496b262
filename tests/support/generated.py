"""How many inputs the generated tests try, by depth; always the same inputs, except at the depth `deep`.

HYPOTHESIS_PROFILE=deep tries thirty times as many as `scripts/test.sh --all`, different ones each time.
"""

import os

from hypothesis import HealthCheck, Phase, settings

USUAL = 1200
SHARES = {"quick": 0.04, "all": 1.0, "layers": 1.0, "deep": 30.0}
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "all")

_common = settings(
    max_examples=round(USUAL * SHARES[PROFILE]),
    derandomize=PROFILE != "deep",
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
    # a layer that is broken on purpose needs no shortest example
    phases=[Phase.explicit, Phase.generate] if PROFILE == "layers" else settings().phases,
)
settings.register_profile(PROFILE, _common)
settings.load_profile(PROFILE)


def tries(examples: int) -> settings:
    """Settings of a test that tries so many inputs in a whole run."""
    return settings(_common, max_examples=round(examples * SHARES[PROFILE]))
