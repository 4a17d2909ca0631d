"""Manifests of workloads as teams write them: of every kind, in many layouts, with comments. Drawn by a seed.

Their models are those of policy.yaml.
"""

import json
import re
from random import Random

POOLS = ["queued", "plain", "sliced", "single"]
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*[A-Za-z0-9]|[a-z]")
READ_AS_OTHER = {"yes", "no", "on", "off", "y", "n", "true", "false", "null"}
COMMENTS = (
    "keep this",
    "TODO: tune",
    "see the runbook",
    "was 4: too many",
    "#1 of 3",
    "don't touch",
)
RESOURCES = {"sliced": "nvidia.com/mig-3g.40gb"}
SCRIPT = "set -e\n# not a comment of YAML\n\nexec train --lr 0.1\n"


def manifest(rng, kind, model, name):
    """The data of a manifest of a kind, which runs a model but names no queue."""
    head = {"apiVersion": VERSIONS[kind], "kind": kind.removeprefix("Volcano")}
    metadata = {"name": name}
    if rng.random() < 0.5:
        metadata["namespace"] = "serving" if model == "sliced" else "vision"
    labels = rng.choice([None, {}, {"app": "x"}, {"app.kubernetes.io/name": "a_b", "tier": "1"}])
    if name != model or rng.random() < 0.3:
        labels = {**(labels or {}), "policygen.dev/model": model}
    if labels is not None or rng.random() < 0.2:
        metadata["labels"] = labels
    if rng.random() < 0.3:
        metadata["annotations"] = rng.choice([{}, None, {"owner": "me@example.com", "on": "yes"}])
    return {**head, "metadata": metadata, **BODIES[kind](rng, model)}


def pods(rng, model, *, gpus=True, metadata=True):
    """A pod template."""
    main = {"name": "main", "image": f"registry.example/{model}:v1.2"}
    if rng.random() < 0.5:
        main["command"] = ["sh", "-c", SCRIPT]
    if rng.random() < 0.3:
        main["env"] = [{"name": "N", "value": "$(POD)"}, {"name": "E", "value": ""}]
    resource = RESOURCES.get(model, "nvidia.com/gpu")
    limits = rng.choice(
        [{resource: 1}, {resource: "1"}, {resource: 1, "cpu": "4", "memory": "16Gi"}]
    )
    known = [{"limits": limits}, {"limits": limits, "requests": limits}]
    free = [
        None,
        {},
        {"limits": None},
        {"requests": {}},
        {"limits": {"cpu": 2}, "requests": {"cpu": 1}},
    ]
    if gpus != "maybe":
        resources = rng.choice(known if gpus else free)
    else:
        resources = rng.choice([*known, *free])
    if resources is not None or rng.random() < 0.5:
        main["resources"] = resources
    containers = [main]
    if gpus is True and rng.random() < 0.3:
        containers.insert(rng.randint(0, 1), {"name": "log", "image": "log", "resources": {}})
    spec = {"containers": containers}
    if rng.random() < 0.4:
        spec["volumes"] = [{"name": "tmp", "emptyDir": {}}]
    if rng.random() < 0.3:
        spec["nodeSelector"] = {"disk": "ssd"} if model == "sliced" else rng.choice([None, {}])
    if rng.random() < 0.3:
        own = [{"key": "gpu", "value": "h100"}] if model == "single" else []
        spec["tolerations"] = rng.choice([None, own, [{"key": "spot", "operator": "Exists"}, *own]])
    template = {"spec": spec}
    if metadata and rng.random() < 0.6:
        template = {
            "metadata": rng.choice([None, {}, {"labels": {"app": "x"}}, {"annotations": None}]),
            **template,
        }
    return template


def _pod(rng, model):
    return pods(rng, model, gpus="maybe", metadata=False)


