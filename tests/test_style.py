"""What users read is plain English, without the words that tests/style.py lists."""

import pytest

from tests.style import ALLOWED, Text, texts


@pytest.fixture(scope="module")
def everything():
    """All texts, extracted once."""
    return texts()


def test_no_text_uses_an_avoided_word(everything):
    assert [f"{it}  [{', '.join(it.offences)}]" for it in everything if it.offences] == []


def test_every_allowed_text_is_used(everything):
    joined = "\n".join(it.text for it in everything)
    assert [allowed for allowed in ALLOWED if allowed not in joined] == []


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


def test_each_source_is_in_the_list(everything):
    files = {it.file for it in everything}
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
