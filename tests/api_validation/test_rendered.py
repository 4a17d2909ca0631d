"""The schema validator accepts everything that the shipped templates render."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings

from policygen.api_validation.refusals import refusals
from policygen.api_validation.schemas import served
from policygen.documents.files import Source
from policygen.plan.catalog import KINDS
from policygen.plan.compile import compile_plan
from policygen.render.engine import render
from policygen.spec.load import load
from tests import strategies

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/expected/manifests.yaml"))

WITH_PLURAL = {(it, kind.name) for kind in KINDS if kind.plural for it in kind.api_versions}


def judged(text):
    """How many of the documents have a schema; fails if one of them is refused."""
    count = 0
    for thing in yaml.load_all(text, Loader=yaml.CSafeLoader):
        kind = served(thing["apiVersion"], thing["kind"])
        if kind is None:
            assert (thing["apiVersion"], thing["kind"]) in WITH_PLURAL, (
                f"{thing['apiVersion']} {thing['kind']} has no schema; see tests/plan/test_catalog.py"
            )
            continue
        assert list(refusals(thing, kind)) == []
        count += 1
    return count


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.parent.name)
def test_an_example(path):
    assert judged(path.read_text("utf-8"))


@settings(max_examples=40)
@given(strategies.specs())
def test_a_spec(spec):
    text = "".join(f"---\n{json.dumps(document)}\n" for document in spec)
    loaded = load([Source("spec.yaml", text, None)])
    plan = compile_plan(loaded.sound)
    judged("".join(manifest.text for manifest in render(plan.items)))
