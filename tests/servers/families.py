"""Families of objects with the values that are hard for each of their fields, for `agreement`.

`mutations` changes any object in ways that a kind does not suggest. A family knows its kind: its
values lie at limits, differ in case only, contradict other fields, or name what the world has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from random import Random
from typing import Any, NamedTuple

from .client import Object
from .samples import CONTAINER, samples

ABSENT = ...
"""The value of a field that is removed."""

Values = Sequence[Any] | Callable[[Random], Any]
"""What a field can be; a function draws a value."""


class Family(NamedTuple):
    """A valid object and the hard values of its fields."""

    name: str
    good: Object
    values: Mapping[str, Values]
    """By path; steps are separated by spaces."""


def draws(family: Family, count: int, number: int) -> Iterator[tuple[Object, str]]:
    """So many changed objects, each with what was changed; the same for the same number."""
    random = Random(f"{family.name} {number}")
    good = json.dumps(family.good)
    for _ in range(count):
        thing, labels = json.loads(good), []  # a deep copy would keep equal parts as one
        for path in random.sample(
            sorted(family.values), min(len(family.values), random.choice((1, 1, 2, 2, 3)))
        ):
            values = family.values[path]
            value = values(random) if callable(values) else random.choice(values)
            if put(thing, path.split(), deepcopy(value)):
                shown = "absent" if value is ABSENT else repr(value)
                labels.append(f"{path} = {shown:.80}")
        yield thing, ", ".join(labels)


def put(thing: Any, steps: Sequence[str], value: Any) -> bool:
    """Set a field below mappings and lists, which are made where they are missing."""
    for step, after in zip(steps, [*steps[1:], ""], strict=True):
        last = not after
        key: Any = step
        if isinstance(thing, list):
            if not step.isdecimal() or int(step) >= len(thing):
                return False
            key = int(step)
        elif isinstance(thing, dict):
            if not last and thing.get(key) is None:
                if after.isdecimal():
                    return False
                thing[key] = {}
        else:
            return False
        if not last:
            thing = thing[key]
        elif value is ABSENT:
            if isinstance(thing, dict):
                thing.pop(key, None)
        else:
            thing[key] = value
    return True


# Values

TEXTS = (
    "a", "A", "1", "a-b", "a.b", "a_b", "-a", "a-", "a b", " a", "a/b", "", "\u00e4", "x" * 63, "x" * 64, "x" * 253,
    "x" * 254, None, 1, True, [], {}, ABSENT,
)  # fmt: skip
NAMES = (
    "fresh", "fresh-1", "1fresh", "f.resh", "Fresh", "fresh_1", "-fresh", "fresh-", "f..resh", "f/resh", "f%resh", "fr\u00e9sh",
    "..", ".", "", "f" * 52, "f" * 53, "f" * 63, "f" * 64, "f" * 253, "f" * 254,
)  # fmt: skip
FLAGS = (True, False, None, "true", "yes", 1, 0, {}, [], ABSENT)
COUNTS = (
    0,
    1,
    2,
    3,
    7,
    -1,
    1.5,
    "1",
    "",
    None,
    True,
    (1 << 31) - 1,
    1 << 31,
    1 << 63,
    ABSENT,
    [],
    {},
)
KEYS = (
    "a", "A", "a-b", "a_b", "a.b", "a.b/c", "A.b/c", "a.b/C", "a/b/c", "/c", "a/", "-a", "a-", "a b", "", "\u00e4",
    "x" * 63, "x" * 64, "a.b/" + "x" * 63, "a.b/" + "x" * 64, "x" * 253 + "/a", "x" * 254 + "/a",
    "kubernetes.io/metadata.name", "node-role.kubernetes.io/gpu", "nvidia.com/gpu", "k8s.io/a",
)  # fmt: skip
LABEL_VALUES = (
    "", "a", "A", "a.b", "a_b", "a b", "a/b", "-a", "a-", "\u00e4", "x" * 63, "x" * 64, 1, 1.5, True, None, [], {},
)  # fmt: skip
RESOURCES = (
    "cpu", "memory", "ephemeral-storage", "storage", "pods", "services", "configmaps", "secrets", "count/jobs.batch",
    "count/pods", "count/Jobs.batch", "count/", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory",
    "requests.storage", "requests.ephemeral-storage", "limits.ephemeral-storage", "requests.nvidia.com/gpu",
    "limits.nvidia.com/gpu", "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "requests.nvidia.com/mig-1g.10gb",
    "hugepages-2Mi", "hugepages-1Gi", "hugepages-3Mi", "hugepages-", "hugepages-2M", "requests.hugepages-2Mi",
    "limits.hugepages-2Mi", "gold.storageclass.storage.k8s.io/requests.storage", "gold.storageclass.storage.k8s.io/a",
    "gpu", "GPU", "kubernetes.io/gpu", "a.kubernetes.io/gpu", "attachable-volumes-aws-ebs", "example.com/foo_bar",
    "a/b/c", "A.b/c", "nvidia.com/", "/gpu", "nvidia.com/g pu", "x" * 64, "a.b/" + "x" * 63, "a.b/" + "x" * 64,
    "requests.a.b/" + "x" * 55, "services.loadbalancers", "services.nodeports", "resourcequotas", "replicationcontrollers",
    "persistentvolumeclaims", "requests.gpu", "requests.requests.a/b", "requests.pods", "Cpu", "",
)  # fmt: skip
AMOUNTS = (
    "0", 0, "1", 1, 2, 8, "8", "-1", -1, "1.5", 1.5, "0.5", "500m", "1000m", "1500m", "0.5m", "1m", "1u", "1n", "0.1n",
    "1Gi", "1.5Gi", "512Mi", "2Mi", "3Mi", "1e3", "1E3", "1E", "1e-3", "1e", "+5", "+", "-", "", " 1", "1 ", "1 Gi", "1gb", "1GB", "1K",
    "1k", "1M", "1P", "8Ei", "16Ei", "9223372036854775807", "9223372036854775808", "1.", ".5", ".", "0x10", "1_000",
    "Inf", "NaN", "m", "1Gii", "\u0661", None, True, [], {},
)  # fmt: skip


def resources(random: Random) -> Any:
    """Resources and amounts; mostly one, at times of a wrong type."""
    if random.random() < 0.03:
        return random.choice((None, [], "1", {}, ABSENT, 1))
    names = random.choices(RESOURCES, k=random.choice((1, 1, 1, 2, 3)))
    return {name: random.choice(AMOUNTS) for name in names}


def requirements(random: Random) -> Any:
    """`resources` of a container."""
    return _present({random.choice(("limits", "requests")): resources(random)})


def volumes(random: Random) -> Any:
    """A volume in memory."""
    media = ("", "Memory", "HugePages", "HugePages-2Mi", "HugePages-1Gi", "memory")
    directory = {"medium": random.choice(media), "sizeLimit": random.choice(AMOUNTS)}
    return [{"name": "data", "emptyDir": directory}]


def _present(thing: Object) -> Object:
    return {name: value for name, value in thing.items() if value is not ABSENT}


def few(*names: str) -> Callable[[Random], Any]:
    """A function that draws simple amounts of some of these resources."""

    def drawn(random: Random) -> Any:
        if random.random() < 0.15:
            return random.choice(({}, {}, ABSENT, None))
        chosen = random.sample(names, random.randint(1, len(names)))
        return {name: random.choice(_PLAIN) for name in chosen}

    return drawn


_PLAIN = (0, 1, 2, 4, 8, 10, 16, "0", "2", "4", "4000m", "0.5", "1500m", "8Gi", "0Gi", "10")


def labels(random: Random) -> Any:
    """Labels or annotations."""
    if random.random() < 0.05:
        return random.choice((None, [], "a", {}, {"a": {"b": "c"}}))
    return {
        random.choice(KEYS): random.choice(LABEL_VALUES) for _ in range(random.choice((1, 1, 2)))
    }


FINALIZERS = (
    [], ["a.b/c"], ["a"], ["kubernetes"], ["foregroundDeletion"], ["orphan"], ["orphan", "foregroundDeletion"], ["a/b/c"],
    ["a.b/c", "a.b/c"], [""], ["A.b/c"], [1], [None], None, "a.b/c", ["a.b/" + "x" * 64], ["a b/c"], ["a.b/c "],
)  # fmt: skip
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "b"}
OWNERS = (
    [OWNER], [OWNER, OWNER], [], None, [{**OWNER, "name": ""}], [{**OWNER, "uid": ""}], [{**OWNER, "kind": ""}],
    [{**OWNER, "apiVersion": ""}], [{**OWNER, "apiVersion": "a/b/c"}], [{"kind": "Node", "name": "a"}],
    [{**OWNER, "controller": True}], [{**OWNER, "controller": True}, {**OWNER, "uid": "c", "controller": True}],
    [{**OWNER, "kind": "Event"}], [{**OWNER, "blockOwnerDeletion": "yes"}], [{**OWNER, "strange": 1}],
    [{**OWNER, "apiVersion": "v1", "kind": "Event"}], [1],
)  # fmt: skip
METADATA: Mapping[str, Values] = {
    "metadata name": NAMES,
    "metadata labels": labels,
    "metadata annotations": labels,
    "metadata finalizers": FINALIZERS,
    "metadata ownerReferences": OWNERS,
    "metadata generateName": ("a-", "A-", "", None, 1, "a_b-", "x" * 250 + "-"),
    "metadata creationTimestamp": (None, "2026-01-31T12:00:00Z", "2026-01-31", "", 1),
    "metadata deletionGracePeriodSeconds": (0, 30, -1, "30", None),
    "metadata generation": (0, 1, -1, "1", None),
    "metadata uid": ("a", "", None, 1),
    "metadata selfLink": ("a", 1),
    "metadata strange": (1, None),
    "metadata managedFields": ([], None, [{}], [{"manager": "a", "operation": "Apply"}]),
    "strange": (1, None, {}),
    "status": ({}, None, [], {"a": 1}, ABSENT),
}
MIB = 1 << 20
KEY_CASES = (
    "a", "A_b-.c", ".", "..", "..a", ".a", "a..b", "", "a/b", "a b", "a:b", "\u00e4", "x" * 253, "x" * 254, "-a", "a\n",
)  # fmt: skip


def data(random: Random) -> Any:
    """Entries of a ConfigMap."""
    if random.random() < 0.5:
        return {
            random.choice(KEY_CASES): random.choice(
                ("", "b", "\u00e4", None, 1, True, [], {}, "a\nb")
            )
        }
    return random.choice(
        (
            {}, None, [], "a", ABSENT, {"a": "x" * (MIB - 1)}, {"a": "x" * MIB}, {"a": "x" * (MIB + 1)},
            {"a": "\u00e4" * (MIB // 2)}, {"a": "\u00e4" * (MIB // 2 + 1)}, {"k": "x", "a": "x" * (MIB - 1)},
            {"k": "x", "a": "x" * MIB}, {str(i): "x" * 1000 for i in range(1048)}, {str(i): "x" * 1000 for i in range(1049)},
        )
    )  # fmt: skip


def binary(random: Random) -> Any:
    """Binary entries of a ConfigMap."""
    coded = (
        "YWJj",
        "YWI=",
        "YWI",
        "YQ==",
        "YQ=",
        "",
        "YWJj\n",
        "YW Jj",
        "-_8=",
        "+/8=",
        "YR==",
        "not base64!",
        1,
        None,
        [],
        {},
    )
    if random.random() < 0.7:
        return {random.choice((*KEY_CASES, "a", "c")): random.choice(coded)}
    return random.choice(
        (
            {},
            None,
            [],
            ABSENT,
            {"c": "YWJj" * (MIB // 4)},
            {"c": "YWJj" * (MIB // 3)},
            {"c": "YWJj" * (MIB // 3 + 1)},
        )
    )


POD_SECURITY = tuple(
    {f"pod-security.kubernetes.io/{key}": value}
    for key, values in (
        ("enforce", ("privileged", "baseline", "restricted", "Restricted", "strict", "", "restricted ", None)),
        ("audit", ("baseline", "high")),
        ("warn", ("baseline", "BASELINE")),
        ("enforce-version", ("latest", "v1.30", "1.30", "v1.99", "v2.0", "v1.30.1", "", "Latest", "v1", "v1.-1", "v1.030")),
        ("audit-version", ("v1.25", "v1")),
        ("warn-version", ("v1.25", "newest")),
        ("enforced", ("baseline", "x")),
    )
    for value in values
)  # fmt: skip


def namespace_labels(random: Random) -> Any:
    if random.random() < 0.6:
        return random.choice(POD_SECURITY) | random.choice(POD_SECURITY)
    return labels(random)


TAINT = {"key": "gpu", "value": "a", "effect": "NoSchedule"}
TAINTS = (
    [TAINT, TAINT], [TAINT, {**TAINT, "value": "b"}], [TAINT, {**TAINT, "effect": "NoExecute"}], [], None, [{}],
    *([{**TAINT, "effect": effect}] for effect in ("NoExecute", "PreferNoSchedule", "noSchedule", "", None, "Never", 1)),
    *([{**TAINT, "key": key}] for key in ("a.b/c", "A/b", "", "a b", "x" * 64, None, "a/b/c", "node.kubernetes.io/not-ready")),
    *([{**TAINT, "value": value}] for value in ("", "a b", "x" * 64, None, "A_b.c-", "-a", 1, True)),
    [{"key": "gpu", "effect": "NoSchedule"}], [{"key": "gpu"}], [{**TAINT, "operator": "Equal"}], TAINT,
    [{**TAINT, "timeAdded": "2026-01-31T12:00:00Z"}], [{**TAINT, "timeAdded": "now"}],
)  # fmt: skip
CIDRS = (
    "10.0.0.0/24", "10.0.0.1/24", "10.0.0.0", "10.0.0.0/33", "fd00::/64", "", None, "a", "010.0.0.0/24", "::ffff:10.0.0.0/120", 1,
)  # fmt: skip
NODE_VALUES: Mapping[str, Values] = {
    **METADATA,
    "metadata annotations": (
        {"node.alpha.kubernetes.io/ttl": "0"},
        {"scheduler.alpha.kubernetes.io/preferAvoidPods": "{}"},
        {"scheduler.alpha.kubernetes.io/preferAvoidPods": "a"},
        {"a": "b"},
        {"A b": "b"},
    ),
    "spec": ({}, None, [], ABSENT, "a", {"strange": 1}),
    "spec taints": TAINTS,
    "spec unschedulable": FLAGS,
    "spec podCIDR": CIDRS,
    "spec podCIDRs": (
        [], None, ["10.0.0.0/24"], ["10.0.0.0/24", "fd00::/64"], ["10.0.0.0/24", "10.0.1.0/24"], ["10.0.1.0/24"],
        ["10.0.0.0/24", "fd00::/64", "fd01::/64"], ["a"], "10.0.0.0/24", ["fd00::/64", "10.0.0.0/24"],
    ),
    "spec providerID": ("", "aws:///a", 1, None, "a b"),
    "spec externalID": ("a", 1, ""),
    "spec configSource": (None, {}, {"configMap": {"name": "a", "namespace": "b", "kubeletConfigKey": "c"}}),
    "status capacity": resources,
    "status allocatable": resources,
    "status phase": ("Running", "running", "", None, 1),
    "status addresses": (
        [], None, [{"type": "InternalIP", "address": "10.0.0.1"}], [{"type": "InternalIP", "address": "a"}],
        [{"type": "a", "address": "b"}] * 2, [{"type": "Hostname", "address": ""}], [{"address": "a"}], [{}],
        [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "InternalIP", "address": "10.0.0.1"}],
    ),
    "status conditions": (
        [], [{"type": "Ready", "status": "True"}], [{"type": "Ready", "status": "yes"}], [{"type": "Ready"}],
        [{"type": "Ready", "status": "True"}] * 2, [{"type": "Ready", "status": True}],
    ),
    "status nodeInfo": (ABSENT, None, {}, {"machineID": "a"}, []),
}  # fmt: skip

SCOPES = (
    ["Terminating"], ["NotTerminating"], ["BestEffort"], ["NotBestEffort"], ["Terminating", "NotTerminating"], ["BestEffort", "NotBestEffort"],
    ["PriorityClass"], ["CrossNamespacePodAffinity"], ["VolumeAttributesClass"], ["terminating"], [""], [], None, ["a"], [1],
    ["BestEffort", "BestEffort"],
)  # fmt: skip
QUOTA_SELECTORS = tuple(
    {"matchExpressions": [expression]}
    for expression in (
        {"scopeName": "PriorityClass", "operator": "In", "values": ["a"]},
        {"scopeName": "PriorityClass", "operator": "In"},
        {"scopeName": "PriorityClass", "operator": "In", "values": []},
        {"scopeName": "PriorityClass", "operator": "Exists", "values": ["a"]},
        {"scopeName": "PriorityClass", "operator": "Exists"},
        {"scopeName": "PriorityClass", "operator": "exists"},
        {"scopeName": "PriorityClass", "operator": "In", "values": ["A b"]},
        {"scopeName": "PriorityClass", "operator": "NotIn", "values": ["a", "a"]},
        {"scopeName": "BestEffort", "operator": "In", "values": ["a"]},
        {"scopeName": "BestEffort", "operator": "Exists"},
        {"scopeName": "Terminating", "operator": "DoesNotExist"},
        {"scopeName": "Strange", "operator": "Exists"},
        {"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"},
        {"operator": "Exists"},
        {},
    )
)
LIMIT_FIELDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")

VOLCANO_AMOUNTS = few(
    "cpu",
    "memory",
    "nvidia.com/gpu",
    "pods",
    "gpu",
    "count/pods",
    "hugepages-2Mi",
    "ephemeral-storage",
)
FEW_AMOUNTS = few("cpu", "nvidia.com/gpu", "memory")


def volcano_amounts(random: Random) -> Any:
    roll = random.random()
    if roll < 0.1:
        return resources(random)
    return (VOLCANO_AMOUNTS if roll < 0.4 else FEW_AMOUNTS)(random)


def _queue(name: str, **spec: Any) -> Object:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": spec,
    }


_SOME = {"cpu": 10, "memory": "10Gi", "nvidia.com/gpu": 8}
_HALF = {"cpu": 4, "memory": "4Gi", "nvidia.com/gpu": 4}
_PATH, _WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"


def _pathed(name: str, path: str, weights: str) -> Object:
    made = _queue(name)
    made["metadata"]["annotations"] = {_PATH: path, _WEIGHTS: weights}
    return made


WORLD: Sequence[Object] = (
    _queue("w-bare"),
    _queue("w-bare-child", parent="w-bare"),
    _queue("w-capable", capability=_SOME),
    _queue("w-capable-child", parent="w-capable", capability=_HALF, deserved=_HALF),
    _queue("w-all", capability=_SOME, deserved=_SOME, guarantee={"resource": _HALF}),
    _queue(
        "w-all-child", parent="w-all", capability=_SOME, deserved=_HALF,
        guarantee={"resource": {"cpu": 2, "nvidia.com/gpu": 2}},
    ),
    _queue("w-deserves", deserved=_HALF),
    _queue("w-zero", capability={"cpu": 0, "memory": 0, "nvidia.com/gpu": 0}),
    _queue("w-gpus", capability={"nvidia.com/gpu": 8}),
    _queue("w-pods", capability={"pods": 8, "cpu": 8, "gpu": 8}),
    _queue("w-deep", parent="w-all-child", capability={"cpu": 2}),
    _pathed("w-path", "root/sci/dev", "1/2/3"),
    _pathed("w-short", "eng/ml", "1/2"),
    _pathed("w-rooted", "rooted/a", "1/2"),
)  # fmt: skip
"""Queues that drawn queues and Jobs name."""
QUEUES = (
    "root", "default", "w-bare", "w-bare-child", "w-capable", "w-capable-child", "w-all", "w-all-child", "w-deserves",
    "w-zero", "w-gpus", "w-pods", "w-deep",
)  # fmt: skip
PATHS = (
    "", "root", "root/", "/", "root/sci", "sci", "sci/", "root/sci/dev", "sci/dev", "root/sci/dev/a", "root/sc", "eng", "root/eng", "eng/ml",
    "rooted", "root/rooted", "rooted/a", "a//b", "a b", "root/a", "root/root", "\u00e4",
)  # fmt: skip
WEIGHTS = (
    "", "1", "1/1", "1/1/1", "1/2/3/4", "0/1", "1/0", "-1/1", "a/b", "1/", "0.5/1", "1e3/1", "inf/1", "nan/1", "Inf", "NaN/NaN", "0x10/1", "1_0/1",
    "infinity/1", "+1/1", ".5/1", "1./1", " 1/1", "1/1 ", "0x1p4/1", "1e400/1", "1/1e-400",
)  # fmt: skip


def hierarchy(random: Random) -> Any:
    """Annotations of a queue's path; most have as many weights as parts."""
    if random.random() < 0.2:
        return {random.choice((_PATH, _WEIGHTS)): random.choice((*PATHS, *WEIGHTS))}
    path = random.choice(PATHS)
    if random.random() < 0.6:
        return {_PATH: path, _WEIGHTS: "/".join("1" for _ in path.split("/"))}
    return {_PATH: path, _WEIGHTS: random.choice(WEIGHTS)}


