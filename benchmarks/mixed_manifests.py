"""Mixed manifests, such as people and charts write them: many kinds, each document with its own layout.

    python benchmarks/mixed_manifests.py FOLDER [--documents 10000] [--seed 1] [--faults 0] [--per-file 100]

Writes the same objects to FOLDER/yaml and FOLDER/json: kinds of Kueue, Volcano and Kubernetes in random
order. Names, numbers, optional fields, the order of keys, indentation, quotes, comments and flow style are
drawn from the seed, so hardly two documents have the same lines. `--faults` spoils that many documents:
references that lead nowhere, misspelt fields and values of a wrong type.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mixed_layout import WORDS, Layout

KUEUE = "kueue.x-k8s.io/v1beta2"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
CARDS = {"a100": 8, "h100": 8, "l40s": 4, "l4": 2, "mi300x": 8}
"""GPUs of a node, by flavor."""
GPU = "nvidia.com/gpu"
PER_TEAM = 100
"""Documents for each team, which has a namespace, a ClusterQueue and a LocalQueue among them."""


class Team(NamedTuple):
    """What the objects of a team refer to."""

    name: str
    card: str

    @property
    def queue(self) -> str:
        """The team's LocalQueue."""
        return f"{self.name}-{self.card}"


class Drawn:
    """Draws objects. Optional fields are there or not, and amounts vary."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.number = 0

    def maybe(self, chance: float, **fields: Any) -> dict[str, Any]:
        """The fields with this probability, else an empty mapping."""
        return fields if self.draw.random() < chance else {}

    def name(self) -> str:
        """A name that no other object has."""
        self.number += 1
        return f"{self.draw.choice(WORDS)}-{self.draw.choice(WORDS)}-{self.number}"

    def object(self, api_version: str, kind: str, name: str, namespace: str, **fields: Any) -> Any:
        """An object, with labels and annotations such as charts give."""
        draw = self.draw
        labels = self.maybe(
            0.6,
            **{"app.kubernetes.io/name": draw.choice(WORDS), "app.kubernetes.io/instance": name},
        )
        labels |= self.maybe(0.4, **{"app.kubernetes.io/managed-by": "Helm"})
        labels |= self.maybe(
            0.3, **{"helm.sh/chart": f"{draw.choice(WORDS)}-{draw.randint(0, 9)}.4.1"}
        )
        labels |= self.maybe(0.2, **{"example.com/cost-center": f"cc-{draw.randint(100, 999)}"})
        annotations = self.maybe(0.2, **{"example.com/owner": f"{draw.choice(WORDS)}@example.com"})
        metadata: dict[str, Any] = {"name": name}
        if namespace:
            metadata["namespace"] = namespace
        if labels:
            metadata["labels"] = labels
        if annotations:
            metadata["annotations"] = annotations
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata} | fields

    def resources(self, card: str | None) -> dict[str, Any]:
        """Requests and limits of a container; GPUs if it runs on a card."""
        gpus = {GPU: self.draw.choice([1, 2])} if card else {}
        memory = f"{self.draw.randint(1, 60)}Gi"
        cpu = self.draw.choice(
            [f"{self.draw.randint(1, 9)}00m", str(self.draw.randint(1, 12)), 1, 2]
        )
        requests = {"cpu": cpu, "memory": memory}
        return {"requests": {**requests, **gpus}, "limits": {"memory": memory, **gpus}}

    def container(self, name: str, card: str | None) -> dict[str, Any]:
        """A container with some of the usual fields."""
        draw = self.draw
        variables = [
            {"name": word.upper(), "value": f"{draw.choice(WORDS)} {draw.randint(0, 99)}"}
            for word in draw.sample(WORDS, draw.randint(1, 5))
        ]
        probe = {
            "httpGet": {"path": "/healthz", "port": 8080},
            "periodSeconds": draw.randint(5, 30),
        }
        return {
            "name": name,
            "image": f"registry.example.com/{draw.choice(WORDS)}/{draw.choice(WORDS)}:1.{draw.randint(0, 99)}",
            "resources": self.resources(card),
            **self.maybe(0.5, env=variables),
            **self.maybe(0.4, command=["python", "-m", draw.choice(WORDS)]),
            **self.maybe(
                0.4, args=["--epochs", str(draw.randint(1, 99)), f"--{draw.choice(WORDS)}=yes"]
            ),
            **self.maybe(0.3, imagePullPolicy="IfNotPresent"),
            **self.maybe(0.2, readinessProbe=probe),
            **self.maybe(0.3, ports=[{"name": "http", "containerPort": 8080}]),
            **self.maybe(
                0.2, securityContext={"runAsNonRoot": True, "capabilities": {"drop": ["ALL"]}}
            ),
        }

    def pod_spec(self, team: Team, *, gpu: bool, **fields: Any) -> dict[str, Any]:
        """A pod spec of one container or two, on the team's nodes if it requests GPUs."""
        draw = self.draw
        containers = [self.container("main", team.card if gpu else None)]
        if draw.random() < 0.4:
            containers.append(self.container(draw.choice(["proxy", "metrics", "sync"]), None))
        spec: dict[str, Any] = {"containers": containers, **fields}
        if gpu:
            toleration = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
            spec |= self.maybe(0.7, tolerations=[toleration])
        spec |= self.maybe(0.3, volumes=[{"name": "scratch", "emptyDir": {}}])
        spec |= self.maybe(0.2, securityContext={"fsGroup": draw.randint(1000, 9000)})
        return spec | self.maybe(0.2, terminationGracePeriodSeconds=draw.randint(10, 90))

    def template(self, team: Team, labels: dict[str, str], *, gpu: bool, **fields: Any) -> Any:
        """A pod template."""
        metadata = {"metadata": {"labels": labels}} if labels else self.maybe(0.3, metadata={})
        return {**metadata, "spec": self.pod_spec(team, gpu=gpu, **fields)}

    # What follows are the kinds.

    def job(self, team: Team) -> Any:
        """A Job in the team's queue."""
        pods = self.draw.randint(1, 4)
        it = self.object(
            "batch/v1",
            "Job",
            self.name(),
            team.name,
            spec={
                **self.maybe(0.6, parallelism=pods, completions=pods),
                **self.maybe(0.3, backoffLimit=self.draw.randint(0, 6)),
                **self.maybe(0.3, ttlSecondsAfterFinished=self.draw.randint(1, 99) * 60),
                "template": self.template(team, {}, gpu=True, restartPolicy="Never"),
            },
        )
        it["metadata"].setdefault("labels", {})[QUEUE_LABEL] = team.queue
        it["metadata"]["labels"] |= self.maybe(0.5, **{"kueue.x-k8s.io/priority-class": "batch"})
        return it

    def cron_job(self, team: Team) -> Any:
        """A CronJob without GPUs."""
        template = {
            "spec": {"template": self.template(team, {}, gpu=False, restartPolicy="OnFailure")}
        }
        schedule = f"{self.draw.randint(0, 59)} {self.draw.randint(0, 23)} * * *"
        more = self.maybe(0.5, concurrencyPolicy="Forbid")
        spec = {"schedule": schedule, **more, "jobTemplate": template}
        return self.object("batch/v1", "CronJob", self.name(), team.name, spec=spec)

    def deployment(self, team: Team) -> Any:
        """A Deployment without GPUs."""
        name = self.name()
        labels = {"app": name}
        spec = {
            "replicas": self.draw.randint(1, 9),
            "selector": {"matchLabels": labels},
            "template": self.template(team, labels, gpu=False),
            **self.maybe(0.3, revisionHistoryLimit=self.draw.randint(1, 10)),
        }
        return self.object("apps/v1", "Deployment", name, team.name, spec=spec)

    def stateful_set(self, team: Team) -> Any:
        """A StatefulSet with a volume."""
        name = self.name()
        size = {"requests": {"storage": f"{self.draw.randint(1, 900)}Gi"}}
        claim = {"accessModes": ["ReadWriteOnce"], "resources": size}
        spec = {
            "serviceName": f"pods-of-{team.name}",
            "replicas": self.draw.randint(1, 3),
            "selector": {"matchLabels": {"app": name}},
            "template": self.template(team, {"app": name}, gpu=False),
            **self.maybe(0.6, volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": claim}]),
        }
        return self.object("apps/v1", "StatefulSet", name, team.name, spec=spec)

    def pod(self, team: Team) -> Any:
        """A Pod without GPUs."""
        return self.object("v1", "Pod", self.name(), team.name, spec=self.pod_spec(team, gpu=False))

    def config_map(self, team: Team) -> Any:
        """A ConfigMap with values and a file."""
        draw = self.draw
        data = {
            word: f"{draw.choice(WORDS)}:{draw.randint(1, 9999)}" for word in draw.sample(WORDS, 4)
        }
        lines = (f"{word} = {draw.randint(0, 999)}\n" for word in draw.sample(WORDS, 6))
        data |= self.maybe(0.5, **{"settings.ini": "[main]\n" + "".join(lines)})
        return self.object("v1", "ConfigMap", self.name(), team.name, data=data)

    def service(self, team: Team) -> Any:
        """A Service, which no rule checks."""
        ports = [{"name": "http", "port": 80, "targetPort": self.draw.randint(8000, 9000)}]
        spec = {
            "selector": {"app": self.name()},
            "ports": ports,
            **self.maybe(0.4, type="ClusterIP"),
        }
        return self.object("v1", "Service", self.name(), team.name, spec=spec)

    def service_account(self, team: Team) -> Any:
        """A ServiceAccount."""
        more = self.maybe(0.5, automountServiceAccountToken=False)
        return self.object("v1", "ServiceAccount", self.name(), team.name, **more)

    def role(self, team: Team) -> Any:
        """A Role."""
        rules = [
            {
                "apiGroups": [""],
                "resources": [kind],
                "verbs": self.draw.sample(["get", "list", "watch"], 2),
            }
            for kind in self.draw.sample(["pods", "configmaps", "services", "events"], 2)
        ]
        return self.object(
            "rbac.authorization.k8s.io/v1", "Role", self.name(), team.name, rules=rules
        )

    def volcano_job(self, team: Team) -> Any:
        """A Job of Volcano."""
        tasks = [
            {
                "name": name,
                "replicas": self.draw.randint(1, 6),
                "template": self.template(team, {}, gpu=False, restartPolicy="OnFailure"),
            }
            for name in ("master", "worker")[: self.draw.randint(1, 2)]
        ]
        pods = sum(it["replicas"] for it in tasks)
        spec = {
            "schedulerName": "volcano",
            "queue": f"volcano-{team.name}",
            "minAvailable": pods,
            **self.maybe(0.4, plugins={"svc": [], "env": []}),
            **self.maybe(0.4, policies=[{"event": "PodEvicted", "action": "RestartJob"}]),
            "tasks": tasks,
        }
        return self.object("batch.volcano.sh/v1alpha1", "Job", self.name(), team.name, spec=spec)

    def shared(self) -> Iterator[Any]:
        """What all teams use: flavors, their nodes' labels, cohorts and priorities."""
        for card in CARDS:
            flavor = {"nodeLabels": {"example.com/card": card}}
            yield self.object(KUEUE, "ResourceFlavor", card, "", spec=flavor)
            yield self.object(KUEUE, "Cohort", f"research-{card}", "")
        for name, value in (("batch", 10), ("urgent", 1000)):
            yield self.object(KUEUE, "WorkloadPriorityClass", name, "", value=value)

    def own(self, team: Team) -> Iterator[Any]:
        """What a team has once."""
        draw = self.draw
        yield self.object("v1", "Namespace", team.name, "")
        amounts = {
            "cpu": str(draw.randint(100, 900)),
            "memory": f"{draw.randint(1000, 9000)}Gi",
            GPU: draw.randint(8, 64),
        }
        resources = [
            {"name": name, "nominalQuota": amount, **self.maybe(0.4, borrowingLimit=amount)}
            for name, amount in amounts.items()
        ]
        preemption = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}
        flavors = [{"name": team.card, "resources": resources}]
        spec = {
            "cohortName": f"research-{team.card}",
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": team.name}},
            "preemption": preemption,
            **self.maybe(0.5, queueingStrategy="BestEffortFIFO"),
            "resourceGroups": [{"coveredResources": list(amounts), "flavors": flavors}],
        }
        yield self.object(KUEUE, "ClusterQueue", team.queue, "", spec=spec)
        spec = {"clusterQueue": team.queue}
        yield self.object(KUEUE, "LocalQueue", team.queue, team.name, spec=spec)
        capability = {"cpu": str(draw.randint(1000, 9000)), "memory": f"{draw.randint(10, 90)}Ti"}
        spec = {"weight": draw.randint(1, 9), "reclaimable": True, "capability": capability}
        yield self.object(
            "scheduling.volcano.sh/v1beta1", "Queue", f"volcano-{team.name}", "", spec=spec
        )
        hard = {"pods": str(draw.randint(500, 900)), "services": draw.randint(100, 200)}
        yield self.object("v1", "ResourceQuota", self.name(), team.name, spec={"hard": hard})
        limit = {"type": "Container", "defaultRequest": {"cpu": "100m", "memory": "128Mi"}}
        yield self.object("v1", "LimitRange", self.name(), team.name, spec={"limits": [limit]})
        headless = {"clusterIP": "None", "selector": {"app": self.name()}}
        yield self.object("v1", "Service", f"pods-of-{team.name}", team.name, spec=headless)


