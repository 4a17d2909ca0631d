"""What a server refuses to change; `tests/servers/test_updates.py` asks real servers."""

import copy

import pytest

from policygen.api_validation.cel import TRANSITIONS
from policygen.api_validation.schemas import index, served
from policygen.api_validation.updates.refused import refused_changes
from policygen.api_validation.updates.states import applied
from policygen.core.finding import dotted

POD = {
    "containers": [{"name": "a", "image": "a", "resources": {"limits": {"cpu": 1}}}],
    "tolerations": [{"key": "a", "operator": "Exists"}],
}
GATED = {**POD, "schedulingGates": [{"name": "g"}], "nodeSelector": {"a": "b"}}
QUEUED = {"labels": {"kueue.x-k8s.io/queue-name": "a"}}
RESERVED = {"conditions": [{"type": "QuotaReserved", "status": "True"}]}
TASK = {"name": "a", "replicas": 1, "template": {"spec": POD}}


def thing(api_version, kind, **more):
    return {"apiVersion": api_version, "kind": kind, **more}


def job(metadata=None, status=None, **spec):
    spec = {"template": {"spec": POD}, **spec}
    return thing("batch/v1", "Job", metadata=metadata or {}, spec=spec, status=status or {})


def refusals(old, stated, **more):
    new = applied(old, {"apiVersion": old["apiVersion"], "kind": old["kind"], **stated})
    before = copy.deepcopy(old)
    found = [f"{dotted(it.path)}: {it.why}" for it in refused_changes(old, new, **more)]
    assert old == before
    return found


def pod_of(**spec):
    return {"spec": {"template": {"spec": spec}}}


def container(**fields):
    return {"containers": [{"name": "a", **fields}]}


LABEL = 'metadata.labels["kueue.x-k8s.io/queue-name"]'
IMAGE = "spec.template.spec.containers[0].image"
TEMPLATE = "the pod template of a Job is immutable"
ONLY = "Volcano lets only minAvailable, replicas of tasks and priorityClassName of a job change"
PLAIN = "this field of a Pod is immutable"


@pytest.mark.parametrize(
    ("old", "stated", "expected"),
    [
        (job(), pod_of(**container(image="a")), []),
        (job(), pod_of(**container(image="b")), [f"{IMAGE}: {TEMPLATE}"]),
        (job(), pod_of(**container(resources={"limits": {"cpu": "1000m"}})), []),
        (job(suspend=True), pod_of(**container(resources={"limits": {"cpu": 2}})), []),
        (job(suspend=True), pod_of(nodeSelector={"a": "b"}), []),
        (
            job(suspend=True, status={"active": 1}),
            pod_of(nodeSelector={"a": "b"}),
            [f"spec.template.spec.nodeSelector.a: {TEMPLATE}"],
        ),
        (
            job(completions=2),
            {"spec": {"completions": 3}},
            ["spec.completions: completions is immutable"],
        ),
        (
            job(completions=2, completionMode="Indexed", parallelism=2),
            {"spec": {"completions": 3}},
            [
                "spec.completions: completions of an Indexed Job can only change together with parallelism"
            ],
        ),
        (
            job(completions=2, completionMode="Indexed", parallelism=2),
            {"spec": {"completions": 3, "parallelism": 3}},
            [],
        ),
        (
            job(QUEUED),
            {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "b"}}},
            [f"{LABEL}: Kueue lets the label queue-name change only while the job is suspended"],
        ),
        (
            job(QUEUED, suspend=True),
            {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "b"}}},
            [],
        ),
        (
            thing("v1", "Pod", spec=POD),
            {"spec": {"tolerations": [*POD["tolerations"], {"key": "b", "operator": "Exists"}]}},
            [],
        ),
        (
            thing("v1", "Pod", spec=POD),
            {"spec": {"tolerations": [{"key": "b", "operator": "Exists"}]}},
            [
                "spec.tolerations: a Pod keeps its tolerations, apart from tolerationSeconds; others can be added"
            ],
        ),
        (thing("v1", "Pod", spec=POD), {"spec": container(image="b")}, []),
        (
            thing("v1", "Pod", spec=POD),
            {"spec": {"nodeSelector": {"a": "b"}}},
            [f"spec.nodeSelector.a: {PLAIN}"],
        ),
        (thing("v1", "Pod", spec=GATED), {"spec": {"nodeSelector": {"c": "d"}}}, []),
        (
            thing("v1", "Pod", spec=GATED),
            {"spec": {"nodeSelector": {"a": "c"}}},
            [f"spec.nodeSelector.a: {PLAIN}"],
        ),
        (
            thing("v1", "ResourceQuota", spec={"scopes": ["BestEffort", "Terminating"]}),
            {"spec": {"scopes": ["Terminating", "BestEffort"]}},
            [],
        ),
        (
            thing("apps/v1", "StatefulSet", spec={"serviceName": "a", "replicas": 1}),
            {"spec": {"serviceName": "b", "replicas": 2}},
            ["spec.serviceName: serviceName of a StatefulSet is immutable"],
        ),
        (
            thing("batch.volcano.sh/v1alpha1", "Job", spec={"tasks": [TASK], "queue": "a"}),
            {"spec": {"tasks": [{**TASK, "replicas": 3}], "minAvailable": 2}},
            [],
        ),
        (
            thing("batch.volcano.sh/v1alpha1", "Job", spec={"tasks": [TASK], "queue": "a"}),
            {"spec": {"queue": "b"}},
            [f"spec.queue: {ONLY}"],
        ),
        (
            thing("batch.volcano.sh/v1alpha1", "Job", spec={"tasks": [TASK]}),
            {"spec": {"tasks": [TASK, {**TASK, "name": "b"}]}},
            ["spec.tasks: Volcano does not add or remove tasks of a job"],
        ),
        (
            thing("kueue.x-k8s.io/v1beta2", "Workload", spec={"queueName": "a"}, status=RESERVED),
            {"spec": {"queueName": "b"}},
            ["spec.queueName: queueName is immutable while workload quota reserved"],
        ),
        (
            thing("kueue.x-k8s.io/v1beta2", "Workload", spec={"queueName": "a"}),
            {"spec": {"queueName": "b"}},
            [],
        ),
        (
            thing(
                "v1", "PersistentVolumeClaim", spec={"resources": {"requests": {"storage": "2Gi"}}}
            ),
            {"spec": {"resources": {"requests": {"storage": "1Gi"}}}},
            [
                "spec.resources.requests.storage: storage can only grow, and only after the claim is bound"
            ],
        ),
        (
            thing("v1", "PersistentVolumeClaim", spec={}),
            {"spec": {"storageClassName": "fast"}},
            [],
        ),
        (
            thing("v1", "PersistentVolumeClaim", spec={"storageClassName": "slow"}),
            {"spec": {"storageClassName": "fast"}},
            ["spec.storageClassName: storageClassName of a PersistentVolumeClaim is immutable"],
        ),
        (
            thing("apps/v1", "Deployment", metadata=QUEUED, status={"readyReplicas": 1}),
            {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "b"}}},
            [f"{LABEL}: Kueue lets the label queue-name change only while the job is suspended"],
        ),
    ],
)
def test_changes(old, stated, expected):
    assert refusals(old, stated) == expected
    assert refusals(old, {}) == []


