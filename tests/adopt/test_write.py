"""The text of specs: comments stand above their fields, and no comment is lost."""

from inspect import cleandoc

import yaml

from policygen.adopt.spec_data import SpecDocument
from policygen.adopt.write import WIDTH, write
from policygen.spec.forms import TEAM

DATA = {
    "kind": "Team",
    "metadata": {"name": "nlp"},
    "spec": {"quotas": [{"pool": "a100", "cpu": {}}, {"pool": "on"}], "empty": [], "one": [1]},
}


def written(comments):
    return write([SpecDocument(TEAM, "nlp", DATA)], {("Team", "nlp"): comments})


def test_comments_stand_above_their_fields():
    text = written(
        {
            (): ["About the team."],
            ("spec", "quotas", 0): ["The entry."],
            ("spec", "quotas", 1, "pool"): ["The first field of an entry."],
            ("spec", "one", 0): ["A scalar in a list."],
        }
    )
    assert text.strip() == cleandoc("""
        ---
        # About the team.
        kind: Team
        metadata:
          name: nlp
        spec:
          quotas:
            # The entry.
            - pool: a100
              cpu: {}
            # The first field of an entry.
            - pool: "on"
          empty: []
          one:
            # A scalar in a list.
            - 1
    """)
    assert yaml.safe_load(text) == DATA


def test_a_comment_of_a_missing_field_stands_above_the_next_field_around_it():
    text = written({("spec", "quotas", 0, "weight"): ["No weight."], ("spec", "x", 3): ["No x."]})
    lines = text.splitlines()
    assert lines[lines.index("    # No weight.") + 1] == "    - pool: a100"
    assert lines[lines.index("# No x.") + 1] == "spec:"


def test_long_comments_are_wrapped():
    sentence = "word " * 60
    lines = written({("spec",): [sentence]}).splitlines()
    comments = [it for it in lines if it.startswith("#")]
    assert len(comments) > 2
    assert max(map(len, comments)) <= WIDTH
    assert " ".join(it.removeprefix("# ") for it in comments) == sentence.strip()
