"""The code of KEDA and Prometheus refuses what `scaled-object-refused` reports, and accepts the rest."""

import json
import random
import subprocess

import pytest
import yaml

from policygen.lint.core.rules import scaled_object_refused
from tests.objects import facts
from tests.servers.test_other_tools import install
from tests.servers.upstream import KEDA

QUERY = 'sum(requests{pod=~"a-[(]"})'
TRIGGER = {"serverAddress": "http://prometheus:9090", "query": QUERY, "threshold": "16"}
THRESHOLDS = ("16", " 16 ", "0", "-1", "0.5", "1e3", ".5", "+5", "0x10", "5%", "", " ", "1.", "0.0004", "0.001", "abc", "null", "1_000", "00", "-0")  # fmt: skip


def scaled(bounds=None, metadata=TRIGGER, kind="prometheus"):
    spec = {"scaleTargetRef": {"name": "chat"}, **(bounds or {})}
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "chat", "namespace": "web"},
        "spec": {**spec, "triggers": [{"type": kind, "metadata": metadata}]},
    }


def reported(it):
    return [hit.message for hit in scaled_object_refused.check(facts(yaml.safe_dump(it)))]


def drawn():
    """Objects of one seed, in whose bounds and triggers each part is sometimes wrong."""
    draw = random.Random(17)
    for _ in range(300):
        names = ("minReplicaCount", "maxReplicaCount", "idleReplicaCount")
        bounds = {it: draw.randrange(1, 6) - (it[0] != "m") for it in names if draw.random() < 0.5}
        if "minReplicaCount" in bounds and draw.random() < 0.3:
            bounds["minReplicaCount"] = draw.choice((0, 100, 101))
        metadata = {key: value for key, value in TRIGGER.items() if draw.random() < 0.95}
        if draw.random() < 0.3:
            metadata[draw.choice(tuple(TRIGGER))] = draw.choice(("", "  "))
        yield scaled(bounds, metadata, draw.choice(("prometheus", "prometheus", "kafka")))
    for it in THRESHOLDS:
        yield scaled(metadata={**TRIGGER, "threshold": it})


def test_keda_refuses_what_lint_reports(tools):
    objects = [*drawn()]
    command = [tools["keda"].binary("scaledobjects")]
    done = subprocess.run(command, input=json.dumps(objects), capture_output=True, text=True, check=True)  # fmt: skip
    answers = done.stdout.splitlines()
    assert len(answers) == len(objects)
    assert {bool(it) for it in answers} == {True, False}
    different = [
        (answer, it["spec"])
        for answer, it in zip(answers, objects, strict=True)
        if bool(answer) != bool(reported(it))
    ]
    assert different == []


@pytest.mark.parametrize(
    "query", [QUERY, "sum(a", "sum(a))", 'a{b="}"}', "a{b='c}", "a[5m", "a{b=`\\`}", 'a # (\n + b{c="\\""}', "(a]", '"#"', "a}"]
)  # fmt: skip
def test_prometheus_refuses_the_queries_that_lint_reports(tools, tmp_path, query):
    rules = {"groups": [{"name": "g", "rules": [{"record": "r", "expr": query}]}]}
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rules))
    command = [tools["prometheus"].binary("promtool"), "check", "rules", str(tmp_path / "rules.yaml")]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert bool(done.returncode) == bool(reported(scaled(metadata={**TRIGGER, "query": query})))


def test_the_api_server_refuses_metadata_that_is_not_text(cluster, tools):
    install(cluster, tools, KEDA)
    cluster.namespace("web")
    for threshold, is_refused in ((16, True), (True, True), ("16", False)):
        it = scaled(metadata={**TRIGGER, "threshold": threshold})
        assert bool(cluster.apply_twice(yaml.safe_dump(it)).refused) is is_refused
        assert bool(reported(it)) is is_refused


def test_the_api_server_refuses_a_target_of_zero(cluster):
    """So KEDA cannot create the HorizontalPodAutoscaler of a threshold of 0."""
    cluster.namespace("web")
    external = {"metric": {"name": "s0"}, "target": {"type": "AverageValue", "averageValue": "0"}}
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"},
        "maxReplicas": 2,
        "metrics": [{"type": "External", "external": external}],
    }
    meta = {"name": "keda-hpa-chat", "namespace": "web"}
    hpa = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta}
    (answer,) = cluster.apply_twice(yaml.safe_dump({**hpa, "spec": spec})).refused
    assert "must be positive" in str(answer)
