"""`policygen upgrade` converts objects of versions that no server has any more as Kubernetes did."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from random import Random

import pytest
import yaml

from policygen.app.upgrade import upgrade
from policygen.core import versions
from tests.servers.build import located
from tests.servers.loaders import CONVERTER, conversions

COUNT = 300
APPLIED = 40
"""How many are also applied to a server, which takes longer."""
LOST = '"container":""', '"container":"main"'
"""Kubernetes loses the container of a metric in v2beta1, and then refuses the object."""
TODAY = date(2026, 11, 28)


def a_selector(random):
    expression = {"key": "route", "operator": "In", "values": ["a", "b"]}
    return random.choice(({"matchLabels": {"verb": "GET"}}, {"matchExpressions": [expression]}, {}))


def a_metric(random):
    amount = random.choice(("10", "1500m", "2Gi", 7))
    percent = {"targetAverageUtilization": random.randint(1, 100)}
    average = random.choice((percent, {"targetAverageValue": amount}))
    target = {"kind": "Ingress", "name": "main", "apiVersion": "networking.k8s.io/v1"}
    per_pod = random.choice(({}, {"averageValue": amount}))
    either = random.choice(({"targetValue": amount}, {"targetAverageValue": amount}))
    name, selector = {"metricName": "requests"}, {}
    if random.random() < 0.5:
        selector = {"selector": a_selector(random)}
    made = {
        "Resource": ("resource", {"name": "cpu", **average}),
        "ContainerResource": ("containerResource", {"name": "cpu", "container": "main", **average}),
        "Pods": ("pods", {**name, **selector, "targetAverageValue": amount}),
        "Object": (
            "object",
            {"target": target, **name, **selector, "targetValue": amount, **per_pod},
        ),
        "External": (
            "external",
            {**name, **{f"metricS{key[1:]}": it for key, it in selector.items()}, **either},
        ),
    }
    kind = random.choice([*made])
    field, source = made[kind]
    keys = random.sample([*source], len(source))
    return {"type": kind, field: {key: source[key] for key in keys}}


def an_autoscaler(random, name):
    metrics = [a_metric(random) for _ in range(random.randint(0, 4))]
    return {
        "apiVersion": random.choice(("autoscaling/v2beta1",) * 5 + ("autoscaling/v2beta2",)),
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "main"},
            "maxReplicas": random.randint(1, 9),
            **random.choice(({}, {"minReplicas": 1})),
            **({"metrics": metrics} if metrics else {}),
        },
    }


def a_budget(random, name):
    selector = random.choice((*[a_selector(random)] * 3, None))
    return {
        "apiVersion": "policy/v1beta1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            random.choice(("minAvailable", "maxUnavailable")): random.choice((1, "50%")),
            **({} if selector is None else {"selector": selector}),
        },
    }


def drawn(random, name):
    """An object of an older version; one in v2beta2 has no metrics, whose fields are those of v2."""
    made = random.choice((an_autoscaler, an_autoscaler, an_autoscaler, a_budget))(random, name)
    if made["apiVersion"] == "autoscaling/v2beta2":
        made["spec"].pop("metrics", None)
        made["spec"]["behavior"] = {"scaleDown": {"stabilizationWindowSeconds": 60}}
    return made


def written(random, data):
    """The text of an object: as YAML in blocks, in both forms, or as JSON."""
    if random.random() < 0.2:
        return json.dumps(data)
    flow = random.choice((False, None))
    return yaml.safe_dump(data, default_flow_style=flow).replace("\n", "  # a comment\n", 1)


def test_an_upgraded_object_is_what_kubernetes_converts_it_to(cluster, tmp_path):
    if located(CONVERTER).missing:
        pytest.skip("the converter is not built: python -m tests.servers build")
    random = Random(20261128)
    objects = [drawn(random, f"it-{number:03}") for number in range(COUNT)]
    for number, data in enumerate(objects):
        (tmp_path / f"{number:03}.yaml").write_text(written(random, data))
    target = {"kubernetes": versions.parse("kubernetes", "1.36")}
    made = upgrade((str(tmp_path),), target, today=TODAY)
    changed = {Path(source.name).stem: text for source, text in made.fixed.texts}
    left = [it for number, it in enumerate(objects) if f"{number:03}" not in changed]
    # The only objects that a person must look at: budgets that would select other pods.
    assert {(it["kind"], str(it["spec"].get("selector"))) for it in left} == {
        ("PodDisruptionBudget", "{}")
    }
    assert len(left) == len(made.by_hand)
    before = conversions([json.dumps(objects[int(it)]) for it in changed])
    after = [*conversions(list(changed.values()))]
    for was, now in zip(before, after, strict=True):
        assert was
        assert json.loads(was.replace(*LOST)) == json.loads(now)
    some = list(changed.values())[:APPLIED]
    outcome = cluster.apply_twice("\n---\n".join(some))
    assert (outcome.refused, outcome.changed, outcome.warnings) == ([], [], [])
