"""Workloads that wait for one reason each, on real servers: objects, holders of quota, and the workload.

`@` in a name stands for the prefix of a copy, so that a case can be set up several times side by side.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .client import Object
from .cluster import KUEUE
from .workloads import GPU, KUEUE_PRIORITY, KUEUE_QUEUE

HOST = "kubernetes.io/hostname"
Quota = Mapping[str, int | str | Mapping[str, int | str]]


@dataclass(frozen=True)
class Case:
    """One reason to wait."""

    name: str
    kinds: tuple[str, ...]
    """The causes that are right."""
    objects: Sequence[Object]
    target: Object
    holders: Sequence[Object] = ()
    """Admitted before the target is created."""
    patches: Sequence[tuple[str, str, str, Object]] = ()
    """Kind, name, subresource and a merge patch, before the target is created."""
    words: str = ""
    """A part of the sentences."""
    by_nodes: bool = False
    """kube-scheduler decides, not Kueue."""
    managed: bool = True
    """Kueue creates a Workload, which waits."""

    def of(self, prefix: str, what: Any) -> Any:
        """Objects of one copy."""
        return json.loads(json.dumps(what).replace("@", prefix))


def flavor(name: str = "@f", **spec: Any) -> Object:
    return _kueue("ResourceFlavor", name, spec)


def queue(
    name: str = "@q",
    quota: Quota | None = None,
    cohort: str = "",
    flavors: Mapping[str, Quota] | None = None,
    **spec: Any,
) -> Object:
    """A ClusterQueue; `quota` is that of flavor @f: 8 GPUs."""
    every = flavors or {"@f": quota or {GPU: 8}}
    covered = list(next(iter(every.values())))
    groups = [
        {
            "coveredResources": covered,
            "flavors": [
                {"name": it, "resources": [_quota(name, amount) for name, amount in of.items()]}
                for it, of in every.items()
            ],
        }
    ]
    own = {"namespaceSelector": {}, "resourceGroups": groups, **spec}
    return _kueue("ClusterQueue", name, {**own, "cohortName": cohort} if cohort else own)


def _quota(name: str, amount: int | str | Mapping[str, int | str]) -> Object:
    more = amount if isinstance(amount, Mapping) else {"nominalQuota": amount}
    return {"name": name, **{key: str(it) for key, it in more.items()}}


def cohort(name: str, quota: Quota | None = None, parent: str = "") -> Object:
    groups = (
        [
            {
                "coveredResources": list(quota),
                "flavors": [
                    {"name": "@f", "resources": [_quota(it, one) for it, one in quota.items()]}
                ],
            }
        ]
        if quota
        else []
    )
    return _kueue("Cohort", name, {"parentName": parent, "resourceGroups": groups})


def local(name: str = "q", to: str = "@q", namespace: str = "@", **spec: Any) -> Object:
    return _kueue("LocalQueue", name, {"clusterQueue": to, **spec}, namespace)


def namespace(name: str = "@", **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def priority(name: str, value: int) -> Object:
    it = _kueue("WorkloadPriorityClass", name, {})
    del it["spec"]
    return {**it, "value": value, "description": "d"}


def _kueue(kind: str, name: str, spec: Object, namespace: str = "") -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": KUEUE, "kind": kind, "metadata": metadata, "spec": spec}


def job(
    name: str = "target",
    gpus: int = 1,
    pods: int = 1,
    to: str | None = "q",
    *,
    namespace: str = "@",
    rank: str = "",
    more: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    domain: str = "",
    **spec: Any,
) -> Object:
    """A Job; with `domain`, its pods must run in one domain of this topology level."""
    required = {"kueue.x-k8s.io/podset-required-topology": domain} if domain else {}
    amounts = {**({GPU: str(gpus)} if gpus else {}), **(more or {})}
    own = {KUEUE_QUEUE: to, KUEUE_PRIORITY: rank, **(labels or {})}
    containers = [
        {
            "name": "main",
            "image": "none.invalid/none",
            "resources": {"requests": amounts, "limits": amounts},
        }
    ]
    template = {
        "metadata": {"labels": {"app": name}, "annotations": required},
        "spec": {
            "containers": containers,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            **spec,
        },
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {key: it for key, it in own.items() if it},
        },
        "spec": {"parallelism": pods, "completions": pods, "template": template},
    }


def required(key: str, *values: str) -> Object:
    """A required node affinity."""
    one = {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [one]}
        }
    }


def limits(**bounds: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l", "namespace": "@"},
        "spec": {"limits": [{"type": "Container", **bounds}]},
    }


def resource_quota(**hard: str) -> Object:
    metadata = {"name": "rq", "namespace": "@"}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": metadata,
        "spec": {"hard": hard},
    }


def node(name: str, gpus: int = 4, cpu: str = "32", **more: Any) -> Object:
    """A node that only pods of its copy can use."""
    amounts = {
        "cpu": cpu,
        "memory": "256Gi",
        "pods": "110",
        GPU: str(gpus),
        **more.pop("amounts", {}),
    }
    labels = {"copy": "@", HOST: name, **more.pop("labels", {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "spec": more,
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def near(**selector: str) -> dict[str, Any]:
    """The node selector of pods of the copy."""
    return {"nodeSelector": {"copy": "@", **selector}}


TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
PLAIN = (flavor(), queue(), local())
SHARED = (flavor(), queue("@q", cohort="@c"), queue("@r", cohort="@c"), local(), local("r", "@r"))


def shared(own: Quota, other: Quota, **spec: Any) -> tuple[Object, ...]:
    """Two queues of one cohort."""
    return (
        flavor(), queue("@q", own, "@c", **spec), queue("@r", other, "@c"), local(), local("r", "@r"),
    )  # fmt: skip


def limited(nominal: int, limit: int) -> Quota:
    return {GPU: {"nominalQuota": nominal, "borrowingLimit": limit}}


def lent(nominal: int, limit: int) -> Quota:
    return {GPU: {"nominalQuota": nominal, "lendingLimit": limit}}


def _check(name: str) -> Object:
    return _kueue("AdmissionCheck", name, {"controllerName": "nobody.example/check"})


def _deployment() -> Object:
    made = job("target", 2)
    template = made["spec"]["template"]
    del template["spec"]["restartPolicy"]
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "target"}}, "template": template}
    return {**made, "apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}


def _apart() -> Object:
    term = {"labelSelector": {"matchLabels": {"app": "target"}}, "topologyKey": HOST}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _spread() -> list[Object]:
    return [
        {
            "maxSkew": 1,
            "topologyKey": HOST,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "target"}},
            "nodeTaintsPolicy": "Ignore",
        }
    ]


ACTIVE = {
    "status": {
        "conditions": [
            {
                "type": "Active",
                "status": "True",
                "reason": "Active",
                "message": "active",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
        ]
    }
}
AWARE = {"topologyName": "@t", "nodeLabels": {"copy": "@"}}
CHECKED = {"admissionChecksStrategy": {"admissionChecks": [{"name": "@k"}]}}

KUEUE_CASES = (
    Case("misspelt-queue", ("queue-missing",), PLAIN, job(to="zz"), words="does not exist"),
    Case("no-local-queue", ("queue-missing",), (flavor(), queue()), job(), words="has no LocalQueue"),
    Case("local-hold", ("local-queue-stopped",), (flavor(), queue(), local(stopPolicy="Hold")), job()),
    Case(
        "local-drain", ("local-queue-stopped",),
        (flavor(), queue(), local(stopPolicy="HoldAndDrain"), local("other")), job(),
    ),
    Case(
        "cluster-queue-missing", ("cluster-queue-missing",),
        (flavor(), queue(), local("q", "@gone")), job(), words="does not exist",
    ),
    Case("hold", ("cluster-queue-stopped",), (flavor(), queue(stopPolicy="Hold"), local()), job()),
    Case(
        "drain", ("cluster-queue-stopped",),
        (flavor(), queue(stopPolicy="HoldAndDrain"), local()), job(),
    ),
    Case("flavor-missing", ("flavor-missing",), (queue(), local()), job(), words="@f does not exist"),
    Case(
        "check-missing", ("admission-check-missing",),
        (flavor(), queue(**CHECKED), local()), job(), words="@k does not exist",
    ),
    Case(
        "check-inactive", ("admission-check-inactive",),
        (flavor(), _check("@k"), queue(**CHECKED), local()), job(),
    ),
    Case(
        "check-pending", ("admission-check-pending",),
        (flavor(), _check("@k"), queue(**CHECKED), local()), job(),
        patches=(("AdmissionCheck", "@k", "status", ACTIVE),), words="@k is Pending",
    ),
    Case(
        "namespace-label", ("namespace-not-selected",),
        (
            namespace(team="other"), flavor(),
            queue(namespaceSelector={"matchLabels": {"team": "@t"}}), local(),
        ), job(),
    ),
    Case(
        "namespace-none", ("namespace-not-selected",),
        (flavor(), queue(namespaceSelector=None), local()), job(),
    ),
    Case(
        "limit-range-max", ("requests-refused",),
        (flavor(), queue(quota={GPU: 8, "cpu": 20}), local(), limits(max={"cpu": "2"})),
        job(more={"cpu": "4"}),
    ),
    Case(
        "limit-range-min", ("requests-refused",),
        (flavor(), queue(quota={GPU: 8, "cpu": 20}), local(), limits(min={"cpu": "2"})),
        job(more={"cpu": "1"}),
    ),
    Case("memory-without-quota", ("resource-without-quota",), PLAIN, job(more={"memory": "1Gi"})),
    Case(
        "card-without-quota", ("resource-without-quota",), PLAIN,
        job(gpus=0, more={"amd.com/gpu": "1", GPU: "1"}), words="amd.com/gpu",
    ),
    Case(
        "flavor-taint", ("no-flavor-matches",), (flavor(nodeTaints=[TAINT]), queue(), local()), job(),
        words="do not tolerate",
    ),
    Case(
        "flavor-selector", ("no-flavor-matches",),
        (flavor(nodeLabels={"gpu": "a100"}), queue(), local()), job(nodeSelector={"gpu": "h100"}),
    ),
    Case(
        "flavor-affinity", ("no-flavor-matches",),
        (flavor(nodeLabels={"gpu": "a100"}), queue(), local()), job(affinity=required("gpu", "h100")),
    ),
    Case(
        "two-flavors", ("no-flavor-matches",),
        (
            flavor("@f", nodeTaints=[TAINT]), flavor("@g", nodeLabels={"gpu": "a100"}),
            queue(flavors={"@f": {GPU: 4}, "@g": {GPU: 4}}), local(),
        ), job(nodeSelector={"gpu": "h100"}),
    ),
    Case("above-quota", ("above-maximum",), PLAIN, job(gpus=3, pods=4), words="can use at most 8"),
    Case("above-quota-one-pod", ("above-maximum",), PLAIN, job(gpus=10), words="It requests 10 GPUs"),
    Case(
        "above-limit", ("above-maximum",), shared(limited(4, 2), {GPU: 8}), job(pods=8),
        words="at most 6",
    ),
    Case("above-cohort", ("above-maximum",), SHARED, job(pods=20), words="at most 16"),
    Case("above-lent", ("above-maximum",), shared({GPU: 4}, lent(8, 1)), job(pods=8), words="at most 5"),
    Case(
        "above-cohort-limit", ("above-maximum",),
        (
            flavor(), cohort("@p", parent="@root"),
            cohort("@s", {GPU: {"nominalQuota": 2, "borrowingLimit": 1}}, parent="@root"),
            queue("@q", {GPU: 2}, "@s"), queue("@r", {GPU: 8}, "@p"), local(),
        ), job(pods=6), words="at most 5",
    ),
    Case("cpu-short", ("above-maximum",), (flavor(), queue(quota={GPU: 8, "cpu": 4}), local()),
         job(pods=2, more={"cpu": "3"}), words="cores"),
    Case("memory-short", ("above-maximum",),
         (flavor(), queue(quota={GPU: 8, "memory": "64Gi"}), local()),
         job(pods=4, more={"memory": "32Gi"}), words="128 GiB"),
    Case("queue-full", ("no-free-quota", "may-not-preempt"), PLAIN, job(pods=4),
         (job("one", pods=3), job("two", pods=3)), words="2 are free"),
    Case("cohort-full", ("no-free-quota",), SHARED, job(pods=10), (job("one", pods=8, to="r"),)),
    Case("borrows-to-limit", ("borrowing-limit",), shared(limited(4, 2), {GPU: 8}), job(pods=3),
         (job("one", pods=5),), words="borrowingLimit"),
    Case("lent-away", ("may-not-preempt",), SHARED, job(pods=4), (job("one", pods=14, to="r"),),
         words="borrows 6"),
    Case("never-in-queue", ("may-not-preempt",), (*PLAIN, priority("@high", 1000)),
         job(pods=4, rank="@high"), (job("one", pods=6),), words="withinClusterQueue is Never"),
    Case("reclaims-lower-only", ("may-not-preempt", "no-free-quota"),
         (*shared({GPU: 8}, {GPU: 8}, preemption={"reclaimWithinCohort": "LowerPriority"}),
          priority("@high", 1000), priority("@top", 2000)),
         job(pods=6), (job("one", pods=14, to="r", rank="@high"),)),
    Case("not-lent", ("not-lent", "above-maximum"), shared({GPU: 4}, lent(8, 2)), job(pods=4),
         (job("one", pods=3),)),
    Case("strict-head", ("behind-queue-head",),
         (flavor(), queue(queueingStrategy="StrictFIFO"), local(), priority("@high", 1000)),
         job(pods=1), (job("one", pods=6), job("head", pods=5, rank="@high"))),
    Case("pod-in-deployment", ("no-free-quota", "may-not-preempt"), PLAIN, _deployment(),
         (job("one", pods=7),)),
    Case("two-flavors-full", ("no-free-quota", "may-not-preempt"),
         (flavor("@f", nodeLabels={"gpu": "a"}), flavor("@g", nodeLabels={"gpu": "b"}),
          queue(flavors={"@f": {GPU: 4}, "@g": {GPU: 4}}), local()),
         job(pods=3, nodeSelector={"gpu": "a"}), (job("one", pods=4, nodeSelector={"gpu": "a"}),)),
    Case("priority-class-missing", ("not-managed",), PLAIN, job(rank="@gone"), managed=False,
         words="@gone"),
    Case("other-team-first", ("no-free-quota", "may-not-preempt"), SHARED, job(pods=9),
         (job("one", pods=6), job("two", pods=6, to="r"))),
    Case("new-queue-too-small", ("above-maximum",), (*PLAIN, queue("@w", {GPU: 32}), local("wide", "@w")),
         job(pods=12)),
)  # fmt: skip

NODE_CASES = (
    Case("too-large", ("no-node-fits",), (node("@a"), node("@b")), job(gpus=6, to=None, **near()),
         by_nodes=True, words="a pod requests 6 GPUs, and 4 are free"),
    Case("nodes-full", ("no-node-fits",), (node("@a"),), job(gpus=2, to=None, **near()),
         (job("one", gpus=3, to=None, **near()),), by_nodes=True, words="the rest is held by"),
    Case("node-taint", ("no-node-fits",), (node("@a", taints=[TAINT]),), job(to=None, **near()),
         by_nodes=True, words="untolerated taint"),
    Case("node-selector", ("no-node-fits",), (node("@a", labels={"card": "@x"}),),
         job(to=None, **near(card="@y")), by_nodes=True, words="node affinity/selector"),
    Case("node-affinity", ("no-node-fits",), (node("@a", labels={"card": "@x"}),),
         job(to=None, affinity=required("card", "@y"), **near()), by_nodes=True),
    Case("cordoned", ("no-node-fits",), (node("@a", unschedulable=True),), job(to=None, **near()),
         by_nodes=True, words="unschedulable"),
    Case("apart", ("no-node-fits",), (node("@a"),), job(pods=2, to=None, affinity=_apart(), **near()),
         by_nodes=True, words="anti-affinity"),
    Case("spread", ("no-node-fits",), (node("@a", gpus=1), node("@b", gpus=4)),
         job(pods=4, to=None, topologySpreadConstraints=_spread(), **near()),
         by_nodes=True, words="spread"),
    Case("node-cpu", ("no-node-fits",), (node("@a", cpu="4"),), job(to=None, more={"cpu": "6"}, **near()),
         by_nodes=True, words="6 cores"),
    Case("node-memory", ("no-node-fits",), (node("@a"),),
         job(to=None, more={"memory": "300Gi"}, **near()), by_nodes=True, words="300 GiB"),
    Case("node-pods", ("no-node-fits",), (node("@a", amounts={"pods": "2"}),),
         job(gpus=0, pods=3, to=None, **near()), by_nodes=True, words="Too many pods"),
    Case("gang-in-part", ("no-node-fits",), (node("@a"), node("@b")), job(gpus=3, pods=3, to=None, **near()),
         by_nodes=True, words="1 of its 3 pods"),
    Case("namespace-quota", ("pods-refused",), (node("@a"), resource_quota(**{f"requests.{GPU}": "2"})),
         job(pods=3, to=None, **near()), by_nodes=True, managed=False, words="exceeded quota"),
    Case("scheduler-unknown", ("scheduler-unknown",), (node("@a"),),
         job(to=None, schedulerName="nobody", **near()), by_nodes=True, words="nobody"),
    Case(
        "topology-full", ("topology-domains-full",),
        (
            _kueue("Topology", "@t", {"levels": [{"nodeLabel": HOST}]}), node("@a", taints=[TAINT]),
            flavor(**AWARE, tolerations=[{"key": "gpu", "operator": "Exists"}]), queue(), local(),
        ),
        job(gpus=2, domain=HOST), (job("one", gpus=3, domain=HOST),), words="no domain of the topology of flavor @f",
    ),
    Case(
        "topology-missing", ("topology-missing",),
        (
            node("@a", taints=[TAINT]),
            flavor(**AWARE, tolerations=[{"key": "gpu", "operator": "Exists"}]), queue(), local(),
        ),
        job(), words="Topology @t does not exist",
    ),
)  # fmt: skip
