"""Admission checks that hold their ClusterQueues inactive, or that check nothing."""

from __future__ import annotations

from base64 import b64encode

import yaml

from tests.servers.client import Object
from tests.servers.cluster import KUEUE, Cluster, holds
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import conditions, documents, scene, show
from tests.servers.proofs.provisioning import answer, requests
from tests.servers.workloads import Ask, job

NAMES = ("scale-up", "scaleup", "scale-up-gpus", "workers", "more-workers")
NOT_FOUND, INACTIVE = "AdmissionCheckNotFound", "AdmissionCheckInactive"
MISSING = "multi-kueue-cluster-missing"
PROVISIONING = "admission-check-missing"
HARM = {
    ("admission-check-config-missing", 0): (PROVISIONING, INACTIVE),
    ("admission-check-missing", 0): (PROVISIONING, NOT_FOUND),
    ("admission-check-controller-unknown", 0): (PROVISIONING, INACTIVE),
    ("admission-check-parameters-wrong", 0): (PROVISIONING, INACTIVE),
    ("admission-check-parameters-wrong", 1): (PROVISIONING, INACTIVE),
    ("admission-check-parameters-wrong", 2): (MISSING, INACTIVE),
    (MISSING, 1): (MISSING, INACTIVE),
    ("multi-kueue-check-misused", 0): (MISSING, "MultipleMultiKueueAdmissionChecks"),
    ("multi-kueue-check-misused", 1): (MISSING, "MultiKueueAdmissionCheckAppliedPerFlavor"),
    ("multi-kueue-check-misused", 2): (MISSING, "MultiKueueWithProvisioningRequest"),
}
"""Each bad example, the rule whose good example has the queue for it, and why it is inactive."""
ONLY_JOBS: Object = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "integrations": {"frameworks": ["batch/job"]},
}
"""MultiKueue needs the kinds of all frameworks on a worker."""
H100 = Ask(gpus=1, cpu="8", memory="64Gi", node_selector={"pool": "h100"})
PLAIN = Ask(gpus=1, cpu="8", memory="64Gi")


def test_checks_that_hold_their_queues(cluster: Cluster) -> None:
    """With every good example the queue is active; MultiKueue's worker is the cluster itself."""
    _worker(cluster)
    harmed = {each: f"bad-{i}" for i, each in enumerate(HARM)}
    with cluster.kueue(ONLY_JOBS):
        show(
            cluster,
            scene(good(PROVISIONING), "checked", *NAMES),
            scene(good(MISSING), "dispatched", *NAMES),
            *(
                _with(scene(good(HARM[it][0]), n, *NAMES), scene(bad(*it), n, *NAMES))
                for it, n in harmed.items()
            ),
        )
        cluster.create(*(job("train", name, PLAIN, queue="a100") for name in harmed.values()))
        for name in ("checked", "dispatched"):
            cluster.becomes(name, lambda name=name: _active(cluster, name), ("True", "Ready"))
        for each, name in harmed.items():
            want = ("False", HARM[each][1])
            cluster.becomes(str(each), lambda name=name: _active(cluster, name), want)
        cluster.becomes(
            "Workloads", lambda: [_reserved(cluster, it) for it in harmed.values()], [0] * len(HARM)
        )
        show(cluster, scene(bad(MISSING), "partly", *NAMES))
        check = lambda: _condition(cluster, "AdmissionCheck", "partly-workers")
        cluster.becomes("a worker is left out", check, ("True", "SomeActiveClusters"))
        _a_check_whose_configuration_no_check_can_name(cluster)


def _a_check_whose_configuration_no_check_can_name(cluster: Cluster) -> None:
    """Proves admission-check-config-name-invalid: a check with that name is refused."""
    show(
        cluster,
        bad("admission-check-config-name-invalid"),
        bad("admission-check-config-name-invalid", 1),
    )
    for name, kind in (
        ("scale-up.gpus", "ProvisioningRequestConfig"),
        ("workers.eu", "MultiKueueConfig"),
    ):
        check: Object = {
            "apiVersion": KUEUE,
            "kind": "AdmissionCheck",
            "metadata": {"name": "named"},
            "spec": {
                "controllerName": "kueue.x-k8s.io/any",
                "parameters": {"apiGroup": "kueue.x-k8s.io", "kind": kind, "name": name},
            },
        }
        assert "spec.parameters.name: Invalid value" in cluster.refusal(check)


def test_checks_that_check_nothing_or_too_much(cluster: Cluster) -> None:
    """A check of resources that no job requests, and a check of all flavors instead of one."""
    nothing, twice = "provisioning-matches-nothing", "admission-checks-set-twice"
    show(
        cluster,
        *(scene(bad(it), name, *NAMES) for it, name in ((nothing, "bad-0"), (twice, "bad-1"))),
        *(scene(good(it), name, *NAMES) for it, name in ((nothing, "good-0"), (twice, "good-1"))),
    )
    cluster.create(
        *(job("train", name, PLAIN, queue="a100") for name in ("bad-0", "good-0")),
        *(job("train", name, H100, queue="a100") for name in ("bad-1", "good-1")),
    )
    cluster.becomes("no nodes are asked for", lambda: cluster.admitted("bad-0"), ["train"])
    assert requests(cluster, "bad-0") == []
    cluster.until("nodes are asked for", lambda: requests(cluster, "good-0"))
    cluster.becomes("h100 needs no check", lambda: cluster.admitted("good-1"), ["train"])
    cluster.until("h100 is checked", lambda: requests(cluster, "bad-1"))
    assert cluster.admitted("good-0") == cluster.admitted("bad-1") == []


