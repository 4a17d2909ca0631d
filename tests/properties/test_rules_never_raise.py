"""No rule raises, whatever values are in the fields that it reads."""

import random
from copy import deepcopy

import pytest
import yaml

from policygen.core import versions
from policygen.documents.files import Source
from policygen.kubernetes import manifests
from policygen.kubernetes.cluster import Cluster
from policygen.lint import engine
from policygen.lint.registry import RULES
from policygen.lint.rule import Facts, Need
from tests.client.looks import snapshot
from tests.examples_of_rules import examples

PAGES = [example.text for rule in RULES for example in examples(rule.name)]
WRONG = [
    None, 5, -1, 0, 1.5, 10**30, True, "", "x", "5", "\N{SUPERSCRIPT TWO}", "1Gi", "a/b",
    [], [None], [[]], [1], ["x"], [{}], {}, {"a": 1}, {"a": None}, {"name": []},
]  # fmt: skip


def ways(data, way=()):
    """The paths of all values in a document."""
    if isinstance(data, dict | list):
        for step in list(data) if isinstance(data, dict) else range(len(data)):
            yield (*way, step)
            yield from ways(data[step], (*way, step))


def mutated(draw):
    """The documents of a page's example with up to three values replaced."""
    documents = [each for each in yaml.safe_load_all(draw.choice(PAGES)) if each]
    for _ in range(draw.randint(1, 3)):
        document = draw.choice(documents)
        *above, last = draw.choice(list(ways(document)))
        for step in above:
            document = document[step]
        document[last] = deepcopy(draw.choice(WRONG))
    return yaml.safe_dump_all(documents)


@pytest.mark.parametrize("seed", range(8))
def test_rules_accept_any_value(seed):
    draw = random.Random(seed)
    for _ in range(60):
        text = mutated(draw)
        found = manifests.read([Source("drawn.yaml", text, None)])
        seen = snapshot().seen if draw.random() < 0.5 else None
        given = frozenset(Need) - (set() if seen else {Need.SEEN})
        facts = Facts(
            Cluster(found.objects, seen), versions.DEFAULT, given, requested=versions.DEFAULT
        )
        for outcome in engine.run(RULES, facts):
            assert outcome.verdict is not engine.Verdict.CRASHED, f"{text}\n{outcome.reason}"