def _scaled(rng, model):
    template = pods(rng, model, gpus="maybe", metadata=False)
    selected = {"metadata": {"labels": {"app": "x"}}, **template}
    count = 4 if model == "gang-pods" else 1
    return {
        "spec": {"replicas": count, "selector": {"matchLabels": {"app": "x"}}, "template": selected}
    }


def _stateful(rng, model):
    data = _scaled(rng, model)
    return {"spec": {"serviceName": "x", **data["spec"]}}


def _job(rng, model):
    template = pods(rng, model, gpus="maybe")
    template["spec"]["restartPolicy"] = "Never"
    count = 4 if model == "gang-job" else 1
    numbers = {"parallelism": count, "completions": count}
    if count > 1 and rng.random() < 0.3:
        numbers = {}
    return {"spec": {**numbers, "template": template}}


def _cron(rng, model):
    return {"spec": {"schedule": "0 3 * * *", "timeZone": "UTC", "jobTemplate": _job(rng, model)}}


def _vcjob(rng, model):
    tasks = [{"name": "work", "replicas": 4, "template": pods(rng, model)}]
    if rng.random() < 0.5:
        tasks.insert(0, {"name": "lead", "replicas": 1, "template": pods(rng, model, gpus=False)})
    return {"spec": {"tasks": tasks}}


def _set(rng, model):
    job = _job(rng, model)
    return {"spec": {"replicatedJobs": [{"name": "w", "replicas": 1, "template": job}]}}


def _groups(rng, model):
    gang = model == "gang-lws"
    template = {"workerTemplate": pods(rng, model, gpus="maybe"), "size": 4 if gang else 1}
    if rng.random() < 0.4:
        template["leaderTemplate"] = pods(rng, model)
        if gang:
            template["workerTemplate"] = pods(rng, model)
    return {"spec": {"replicas": 1, "leaderWorkerTemplate": template}}


def _cluster(rng, model):
    return {
        "headGroupSpec": {"rayStartParams": {}, "template": pods(rng, model, gpus=False)},
        "workerGroupSpecs": [
            {"groupName": "w", "replicas": 1, "rayStartParams": {}, "template": pods(rng, model)}
        ],
    }


def _torch(rng, model):
    roles = {"Master": pods(rng, model), "Worker": pods(rng, model)}
    found = {role: {"replicas": 1, "template": it} for role, it in roles.items()}
    for it in found.values():
        for container in it["template"]["spec"]["containers"]:
            container["name"] = container["name"].replace("main", "pytorch")
    return {"spec": {"pytorchReplicaSpecs": found}}


BODIES = {
    "Pod": _pod,
    "Deployment": _scaled,
    "ReplicaSet": _scaled,
    "StatefulSet": _stateful,
    "Job": _job,
    "CronJob": _cron,
    "VolcanoJob": _vcjob,
    "JobSet": _set,
    "LeaderWorkerSet": _groups,
    "RayCluster": lambda rng, model: {"spec": _cluster(rng, model)},
    "RayJob": lambda rng, model: {
        "spec": {
            "entrypoint": "python x.py",
            "shutdownAfterJobFinishes": True,
            "rayClusterSpec": _cluster(rng, model),
        }
    },
    "PyTorchJob": _torch,
}
VERSIONS = {
    "Pod": "v1",
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "VolcanoJob": "batch.volcano.sh/v1alpha1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "RayCluster": "ray.io/v1",
    "RayJob": "ray.io/v1",
    "PyTorchJob": "kubeflow.org/v1",
}


def model_of(rng, kind):
    """A model that can run as this kind."""
    special = {
        "CronJob": ["nightly", "nightly-single"],
        "Job": [*POOLS, "gang-job", "nightly"],
        "LeaderWorkerSet": [*POOLS, "gang-lws"],
        "StatefulSet": [*POOLS, "gang-pods"],
        "VolcanoJob": ["gang-vcjob", "single"],
        "PyTorchJob": ["queued", "plain", "sliced"],
    }
    return rng.choice(special.get(kind, POOLS))