Draw = Callable[[Drawn, Team], Any]
KINDS: tuple[tuple[Draw, int], ...] = (
    (Drawn.job, 20),
    (Drawn.deployment, 20),
    (Drawn.config_map, 12),
    (Drawn.service, 10),
    (Drawn.volcano_job, 8),
    (Drawn.pod, 8),
    (Drawn.service_account, 6),
    (Drawn.cron_job, 5),
    (Drawn.stateful_set, 5),
    (Drawn.role, 4),
)
"""What each team has many of, and how often."""


def objects(count: int, seed: int, faults: int = 0) -> list[Any]:
    """As many objects in random order, so many of them with a fault; at least about 130."""
    draw = random.Random(seed)
    drawn = Drawn(draw)
    cards = tuple(CARDS)
    teams = [
        Team(f"{draw.choice(WORDS)}-{n}", cards[n % len(cards)])
        for n in range(-(-count // PER_TEAM))
    ]
    made = [*drawn.shared(), *(it for team in teams for it in drawn.own(team))]
    kinds, weights = zip(*KINDS, strict=True)
    more = draw.choices(kinds, weights, k=count - len(made))
    made += [kind(drawn, draw.choice(teams)) for kind in more]
    draw.shuffle(made)
    workloads = [it for it in made if it["kind"] in {"Job", "Deployment", "Pod", "ConfigMap"}]
    for it in draw.sample(workloads, faults):
        spoil(it, draw)
    return made


def spoil(it: Any, draw: random.Random) -> None:
    """Give an object a fault that differs from those of others."""
    word = f"{draw.choice(WORDS)}-{draw.randint(0, 9999)}"
    labels = it["metadata"].setdefault("labels", {})
    if QUEUE_LABEL in labels and draw.random() < 0.6:
        labels[QUEUE_LABEL] = word
    elif draw.random() < 0.5:
        labels[f"{word}_"] = "x"
    elif "spec" in it:
        it["spec"][word.replace("-", "")] = draw.randint(0, 9)
    else:
        it["data"][word] = draw.randint(0, 9)


def write(folder: Path, made: list[Any], seed: int, per_file: int) -> tuple[Path, Path]:
    """Write the objects as YAML and as JSON; returns both folders."""
    draw = random.Random(seed)
    as_yaml, as_json = folder / "yaml", folder / "json"
    for each in (as_yaml, as_json):
        each.mkdir(parents=True)
    for number, start in enumerate(range(0, len(made), per_file)):
        some = made[start : start + per_file]
        text = "---\n".join(Layout(draw).document(it) for it in some)
        (as_yaml / f"{number:05}.yaml").write_text(text, "utf-8")
        listed = {"apiVersion": "v1", "kind": "List", "items": some}
        written = json.dumps(listed, indent=draw.choice([None, 2, 4]))
        (as_json / f"{number:05}.json").write_text(written, "utf-8")
    return as_yaml, as_json


def main() -> None:
    """Write the manifests that the arguments describe."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--documents", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--faults", type=int, default=0)
    arguments.add_argument("--per-file", type=int, default=100)
    given = arguments.parse_args()
    made = objects(given.documents, given.seed, given.faults)
    write(given.folder, made, given.seed, given.per_file)


if __name__ == "__main__":
    main()
