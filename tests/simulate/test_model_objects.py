"""The objects of models: their form by workload, gang and scheduler, and which of them the input already has."""

import pytest

from policygen.core.finding import At
from policygen.documents.files import Source
from policygen.kubernetes.object import Object
from policygen.plan.compile import compile_plan
from policygen.plan.model_names import MODEL
from policygen.simulate.model_objects import model_objects
from policygen.spec.load import load
from tests.servers.rendering import json_documents
from tests.servers.specs import model, platform, pool, share, team

EACH = {"resources": {"gpus": 2, "cpu": "8", "memory": "64Gi"}}


def made(*models, scheduler="kueue", written=()):
    documents = [
        platform({"name": "high", "value": 10}),
        pool("a100", 64, scheduler=scheduler, taints=[{"key": "gpu", "effect": "NoSchedule"}]),
        team("nlp", share(guarantee=32)),
        *models,
    ]
    spec = load([Source("spec.yaml", json_documents(documents), None)]).sound
    plan = compile_plan(spec)
    objects = (Object.read(it, At(0)) for it in written)
    names = (it.name for it in spec.models)
    return model_objects(plan.workloads.assignments, plan.pods, names, objects)


def one(**spec):
    return model("m", "nlp", **{**EACH, **spec})


def forms(found):
    """Kind, name and number of pods."""
    for it in found.data:
        spec = it["spec"]
        pods = [spec.get("replicas"), spec.get("parallelism")]
        pods += [task["replicas"] for task in spec.get("tasks", ())]
        yield it["kind"], it["metadata"]["name"], next(count for count in pods if count)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, [("Deployment", "m", 1)]),
        ({"replicas": 3}, [("Deployment", "m", 3)]),
        ({"autoscaling": {"minReplicas": 2, "maxReplicas": 5}}, [("Deployment", "m", 2)]),
        (
            {"replicas": 2, "gang": {"size": 3}},
            [("StatefulSet", "m-0", 3), ("StatefulSet", "m-1", 3)],
        ),
        ({"workload": "training"}, [("Job", "m", 1)]),
        ({"workload": "training", "gang": {"size": 4}}, [("Job", "m", 4)]),
        ({"workload": "batch", "replicas": 2}, [("Job", "m-0", 1), ("Job", "m-1", 1)]),
    ],
)
def test_a_model_has_the_form_of_its_workload(spec, expected):
    assert list(forms(made(one(**spec)))) == expected


def test_an_object_of_kueue_has_its_queue_priority_and_requests():
    (found,) = made(one(priority="high")).data
    assert found["metadata"]["labels"] == {
        MODEL: "m",
        "kueue.x-k8s.io/queue-name": "a100",
        "kueue.x-k8s.io/priority-class": "high",
    }
    pods = found["spec"]["template"]["spec"]
    amounts = {"nvidia.com/gpu": "2", "cpu": "8000m", "memory": str(64 * 2**30)}
    assert pods["containers"][0]["resources"] == {"requests": amounts, "limits": amounts}
    assert "nodeSelector" not in pods  # Kueue adds those of the flavor


def test_a_volcano_job_has_the_priority_of_its_model():
    gang = {"size": 2, "runAs": "vcjob"}
    (found,) = made(one(workload="training", gang=gang, priority="high"), scheduler="volcano").data
    assert found["spec"]["queue"] == "nlp.a100"
    assert found["spec"]["priorityClassName"] == "high"
    assert found["spec"]["tasks"][0]["template"]["spec"]["priorityClassName"] == "high"
    (found,) = made(one(workload="training", gang=gang), scheduler="volcano").data
    assert "priorityClassName" not in found["spec"]


def test_pods_for_kube_scheduler_select_the_nodes_of_their_pool():
    (found,) = made(one(), scheduler="kube-scheduler").data
    pods = found["spec"]["template"]["spec"]
    assert pods["nodeSelector"] == {"pool": "a100"}
    assert pods["tolerations"] == [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]


@pytest.mark.parametrize(
    ("run_as", "kind", "at", "key", "value"),
    [
        ("vcjob", "Job", ("spec",), "minAvailable", 4),
        ("job", "Job", ("metadata", "annotations"), "scheduling.volcano.sh/group-min-member", "4"),
        ("lws", "Job", ("metadata", "annotations"), "scheduling.volcano.sh/group-min-member", "4"),
        (
            "pods", "Job", ("spec", "template", "metadata", "annotations"),
            "scheduling.k8s.io/group-name", "m",
        ),
    ],
)  # fmt: skip
def test_a_gang_of_volcano_starts_together(run_as, kind, at, key, value):
    gang = {"size": 4, "runAs": run_as}
    (found,) = made(one(workload="training", gang=gang), scheduler="volcano").data
    assert found["kind"] == kind
    assert found["apiVersion"] == ("batch.volcano.sh/v1alpha1" if run_as == "vcjob" else "batch/v1")
    for part in at:
        found = found[part]
    assert found[key] == value


def test_each_gang_of_pods_has_its_own_pod_group():
    gang = {"size": 2}
    found = made(one(workload="training", gang=gang, replicas=2), scheduler="volcano").data
    annotations = (it["spec"]["template"]["metadata"]["annotations"] for it in found)
    assert [it["scheduling.k8s.io/group-name"] for it in annotations] == ["m.0", "m.1"]


def deployment(name, namespace="nlp", **labels):
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}


@pytest.mark.parametrize(
    ("it", "own"),
    [
        (deployment("m"), ("m",)),
        (deployment("x", "other", **{MODEL: "m"}), ("m",)),
        (deployment("m", "other"), ()),
        (deployment("m", **{MODEL: "another"}), ()),
    ],
)
def test_a_model_that_the_input_runs_is_not_added(it, own):
    found = made(one(), model("n", "nlp", **EACH), written=[it])
    assert (found.own, found.names) == (own, ("n",) if own else ("m", "n"))


def test_a_model_without_a_pool_is_named():
    found = made(one(), model("large", "nlp", resources={"gpus": 9}))
    assert (found.names, found.unplaced) == (("m",), ("large",))
