"""Drawn scenarios for Kueue's scheduler: queues, cohorts, flavors, and workloads that come and go."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

from . import kueue_events, kueue_topologies

Data = dict[str, Any]

API_VERSION = "kueue.x-k8s.io/v1beta2"
NAMESPACE = "n"
START_S = 100
STEP_S = 100
STRATEGIES = (
    ["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
    ["LessThanOrEqualToFinalShare"],
    ["LessThanInitialShare"],
)
WEIGHTS = ("0", "1", "2", "500m", "3")
MAX_CYCLES = 300


def drawn(
    seed: int, *, fair: bool, ties: bool = False, events: bool = False, topology: bool = False
) -> Data:
    """A scenario as the Go program reads it.

    With `ties`, workloads of one step are created at one time. With `events`, queues stop and start,
    workloads are deactivated, pods become ready or not, and there are admission checks. With
    `topology`, flavors have nodes, and pod sets ask for domains.
    """
    found = _Draw(random.Random(seed), fair=fair).scenario()
    if topology:
        kueue_topologies.add(random.Random(f"{seed} topology"), found)
    if events:
        kueue_events.add(random.Random(f"{seed} events"), found)
    for step in found["steps"] if ties else ():
        for workload in step["create"]:
            workload["metadata"]["creationTimestamp"] = _time(step["at"])
    return found


class _Draw:
    """One scenario while it is drawn."""

    def __init__(self, source: random.Random, *, fair: bool) -> None:
        self.r = source
        self.fair = fair
        self.flavors = [f"f{i}" for i in range(self.r.randint(1, 3))]
        self.resources = self.r.sample(["cpu", "memory", "nvidia.com/gpu"], self.r.randint(1, 3))
        if self.r.random() < 0.25:
            self.resources.append("pods")
        self.groups = self._groups()
        self.cohorts = [f"c{i}" for i in range(self.r.randint(0, 4))]

    def scenario(self) -> Data:
        queues = [self._cluster_queue(i) for i in range(self.r.randint(1, 6))]
        local_queues = [
            _object("LocalQueue", f"l{i}-{k}", clusterQueue=f"q{i}", stopPolicy="None")
            for i in range(len(queues))
            for k in range(self.r.choice([1, 1, 2]))
        ]
        names = [it["metadata"]["name"] for it in local_queues]
        return {
            "fairSharing": {"preemptionStrategies": self.r.choice(STRATEGIES)}
            if self.fair
            else None,
            "flavors": [self._flavor(it) for it in self.flavors],
            "cohorts": list(self._cohorts()),
            "clusterQueues": queues,
            "localQueues": local_queues,
            "namespaces": [
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
            ],
            "steps": list(self._steps(names)),
            "maxCycles": MAX_CYCLES,
        }

    def _groups(self) -> list[tuple[list[str], list[str]]]:
        several = len(self.resources) > 1 and len(self.flavors) > 1
        if not several or self.r.random() < 0.7:
            return [(self.resources, self.flavors)]
        of_resources = self.r.randint(1, len(self.resources) - 1)
        of_flavors = self.r.randint(1, len(self.flavors) - 1)
        return [
            (self.resources[:of_resources], self.flavors[:of_flavors]),
            (self.resources[of_resources:], self.flavors[of_flavors:]),
        ]

    def _flavor(self, name: str) -> Data:
        spec: Data = {}
        if self.r.random() < 0.5:
            spec["nodeLabels"] = {"gpu": f"g{self.r.randint(0, 1)}"}
        if self.r.random() < 0.2:
            effect = self.r.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"])
            spec["nodeTaints"] = [
                {"key": "spot", "value": self.r.choice(["true", ""]), "effect": effect}
            ]
        if self.r.random() < 0.1:
            spec["tolerations"] = [{"key": "spot", "operator": "Exists"}]
        return _object("ResourceFlavor", name, **spec)

    def _cohorts(self) -> Iterator[Data]:
        for i, name in enumerate(self.cohorts):
            if self.r.random() < 0.25:
                continue  # a cohort that only queues name
            spec: Data = {}
            if i and self.r.random() < 0.7:
                spec["parentName"] = self.r.choice(self.cohorts[:i])
            if self.r.random() < 0.3:
                spec["resourceGroups"] = self._quotas(6, limits="parentName" in spec)
            yield _object("Cohort", name, **spec, **self._weight(0.4))

    def _cluster_queue(self, i: int) -> Data:
        r = self.r
        spec: Data = {
            "namespaceSelector": {"matchLabels": {"team": "x"}} if r.random() < 0.04 else {},
            "queueingStrategy": r.choice(["BestEffortFIFO", "BestEffortFIFO", "StrictFIFO"]),
            "stopPolicy": "Hold" if r.random() < 0.04 else "None",
        }
        if self.cohorts and r.random() < 0.9:
            spec["cohortName"] = r.choice(self.cohorts)
        spec["resourceGroups"] = self._quotas(10, limits="cohortName" in spec, fewer=0.2)
        spec["preemption"] = self._preemption()
        spec["flavorFungibility"] = {
            "whenCanBorrow": r.choice(["MayStopSearch", "TryNextFlavor"]),
            "whenCanPreempt": r.choice(["MayStopSearch", "TryNextFlavor"]),
        }
        if r.random() < 0.3:
            preference = r.choice(["BorrowingOverPreemption", "PreemptionOverBorrowing"])
            spec["flavorFungibility"]["preference"] = preference
        return _object("ClusterQueue", f"q{i}", **spec, **self._weight(0.5))

    def _preemption(self) -> Data:
        r = self.r
        within = ["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
        found: Data = {
            "withinClusterQueue": r.choice(within),
            "reclaimWithinCohort": r.choice(["Never", "Any", "LowerPriority", within[2]]),
            "borrowWithinCohort": {"policy": "Never"},
        }
        if not self.fair and found["reclaimWithinCohort"] != "Never" and r.random() < 0.35:
            found["borrowWithinCohort"] = {"policy": "LowerPriority"}
            if r.random() < 0.5:
                found["borrowWithinCohort"]["maxPriorityThreshold"] = r.randint(-1, 3)
        return found

    def _weight(self, probability: float) -> Data:
        if self.fair and self.r.random() < probability:
            return {"fairSharing": {"weight": self.r.choice(WEIGHTS)}}
        return {}

    def _quotas(self, top: int, *, limits: bool, fewer: float = 0.0) -> list[Data]:
        found = []
        for resources, flavors in self.groups:
            chosen = list(flavors)
            if self.r.random() < 0.3:
                self.r.shuffle(chosen)
            if len(chosen) > 1 and self.r.random() < fewer:
                chosen.pop()
            of_flavors = [
                {
                    "name": it,
                    "resources": [self._quota(each, top, limits=limits) for each in resources],
                }
                for it in chosen
            ]
            found.append({"coveredResources": resources, "flavors": of_flavors})
        return found

    def _quota(self, resource: str, top: int, *, limits: bool) -> Data:
        found: Data = {"name": resource, "nominalQuota": self._amount(resource, top)}
        for limit in ("borrowingLimit", "lendingLimit") if limits else ():
            if self.r.random() < 0.25:
                found[limit] = self._amount(resource, top)
        return found

    def _amount(self, resource: str, top: int) -> str:
        if resource == "cpu" and self.r.random() < 0.5:
            return f"{self.r.randint(0, top * 10) * 100}m"
        return f"{self.r.randint(0, top)}{'Gi' if resource == 'memory' else ''}"

    def _steps(self, queues: list[str]) -> Iterator[Data]:
        alive: list[str] = []
        number = 0
        for k in range(self.r.randint(1, 5)):
            at = START_S + k * STEP_S
            ended: list[str] = []
            if alive and self.r.random() < 0.6:
                ended = sorted(self.r.sample(alive, self.r.randint(1, max(1, len(alive) // 3))))
            new = [
                self._workload(number + i, self.r.choice(queues), at + i)
                for i in range(self.r.randint(1, 8))
            ]
            number += len(new)
            yield {"at": at, "create": new, "finish": ended}
            alive = [it for it in alive if it not in ended]
            alive += [f"{NAMESPACE}/{it['metadata']['name']}" for it in new]

    def _workload(self, number: int, queue: str, created: int) -> Data:
        pod_sets = [self._pod_set(j) for j in range(self.r.choice([1, 1, 1, 2]))]
        several = [it for it in pod_sets if it["count"] > 1]
        if several and self.r.random() < 0.15:
            chosen = self.r.choice(several)
            chosen["minCount"] = self.r.randint(1, chosen["count"])
        found = _object(
            "Workload",
            f"w{number}",
            queueName=queue,
            priority=self.r.choice([0, 0, 0, 1, 2, 3]),
            active=True,
            podSets=pod_sets,
        )
        found["metadata"]["uid"] = f"u{self.r.randrange(10**9):09d}"
        found["metadata"]["creationTimestamp"] = _time(created)
        return found

    def _pod_set(self, j: int) -> Data:
        r = self.r
        requests = {
            it: self._amount(it, 4) for it in self.resources if it != "pods" and r.random() < 0.85
        }
        if r.random() < 0.02:
            requests["example.com/x"] = "1"
        container = {"name": "c", "image": "i", "resources": {"requests": requests}}
        spec: Data = {"containers": [container], "restartPolicy": "Never"}
        if r.random() < 0.2:
            spec["nodeSelector"] = {r.choice(["gpu", "gpu", "zone"]): f"g{r.randint(0, 1)}"}
        if r.random() < 0.15:
            terms = [
                {"matchExpressions": [{"key": key, "operator": operator, "values": ["g0"]}]}
                for key, operator in (
                    (r.choice(["gpu", "zone"]), r.choice(["In", "NotIn"]))
                    for _ in range(r.randint(1, 2))
                )
            ]
            required = {"nodeSelectorTerms": terms}
            spec["affinity"] = {
                "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
            }
        if r.random() < 0.3:
            spec["tolerations"] = [{"key": "spot", "operator": "Exists"}]
        return {"name": f"p{j}", "count": r.randint(1, 4), "template": {"spec": spec}}


def _time(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _object(kind: str, name: str, **spec: Any) -> Data:
    metadata = {"name": name}
    if kind in ("LocalQueue", "Workload"):
        metadata["namespace"] = NAMESPACE
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}
