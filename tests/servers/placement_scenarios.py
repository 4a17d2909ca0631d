"""Drawn scenarios for kube-scheduler: nodes, profiles, and pods that come and go."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

Data = dict[str, Any]

NAMESPACES = ("one", "two")
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
GPU = "nvidia.com/gpu"
SOFT, HARD = "ScheduleAnyway", "DoNotSchedule"


def drawn(seed: int) -> Data:
    """A scenario as the Go program reads it."""
    return _Draw(random.Random(seed)).scenario()


class _Draw:
    """One scenario while it is drawn."""

    def __init__(self, source: random.Random) -> None:
        self.r = source
        self.zones = [f"z{i}" for i in range(self.r.randint(1, 3))]
        self.names: list[str] = []

    def scenario(self) -> Data:
        nodes = [self._node(i) for i in range(self.r.randint(2, 14))]
        owners = [self._replica_set(i) for i in range(self.r.randint(0, 3))]
        templates = [self._template(owners) for _ in range(self.r.randint(1, 6))]
        return {
            "configuration": self._configuration(),
            "nodes": nodes,
            "namespaces": [
                {
                    "apiVersion": "v1",
                    "kind": "Namespace",
                    "metadata": {"name": it, "labels": {"ns": it}},
                }
                for it in NAMESPACES
            ],
            "services": [self._service(i) for i in range(self.r.choice([0, 0, 1, 2]))],
            "replicaSets": owners,
            "steps": [self._step(i, templates) for i in range(self.r.randint(5, 30))],
        }

    def chance(self, share: float) -> bool:
        return self.r.random() < share

    def _node(self, index: int) -> Data:
        name = f"n{index:02}"
        labels = {"disk": self.r.choice(["ssd", "hdd"]), "rank": str(self.r.randint(1, 5))}
        if self.chance(0.95):
            labels[HOST] = name
        if self.chance(0.85):
            labels[ZONE] = self.r.choice(self.zones)
        if self.chance(0.5):
            labels["rack"] = f"r{self.r.randint(0, 2)}"
        gpus = self.r.choice([0, 0, 4, 8, 8])
        allocatable = {
            "cpu": self.r.choice(["4", "7910m", "16", "64"]),
            "memory": self.r.choice(["8Gi", "31234567Ki", "64Gi", "256G"]),
            "ephemeral-storage": "100Gi",
            "pods": str(self.r.choice([3, 110, 110])),
        }
        if gpus:
            allocatable[GPU] = str(gpus)
        taints = [
            {"key": key, "value": "v", "effect": effect}
            for key, effect in (
                ("a", "PreferNoSchedule"),
                ("b", "PreferNoSchedule"),
                ("c", "NoSchedule"),
                ("d", "NoExecute"),
            )
            if self.chance(0.15)
        ]
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": name, "labels": labels},
            "spec": {"taints": taints, "unschedulable": self.chance(0.05)},
            "status": {"allocatable": allocatable, "capacity": allocatable},
        }

    def _replica_set(self, index: int) -> Data:
        labels = {"app": f"a{index}", "hash": str(index)}
        return {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": f"rs{index}",
                "namespace": self.r.choice(NAMESPACES),
                "uid": f"rs{index}",
            },
            "spec": {
                "selector": {
                    "matchLabels": {"app": f"a{index}"},
                    "matchExpressions": [{"key": "hash", "operator": "In", "values": [str(index)]}],
                },
                "template": {"metadata": {"labels": labels}},
            },
        }

    def _service(self, index: int) -> Data:
        selector = self.r.choice(
            [{"app": "a0"}, {"app": "a1"}, {"tier": "x"}, {"app": "a0", "tier": "x"}]
        )
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": f"s{index}", "namespace": self.r.choice(NAMESPACES)},
            "spec": {"selector": selector},
        }

    def _template(self, owners: list[Data]) -> Data:
        labels = {"app": f"a{self.r.randint(0, 3)}", "tier": self.r.choice(["x", "y"])}
        metadata: Data = {"namespace": self.r.choice(NAMESPACES), "labels": labels}
        if owners and self.chance(0.5):
            owner = self.r.choice(owners)
            metadata["namespace"] = owner["metadata"]["namespace"]
            labels |= owner["spec"]["template"]["metadata"]["labels"]
            metadata["ownerReferences"] = [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": owner["metadata"]["name"],
                    "uid": owner["metadata"]["uid"],
                    "controller": True,
                }
            ]
        spec: Data = {
            "schedulerName": "default-scheduler",
            "containers": [self._container(i) for i in range(self.r.choice([1, 1, 1, 2]))],
        }
        if self.chance(0.2):
            spec["initContainers"] = [self._container(7)]
        if self.chance(0.2):
            spec["nodeSelector"] = {"disk": "ssd"}
        if self.chance(0.4):
            spec["tolerations"] = [self._toleration() for _ in range(self.r.randint(1, 2))]
        if self.chance(0.4):
            spec["topologySpreadConstraints"] = [
                self._constraint(key)
                for key in self.r.sample([HOST, ZONE, "rack"], self.r.randint(1, 2))
            ]
        if affinity := dict(self._affinity()):
            spec["affinity"] = affinity
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def _affinity(self) -> Iterator[tuple[str, Data]]:
        if self.chance(0.4):
            yield "nodeAffinity", self._node_affinity()
        for kind in ("podAffinity", "podAntiAffinity"):
            found: Data = {}
            if self.chance(0.3):
                found[PREFERRED] = self._pod_terms()
            if self.chance(0.15):
                found[REQUIRED] = [it["podAffinityTerm"] for it in self._pod_terms()]
            if found:
                yield kind, found

    def _container(self, index: int) -> Data:
        requests = {}
        if self.chance(0.75):
            requests["cpu"] = self.r.choice(["100m", "250m", "1", "1500m", "3"])
        if self.chance(0.75):
            requests["memory"] = self.r.choice(["100Mi", "1Gi", "3000M", "7Gi"])
        if self.chance(0.1):
            requests["ephemeral-storage"] = "5Gi"
        resources: Data = {"requests": requests}
        if self.chance(0.3):
            count = str(self.r.choice([1, 1, 2, 4]))
            requests[GPU] = count
            resources["limits"] = {GPU: count}
        return {"name": f"c{index}", "image": "i", "resources": resources}

    def _toleration(self) -> Data:
        found: Data = {"key": self.r.choice("abcd"), "operator": self.r.choice(["Exists", "Equal"])}
        if found["operator"] == "Equal":
            found["value"] = self.r.choice(["v", "v", "w"])
        if self.chance(0.5):
            found["effect"] = self.r.choice(["PreferNoSchedule", "NoSchedule", "NoExecute"])
        return found

    def _selector(self) -> Data:
        return self.r.choice(
            [
                {"matchLabels": {"app": f"a{self.r.randint(0, 3)}"}},
                {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["x"]}]},
                {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a0", "a1"]}]},
                {},
            ]
        )

    def _constraint(self, key: str) -> Data:
        found = {
            "topologyKey": key,
            "maxSkew": self.r.choice([1, 1, 2, 5]),
            "whenUnsatisfiable": self.r.choice([SOFT, SOFT, HARD]),
            "labelSelector": self._selector(),
        }
        if found["whenUnsatisfiable"] == HARD and self.chance(0.3):
            found["minDomains"] = self.r.randint(1, 4)
        if self.chance(0.3):
            found["nodeAffinityPolicy"] = self.r.choice(["Honor", "Ignore"])
        if self.chance(0.3):
            found["nodeTaintsPolicy"] = self.r.choice(["Honor", "Ignore"])
        if self.chance(0.2):
            found["matchLabelKeys"] = ["tier"]
        return found

    def _expression(self) -> Data:
        return self.r.choice(
            [
                {"key": "disk", "operator": "In", "values": ["ssd"]},
                {"key": "rank", "operator": "Gt", "values": ["2"]},
                {"key": "rack", "operator": "Exists"},
                {"key": "rack", "operator": "DoesNotExist"},
                {"key": ZONE, "operator": "NotIn", "values": ["z0"]},
            ]
        )

    def _node_affinity(self) -> Data:
        found: Data = {
            PREFERRED: [
                {
                    "weight": self.r.randint(1, 100),
                    "preference": {
                        "matchExpressions": [
                            self._expression() for _ in range(self.r.randint(1, 2))
                        ]
                    },
                }
                for _ in range(self.r.randint(1, 3))
            ]
        }
        if self.chance(0.3):
            found[REQUIRED] = {
                "nodeSelectorTerms": [
                    {"matchExpressions": [self._expression()]} for _ in range(self.r.randint(1, 2))
                ]
            }
        return found

    def _pod_terms(self) -> list[Data]:
        found = []
        for _ in range(self.r.randint(1, 2)):
            term: Data = {
                "topologyKey": self.r.choice([HOST, HOST, ZONE, "rack"]),
                "labelSelector": self._selector(),
            }
            if self.chance(0.2):
                term["namespaces"] = [self.r.choice(NAMESPACES)]
            if self.chance(0.2):
                term["namespaceSelector"] = self.r.choice([{}, {"matchLabels": {"ns": "two"}}])
            found.append({"weight": self.r.randint(1, 100), "podAffinityTerm": term})
        return found

    def _step(self, index: int, templates: list[Data]) -> Data:
        template = self.r.choice(templates)
        name = f"p{index:03}"
        removed = []
        if self.names and self.chance(0.2):
            removed = [self.names.pop(self.r.randrange(len(self.names)))]
        self.names.append(name)
        metadata = template["metadata"] | {"name": name, "uid": name}
        started = f"2026-01-01T00:{index:02}:00Z"
        pod = template | {"metadata": metadata, "status": {"startTime": started}}
        pod["spec"] = template["spec"] | {"priority": self.r.choice([0, 0, 10, 100])}
        return {"pod": pod, "remove": removed}

    def _configuration(self) -> Data:
        plugin_config = []
        kind = self.r.choice(["", "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"])
        if kind:
            plugin_config.append(
                {"name": "NodeResourcesFit", "args": {"scoringStrategy": self._strategy(kind)}}
            )
        if self.chance(0.3):
            plugin_config.append(
                {
                    "name": "NodeResourcesBalancedAllocation",
                    "args": {"resources": [{"name": it, "weight": 1} for it in self._resources()]},
                }
            )
        if self.chance(0.3):
            defaults = [
                {
                    "topologyKey": it,
                    "maxSkew": self.r.randint(1, 4),
                    "whenUnsatisfiable": self.r.choice([SOFT, HARD]),
                }
                for it in self.r.sample([HOST, ZONE, "rack"], self.r.randint(0, 2))
            ]
            args = {"defaultingType": "List", "defaultConstraints": defaults}
            plugin_config.append({"name": "PodTopologySpread", "args": args})
        if self.chance(0.3):
            args = {
                "hardPodAffinityWeight": self.r.choice([0, 1, 50]),
                "ignorePreferredTermsOfExistingPods": self.chance(0.5),
            }
            plugin_config.append({"name": "InterPodAffinity", "args": args})
        if self.chance(0.15):
            added: Data = {
                PREFERRED: [{"weight": 7, "preference": {"matchExpressions": [self._expression()]}}]
            }
            if self.chance(0.4):
                terms = [{"matchExpressions": [self._expression()]}]
                added[REQUIRED] = {"nodeSelectorTerms": terms}
            plugin_config.append({"name": "NodeAffinity", "args": {"addedAffinity": added}})
        return {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [
                {
                    "schedulerName": "default-scheduler",
                    "plugins": self._plugins(),
                    "pluginConfig": plugin_config,
                }
            ],
        }

    def _plugins(self) -> Data:
        names = ["NodeResourcesFit", "TaintToleration", "PodTopologySpread", "InterPodAffinity"]
        found: Data = {}
        for point, share in (("score", 0.3), ("multiPoint", 0.3), ("filter", 0.1)):
            if self.chance(share):
                enabled = self.r.sample(names, self.r.randint(1, 2))
                found[point] = {
                    "disabled": [{"name": it} for it in enabled],
                    "enabled": [
                        {"name": it, "weight": self.r.choice([0, 1, 3, 10])}
                        for it in enabled
                        if point != "filter" or self.chance(0.7)  # a score needs its other points
                    ],
                }
        if self.chance(0.1):
            off = self.r.choice(["NodeResourcesBalancedAllocation", "NodeAffinity"])
            found.setdefault("score", {"enabled": [], "disabled": []})["disabled"].append(
                {"name": off}
            )
        return found

    def _resources(self) -> list[str]:
        return self.r.sample(["cpu", "memory", GPU, "ephemeral-storage"], self.r.randint(1, 3))

    def _strategy(self, kind: str) -> Data:
        found: Data = {
            "type": kind,
            "resources": [
                {"name": it, "weight": self.r.choice([1, 1, 3, 5])} for it in self._resources()
            ],
        }
        if kind == "RequestedToCapacityRatio":
            points = sorted(self.r.sample(range(101), self.r.randint(1, 4)))
            found["requestedToCapacityRatio"] = {
                "shape": [{"utilization": it, "score": self.r.randint(0, 10)} for it in points]
            }
        return found


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
