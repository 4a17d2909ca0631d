"""The code of KEDA refuses what `scaled-object-refused` reports, and accepts the rest."""

import json
import os
import random
import subprocess

import yaml

from policygen.lint.core.rules import scaled_object_refused
from tests.objects import facts

COUNT = int(os.environ.get("POLICYGEN_SCALED_OBJECTS", "300"))
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
    for _ in range(COUNT):
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
