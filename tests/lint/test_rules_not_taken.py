"""docs/rules-not-taken.md names only rules that exist."""

import re
from pathlib import Path

from policygen.lint.registry import RULES

PAGE = Path(__file__).parents[2] / "docs/rules-not-taken.md"


def test_every_rule_it_names_exists():
    named = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", PAGE.read_text("utf-8")))
    assert named
    assert named <= {rule.name for rule in RULES}
