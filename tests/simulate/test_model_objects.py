"""Which models of a spec a simulation adds: those that no object of the input runs."""

import pytest

from policygen.core.finding import At
from policygen.documents.files import Source
from policygen.kubernetes.object import Object
from policygen.plan.compile import compile_plan
from policygen.plan.model_names import MODEL
from policygen.simulate.model_objects import not_written
from policygen.spec.load import load
from tests.servers.rendering import json_documents
from tests.servers.specs import model, platform, pool, share, team

SPEC = [platform(), pool("a100", 64), team("nlp", share(guarantee=32))]


def added(*models, written=()):
    """The names of the models that are added, and of those that the written objects run."""
    spec = load([Source("spec.yaml", json_documents([*SPEC, *models]), None)]).sound
    objects = (Object.read(it, At(0)) for it in written)
    found, own = not_written(compile_plan(spec).workloads.assignments, objects)
    return [it.model.name for it in found], own


def one(name="m", gpus=2):
    return model(name, "nlp", resources={"gpus": gpus})


def deployment(name, namespace="nlp", **labels):
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}


@pytest.mark.parametrize(
    ("it", "own"),
    [
        (deployment("m"), ["m"]),
        (deployment("x", "other", **{MODEL: "m"}), ["m"]),
        (deployment("m", "other"), []),
        (deployment("m", **{MODEL: "another"}), []),
    ],
)
def test_a_model_that_the_input_runs_is_not_added(it, own):
    expected = (["n"] if own else ["m", "n"], own)
    assert added(one(), one("n"), written=[it]) == expected


def test_a_model_without_a_pool_is_in_neither():
    assert added(one(), one("large", 9)) == (["m"], [])
