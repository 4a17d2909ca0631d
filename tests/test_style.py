"""What users read is plain English: none of the words that tests/style.py lists."""

from collections import defaultdict
from pathlib import Path

import pytest

from tests.style import ALLOWED, Text, texts

PENDING = Path(__file__).parent / "style_pending.txt"
"""Files that are not rewritten yet, one a line. This list may only shrink."""


@pytest.fixture(scope="module")
def offences():
    """The file of each offence, to its offences."""
    found = defaultdict(list)
    for text in texts():
        if text.offences:
            found[text.file].append(f"{text}  [{', '.join(text.offences)}]")
    return found


def test_no_text_uses_an_avoided_word(offences):
    pending = set(PENDING.read_text("utf-8").split())
    assert [it for file, lines in offences.items() if file not in pending for it in lines] == []


def test_the_list_of_pending_files_only_shrinks(offences):
    clean = [file for file in PENDING.read_text("utf-8").split() if file not in offences]
    assert clean == [], "remove these from tests/style_pending.txt"


def test_every_allowed_text_is_used():
    everything = "\n".join(it.text for it in texts())
    assert [allowed for allowed in ALLOWED if allowed not in everything] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a mapping stands where a list is wanted", ["stands", "wanted"]),
        ("Whether it is so, nobody knows", ["nobody"]),
        ("1x is no quantity", ["is no"]),
        ("leave the key out", ["leave the key out"]),
        ("it no longer exists, and there is no queue", []),
        ("stopPolicy is None", []),
        ("`in vain` and the rule not-heeded", []),
        ("apart from these, the whole pool", []),
        ("the standard output", []),
    ],
)
def test_what_is_an_offence(text, found):
    assert Text("a.py", 1, text).offences == found


def test_each_source_is_in_the_list():
    files = {it.file for it in texts()}
    assert {
        "README.md",
        "docs/lint.md",
        "examples/kueue-team-tree/teams.yaml",
        "policygen/cli/spec.py",
        "policygen/lint/kueue/rules/cohort_cycle.md",
        "policygen/lint/kueue/rules/cohort_cycle.py",
        "policygen/spec/schema_errors.py",
        "schemas/spec/team.schema.json",
        "templates/kubernetes/namespace.yaml.j2",
    } <= files
