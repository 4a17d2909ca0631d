"""Families of pods and Jobs: where pods run, their ports, and the policies of a Job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from .client import Object
from .families import ABSENT, COUNTS, FLAGS, KEYS, LABEL_VALUES, Family, Values

LABELS = {"app": "a", "tier": "b"}
CONTAINER = {"name": "main", "image": "image", "ports": [{"containerPort": 80, "hostPort": 8080}]}
OTHER = {"name": "other", "image": "image", "ports": [{"containerPort": 81}]}
SELECTOR = {"matchLabels": {"app": "a"}}
CONSTRAINT = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": SELECTOR,
}
PODS = {
    "restartPolicy": "Never",
    "initContainers": [{"name": "init", "image": "image", "ports": [{"containerPort": 80}]}],
    "containers": [CONTAINER, OTHER],
    "topologySpreadConstraints": [CONSTRAINT],
    "affinity": {"podAntiAffinity": {}, "podAffinity": {}, "nodeAffinity": {}},
}
_TOPOLOGY = ("zone", "zone", "rack", "kubernetes.io/hostname", "", None, "a b", "x" * 64, 1)
_SELECTORS: Sequence[Any] = (
    SELECTOR, SELECTOR, {"matchLabels": {"tier": "b"}}, {}, None, ABSENT, {"matchExpressions": []},
    {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]},
    {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "tier", "operator": "Exists", "values": ["a"]}]},
    {"matchExpressions": [{"key": "tier", "operator": "In", "values": []}]},
    {"matchExpressions": [{"key": "tier", "operator": "in", "values": ["a"]}]},
    {"matchExpressions": [{"key": "app", "operator": "Exists"}], "matchLabels": {"app": "a"}},
    {"matchLabels": {"a b": "c"}}, {"matchLabels": {"a": "b c"}}, {"matchLabels": {"a": None}},
)  # fmt: skip
_LABEL_KEYS: Sequence[Any] = (
    ["app"], ["tier"], ["app", "tier"], ["other"], ["app", "app"], [], None, ["a b"], [""], "app", [1],
    ["pod-template-hash"],
)  # fmt: skip


def spread(random: Random) -> Any:
    """One or two constraints, at times with equal keys."""
    if random.random() < 0.05:
        return random.choice(([], None, {}, [None], "a", ABSENT))
    return [_constraint(random) for _ in range(random.choice((1, 1, 2, 2, 3)))]


def _constraint(random: Random) -> Object:
    made: Object = {**CONSTRAINT}
    if random.random() < 0.7:
        made["topologyKey"] = random.choice(_TOPOLOGY)
    for name, values in (
        ("maxSkew", COUNTS),
        ("minDomains", COUNTS),
        ("whenUnsatisfiable", ("ScheduleAnyway", "DoNotSchedule", "schedule", "", None, ABSENT)),
        ("labelSelector", _SELECTORS),
        ("matchLabelKeys", _LABEL_KEYS),
        ("nodeAffinityPolicy", ("Honor", "Ignore", "honor", "", None)),
        ("nodeTaintsPolicy", ("Honor", "Ignore", "Never", "", None)),
    ):
        if random.random() < 0.25:
            made[name] = random.choice(values)
    return {key: it for key, it in made.items() if it is not ABSENT}


def terms(random: Random) -> Any:
    """Affinity to other pods."""
    if random.random() < 0.1:
        return random.choice((None, {}, ABSENT, [], {"strange": 1}))
    made = []
    for _ in range(random.choice((1, 1, 2))):
        term: Object = {"topologyKey": "zone", "labelSelector": SELECTOR}
        for name, values in (
            ("topologyKey", (*_TOPOLOGY, ABSENT)),
            ("labelSelector", _SELECTORS),
            ("namespaceSelector", _SELECTORS),
            ("namespaces", (["a"], ["A"], ["a.b"], [""], [], None, ["a", "a"], "a")),
            ("matchLabelKeys", _LABEL_KEYS),
            ("mismatchLabelKeys", _LABEL_KEYS),
        ):
            if random.random() < 0.3:
                term[name] = random.choice(values)
        made.append({key: it for key, it in term.items() if it is not ABSENT})
    if random.random() < 0.5:
        return {"requiredDuringSchedulingIgnoredDuringExecution": made}
    weights = (1, 50, 100, 0, 101, -1, None, "1", ABSENT)
    preferred = [{"weight": random.choice(weights), "podAffinityTerm": it} for it in made]
    return {"preferredDuringSchedulingIgnoredDuringExecution": _present(preferred)}


def nodes(random: Random) -> Any:
    """Affinity to nodes."""
    if random.random() < 0.1:
        return random.choice((None, {}, ABSENT, [], {"strange": 1}))
    expression = _present([{
        "key": random.choice(("zone", "zone", "a b", "", "a.b/c", "A.b/c", ABSENT, 1)),
        "operator": random.choice(("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "in", "Equal", "", ABSENT)),
        "values": random.choice((["a"], ["1"], ["a", "b"], ["a b"], [], None, ABSENT, [1], ["-1"], ["1.5"], "a", [""])),
    }])[0]  # fmt: skip
    field = {"key": random.choice(("metadata.name", "metadata.name", "spec.a")), "operator": random.choice(("In", "NotIn", "Exists")),
             "values": random.choice((["a"], ["a", "b"], ["a b"], [], [""]))}  # fmt: skip
    term: Object = random.choice((
        {"matchExpressions": [expression]}, {"matchExpressions": [expression]}, {"matchFields": [field]}, {},
        {"matchExpressions": [expression], "matchFields": [field]}, {"matchExpressions": []},
    ))  # fmt: skip
    if random.random() < 0.5:
        lists = ([term], [term], [term, term], [], None, ABSENT)
        required = _present([{"nodeSelectorTerms": random.choice(lists)}])[0]
        return {"requiredDuringSchedulingIgnoredDuringExecution": required}
    weight = random.choice((1, 100, 0, 101, -1, None, ABSENT))
    preferred = _present([{"weight": weight, "preference": term}])
    return {"preferredDuringSchedulingIgnoredDuringExecution": preferred}


def _present(things: Sequence[Object]) -> list[Object]:
    return [{key: it for key, it in thing.items() if it is not ABSENT} for thing in things]


def ports(random: Random) -> Any:
    """One to three ports of a container."""
    if random.random() < 0.05:
        return random.choice(([], None, {}, [None], 80, ABSENT))
    found = []
    for _ in range(random.choice((1, 1, 2, 3))):
        port: Object = {"containerPort": random.choice((80, 80, 81, 8080))}
        for name, values in (
            ("containerPort", (0, 65535, 65536, -1, "80", None, ABSENT)),
            ("name", ("http", "http", "HTTP", "1", "a" * 15, "a" * 16, "a--b", "-a", "", None)),
        ):
            if random.random() < 0.15:
                port[name] = random.choice(values)
        for name, values in (
            ("hostPort", (80, 80, 8080, 8080, 0, 65536, -1, "80", None)),
            ("protocol", ("TCP", "UDP", "SCTP", "tcp", "", None)),
            ("hostIP", ("10.0.0.1", "10.0.0.2", "", None, "a", "::1", 1)),
        ):
            if random.random() < (0.6 if name == "hostPort" else 0.25):
                port[name] = random.choice(values)
        found += _present([port])
    return found


GATES = (
    [], None, [{"name": "a.b/c"}], [{"name": "a"}], [{"name": "a"}, {"name": "b"}], [{"name": "a"}, {"name": "a"}], [{"name": ""}], [{}],
    [{"name": "a b"}], [{"name": "A.b/c"}], [{"name": "a/b/c"}], [{"name": "x" * 64}], [{"name": None}], ["a"], {"name": "a"}, [{"name": 1}],
    [{"name": "kueue.x-k8s.io/admission"}],
)  # fmt: skip


def tolerations(random: Random) -> Any:
    if random.random() < 0.05:
        return random.choice(([], None, {}, [None], ABSENT))
    return _present(
        [
            {
                "key": random.choice((*KEYS, "gpu", "gpu", "gpu", None, ABSENT)),
                "operator": random.choice(("Exists", "Equal", "equal", "", None, ABSENT)),
                "value": random.choice((*LABEL_VALUES, ABSENT, ABSENT, ABSENT)),
                "effect": random.choice(
                    ("NoSchedule", "NoExecute", "noSchedule", "", None, ABSENT)
                ),
                "tolerationSeconds": random.choice((ABSENT, ABSENT, ABSENT, 0, 30, -1, None, "1")),
            }
            for _ in range(random.choice((1, 1, 2)))
        ]
    )


POD_VALUES: Mapping[str, Values] = {
    "topologySpreadConstraints": spread,
    "affinity podAntiAffinity": terms,
    "affinity podAffinity": terms,
    "affinity nodeAffinity": nodes,
    "schedulingGates": GATES,
    "tolerations": tolerations,
    "hostNetwork": FLAGS,
    "containers 0 ports": ports,
    "containers 1 ports": ports,
    "initContainers 0 ports": ports,
    "initContainers 0 restartPolicy": ("Always", "Never", "always", "", None, ABSENT),
    "nodeSelector": ({}, None, {"a": "b"}, {"a b": "c"}, {"a": "b c"}, {"a": 1}, {"a": True}, {"a": None}, {"": "a"}, [], {"x" * 64: "a"}),
    "priority": (0, 1, -1, None, "1"),
    "preemptionPolicy": ("Never", "PreemptLowerPriority", "never", "", None, 1),
    "terminationGracePeriodSeconds": COUNTS,
    "activeDeadlineSeconds": COUNTS,
    "hostname": ("a", "A", "a.b", "a_b", "x" * 63, "x" * 64, "", None, 1),
    "subdomain": ("a", "A", "a.b", "-a", "x" * 64, "", None),
    "readinessGates": ([], None, [{"conditionType": "a.b/c"}], [{"conditionType": "a b"}], [{"conditionType": ""}], [{}], [{"conditionType": "a"}] * 2),
    "dnsPolicy": ("Default", "None", "ClusterFirst", "ClusterFirstWithHostNet", "default", "", None),
    "hostPID": FLAGS,
    "hostIPC": FLAGS,
    "hostUsers": (True, False, None),
    "shareProcessNamespace": FLAGS,
    "setHostnameAsFQDN": FLAGS,
    "enableServiceLinks": FLAGS,
    "os": ({"name": "linux"}, {"name": "windows"}, {"name": ""}, {}, None, {"name": "Linux"}),
    "imagePullSecrets": ([], None, [{"name": "a"}], [{"name": ""}], [{}], [{"name": "a"}, {"name": "a"}], ["a"]),
}  # fmt: skip


def _at(path: str) -> Mapping[str, Values]:
    return {f"{path} {name}": values for name, values in POD_VALUES.items()}


def _object(api_version: str, kind: str, spec: Object) -> Object:
    metadata: Object = {"name": "fresh", "namespace": "default"}
    if kind == "Pod":
        metadata["labels"] = LABELS
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


_TEMPLATE = {"metadata": {"labels": LABELS}, "spec": PODS}
_LASTING = {"metadata": {"labels": LABELS}, "spec": {**PODS, "restartPolicy": "Always"}}
_JOB = {
    "completions": 4,
    "parallelism": 2,
    "completionMode": "Indexed",
    "backoffLimitPerIndex": 1,
    "template": _TEMPLATE,
}
_CODES = {"operator": "In", "values": [1]}
_CONDITION = {"type": "DisruptionTarget", "status": "True"}


def failures(random: Random) -> Any:
    """A podFailurePolicy."""
    if random.random() < 0.06:
        return random.choice((None, {}, [], {"rules": []}, {"rules": None}, ABSENT))
    count = random.choice((1, 1, 2, 2, 20, 21))
    return {
        "rules": [_failure(random) for _ in range(min(count, 2))]
        + [{"action": "Count", "onExitCodes": _CODES}] * (count - 2)
    }


def _failure(random: Random) -> Object:
    many = list(range(1, random.choice((255, 256)) + 1))
    rule: Object = {
        "action": random.choice(("FailJob", "Ignore", "Count", "FailIndex", "FailIndex"))
    }
    codes: Object = {
        "operator": random.choice(("In", "In", "NotIn", "in", "", ABSENT)) if random.random() < 0.3 else "In",
        "values": random.choice(([1], [1, 2], [2, 1], [1, 1], [0], [0, 1], [], None, ABSENT, [-1], [256], ["1"], many)),
        "containerName": random.choice((ABSENT, ABSENT, "main", "init", "gone", "", None, 1)),
    }  # fmt: skip
    conditions: Any = [
        {
            "type": random.choice(("DisruptionTarget", "DisruptionTarget", "a b", "", "a.b/c", ABSENT)),
            "status": random.choice(("True", "True", "False", "Unknown", "true", "", ABSENT, True)),
        }
        for _ in range(random.choice((1, 1, 2)))
    ]  # fmt: skip
    conditions = random.choice(
        (_present(conditions), _present(conditions), [], None, [_CONDITION] * 20, [_CONDITION] * 21)
    )
    roll = random.random()
    if roll < 0.55:
        rule["onExitCodes"] = _present([codes])[0]
    if roll > 0.45:
        rule["onPodConditions"] = conditions
    if random.random() < 0.05:
        rule = {**rule, "onExitCodes": random.choice((None, {}, []))}
    if random.random() < 0.08:
        rule["action"] = random.choice(("failJob", "", None))
    return rule


def successes(random: Random) -> Any:
    """A successPolicy."""
    if random.random() < 0.08:
        return random.choice((None, {}, [], {"rules": []}, {"rules": None}, ABSENT))
    count = random.choice((1, 1, 2, 2, 20, 21))
    return {
        "rules": [_success(random) for _ in range(min(count, 2))]
        + [{"succeededCount": 1}] * (count - 2)
    }


def _success(random: Random) -> Object:
    indexes = ("0", "0-2", "0,2", "0,2-3", "2,1", "1,1", "3", "4", "0-4", "3-2", "2-2", "", "a", "0-1-2", " 1", "1 ", "+1", "-1", "01", "0,", ",0", "1_0",
               "1.0", "0x1", None, ABSENT, ABSENT, 1, "\u0661", "-", "99999999999999999999")  # fmt: skip
    counts = (ABSENT, ABSENT, 0, 1, 2, 3, 4, 5, -1, None, "1", 1.5)
    rule = {"succeededIndexes": random.choice(indexes), "succeededCount": random.choice(counts)}
    return _present([rule])[0]


_LARGE = (0, 1, 4, 9_999, 10_000, 10_001, 99_999, 100_000, 100_001, (1 << 31) - 1, -1, None, ABSENT)
JOB_VALUES: Mapping[str, Values] = {
    "spec podFailurePolicy": failures,
    "spec successPolicy": successes,
    "spec completions": _LARGE,
    "spec parallelism": _LARGE,
    "spec maxFailedIndexes": _LARGE,
    "spec backoffLimitPerIndex": (0, 1, -1, None, ABSENT, (1 << 31) - 1),
    "spec completionMode": ("Indexed", "NonIndexed", "indexed", "", None, ABSENT),
    "spec podReplacementPolicy": ("Failed", "TerminatingOrFailed", "failed", "", None),
    "spec managedBy": (
        "kubernetes.io/job-controller", "kueue.x-k8s.io/multikueue", "a.b/c", "a/b", "a", "a/", "/a", "", None, "A.b/c", "a.b/c/d", "a.b/c d",
        "a.b/" + "x" * 59, "a.b/" + "x" * 60, 1, "a.b/%", "a.b/\u00e4",
    ),
    "spec backoffLimit": COUNTS,
    "spec activeDeadlineSeconds": COUNTS,
    "spec ttlSecondsAfterFinished": COUNTS,
    "spec suspend": FLAGS,
    "spec template spec restartPolicy": ("Never", "OnFailure", "Always", "never", "", None, ABSENT),
    "spec template metadata labels": (LABELS, {}, None, ABSENT, {"a": "b c"}, {"batch.kubernetes.io/job-name": "a"}, {"job-name": "fresh"}),
    "metadata name": ("fresh", "f" * 61, "f" * 62, "f" * 63, "f.resh", "1fresh", "Fresh", "f" * 57),
}  # fmt: skip
_CRON = {"schedule": "0 1 * * *", "jobTemplate": {"spec": {**_JOB, "template": _TEMPLATE}}}
_SET = {"replicas": 1, "selector": {"matchLabels": LABELS}, "template": _LASTING}
_TASKS = {
    "schedulerName": "volcano", "queue": "default", "minAvailable": 1,
    "tasks": [{"name": "worker", "replicas": 1, "template": _TEMPLATE}],
}  # fmt: skip

FAMILIES: Sequence[Family] = (
    Family("pod-placement", _object("v1", "Pod", PODS), _at("spec")),
    Family(
        "deployment-placement", _object("apps/v1", "Deployment", _SET), _at("spec template spec")
    ),
    Family("job-placement", _object("batch/v1", "Job", _JOB), _at("spec template spec")),
    Family(
        "vcjob-placement",
        _object("batch.volcano.sh/v1alpha1", "Job", _TASKS),
        _at("spec tasks 0 template spec"),
    ),
    Family("job-policies", _object("batch/v1", "Job", _JOB), JOB_VALUES),
    Family(
        "cronjob-policies",
        _object("batch/v1", "CronJob", _CRON),
        {f"spec jobTemplate {path}": it for path, it in JOB_VALUES.items() if path[:5] == "spec "},
    ),
)
