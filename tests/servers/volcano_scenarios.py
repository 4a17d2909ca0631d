"""Drawn scenarios for Volcano's scheduler: nodes, queues, configurations, and jobs that come and go."""

from __future__ import annotations

import random
from typing import Any

Data = dict[str, Any]

SCORES = (
    "leastrequested",
    "mostrequested",
    "nodeaffinity",
    "podaffinity",
    "balancedresource",
    "tainttoleration",
    "imagelocality",
    "podtopologyspread",
)
"""What nodeorder weighs."""

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
GPU = "nvidia.com/gpu"
NAMESPACE = "ns"
ACTIONS = (
    "enqueue, allocate, backfill",
    "allocate, backfill",
    "enqueue, allocate, preempt, reclaim, backfill",
    "allocate, preempt, reclaim, backfill",
    "allocate, reclaim",
    "reclaim, allocate, backfill, preempt",
    "enqueue, reclaim, allocate, backfill",
    "allocate, preempt",
)
CREATED = "2026-01-01T00:00:{:02}Z"


def drawn(seed: int) -> Data:
    """A scenario: the cluster, and what comes and goes before each session."""
    return _Draw(random.Random(seed)).scenario()


class _Draw:
    """One scenario while it is drawn."""

    def __init__(self, source: random.Random) -> None:
        self.r = source
        self.zones = [f"z{i}" for i in range(self.r.randint(1, 3))]
        self.leaves: list[str] = ["default"]
        self.jobs = 0
        self.hierarchy = self.chance(0.5)

    def chance(self, share: float) -> bool:
        return self.r.random() < share

    def scenario(self) -> Data:
        nodes = [self._node(i) for i in range(self.r.randint(2, 8))]
        gpus = sum(int(it["status"]["allocatable"].get(GPU, 0)) for it in nodes)
        queues = self._queues(max(gpus, 4))
        classes = [
            {"metadata": {"name": name}, "value": value}
            for name, value in (("high", 100), ("low", 10))
        ]
        steps = []
        for i in range(self.r.randint(3, 7)):
            jobs = [self._job(i) for _ in range(self.r.randint(0, 5 if i else 9))]
            steps.append({"jobs": jobs, "ends": self.r.random() * 0.2, "leave": self.chance(0.6)})
        return {
            "configuration": self._configuration(),
            "nodes": nodes,
            "priorityClasses": classes,
            "queues": queues,
            "steps": steps,
        }

    def _node(self, index: int) -> Data:
        name = f"n{index:02}"
        labels = {HOST: name, "disk": self.r.choice(["ssd", "hdd"])}
        if self.chance(0.8):
            labels[ZONE] = self.r.choice(self.zones)
        amounts = {
            "cpu": self.r.choice(["8", "16", "32", "64"]),
            "memory": self.r.choice(["32Gi", "64Gi", "256Gi"]),
            "pods": self.r.choice(["110", "110", "5"]),
        }
        if self.chance(0.8):
            amounts[GPU] = self.r.choice(["2", "4", "8", "8"])
        spec: Data = {}
        if self.chance(0.15):
            effect = self.r.choice(["NoSchedule", "PreferNoSchedule"])
            spec["taints"] = [{"key": "gpu", "value": "yes", "effect": effect}]
        if self.chance(0.05):
            spec["unschedulable"] = True
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": name, "labels": labels},
            "spec": spec,
            "status": {"allocatable": amounts, "capacity": amounts},
        }

    def _queues(self, gpus: int) -> list[Data]:
        found = [self._queue("root", {"reclaimable": False}), self._queue("default", {})]
        parents = [""]
        for i in range(self.r.randint(1, 4)):
            name = f"q{i}"
            spec = self._amounts(gpus)
            if self.hierarchy and (parent := self.r.choice(parents)):
                spec["parent"] = parent
            if self.hierarchy and self.chance(0.35):
                parents.append(name)
            else:
                self.leaves.append(name)
            found.append(self._queue(name, spec))
        return found

    def _queue(self, name: str, spec: Data) -> Data:
        state = "Closed" if name.startswith("q") and self.chance(0.03) else "Open"
        return {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": name, "creationTimestamp": CREATED.format(self.r.randint(0, 2))},
            "spec": {"weight": self.r.choice([1, 1, 2, 5]), **spec},
            "status": {"state": state},
        }

    def _amounts(self, gpus: int) -> Data:
        found: Data = {}
        deserved = self.r.randint(0, gpus)
        if self.chance(0.75):
            found["deserved"] = {GPU: str(deserved)}
            if self.chance(0.3):
                found["deserved"] |= {"cpu": str(self.r.randint(1, 40)), "memory": "64Gi"}
        if self.chance(0.4):
            found["capability"] = {GPU: str(self.r.randint(deserved, gpus))}
            if self.chance(0.3):
                found["capability"]["cpu"] = str(self.r.randint(8, 80))
        if self.chance(0.25):
            found["guarantee"] = {"resource": {GPU: str(self.r.randint(0, max(gpus // 4, 1)))}}
        if self.chance(0.15):
            found["reclaimable"] = False
        if self.chance(0.2):
            found["priority"] = self.r.randint(0, 5)
        return found

    def _configuration(self) -> Data:
        first, second = self._deciding()
        if self.chance(0.4):
            over: Data = {"name": "overcommit"}
            if self.chance(0.5):
                over["arguments"] = {"overcommit-factor": self.r.choice([1.0, 1.5, 3, 0.5])}
            second.append(over)
        if self.chance(0.8):
            second.append(self._nodeorder())
        if self.chance(0.7):
            second.append(self._binpack())
        if self.chance(0.25):
            second.append(self._fit())
        if self.chance(0.3):
            self.r.shuffle(second)
        tiers = [{"plugins": first}, {"plugins": second}]
        return {"actions": self.r.choice(ACTIONS), "tiers": tiers}

    def _deciding(self) -> tuple[list[Data], list[Data]]:
        """The plugins that decide about queues and jobs, in two tiers."""
        queues: Data = {"name": "capacity"}
        if self.hierarchy:
            queues["enableHierarchy"] = True
        elif self.chance(0.3):
            queues["name"] = "proportion"
        gang: Data = {"name": "gang"}
        drf: Data = {"name": "drf"}
        if self.chance(0.5):
            gang["enablePreemptable"] = False
        if self.chance(0.6):
            drf["enablePreemptable"] = False
        if self.chance(0.1):
            gang["enableJobStarving"] = False
        first = [{"name": "priority"}, gang, {"name": "conformance"}]
        second = [{"name": "predicates"}]
        (first if self.chance(0.5) else second).append(queues)
        if self.chance(0.4):
            (first if self.chance(0.2) else second).append(drf)
        return first, second

    def _nodeorder(self) -> Data:
        arguments = {
            f"{it}.weight": self.r.choice([0, 1, 2, 5]) for it in SCORES if self.chance(0.4)
        }
        return {"name": "nodeorder", "arguments": arguments} if arguments else {"name": "nodeorder"}

    def _binpack(self) -> Data:
        arguments: Data = {}
        if self.chance(0.7):
            arguments["binpack.weight"] = self.r.choice([0, 1, 10])
        if self.chance(0.7):
            arguments["binpack.resources"] = f"{GPU}, example.com/foo"
            arguments[f"binpack.resources.{GPU}"] = self.r.choice([1, 5, 10, -3])
        if self.chance(0.3):
            arguments["binpack.cpu"] = self.r.choice([0, 2])
        return {"name": "binpack", "arguments": arguments}

    def _fit(self) -> Data:
        resources = {
            name: {
                "type": self.r.choice(["MostAllocated", "LeastAllocated"]),
                "weight": self.r.randint(0, 3),
            }
            for name in ("cpu", "memory", GPU, "nvidia.com/*")
            if self.chance(0.6)
        }
        arguments: Data = {"resourceStrategyFitWeight": self.r.choice([1, 10])}
        if resources:
            arguments["resources"] = resources
        return {"name": "resource-strategy-fit", "arguments": arguments}

    def _job(self, step: int) -> Data:
        r = self.r
        name = f"j{self.jobs:02}"
        self.jobs += 1
        app = r.choice(["a", "b", "c"])
        tasks, minimums = [], {}
        kinds = r.sample(["worker", "master"], r.choice([1, 1, 2])) if self.chance(0.75) else [""]
        for role in kinds:
            count = r.choice([1, 1, 2, 3, 4, 8]) if role != "master" else 1
            least = r.choice([count, r.randint(0, count), 0, 1])
            if role:
                minimums[role] = least
            tasks.append({"role": role, "count": count, "least": least, "spec": self._spec(app)})
        total = sum(it["count"] for it in tasks)
        least = r.choice([sum(it["least"] for it in tasks)] * 3 + [total, r.randint(0, total)])
        pods = [
            self._pod(name, app, it["role"], i, it["spec"])
            for it in tasks
            for i in range(it["count"])
        ]
        group: Data = {
            "minMember": least,
            "queue": r.choice(self.leaves),
        }
        if minimums and self.chance(0.8):
            group["minTaskMember"] = minimums
        if self.chance(0.7):
            group["minResources"] = self._minimum(tasks, least)
        if self.chance(0.5):
            group["priorityClassName"] = r.choice(["high", "low"])
        return {
            "podGroup": {
                "apiVersion": "scheduling.volcano.sh/v1beta1",
                "kind": "PodGroup",
                "metadata": {
                    "namespace": NAMESPACE,
                    "name": name,
                    "creationTimestamp": CREATED.format(10 * step // 2),
                },
                "spec": group,
                "status": {"phase": r.choice(["Pending", "Pending", "Inqueue"])},
            },
            "pods": pods,
        }

    def _minimum(self, tasks: list[Data], least: int) -> Data:
        found: dict[str, int] = {}
        left = least
        for it in tasks:
            count = min(left, it["count"])
            left -= count
            for name, amount in it["spec"]["containers"][0]["resources"]["requests"].items():
                number = int(amount.removesuffix("Gi"))
                found[name] = found.get(name, 0) + number * count
        return {name: f"{it}Gi" if name == "memory" else str(it) for name, it in found.items()}

    def _spec(self, app: str) -> Data:
        r = self.r
        requests: Data = {}
        if not self.chance(0.08):
            if self.chance(0.8):
                requests[GPU] = str(r.choice([1, 1, 1, 2, 4, 8]))
            if self.chance(0.8):
                requests |= {
                    "cpu": str(r.choice([1, 2, 4, 8])),
                    "memory": f"{r.choice([1, 4, 16])}Gi",
                }
        spec: Data = {
            "schedulerName": "volcano",
            "priority": r.choice([0, 0, 0, 10, 100]),
            "containers": [
                {
                    "name": "c",
                    "resources": {
                        "requests": requests,
                        "limits": {name: it for name, it in requests.items() if name == GPU},
                    },
                }
            ],
        }
        if self.chance(0.1):
            spec["preemptionPolicy"] = "Never"
        if self.chance(0.15):
            spec["nodeSelector"] = {"disk": r.choice(["ssd", "hdd"])}
        if self.chance(0.3):
            spec["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
        if self.chance(0.12):
            spec["affinity"] = self._affinity(app)
        if self.chance(0.1):
            spec["topologySpreadConstraints"] = [
                {
                    "maxSkew": r.randint(1, 2),
                    "topologyKey": r.choice([HOST, ZONE]),
                    "whenUnsatisfiable": r.choice(["DoNotSchedule", "ScheduleAnyway"]),
                    "labelSelector": {"matchLabels": {"app": app}},
                }
            ]
        return spec

    def _affinity(self, app: str) -> Data:
        r = self.r
        term = {
            "labelSelector": {"matchLabels": {"app": r.choice([app, "a"])}},
            "topologyKey": r.choice([HOST, ZONE]),
        }
        if self.chance(0.3):
            return {
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": r.randint(1, 100),
                            "preference": {
                                "matchExpressions": [
                                    {"key": "disk", "operator": "In", "values": ["ssd"]}
                                ]
                            },
                        }
                    ]
                }
            }
        kind = r.choice(["podAffinity", "podAntiAffinity"])
        if self.chance(0.5):
            return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        preferred = {"weight": r.randint(1, 100), "podAffinityTerm": term}
        return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}

    def _pod(self, job: str, app: str, role: str, index: int, spec: Data) -> Data:
        annotations = {"scheduling.k8s.io/group-name": job}
        if role:
            annotations["volcano.sh/task-spec"] = role
        if self.chance(0.05):
            annotations["volcano.sh/preemptable"] = "false"
        name = f"{job}-{role or 'pod'}-{index}"
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "namespace": NAMESPACE,
                "name": name,
                "uid": name,
                "creationTimestamp": CREATED.format(self.r.randint(20, 22)),
                "labels": {"app": app},
                "annotations": annotations,
            },
            "spec": spec,
            "status": {"phase": "Pending"},
        }