class Layout:
    """How one author writes YAML."""

    def __init__(self, rng):
        self.rng = rng
        self.step = rng.choice([2, 2, 2, 3, 4])
        self.list_step = rng.choice([0, 2])
        self.flow = rng.choice([0, 0.1, 0.4])
        self.noted = rng.choice([0.05, 0.2])

    def text(self, data):
        """The data as YAML."""
        lines = self.mapping(data, 0)
        if self.rng.random() < 0.3:
            lines.insert(0, "---")
        if self.rng.random() < 0.3:
            lines.insert(0, "# written by hand")
        text = "\n".join(lines) + self.rng.choice(["", "\n", "\n\n# end\n"])
        return text.replace("\n", "\r\n") if self.rng.random() < 0.1 else text

    def mapping(self, data, indent):
        """The lines of a mapping."""
        lines = []
        for key, value in data.items():
            lead = " " * indent
            if self.rng.random() < self.noted / 2:
                lines.append(f"{lead}# {self.rng.choice(COMMENTS)}")
            lines += self.entry(f"{lead}{self.scalar(key)}:", value, indent)
        return lines

    def entry(self, lead, value, indent):
        """The lines of a key with its value."""
        if isinstance(value, str) and "\n" in value:
            inner = " " * (indent + self.step)
            return [f"{lead} |", *(f"{inner}{it}" if it else "" for it in value.splitlines())]
        if not value or not isinstance(value, dict | list) or self.rng.random() < self.flow:
            return [f"{lead} {self.inline(value)}".rstrip() + self.note()]
        step = self.step if isinstance(value, dict) else self.list_step
        block = self.mapping if isinstance(value, dict) else self.sequence
        return [lead + self.note(), *block(value, indent + step)]

    def sequence(self, data, indent):
        """The lines of a list."""
        lines = []
        for value in data:
            dash = f"{' ' * indent}- "
            if isinstance(value, dict) and value:
                first, *rest = self.mapping(value, indent + 2)
                if first.lstrip().startswith("#"):
                    lines.append(dash.rstrip())
                    lines += [first, *rest]
                else:
                    lines += [f"{dash}{first.lstrip()}", *rest]
            else:
                lines += self.entry(dash.rstrip(), value, indent)
        return lines

    def inline(self, value):
        """A value on one line."""
        if value is None:
            return self.rng.choice(["", "null", "~"]) if not self.flow else "null"
        if isinstance(value, dict):
            pairs = (f"{self.scalar(key)}: {self.inline(it)}" for key, it in value.items())
            return f"{{{', '.join(pairs)}}}"
        if isinstance(value, list):
            return f"[{', '.join(map(self.inline, value))}]"
        return self.scalar(value) if isinstance(value, str) else json.dumps(value)

    def scalar(self, value):
        """A text in one of the styles that it allows."""
        plain = PLAIN.fullmatch(value) is not None and value.lower() not in READ_AS_OTHER
        if plain and self.rng.random() < 0.9:
            return value
        if value.isprintable() and self.rng.random() < 0.5:
            return "'{}'".format(value.replace("'", "''"))
        return json.dumps(value)

    def note(self):
        """A comment at the end of a line, sometimes."""
        return f"  # {self.rng.choice(COMMENTS)}" if self.rng.random() < self.noted else ""


def drawn(seed):
    """The name of a file, its text, its data and its model."""
    rng = Random(seed)
    kind = [*BODIES][seed % len(BODIES)]
    model = model_of(rng, kind)
    name = model if seed < len(BODIES) else f"{kind.lower()}-{seed}"
    data = manifest(rng, kind, model, name)
    if rng.random() < 0.1:
        text = json.dumps(data, indent=rng.choice([None, 2, "\t"]))
        return f"{seed:02}-{kind.lower()}.json", text, data, model
    return f"{seed:02}-{kind.lower()}.yaml", Layout(rng).text(data), data, model