def test_resources_of_a_suspended_job_are_frozen_before_1_36():
    stated = pod_of(**container(resources={"limits": {"cpu": 2}}))
    assert refusals(job(suspend=True), stated, kubernetes=(1, 35)) == [
        f"spec.template.spec.containers[0].resources.limits.cpu: {TEMPLATE}"
    ]


def test_fields_that_a_manifest_does_not_state_stay():
    old = {
        **thing("v1", "Pod"),
        "spec": {"containers": [{"name": "a", "image": "a"}, {"name": "b"}], "nodeName": "n"},
    }
    stated = {"spec": {"containers": [{"name": "b", "image": "b"}]}}
    assert applied(old, stated) == {
        **thing("v1", "Pod"),
        "spec": {
            "nodeName": "n",
            "containers": [{"name": "a", "image": "a"}, {"name": "b", "image": "b"}],
        },
    }


@pytest.mark.parametrize(
    "old, stated, expected",
    [("abc", "c", "abc"), ("abc", "cba", "cba"), ("ab", "xb", "axb"), ("abc", "bx", "abcx")],
)
def test_an_apply_orders_a_list_with_keys(old, stated, expected):
    def pod(names):
        return {**thing("v1", "Pod"), "spec": {"containers": [{"name": it} for it in names]}}

    assert applied(pod(old), pod(stated)) == pod(expected)


def test_another_order_of_a_frozen_list_is_refused():
    volumes = [{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}]
    old = thing("batch/v1", "Job", spec={"template": {"spec": {"volumes": volumes}}})
    stated = {"spec": {"template": {"spec": {"volumes": volumes[::-1]}}}}
    assert refusals(old, stated) == [f"spec.template.spec.volumes: {TEMPLATE}"]
    assert refusals(old, {"spec": {"template": {"spec": {"volumes": volumes[1:]}}}}) == []


def test_another_order_of_the_volumes_of_a_task_is_refused():
    """Volcano's webhook compares lists in their order."""
    volumes = [{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}]

    def job(listed):
        return {"spec": {"tasks": [{**TASK, "template": {"spec": {"volumes": listed}}}]}}

    old = thing("batch.volcano.sh/v1alpha1", "Job", **job(volumes))
    assert refusals(old, job(volumes)) == []
    assert refusals(old, job(volumes[::-1])) == [f"spec.tasks[0].template.spec.volumes: {ONLY}"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (thing("v1", "ResourceQuota", spec={"scopes": ["BestEffort"]}), {"scopes": 5}),
        (thing("v1", "Service", spec={"type": "ClusterIP"}), {"type": [1]}),
        (thing("batch.volcano.sh/v1alpha1", "Job", spec={"queue": "a"}), 5),
    ],
)
def test_fields_of_a_wrong_type(old, new):
    """Another rule reports them."""
    for pair in ((old, {**old, "spec": new}), ({**old, "spec": new}, old)):
        assert all(it.path[0] == "spec" for it in refused_changes(*pair))


def test_every_rule_about_updates_is_known():
    found = set()

    def collect(schema):
        rules = [it["rule"] for it in schema.get("x-kubernetes-validations", ())]
        found.update(it for it in rules if "oldSelf" in it)
        for part in schema.get("properties", {}).values():
            collect(part)
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                assert not collect(schema[key])

    for at, kinds in index().kinds.items():
        for kind in kinds:
            collect(served(at.removeprefix("core/"), kind).schema)
    assert found == set(TRANSITIONS)
