"""The numbers that recording rules record have the steps of the amounts of the spec."""

from pathlib import Path

import pytest

from policygen.app import explain_object
from policygen.app.requests import RenderRequest
from policygen.explain.values import Values
from policygen.plan.monitoring import facts

ROOT = Path(__file__).parents[2]
AMOUNTS = {facts.TEAM_GUARANTEE, facts.TEAM_LIMIT, facts.POOL_CAPACITY}


@pytest.mark.parametrize("example", ["kueue-team-tree", "serving-slices", "volcano-training"])
def test_the_steps_end_with_the_recorded_number(example):
    found = explain_object.opened(RenderRequest((str(ROOT / "examples" / example),), {}))
    values = Values(found.compiled.decisions)
    index = next(i for i, it in enumerate(found.objects) if it.object.kind == "PrometheusRule")
    item, data = found.objects[index].item, found.data[index]
    seen = set()
    for group, rules in enumerate(it["rules"] for it in data["spec"]["groups"]):
        for number, rule in enumerate(rules):
            if rule.get("record") not in AMOUNTS:
                continue
            path = ("spec", "groups", group, "rules", number, "expr")
            *steps, last = values.steps(item, data, path)
            assert last.value == rule["expr"] == f"vector({steps[-1].value})"
            assert any(it.at for it in steps)
            seen.add(rule["record"])
    assert seen == AMOUNTS


def test_a_query_has_the_place_of_each_name_in_it():
    found = explain_object.opened(RenderRequest((str(ROOT / "examples" / "kueue-team-tree"),), {}))
    values = Values(found.compiled.decisions)
    index = next(i for i, it in enumerate(found.objects) if it.object.kind == "PrometheusRule")
    item, data = found.objects[index].item, found.data[index]
    for group, rules in enumerate(it["rules"] for it in data["spec"]["groups"]):
        for number, rule in enumerate(rules):
            labels = rule["labels"]
            if rule.get("record") in AMOUNTS or not {"pool", "team"} <= labels.keys():
                continue
            path = ("spec", "groups", group, "rules", number, "expr")
            *steps, last = values.steps(item, data, path)
            assert {it.value for it in steps} >= {labels["pool"], labels["team"]}
            assert all(it.at for it in (*steps, last))


def test_a_query_about_all_pools_has_the_first_places_and_their_number():
    found = explain_object.opened(RenderRequest((str(ROOT / "examples" / "three-schedulers"),), {}))
    values = Values(found.compiled.decisions)
    index = next(i for i, it in enumerate(found.objects) if it.object.kind == "PrometheusRule")
    item, data = found.objects[index].item, found.data[index]
    alerts = data["spec"]["groups"][2]["rules"]
    number = next(i for i, it in enumerate(alerts) if it["alert"] == "PolicygenGuaranteeUnused")
    path = ("spec", "groups", 2, "rules", number, "expr")
    shown = [
        it for it in values.steps(item, data, path) if it.name.startswith(facts.TEAM_GUARANTEE)
    ]
    assert [(it.name.partition(" of ")[2], it.value) for it in shown] == [
        ("team data, pool batch-a100", "16"),
        ("team lab, pool batch-a100", "8"),
        ("team product, pool serving-l4", "0"),
        ("", "1 more"),
    ]
    assert len({it.at for it in shown[:3]}) == 3
    path = ("spec", "groups", 1, "rules", 0, "expr")  # pods on the nodes of all pools
    *steps, _ = values.steps(item, data, path)
    assert [it.value for it in steps[:3]] == ["nvidia.com/gpu"] * 3
    assert len({it.at for it in steps}) == 6
