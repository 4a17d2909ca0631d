"""The rendered rules and dashboard use only series that the rules record, or that other programs export."""

import json
import re
from pathlib import Path

import yaml

from policygen.app import render
from policygen.app.requests import RenderRequest

EXAMPLES = [f"examples/{name}/policy.yaml" for name in ("three-schedulers", "serving-slices")]
EXPORTED = re.compile(r"\b(kube|kueue|volcano|DCGM_FI|policygen)_\w+")
RECORDED = re.compile(r"policygen:\w+")


def rendered(spec):
    made = render.render(RenderRequest((spec,), {}, extras=frozenset({"monitoring"})))
    objects = [yaml.safe_load(it.text) for it in made.manifests if it.item.kind.extra]
    return {it["kind"]: it for it in objects}


def rules(objects):
    return [it for group in objects["PrometheusRule"]["spec"]["groups"] for it in group["rules"]]


def test_each_recorded_series_is_used_and_each_used_series_is_recorded():
    for spec in EXAMPLES:
        objects = rendered(spec)
        recorded = {it["record"] for it in rules(objects) if "record" in it}
        dashboard = objects["ConfigMap"]["data"]["gpu-policy.json"]
        used = set(RECORDED.findall(dashboard))
        for rule in rules(objects):
            used |= set(RECORDED.findall(rule["expr"]))
        started = {"policygen:team_started"}  # only of Kueue
        assert used - started == recorded - started


def test_only_metrics_that_the_documentation_names_are_used():
    named = {it[0] for it in EXPORTED.finditer(Path("docs/monitoring.md").read_text("utf-8"))}
    for spec in EXAMPLES:
        used = {it[0] for rule in rules(rendered(spec)) for it in EXPORTED.finditer(rule["expr"])}
        assert used <= named


def test_series_of_kueue_count_once_if_it_has_several_replicas():
    """Each replica reports its gauges, with its role."""
    exprs = [it["expr"] for it in rules(rendered(EXAMPLES[0])) if "kueue_" in it["expr"]]
    summed = [it for it in exprs if not it.startswith("absent")]
    assert len(summed) > 2
    assert all(it.count('replica_role!="follower"') == 1 for it in summed)


def test_a_series_has_one_rule():
    for spec in EXAMPLES:
        found = [
            (it["record"], tuple(sorted(it["labels"].items())))
            for it in rules(rendered(spec))
            if "record" in it
        ]
        assert len(found) == len(set(found))


def test_panels_do_not_overlap_and_have_a_query():
    for spec in EXAMPLES:
        dashboard = json.loads(rendered(spec)["ConfigMap"]["data"]["gpu-policy.json"])
        cells = [
            (x, y)
            for panel in dashboard["panels"]
            for at in [panel["gridPos"]]
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        ]
        assert len(cells) == len(set(cells))
        assert max(x for x, _ in cells) < 24
        assert all(panel["targets"] for panel in dashboard["panels"])