def test_provisioning_class_misspelt(cluster: Cluster) -> None:
    """An autoscaler answers only requests of its classes."""
    rule = "provisioning-class-misspelt"
    show(cluster, scene(bad(rule), "bad", *NAMES), scene(good(rule), "good", *NAMES))
    cluster.create(*(job("train", name, PLAIN, queue="a100") for name in ("bad", "good")))
    classes = {}
    for name in ("bad", "good"):
        cluster.until("nodes are asked for", lambda name=name: requests(cluster, name))
        [request] = requests(cluster, name)
        classes[name] = request["spec"]["provisioningClassName"]
        if classes[name] == "check-capacity.autoscaling.x-k8s.io":
            answer(cluster, request)
    assert classes["bad"] == "check-capacty.autoscaling.x-k8s.io"
    cluster.becomes("good", lambda: cluster.admitted("good"), ["train"])
    assert cluster.admitted("bad") == []


def test_too_many_admission_checks(cluster: Cluster) -> None:
    """A Workload cannot hold the states of nine ready checks: it keeps its quota, but never starts."""
    rule = "too-many-admission-checks"
    text = _with(scene(good(rule, 1), "bad", *NAMES), scene(bad(rule), "bad", *NAMES))
    names = [f"check-{i}" for i in range(9)]
    cluster.create(*(_check(name) for name in names))
    one = scene(good(rule, 1), "good", *NAMES).replace("name: good-scale-up", "name: check-0")
    show(cluster, text, *(yaml.safe_dump(it) for it in documents(one) if "Queue" in it["kind"]))
    for name in names:
        ready = {"type": "Active", "status": "True", "reason": "Ready", "message": "ready"}
        ready["lastTransitionTime"] = "2026-01-01T00:00:00Z"
        cluster.patch(
            KUEUE, "AdmissionCheck", name, {"status": {"conditions": [ready]}}, None, "status"
        )
    for name in ("bad", "good"):
        cluster.becomes(name, lambda name=name: _active(cluster, name), ("True", "Ready"))
        cluster.create(job("train", name, PLAIN, queue="a100"))
        cluster.becomes("quota", lambda name=name: _reserved(cluster, name), 1)
    cluster.until("the check is asked", lambda: _states(cluster, "good"))
    [workload] = cluster.objects(KUEUE, "Workload", "good")
    state = {**_states(cluster, "good")[0], "state": "Ready", "message": "fine"}
    name = workload["metadata"]["name"]
    cluster.patch(
        KUEUE, "Workload", name, {"status": {"admissionChecks": [state]}}, "good", "status"
    )
    cluster.becomes("good", lambda: cluster.admitted("good"), ["train"])
    assert _states(cluster, "bad") == []
    assert _reserved(cluster, "bad") == 1


def _with(text: str, other: str) -> str:
    """The objects of an example, those of another one in place of those of the same names."""
    found = {(it["kind"], it["metadata"]["name"]): it for it in documents(text)}
    found.update({(it["kind"], it["metadata"]["name"]): it for it in documents(other)})
    return yaml.safe_dump_all(found.values())


def _check(name: str) -> Object:
    return {
        "apiVersion": KUEUE,
        "kind": "AdmissionCheck",
        "metadata": {"name": name},
        "spec": {"controllerName": "example.com/check"},
    }


def _worker(cluster: Cluster) -> None:
    """The Secrets by which Kueue reaches its workers: the cluster itself."""
    kubeconfig = b64encode(cluster.bench.kubeconfig.read_bytes()).decode()
    for name in ("worker-1-kubeconfig", "worker-2-kubeconfig"):
        cluster.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": name, "namespace": "kueue-system"},
                "data": {"kubeconfig": kubeconfig},
            }
        )


def _active(cluster: Cluster, name: str) -> tuple[str, str]:
    """Whether a scene's ClusterQueue is active, and why."""
    return _condition(cluster, "ClusterQueue", f"{name}.a100")


def _condition(cluster: Cluster, kind: str, name: str) -> tuple[str, str]:
    """Whether something is active, and why."""
    found = conditions(cluster.get(KUEUE, kind, name)).get("Active", {})
    return found.get("status", ""), found.get("reason", "")


def _states(cluster: Cluster, namespace: str) -> list[Object]:
    """The states of the admission checks of the only Workload."""
    [workload] = cluster.objects(KUEUE, "Workload", namespace)
    states: list[Object] = workload["status"].get("admissionChecks", [])
    return states


def _reserved(cluster: Cluster, namespace: str) -> int:
    """How many Workloads of a namespace have quota."""
    return sum(holds(it, "QuotaReserved") for it in cluster.objects(KUEUE, "Workload", namespace))
