"""Starter specs are valid, without warnings, for every scheduler."""

import pytest
import yaml

from policygen.adopt.starter import StarterRequest, starter
from policygen.core.rule import Severity
from policygen.documents.files import Source
from policygen.hardware import catalog
from policygen.plan.compile import compile_plan
from policygen.spec.load import load


def text(scheduler="kueue", product="a100-80gb", nodes=2, teams=("b", "a")):
    found = catalog.product(product).product
    return starter(StarterRequest("prod", "gpus", found, nodes, scheduler, teams))


@pytest.mark.parametrize("product", ["a100-80gb", "l4", "h200-141gb"])
@pytest.mark.parametrize("scheduler", ["kueue", "volcano", "kube-scheduler"])
def test_the_spec_has_no_warning(scheduler, product):
    loaded = load([Source("spec.yaml", text(scheduler, product), None)])
    plan = compile_plan(loaded.spec)
    found = [*loaded.findings, *plan.hits]
    assert [it.message for it in found if it.rule.severity > Severity.INFO] == []
    assert plan.items


def test_the_teams_share_the_pool_in_equal_parts():
    teams = [it["spec"] for it in yaml.safe_load_all(text()) if it["kind"] == "Team"]
    assert [it["quotas"] for it in teams] == [[{"pool": "gpus", "guarantee": 8}]] * 2


def test_fields_are_explained_once():
    comments = [it for it in text().splitlines() if it.lstrip().startswith("#")]
    assert len(comments) > 6
    assert len(set(comments)) == len(comments)
