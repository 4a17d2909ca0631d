"""Each fault of a pod template is reported once, in every kind of workload.

In CI, each fault is tried in a few kinds, drawn with a fixed seed. POLICYGEN_ALL_KINDS=1 tries all.
"""

import os
import random
from collections.abc import Callable, Iterator

import pytest

from tests.lint.kinds_of_workloads import (
    OF_KUEUE,
    OF_VOLCANO,
    PRIORITY,
    QUEUE,
    Subject,
    manifests,
    subject,
)
from tests.lint.linting import findings

KINDS = (*OF_KUEUE, *OF_VOLCANO)
ONE = ("Pod", "VolcanoPod")
"""Kinds of one pod."""
HOSTNAME, ZONE, RACK = (
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/rack",
)
FORMER_ZONE = "failure-domain.beta.kubernetes.io/zone"
ANYWAY = {"whenUnsatisfiable": "ScheduleAnyway"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
Fault = Callable[[Subject], object]


def _requires(*expressions: str) -> dict[str, object]:
    """A node affinity: each expression is `key operator value`."""
    parts = [
        dict(zip(("key", "operator", "values"), it.split(), strict=True)) for it in expressions
    ]
    terms = [{"matchExpressions": [{**it, "values": [it["values"]]} for it in parts]}]
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}


def _prefers(key: str) -> dict[str, object]:
    expressions = [{"key": key, "operator": "In", "values": ["a100"]}]
    term = {"weight": 1, "preference": {"matchExpressions": expressions}}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}


def _pods(kind: str, role: str, key: str) -> dict[str, object]:
    term = {"labelSelector": {"matchLabels": {"role": role}}, "topologyKey": key}
    return {kind: {REQUIRED: [term]}}


def _spread(it: Subject, key: str, **more: object) -> None:
    selector = {"matchLabels": {"role": "subject"}}
    it.pods["topologySpreadConstraints"] = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": selector,
            **more,
        }
    ]


def _tolerates(**toleration: str) -> Fault:
    return lambda it: it.pods.update(tolerations=[toleration] if toleration else [])


def _renamed(name: str) -> Fault:
    def fault(it: Subject) -> None:
        it.resources["limits"][name] = it.resources["limits"].pop("nvidia.com/gpu")

    return fault


def _requested(**amounts: object) -> Fault:
    return lambda it: it.request(**amounts)


def _many(count: int, change: Fault = lambda _: None) -> Fault:
    def fault(it: Subject) -> None:
        it.counts[0] = count
        it.request(gpu=2, cpu=12, memory="100Gi")
        change(it)

    return fault


def _selects(**labels: str) -> Fault:
    return lambda it: it.pods.update(nodeSelector=labels)


def _has(**fields: object) -> Fault:
    return lambda it: it.pods.update(fields)


def _init(it: Subject) -> None:
    amounts = {"cpu": 128, "memory": "8Gi"}
    resources = {"requests": amounts, "limits": amounts}
    it.pods["initContainers"] = [
        {"name": "copy", "image": "registry.example.com/copy:1", "resources": resources}
    ]


def _port(it: Subject) -> None:
    it.pods["containers"][0]["ports"] = [{"containerPort": 29500, "hostPort": 29500}]