_NAMED = tuple(each for each in QUEUES if each.startswith("w-"))
QUEUE_VALUES: Mapping[str, Values] = {
    "metadata name": (*_NAMED, *_NAMED, "root", "default", "fresh", "Fresh", "f" * 64),
    "metadata annotations": hierarchy,
    "spec parent": (*QUEUES, *QUEUES, "gone", "fresh", "", None, ABSENT, "ROOT", 1),
    "spec capability": volcano_amounts,
    "spec deserved": volcano_amounts,
    "spec guarantee resource": volcano_amounts,
    "spec guarantee": (None, {}, ABSENT, [], {"resource": None}, {"resources": {"cpu": 1}}),
    "spec weight": COUNTS,
    "spec priority": COUNTS,
    "spec reclaimable": FLAGS,
    "spec type": ("", "a", None, 1),
    "spec dequeueStrategy": ("fifo", "traverse", "FIFO", "", None, ABSENT, 1),
    "spec affinity": (
        None, {}, {"nodeGroupAffinity": {}}, {"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}},
        {"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["a", "a"]}}, {"nodeGroupAntiAffinity": None},
        {"strange": 1},
    ),
    "spec extendClusters": (None, [], [{}], [{"name": "a"}], [{"name": "a", "weight": "1"}], [{"name": "a", "capacity": {"cpu": "a"}}]),
    "status": ({}, {"state": "Open"}, {"state": "Closed"}, {"state": "Closing"}, {"state": "open"}, None),
}  # fmt: skip

_PLAIN_TEMPLATE = {
    "spec": {"containers": [{"name": "main", "image": "image"}], "restartPolicy": "Never"}
}
_TASK = {"name": "worker", "replicas": 4, "template": _PLAIN_TEMPLATE}
_OTHER = {"name": "other", "replicas": 2, "template": _PLAIN_TEMPLATE}
_VCJOB: Object = {
    "apiVersion": "batch.volcano.sh/v1alpha1",
    "kind": "Job",
    "metadata": {"name": "fresh", "namespace": "default"},
    "spec": {
        "schedulerName": "volcano",
        "queue": "default",
        "minAvailable": 4,
        "tasks": [_TASK, _OTHER],
    },
}
EVENTS = (
    "*", "PodFailed", "PodEvicted", "PodPending", "PodRunning", "Unknown", "TaskCompleted", "TaskFailed", "OutOfSync", "CommandIssued",
    "JobUpdated", "podFailed", "", "Strange",
)  # fmt: skip
ACTIONS = (
    "AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition", "TerminateJob", "CompleteJob", "ResumeJob", "SyncJob",
    "EnqueueJob", "SyncQueue", "OpenQueue", "CloseQueue", "abortJob", "", "Strange",
)  # fmt: skip
DURATIONS = (
    "10s", "1h30m", "0s", "-5s", "1.5h", "10", "", "1d", "10 s", "s", "1H", "\u00b5s", "1us", "1\u00b5s", ".5s", "+1s", 10, 1.5, None, ABSENT,
    "9223372036s", "9223372037s", "0", "1s1", "99999999999h", True, [], {},
)  # fmt: skip


def policies(random: Random) -> Any:
    if random.random() < 0.05:
        return random.choice(([], None, {}, [None], "a", ABSENT))
    return [_policy(random) for _ in range(random.choice((1, 1, 2, 3)))]


def _policy(random: Random) -> Object:
    made: Object = {}
    roll = random.random()
    if roll < 0.5:
        made["event"] = random.choice(EVENTS[:8] if random.random() < 0.7 else EVENTS)
    if 0.4 < roll < 0.75:
        pool = EVENTS[:8] if random.random() < 0.7 else EVENTS
        made["events"] = random.choices(pool, k=random.choice((0, 1, 2, 2)))
    if roll > 0.7:
        made["exitCode"] = random.choice((0, 1, 1, 3, -1, 256, "1", None, 1 << 31))
    if random.random() < 0.9:
        made["action"] = random.choice(ACTIONS[:8] if random.random() < 0.7 else ACTIONS)
    if random.random() < 0.3:
        made["timeout"] = random.choice([it for it in DURATIONS if it is not ABSENT])
    return made


PARTITIONS = (
    {"totalPartitions": 2, "partitionSize": 2}, {"totalPartitions": 2, "partitionSize": 2, "minPartitions": 2},
    {"totalPartitions": 2, "partitionSize": 2, "minPartitions": 1}, {"totalPartitions": 2, "partitionSize": 2, "minPartitions": 3},
    {"totalPartitions": 1, "partitionSize": 4, "minPartitions": 1}, {"totalPartitions": 0, "partitionSize": 4}, {"totalPartitions": 2},
    {"partitionSize": 2}, {"totalPartitions": -2, "partitionSize": -2}, {"totalPartitions": 3, "partitionSize": 2}, {}, None,
    {"totalPartitions": 2, "partitionSize": 2, "minPartitions": -1}, {"totalPartitions": "2", "partitionSize": 2},
    {"totalPartitions": 2, "partitionSize": 2, "networkTopology": {"mode": "hard", "highestTierAllowed": 1}},
    {"totalPartitions": 2, "partitionSize": 2, "networkTopology": {"mode": "hard", "highestTierAllowed": 1, "highestTierName": "a"}},
    {"totalPartitions": 2, "partitionSize": 2, "networkTopology": {"mode": "Hard"}},
    {"totalPartitions": 2, "partitionSize": 2, "networkTopology": {}},
)  # fmt: skip
DEPENDS = (
    {"name": ["other"]}, {"name": ["worker"]}, {"name": ["gone"]}, {"name": []}, {}, None, {"name": ["other", "other"]}, {"name": "other"},
    {"name": ["other"], "iteration": "any"}, {"name": ["other"], "iteration": "all"}, {"name": ["other"], "iteration": "some"},
    {"name": [""]}, {"name": [None]}, {"names": ["other"]}, {"name": ["default0"]}, {"name": ["default1"]}, ABSENT,
)  # fmt: skip
PLUGINS = (
    {}, None, {"ssh": []}, {"ssh": [], "svc": [], "env": []}, {"ssh": None}, {"gang": []}, {"SSH": []}, {"mpi": []}, {"mpi": ["--master=worker"]},
    {"mpi": ["--master=worker", "--worker=other"]}, {"mpi": ["--master=worker", "--worker=other", "--port=22"]}, {"mpi": ["-master=worker", "-worker", "other"]},
    {"mpi": ["--master=worker", "--worker=gone"]}, {"mpi": ["--strange", "--master=worker", "--worker=other"]}, {"mpi": ["--port=a", "--master=worker"]},
    {"pytorch": ["--master=master"]}, {"tensorflow": []}, {"ray": []}, {"hcclrank": []}, {"svc": ["--disable-network-policy=true"]}, {"svc": "a"},
    {"svc": [1]}, {"": []}, [], {"mpi": None}, {"mpi": ["--master="]}, {"mpi": ["--master=worker", "--worker=other", "--", "--master=x"]},
    {"ssh": ["--no-root=1", "--strange"]}, {"env": ["a"]},
)  # fmt: skip
VOLUME = {"mountPath": "/data", "volumeClaimName": "a"}
CLAIM_SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
VOLUMES = (
    [VOLUME], [VOLUME, VOLUME], [VOLUME, {**VOLUME, "mountPath": "/b"}], [{"mountPath": "/data"}], [{"volumeClaimName": "a"}], [{}],
    [{"mountPath": "", "volumeClaimName": "a"}], [{**VOLUME, "volumeClaim": CLAIM_SPEC}], [{"mountPath": "/data", "volumeClaim": CLAIM_SPEC}],
    [{"mountPath": "/data", "volumeClaim": {}}], [{**VOLUME, "volumeClaim": {}}], [{**VOLUME, "volumeClaimName": "A_b"}], [{**VOLUME, "volumeClaimName": "x" * 254}],
    [{**VOLUME, "volumeClaimName": ""}], [{**VOLUME, "mountPath": "data:a"}], [], None, [{**VOLUME, "volumeClaim": None}],
    [VOLUME, {"mountPath": "/data", "volumeClaim": CLAIM_SPEC}], [{**VOLUME, "mountPath": 1}],
)  # fmt: skip
TOPOLOGIES = (
    None, {}, {"mode": "hard"}, {"mode": "soft", "highestTierAllowed": 1}, {"mode": "hard", "highestTierAllowed": 0}, {"mode": "hard", "highestTierAllowed": -1},
    {"mode": "hard", "highestTierName": "a"}, {"mode": "hard", "highestTierName": "", "highestTierAllowed": 1},
    {"highestTierAllowed": 1, "highestTierName": "a"}, {"mode": ""}, {"mode": "HARD"}, {"mode": "hard", "highestTierAllowed": "1"}, {"tier": 1},
)  # fmt: skip
TASK_VALUES: Mapping[str, Values] = {
    "name": (*TEXTS, "worker", "other", "default0", "default1", "worker.a", "x" * 40, "x" * 50, "x" * 55, "x" * 60, "a--b", "Worker"),
    "replicas": (*COUNTS, 4, 4, 4, 2, 6),
    "minAvailable": (*COUNTS, 4, 4, 5, 2),
    "maxRetry": COUNTS,
    "policies": policies,
    "dependsOn": DEPENDS,
    "partitionPolicy": PARTITIONS,
    "topologyPolicy": ("none", "best-effort", "restricted", "single-numa-node", "None", "", None, 1),
    "template": ({}, None, ABSENT, {"spec": {}}, {"spec": {"containers": []}}, {"metadata": {"name": "A b"}, **_PLAIN_TEMPLATE}),
    "template metadata": ({"labels": {"a b": "c"}}, {"annotations": {"A/b": "c"}}, {"name": "a"}, {"labels": {"a": "b c"}}, {"finalizers": ["a"]}, None, {}),
    "template spec restartPolicy": ("Always", "OnFailure", "Never", "never", "", None, ABSENT),
    "template spec hostNetwork": FLAGS,
    "template spec dnsPolicy": ("ClusterFirst", "Default", "None", "", None),
    "template spec priorityClassName": ("a", "A", "system-node-critical", "", None),
    "template spec terminationGracePeriodSeconds": (0, -1, 30, None),
    "template spec containers 0 resources limits memory": (0.5, 1.5, -0.5, 1, "1.5", "0.5Gi", None, True),
    "template spec containers 0 name": ("main", "Main", "a_b", "", None, "x" * 64),
    "template spec containers 0 resources": (
        {"limits": {"cpu": 1}}, {"limits": {"cpu": "1.5"}}, {"requests": {"cpu": 2}, "limits": {"cpu": 1}}, {"requests": {"nvidia.com/gpu": 1}},
        {"limits": {"nvidia.com/gpu": "1.5"}}, {"limits": {"gpu": 1}}, {"requests": {"cpu": "500m"}}, {"limits": {"cpu": "+"}}, {"limits": {"pods": 1}},
        {"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 2}}, {"limits": {"hugepages-2Mi": "2Mi"}}, {},
    ),
}  # fmt: skip
VCJOB_SPEC: Mapping[str, Values] = {
    "minAvailable": (*COUNTS, 6, 7, 4),
    "minSuccess": COUNTS,
    "maxRetry": COUNTS,
    "ttlSecondsAfterFinished": COUNTS,
    "schedulerName": ("volcano", "default-scheduler", "", None, 1, "A b", ABSENT),
    "queue": (*QUEUES, "gone", "", None, ABSENT, "Default", 1, "w b"),
    "priorityClassName": ("a", "A b", "", None, 1),
    "runningEstimate": DURATIONS,
    "policies": policies,
    "plugins": PLUGINS,
    "volumes": VOLUMES,
    "networkTopology": TOPOLOGIES,
    "tasks": ([], None, ABSENT, {}, [None], [_TASK, _TASK], [_TASK] * 3),
    "strange": (1,),
    **{f"tasks {i} {path}": values for i in range(2) for path, values in TASK_VALUES.items()},
}  # fmt: skip
VCJOB_NAMES = (*NAMES, "fresh.job", "f" * 40, "f" * 55, "f" * 57, "f" * 60, "f" * 62)
SCHEDULES = (
    "0 1 * * *", "* * * *", "* * * * * *", "@daily", "@every 1h", "@every 1x", "@reboot", "", None, "60 * * * *", "*/0 * * * *", "*/5 * * * *",
    "0 0 31 2 *", "0 0 * JAN MON", "0 0 * * 7", "0 0 * * sun", "0 0 ? * ?", "TZ=UTC 0 1 * * *", "CRON_TZ=UTC 0 1 * * *", "0 1 * * * ", " 0 1 * * *",
    "1-5/2 * * * *", "5-1 * * * *", "1,2,3 * * * *", "L * * * *", "0 1 ** * *", "@DAILY", 1, "a b c d e",
)  # fmt: skip
ZONES = (
    "Etc/UTC",
    "Europe/Berlin",
    "europe/berlin",
    "UTC",
    "Local",
    "local",
    "",
    None,
    "Mars/Base",
    "../UTC",
    "/UTC",
    "America/Argentina/Buenos_Aires",
    "GMT+1",
    "Etc/GMT+1",
    1,
)


def _sample(kind: str, api_version: str = "v1", **changed: Any) -> Object:
    """The sample of a kind, under a new name in a namespace that exists."""
    found = next(it for it in samples() if (it["apiVersion"], it["kind"]) == (api_version, kind))
    metadata = {"name": "fresh"}
    if kind not in ("Namespace", "Node", "PriorityClass", "ClusterRole", "ClusterQueue", "Queue"):
        metadata["namespace"] = "default"
    return {**found, "metadata": metadata, **changed}


_RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
RULES = (
    [], None, [_RULE], [{**_RULE, "verbs": []}], [{"verbs": ["get"]}], [{**_RULE, "apiGroups": []}], [{**_RULE, "resources": []}],
    [{"apiGroups": [""], "resources": ["pods"]}], [{"nonResourceURLs": ["/a"], "verbs": ["get"]}], [{"nonResourceURLs": ["a"], "verbs": ["get"]}],
    [{**_RULE, "nonResourceURLs": ["/a"]}], [{**_RULE, "resourceNames": [""]}], [{**_RULE, "verbs": ["Get"]}], [{**_RULE, "verbs": ["*"], "resources": ["*"]}],
    [{**_RULE, "verbs": None}], [{}], [None], [{**_RULE, "resources": ["Pods", "a/b/c"]}], [{**_RULE, "verbs": [1]}], [{**_RULE, "strange": 1}],
    [{"nonResourceURLs": ["*"], "verbs": ["get"]}], [{"nonResourceURLs": [], "resources": ["pods"], "verbs": ["get"]}], [{**_RULE, "apiGroups": None}],
)  # fmt: skip
PRIORITIES = (
    0,
    1,
    -1,
    10**9,
    10**9 + 1,
    2 * 10**9,
    -(10**9),
    -(1 << 31),
    1 << 31,
    "1",
    None,
    ABSENT,
    1.5,
    True,
)
CONTAINER_RESOURCES: Mapping[str, Values] = {
    "spec containers 0 resources requests": resources,
    "spec containers 0 resources limits": resources,
    "spec initContainers 0 resources": requirements,
    "spec overhead": resources,
    "spec resources": requirements,
    "spec volumes": volumes,
    "spec containers 0 resources claims": (None, [], [{"name": "a"}]),
}  # fmt: skip
_POD: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "fresh", "namespace": "default"},
    "spec": {
        "containers": [{"name": "main", "image": "image", "resources": CONTAINER["resources"]}],
        "initContainers": [{"name": "init", "image": "image"}],
    },
}


def _limit(random: Random) -> Any:
    if random.random() < 0.05:
        return random.choice(({}, None, [], {"type": "Container"}))
    kind = random.choice(
        (
            "Container",
            "Container",
            "Pod",
            "PersistentVolumeClaim",
            "container",
            "",
            "a.b/c",
            "Other",
            None,
        )
    )
    drawn = few("cpu", "memory", "nvidia.com/gpu", "storage", "hugepages-2Mi")
    made: Object = {"type": kind}
    for field in random.sample(LIMIT_FIELDS, random.choice((1, 1, 2, 3))):
        made[field] = resources(random) if random.random() < 0.5 else drawn(random)
    return _present(made)


SELECTORS = (
    {}, None, [], {"matchLabels": {}}, {"matchLabels": {"a": "b"}}, {"matchLabels": {"a b": "c"}}, {"matchLabels": {"a": "-b"}},
    {"matchLabels": {"a.b/c": ""}}, {"matchLabels": {"A.b/c": "d"}}, {"matchLabels": None},
    *(
        {"matchExpressions": [{"key": key, "operator": operator, **values}]}
        for key, operator, values in (
            ("a", "In", {"values": ["b"]}), ("a", "In", {"values": []}), ("a", "In", {}), ("a", "NotIn", {"values": ["b", "b"]}),
            ("a", "NotIn", {"values": None}), ("a", "Exists", {}), ("a", "Exists", {"values": []}), ("a", "Exists", {"values": ["b"]}),
            ("a", "DoesNotExist", {"values": ["b"]}), ("a", "DoesNotExist", {}), ("a", "in", {"values": ["b"]}), ("a", "", {}),
            ("a", "Gt", {"values": ["1"]}), ("a b", "Exists", {}), ("", "Exists", {}), ("a/b/c", "Exists", {}),
            ("a", "In", {"values": ["b c"]}), ("a", "In", {"values": [""]}), ("a", "In", {"values": [None]}), ("a", "In", {"values": ["x" * 64]}),
        )
    ),
    {"matchExpressions": []}, {"matchExpressions": [{}]}, {"matchExpressions": [None]}, ABSENT,
)  # fmt: skip
EXPRESSIONS = ("true", "", " ", "\n", "1 > 0", "1 >\n 0", "true ", None, ABSENT, 1, True, [])
"""The code of the server compiles others."""
CEL_TEXTS = ("'a'", "", " ", "'a' +\n 'b'", "string(1)", None, ABSENT, 1, {})
CEL_NAMES = (
    "a",
    "A",
    "_a",
    "a1",
    "1a",
    "a-b",
    "a.b",
    "",
    " ",
    "in",
    "as",
    "true",
    "null",
    "type",
    "size",
    "namespace",
    "while",
    "x" * 70,
    None,
    ABSENT,
    1,
)
RESOURCE_LISTS = (
    ["pods"], ["*"], ["*/*"], ["*", "pods"], ["*/*", "pods"], ["*", "pods/status"], ["pods/*"], ["pods/*", "pods/status"], ["*/status"],
    ["*/status", "pods/status"], ["pods", "pods"], ["pods", "*"], ["pods/*", "*/status"], ["*/*", "*"], ["*", "*/status"], ["pods/"], ["/"], ["Pods"], ["a b"], [""],
    ["pods", ""], [], None, ABSENT, [1], "pods", ["pods/status", "pods/*"], ["*/*", "*/*"], ["pods", "*/*"],
)  # fmt: skip
GROUP_LISTS = (
    [""],
    ["apps"],
    ["*"],
    ["*", "apps"],
    ["", "*"],
    [],
    None,
    ABSENT,
    ["A b"],
    ["apps", "apps"],
    [None],
    [1],
    "apps",
    ["*", "*"],
)
VERSION_LISTS = (
    ["v1"],
    ["*"],
    ["*", "v1"],
    [""],
    ["v1", ""],
    [],
    None,
    ABSENT,
    ["V 1"],
    ["v1", "v1"],
    [None],
)
OPERATION_LISTS = (
    ["CREATE"], ["*"], ["*", "CREATE"], ["CREATE", "CREATE"], ["create"], [""], [], None, ABSENT, ["DELETE", "CONNECT"], ["PATCH"], [None],
)  # fmt: skip
RESOURCE_NAMES = (
    [],
    ["a"],
    ["a", "a"],
    ["a/b"],
    ["."],
    [".."],
    ["..a"],
    [""],
    ["A b"],
    ["a%b"],
    ["x" * 300],
    None,
    ABSENT,
    [None],
    ["%"],
)


def _rule_values(at: str) -> dict[str, Values]:
    return {
        f"{at} resources": RESOURCE_LISTS, f"{at} apiGroups": GROUP_LISTS, f"{at} apiVersions": VERSION_LISTS, f"{at} operations": OPERATION_LISTS,
        f"{at} resourceNames": RESOURCE_NAMES, f"{at} scope": ("*", "Cluster", "Namespaced", "namespaced", "", None, ABSENT),
    }  # fmt: skip


POLICY_VALUES: Mapping[str, Values] = {
    **_rule_values("spec matchConstraints resourceRules 0"), "spec matchConstraints namespaceSelector": SELECTORS, "spec matchConstraints objectSelector": SELECTORS,
    "spec matchConstraints": (None, {}, ABSENT, {"resourceRules": []}), "spec matchConstraints resourceRules": ([], None, ABSENT, [{}]),
    "spec matchConstraints matchPolicy": ("Exact", "Equivalent", "exact", "", None, ABSENT),
    "spec matchConstraints excludeResourceRules": (
        [], None, [{}],
        *([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": names}] for names in RESOURCE_LISTS if names is not ABSENT),
    ),
    "spec failurePolicy": ("Fail", "Ignore", "fail", "", None, ABSENT),
    "spec paramKind": ({}, None, ABSENT, []), "spec paramKind kind": ("ConfigMap", "configMap", "config map", "Config-Map", "-a", "1a", "", None, ABSENT, "x" * 64, "a.b", 1),
    "spec paramKind apiVersion": ("v1", "apps/v1", "a/b/c", "/v1", "v1/", "V1", "1v", "a b/v1", "A/v1", "", None, ABSENT, "v1.1", "x" * 64, "apps/v-1", 1),
    "spec matchConditions 0 name": (*KEYS, None, ABSENT), "spec matchConditions 0 expression": EXPRESSIONS,
    "spec matchConditions": ([], None, ABSENT, [{"name": f"c{i}", "expression": "true"} for i in range(64)], [{"name": f"c{i}", "expression": "true"} for i in range(65)], [{"name": "c", "expression": "true"}] * 2),
    "spec variables 0 name": CEL_NAMES, "spec variables 0 expression": EXPRESSIONS, "spec variables": ([], None, ABSENT),
    "metadata name": NAMES,
}  # fmt: skip
BINDING_VALUES: Mapping[str, Values] = {
    "metadata name": NAMES, "spec policyName": (*NAMES, None, ABSENT, 1),
    "spec paramRef": (None, {}, ABSENT, {"name": "a"}, {"parameterNotFoundAction": "Deny"}, {"selector": {}, "parameterNotFoundAction": "Allow"}),
    "spec paramRef name": (*NAMES, None, ABSENT), "spec paramRef namespace": (*NAMES, None), "spec paramRef selector": SELECTORS,
    "spec paramRef parameterNotFoundAction": ("Allow", "Deny", "allow", "", None, ABSENT),
    **_rule_values("spec matchResources resourceRules 0"),
    "spec matchResources resourceRules": ([], None, [{}], [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]),
    "spec matchResources namespaceSelector": SELECTORS, "spec matchResources objectSelector": SELECTORS,
    "spec matchResources matchPolicy": ("Exact", "Equivalent", "exact", "", None), "spec matchResources": (None, {}, ABSENT),
    "spec": (None, {}, ABSENT),
}  # fmt: skip


FAMILIES: Sequence[Family] = (
    Family("configmaps", _sample("ConfigMap"), {**METADATA, "data": data, "binaryData": binary, "immutable": FLAGS}),
    Family("configmap-data", _sample("ConfigMap"), {"data": data, "binaryData": binary, "immutable": FLAGS}),
    Family(
        "namespaces",
        _sample("Namespace"),
        {
            **METADATA, "metadata labels": namespace_labels,
            "spec": ({}, None, [], {"strange": 1}), "spec finalizers": (*FINALIZERS, ["kubernetes", "a.b/c"]),
        },
    ),
    Family("nodes", _sample("Node"), NODE_VALUES),
    Family("node-resources", _sample("Node"), {"status capacity": resources, "status allocatable": resources}),
    Family(
        "service-accounts",
        _sample("ServiceAccount"),
        {
            **METADATA, "automountServiceAccountToken": FLAGS,
            "imagePullSecrets": ([], None, [{"name": "a"}, {"name": "a"}], [{}], [{"name": ""}], [{"name": None}], ["a"], [{"name": "A b"}]),
            "secrets": ([], None, [{"name": "a"}, {"name": "a"}], [{}], [{"name": "a", "namespace": "b"}], ["a"]),
        },
    ),
    Family(
        "quotas",
        _sample("ResourceQuota"),
        {
            "spec hard": resources, "spec scopes": SCOPES, "spec scopeSelector": (*QUOTA_SELECTORS, None, {}, ABSENT, {"matchExpressions": []}),
            "spec hard requests.nvidia.com/gpu": AMOUNTS, "spec hard pods": AMOUNTS, "spec hard requests.cpu": AMOUNTS, "metadata labels": labels,
            "metadata name": NAMES, "spec": (None, {}, ABSENT, []),
        },
    ),
    Family(
        "quota-amounts",
        _sample("ResourceQuota", spec={"hard": {}}),
        {"spec hard": resources},
    ),
    Family("limit-ranges", _sample("LimitRange"), {"spec limits 0": _limit, "spec limits": ([], None, ABSENT, {}, [None]), "spec": (None, {}, ABSENT)}),
    Family("limit-amounts", _sample("LimitRange"), {f"spec limits 0 {field}": resources for field in LIMIT_FIELDS}),
    Family("pod-resources", _POD, CONTAINER_RESOURCES),
    Family(
        "priority-classes",
        _sample("PriorityClass", "scheduling.k8s.io/v1"),
        {
            **METADATA, "metadata name": (*NAMES, "system-node-critical", "system-cluster-critical", "system-mine", "system-"),
            "value": PRIORITIES, "globalDefault": FLAGS, "preemptionPolicy": ("Never", "PreemptLowerPriority", "never", "", None, ABSENT, 1), "description": TEXTS,
        },
    ),
    Family("cluster-roles", _sample("ClusterRole", "rbac.authorization.k8s.io/v1"), {
        **METADATA, "rules": RULES,
        "aggregationRule": (None, {}, {"clusterRoleSelectors": []}, {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}, {"clusterRoleSelectors": [{"matchLabels": {"a b": "c"}}]}),
    }),
    Family("roles", _sample("Role", "rbac.authorization.k8s.io/v1"), {"metadata name": NAMES, "rules": RULES}),
    Family("queues", _queue("fresh"), QUEUE_VALUES),
    Family("queue-children", _queue("fresh", parent="w-all"), {
        "spec parent": _NAMED, "spec capability": FEW_AMOUNTS, "spec deserved": volcano_amounts, "spec guarantee resource": FEW_AMOUNTS,
        "spec capability nvidia.com/gpu": (0, 1, 8, 9), "spec deserved nvidia.com/gpu": (0, 1, 4, 8), "spec capability cpu": (0, 1, 10, 11),
    }),
    Family("queue-parents", _queue("w-all"), {
        "metadata name": ("w-all", "w-capable", "w-bare", "w-all-child"), "spec capability": FEW_AMOUNTS, "spec deserved": volcano_amounts,
        "spec guarantee resource": FEW_AMOUNTS, "spec": ({"capability": _SOME}, {"capability": _SOME, "deserved": _SOME}, {"capability": _HALF, "deserved": _HALF}),
    }),
    Family("queue-paths", _queue("fresh"), {"metadata annotations": hierarchy}),
    Family("vcjobs", _VCJOB, {"metadata name": VCJOB_NAMES, **{f"spec {path}": values for path, values in VCJOB_SPEC.items()}}),
    Family("vcjob-tasks", _VCJOB, {"metadata name": VCJOB_NAMES, **{f"spec tasks {i} {path}": values for i in range(2) for path, values in TASK_VALUES.items()}}),
    Family(
        "vcjob-policies", _VCJOB,
        {"spec policies": policies, "spec tasks 0 policies": policies, "spec tasks 1 dependsOn": DEPENDS, "spec tasks 0 dependsOn": DEPENDS, "spec tasks 0 partitionPolicy": PARTITIONS},
    ),
    Family(
        "volcano-cronjobs",
        {**_sample("CronJob", "batch.volcano.sh/v1alpha1"), "spec": {"schedule": "0 1 * * *", "jobTemplate": {"spec": _VCJOB["spec"]}}},
        {
            "metadata name": VCJOB_NAMES, "spec schedule": SCHEDULES, "spec timeZone": ZONES, "spec concurrencyPolicy": ("Allow", "Forbid", "Replace", "allow", "", None, ABSENT),
            "spec suspend": FLAGS, "spec startingDeadlineSeconds": COUNTS, "spec successfulJobsHistoryLimit": COUNTS, "spec failedJobsHistoryLimit": COUNTS,
            **{f"spec jobTemplate spec {path}": values for path, values in VCJOB_SPEC.items() if " " not in path},
        },
    ),
    Family(
        "kueue-quotas",
        {
            **_sample("ClusterQueue", "kueue.x-k8s.io/v1beta2"),
            "spec": {
                "cohortName": "root",
                "resourceGroups": [{"coveredResources": ["cpu", "nvidia.com/gpu"], "flavors": [{"name": "a", "resources": [{"name": "cpu", "nominalQuota": 4}, {"name": "nvidia.com/gpu", "nominalQuota": 8}]}]}],
            },
        },
        {
            **{f"spec resourceGroups 0 flavors 0 resources {i} {field}": AMOUNTS for i in range(2) for field in ("nominalQuota", "borrowingLimit", "lendingLimit")},
            **{f"spec resourceGroups 0 flavors 0 resources {i} name": RESOURCES for i in range(2)},
            "spec resourceGroups 0 coveredResources": ([], ["cpu"], ["cpu", "cpu"], ["nvidia.com/gpu", "cpu"], ["cpu", "nvidia.com/gpu", "a"], None, ["gpu", "cpu"]),
            "spec cohortName": ("", "a", "A", None, ABSENT, "x" * 64, "a.b"), "spec fairSharing": ({}, None, *({"weight": amount} for amount in AMOUNTS)),
        },
    ),
    Family(
        "batch-cronjobs",
        {**_sample("CronJob", "batch/v1"), "spec": {"schedule": "0 1 * * *", "jobTemplate": {"spec": {"template": _PLAIN_TEMPLATE}}}},
        {
            "metadata name": VCJOB_NAMES, "spec schedule": SCHEDULES, "spec timeZone": ZONES, "spec concurrencyPolicy": ("Allow", "Forbid", "Replace", "allow", "", None, ABSENT),
            "spec suspend": FLAGS, "spec startingDeadlineSeconds": COUNTS, "spec successfulJobsHistoryLimit": COUNTS, "spec failedJobsHistoryLimit": COUNTS,
            "spec jobTemplate spec selector": ({}, None, {"matchLabels": {"a": "b"}}), "spec jobTemplate spec manualSelector": FLAGS,
        },
    ),
    Family(
        "stateful-sets", _sample("StatefulSet", "apps/v1"),
        {
            "metadata name": NAMES, "spec replicas": COUNTS, "spec serviceName": (*NAMES, None, ABSENT, 1), "spec minReadySeconds": COUNTS,
            "spec revisionHistoryLimit": COUNTS, "spec podManagementPolicy": ("OrderedReady", "Parallel", "parallel", "", None, ABSENT),
            "spec updateStrategy": ({}, None, {"type": "OnDelete"}, {"type": "RollingUpdate"}, {"type": "Recreate"}, {"type": "OnDelete", "rollingUpdate": {"partition": 1}}),
            "spec ordinals start": COUNTS, "spec selector": (None, {}, ABSENT, {"matchLabels": {"a": "z"}}),
        },
    ),
    Family(
        "admission-policies", _sample("ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1"),
        {
            **POLICY_VALUES,
            "spec validations 0 expression": EXPRESSIONS, "spec validations 1 expression": EXPRESSIONS, "spec validations": ([], None, ABSENT, [{"expression": "1 >\n 0"}]),
            "spec validations 0 message": ("a", "", " ", "a\nb", "a\n", "\n", "a\rb", None, ABSENT, 1), "spec validations 1 messageExpression": CEL_TEXTS,
            "spec validations 0 reason": ("Forbidden", "Invalid", "Unauthorized", "RequestEntityTooLarge", "forbidden", "NotFound", "", None, ABSENT),
            "spec auditAnnotations": (
                [], None, ABSENT, [{"key": "a", "valueExpression": "'a'"}] * 2, [{"key": f"k{i}", "valueExpression": "'a'"} for i in range(20)],
                [{"key": f"k{i}", "valueExpression": "'a'"} for i in range(21)],
            ),
            "spec auditAnnotations 0 key": (*KEYS, None, ABSENT), "spec auditAnnotations 0 valueExpression": CEL_TEXTS, "spec": (None, {}, ABSENT),
        },
    ),
    Family(
        "mutating-policies", _sample("MutatingAdmissionPolicy", "admissionregistration.k8s.io/v1"),
        {
            **POLICY_VALUES, "spec reinvocationPolicy": ("Never", "IfNeeded", "never", "", None, ABSENT),
            "spec mutations": ([], None, ABSENT, [{}], [{"patchType": "JSONPatch"}]),
            "spec mutations 0 patchType": ("JSONPatch", "ApplyConfiguration", "jsonPatch", "", None, ABSENT),
            "spec mutations 0 jsonPatch": ({}, None, ABSENT, {"expression": ""}, {"expression": " "}, []),
            "spec mutations 0 applyConfiguration": ({}, None, {"expression": "Object{}"}, {"expression": ""}),
        },
    ),
    Family(
        "admission-bindings", _sample("ValidatingAdmissionPolicyBinding", "admissionregistration.k8s.io/v1"),
        {
            **BINDING_VALUES,
            "spec validationActions": (
                [], None, ABSENT, ["Deny"], ["Warn"], ["Audit"], ["Deny", "Audit"], ["Deny", "Warn"], ["Warn", "Audit", "Deny"], ["Audit", "Audit"],
                ["deny"], [""], [None], "Deny", ["Warn", "Audit"],
            ),
        },
    ),
    Family("mutating-bindings", _sample("MutatingAdmissionPolicyBinding", "admissionregistration.k8s.io/v1"), BINDING_VALUES),
)  # fmt: skip
