"""Which objects run a model: by label, or by name in its namespace."""

import pytest

from policygen.documents.files import Source
from policygen.plan.compile import compile_plan
from policygen.plan.model_names import replica_names, runs
from policygen.spec.load import load
from tests.servers.rendering import json_documents
from tests.servers.specs import model, platform, pool, share, team


def assignment(**fields):
    each = {"resources": {"gpus": 1}, **fields}
    documents = [
        platform(),
        pool("a100", 64),
        team("nlp", share(guarantee=32)),
        model("m", "nlp", **each),
    ]
    text = json_documents(documents)
    plan = compile_plan(load([Source("spec.yaml", text, None)]).sound)
    return plan.workloads.assignments[0]


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"replicas": 3}, ("m",)),
        ({"workload": "batch"}, ("m",)),
        ({"workload": "batch", "replicas": 2}, ("m-0", "m-1")),
        ({"replicas": 2, "gang": {"size": 2}}, ("m-0", "m-1")),
    ],
)
def test_gangs_and_jobs_have_an_object_for_each_replica(fields, names):
    assert replica_names(assignment(**fields)) == names


@pytest.mark.parametrize(
    ("label", "name", "namespace", "known"),
    [
        ("", "m", "nlp", True),
        ("", "m-1", "nlp", True),
        ("", "m-2", "nlp", False),
        ("", "m", "other", False),
        ("m", "x", "other", True),
        ("x", "m", "nlp", False),
    ],
)
def test_a_label_counts_before_a_name(label, name, namespace, known):
    it = assignment(workload="batch", replicas=2)
    assert runs(it, label=label, name=name, namespace=namespace) is known