NODE = {"workload-fits-no-flavor", "pod-fits-no-node"}
AMOUNT = {"pod-fits-no-node"}
UNKNOWN = {"request-not-covered", "pod-fits-no-node"}
ROOM = {"replicas-exceed-nodes"}
LABEL = {"node-label-misspelt"}
UNUSABLE = {"gpus-left-unusable"}
OF_PODS: dict[str, tuple[Fault, set[str]]] = {
    "case of a value": (_selects(pool="A100"), NODE),
    "key of a label": (_selects(pol="a100"), NODE),
    "value of no node": (_selects(pool="h100"), NODE),
    "labels of different nodes": (_selects(pool="a100", **{"gpu-type": "l4"}), NODE),
    "nodes without GPUs": (_selects(pool="cpu"), NODE),
    "value in affinity": (_has(nodeSelector={}, affinity=_requires("pool In A100")), NODE),
    "affinity to two pools": (_has(affinity=_requires("pool In a100", "pool In l4")), NODE),
    "affinity against selector": (_has(affinity=_requires("pool NotIn a100")), NODE),
    "name of a node": (_has(nodeName="a9"), NODE),
    "no toleration": (_tolerates(), NODE),
    "key of a toleration": (_tolerates(key="nvidia.com/gpus", operator="Exists"), NODE),
    "effect of a toleration": (
        _tolerates(key="nvidia.com/gpu", operator="Exists", effect="NoExecute"),
        NODE,
    ),
    "value of a toleration": (
        _tolerates(key="nvidia.com/gpu", value="true", effect="NoSchedule"),
        NODE,
    ),
    "GPUs above the node": (_requested(gpu=16), AMOUNT),
    "cpu above the node": (_requested(cpu=128), AMOUNT),
    "memory above the node": (_requested(memory="1500Gi"), AMOUNT),
    "init container above the node": (_init, AMOUNT),
    "memory without unit": (_requested(memory="200"), {"memory-without-unit"}),
    "thousandths of a byte": (_requested(memory="200m"), {"memory-without-unit"}),
    "name of a resource": (_renamed("nvidia.com/gpus"), UNKNOWN),
    "another vendor": (_renamed("amd.com/gpu"), UNKNOWN),
    "profile that no node has": (_renamed("nvidia.com/mig-1g.5gb"), UNKNOWN),
    "huge pages": (lambda it: it.resources["limits"].update({"hugepages-2Mi": "4Gi"}), UNKNOWN),
    "requests above limits": (
        lambda it: it.resources["requests"].update(cpu=32),
        {"request-above-limit"},
    ),
    "other GPUs requested": (
        lambda it: it.resources["requests"].update({"nvidia.com/gpu": 2}),
        {"gpu-request-without-limit"},
    ),
    "half a GPU": (_requested(gpu="500m"), {"gpu-amount-fractional"}),
    "cpu for each GPU": (_requested(cpu=80), UNUSABLE),
    "memory for each GPU": (_requested(memory="950Gi"), UNUSABLE),
    "key of pod affinity": (_has(affinity=_pods("podAffinity", "subject", RACK)), AMOUNT),
    "key of a spread constraint": (lambda it: _spread(it, RACK), AMOUNT),
    "former key of a spread constraint": (lambda it: _spread(it, FORMER_ZONE), LABEL),
    "former key of a preferred spread": (lambda it: _spread(it, FORMER_ZONE, **ANYWAY), LABEL),
    "former key of anti-affinity": (
        _has(affinity=_pods("podAntiAffinity", "subject", FORMER_ZONE)),
        LABEL,
    ),
    "key of a preferred spread": (lambda it: _spread(it, f"{ZONE}s", **ANYWAY), LABEL),
    "key of a preference": (_has(affinity=_prefers("pol")), LABEL),
    "scheduler": (_has(schedulerName="volcanno"), {"scheduler-name-misspelt"}),
    "no such partner": (
        _has(affinity=_pods("podAffinity", "partner", HOSTNAME)),
        {"pod-affinity-matches-no-pod", "workload-never-starts"},
    ),
}
"""What changes, and the rules of which one reports it: which, depends on the queue."""
OF_COUNTS: dict[str, tuple[Fault, set[str]]] = {
    "GPUs that divide no node": (_requested(gpu=3), UNUSABLE),
    "one pod for each zone": (
        _many(2, _has(affinity=_pods("podAntiAffinity", "subject", ZONE))),
        ROOM,
    ),
    "one pod for each node": (
        _many(6, _has(affinity=_pods("podAntiAffinity", "subject", HOSTNAME))),
        ROOM,
    ),
    "zones of a spread constraint": (_many(2, lambda it: _spread(it, ZONE, minDomains=3)), ROOM),
    "host port": (_many(6, _port), ROOM),
    "more than the quota": (
        lambda it: it.counts.__setitem__(0, 12),
        {
            "workload-exceeds-quota",
            "replicas-exceed-queue",
            "gang-exceeds-queue",
            "pods-exceed-capability",
        },
    ),
}
"""Faults of workloads with several pods."""
OF_LABELS: dict[str, tuple[Fault, set[str]]] = {
    "no queue": (lambda it: it.labels.pop(QUEUE), {"workload-names-no-queue"}),
    "name of the queue": (
        lambda it: it.labels.update({QUEUE: "mian"}),
        {"workload-without-local-queue"},
    ),
    "key of the queue": (
        lambda it: it.labels.update({"kueue.x-k8s.io/queue": it.labels.pop(QUEUE)}),
        {"workload-key-unknown"},
    ),
    "priority": (
        lambda it: it.labels.update({PRIORITY: "lwo"}),
        {"workload-priority-class-missing"},
    ),
}
"""Faults of workloads of Kueue."""
IN_TURN = "VolcanoBatchJob"
"""Its PodGroup needs only a part of its pods at once, so that too many pods are no fault."""


def _cases() -> Iterator[tuple[str, str]]:
    chosen = random.Random(2911)
    for faults, kinds in (
        (OF_PODS, KINDS),
        (OF_COUNTS, [it for it in KINDS if it not in ONE]),
        (OF_LABELS, OF_KUEUE),
    ):
        for name in faults:
            able = [*kinds]
            if faults is OF_COUNTS:
                able.remove(IN_TURN)
            drawn = able if os.environ.get("POLICYGEN_ALL_KINDS") else chosen.sample(able, 4)
            yield from ((name, it) for it in drawn)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_found_in_sound_workloads(tmp_path, kind):
    assert findings(tmp_path, manifests(kind, subject(kind))) == []


@pytest.mark.parametrize(("fault", "kind"), [*_cases()])
def test_a_fault_is_reported_once(tmp_path, fault, kind):
    change, rules = {**OF_PODS, **OF_COUNTS, **OF_LABELS}[fault]
    it = subject(kind)
    change(it)
    found = findings(tmp_path, manifests(kind, it))
    assert [rule for rule, _ in found if rule in rules] == [rule for rule, _ in found], found
    assert len(found) == 1
