"""Reads from a workload what its model does: container, checkpoint, schedule and availability."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from policygen.adopt.trees import Guess
from policygen.core import cron
from policygen.core.finding import at_path
from policygen.core.names import HOSTNAME, ZONE
from policygen.core.quoting import counted, listed, quoted
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.disruption_budgets import budgeted_pods
from policygen.kubernetes.untyped import integer, mapping, mappings, text, texts
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.plan.amounts import HOST
from policygen.spec.types import (
    Availability,
    Checkpoint,
    FailureDomain,
    Model,
    ModelContainer,
    ModelSchedule,
)

_GRACE_S: Final = 30
"""The default of `terminationGracePeriodSeconds`, which the API server writes into each pod."""
_MOST_GRACE_S: Final = 86_400
_PORTS: Final = range(1, 65_536)
"""Bounds of the schema of a Model."""
_DAY_H: Final = 24
"""The longest window of a schedule, in hours."""
_UTC: Final = "Etc/UTC"
_DOMAINS: Final[Mapping[str, FailureDomain]] = {HOSTNAME: "node", ZONE: "zone"}

_POD_FIELDS: Final = frozenset(
    {
        "affinity", "containers", "nodeSelector", "priority", "priorityClassName", "preemptionPolicy",
        "restartPolicy", "schedulerName", "terminationGracePeriodSeconds", "tolerations",
        "topologySpreadConstraints",
    }
)  # fmt: skip
"""Fields that a spec decides."""
_CONTAINER_FIELDS: Final = frozenset(
    {"args", "command", "image", "lifecycle", "name", "ports", "resources"}
)
_DEFAULTS: Final[Mapping[str, Any]] = {
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "serviceAccount": "default",
    "serviceAccountName": "default",
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
"""Values that the API server writes (pkg/apis/core/v1/defaults.go)."""


_WORKLOAD_FIELDS: Final = frozenset(
    {
        "completionMode", "completions", "concurrencyPolicy", "containers", "jobTemplate", "leaderWorkerTemplate",
        "managedBy", "minAvailable", "parallelism", "priorityClassName", "queue", "replicas", "replicatedJobs",
        "schedule", "schedulerName", "selector", "serviceName", "suspend", "tasks", "template", "timeZone",
        "ttlSecondsAfterFinished",
    }
)  # fmt: skip
"""Fields of the spec of a workload that a Model decides or states."""
_ROLLING: Final = {"maxSurge": "25%", "maxUnavailable": "25%"}
_WORKLOAD_DEFAULTS: Final[Mapping[str, Any]] = {
    "backoffLimit": 6,
    "failedJobsHistoryLimit": 1,
    "manualSelector": False,
    "maxRetry": 3,
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    "podManagementPolicy": "OrderedReady",
    "podReplacementPolicy": "TerminatingOrFailed",
    "progressDeadlineSeconds": 600,
    "revisionHistoryLimit": 10,
    "strategy": {"type": "RollingUpdate", "rollingUpdate": _ROLLING},
    "successfulJobsHistoryLimit": 3,
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
}
"""Values that the API server writes (pkg/apis/{apps,batch}/v1/defaults.go, and Volcano's webhook)."""


_RENDERED: Final[Mapping[str, Any]] = {"maxRetry": 1000}
"""Values that rendered workloads have."""


class ModelDetails(Struct, frozen=True):
    """A model, and what it does not have of its workload."""

    model: Model
    left: tuple[str, ...]
    """What a Model cannot state, one sentence each."""
    guesses: tuple[Guess, ...]


def detailed(
    cluster: Cluster, workload: Workload, template: PodTemplate, model: Model
) -> ModelDetails:
    """The model with its container, checkpoint, schedule and availability, as the workload has them."""
    own = template.at.path[len(workload.object.at.path) :]
    pod = mapping(at_path(workload.object.data, own), "spec")
    accelerated = accelerators.requested(cluster, template)
    typed = template.spec.containers
    index = next((i for i, it in enumerate(typed) if accelerated.keys() & it.requests.keys()), 0)
    container = at_path(pod, ("containers", index))
    container = container if isinstance(container, dict) else {}
    left = [
        *_unstated_of(workload, template),
        *_unstated(pod, container),
        *_unstated_resources(template, accelerated),
    ]
    checkpoint, reason = _checkpoint(pod, container)
    left += reason
    schedule, guesses, reason = _schedule(workload, model.name)
    left += reason
    availability, reason = _availability(cluster, template, model)
    left += reason
    image = text(container, "image")
    if set(" \t\r\n") & set(image):
        left.append(f"its image {quoted(image)} has spaces, so it is not in the spec")
        image = ""
    # The server refuses other ports.
    ports = [
        port if port in _PORTS else None
        for port in (integer(it.get("containerPort")) for it in mappings(container, "ports"))
    ]
    made = replace(
        model,
        container=ModelContainer(
            image=image or None,
            command=texts(container, "command"),
            args=texts(container, "args"),
            port=ports[0] if ports else None,
        ),
        checkpoint=checkpoint,
        schedule=schedule,
        availability=availability,
    )
    return ModelDetails(made, tuple(left), guesses)


def _unstated_of(workload: Workload, template: PodTemplate) -> Iterator[str]:
    """The pods and fields of the workload itself that have no place in a Model."""
    spec = workload.spec
    job = mapping(spec, "jobTemplate", "spec")
    others = len(workload.templates) - 1
    if others:
        is_missing = "is" if others == 1 else "are"
        yield (
            f"a Model has one kind of pods, so {counted(others, 'other template')} of its pods {is_missing} "
            "not in the spec"
        )
    if template.replicas == 0:
        yield "it has 0 replicas, and a model has at least 1, so the spec has 1"
    completions = integer((job or spec).get("completions"))
    if completions is not None and completions != (template.replicas or 1):
        yield (
            f"it has {completions} completions, of which {template.replicas or 1} run at the same time, "
            "and a Model runs all its pods at the same time"
        )
    fields = [
        name
        for name, value in {**spec, **job}.items()
        if name not in _WORKLOAD_FIELDS
        and value not in (None, _WORKLOAD_DEFAULTS.get(name), _RENDERED.get(name))
        and not (job and name == "activeDeadlineSeconds")  # its window shows it
    ]
    if fields:
        yield f"a Model has no field for these of its {workload.kind}: {listed(sorted(fields), 'and')}"


def _unstated(pod: Mapping[str, Any], container: Mapping[str, Any]) -> Iterator[str]:
    """The containers and fields that have no place in a Model."""
    others = [
        quoted(text(it, "name"))
        for field in ("initContainers", "containers")
        for it in mappings(pod, field)
        if it is not container
    ]
    if others:
        yield f"a Model has one container, so these are not in the spec: {listed(others, 'and')}"
    if len(mappings(container, "ports")) > 1:
        yield "a Model has one port, so only the first of its container is in the spec"
    fields = [
        *_others(pod, _POD_FIELDS | {"initContainers"}),
        *_others(container, _CONTAINER_FIELDS),
    ]
    if fields:
        yield f"a Model has no field for these of its pods: {listed(fields, 'and')}"


def _unstated_resources(
    template: PodTemplate, accelerated: Mapping[str, Fraction]
) -> Iterator[str]:
    """The resources of its pods that have no place in a Model, which has one kind of GPUs, cpu and memory."""
    requests, limits = template.spec.requests, template.spec.limits
    gpus = max(accelerated, key=lambda it: accelerated[it], default="")
    others = [
        it
        for it in sorted({*requests, *limits})
        if it not in {*HOST, gpus} and requests.get(it) != 0
    ]
    if others:
        yield f"a Model has no field for these resources of its pods: {listed(others, 'and')}"
    higher = [it for it in HOST if it in limits and limits[it] != requests.get(it)]
    if higher:
        yield (
            f"its limits of {listed(higher, 'and')} differ from its requests, and a model has one amount "
            "for both; the spec has the requests"
        )


def _others(data: Mapping[str, Any], known: frozenset[str]) -> list[str]:
    return sorted(
        name
        for name, value in data.items()
        if name not in known and name != "imagePullPolicy" and value != _DEFAULTS.get(name)
    )


def _checkpoint(
    pod: Mapping[str, Any], container: Mapping[str, Any]
) -> tuple[Checkpoint | None, list[str]]:
    grace = integer(pod.get("terminationGracePeriodSeconds"))
    hook = mapping(mapping(container, "lifecycle"), "preStop")
    command = texts(mapping(hook, "exec"), "command")
    left = []
    if hook and not command:
        left.append("its preStop hook runs no command, so it is not in the spec")
    if "postStart" in mapping(container, "lifecycle"):
        left.append("a Model has no field for its postStart hook")
    if grace is not None and grace > _MOST_GRACE_S:
        left.append(
            f"its terminationGracePeriodSeconds: {grace} is longer than a day, so the spec has {_MOST_GRACE_S}"
        )
        grace = _MOST_GRACE_S
    if command or (grace is not None and grace > 0 and grace != _GRACE_S):
        return Checkpoint(max(grace or 0, 0) or _GRACE_S, command), left
    if grace == 0:
        left.append("its terminationGracePeriodSeconds: 0 is not in the spec, which has 1 or more")
    return None, left


def _schedule(
    workload: Workload, name: str
) -> tuple[ModelSchedule | None, tuple[Guess, ...], list[str]]:
    """When a CronJob runs; a missing time zone or window is a guess."""
    if workload.kind != "CronJob":
        return None, (), []
    spec = workload.spec
    written = text(spec, "schedule")
    if cron.parse(written) is None:
        return (
            None,
            (),
            [f"its schedule {quoted(written)} is not valid, so the model has no schedule"],
        )
    guesses = []
    zone = text(spec, "timeZone")
    if not zone:
        zone = _UTC
        guesses.append(
            Guess(
                "Model", name, ("spec", "schedule", "timeZone"),
                "Guess: the CronJob has no time zone, so that of kube-controller-manager counts.",
            )
        )  # fmt: skip
    deadline = integer(mapping(mapping(spec, "jobTemplate"), "spec").get("activeDeadlineSeconds"))
    hours = min(max(1, -(-deadline // 3600)), _DAY_H) if deadline else _DAY_H
    if deadline != hours * 3600:
        shown = f"{deadline} seconds" if deadline else "no limit"
        guesses.append(
            Guess(
                "Model", name, ("spec", "schedule", "hours"),
                f"Guess: a run has {shown} (activeDeadlineSeconds), and the window of a Model has 1 to {_DAY_H} hours.",
            )
        )  # fmt: skip
    left = []
    if text(spec, "concurrencyPolicy") != "Forbid":
        left.append("its runs can overlap (concurrencyPolicy), and those of a model cannot")
    return ModelSchedule(written, zone, hours), tuple(guesses), left


def _availability(
    cluster: Cluster, template: PodTemplate, model: Model
) -> tuple[Availability | None, list[str]]:
    """What the replicas survive, by the constraints of their pods and by a PodDisruptionBudget."""
    budgets = cluster.derive(budgeted_pods).by_template.get(id(template), ())
    domains = _domains(template)
    known = {_DOMAINS[it] for it in domains if it in _DOMAINS}
    left = []
    if unknown := sorted(domains - _DOMAINS.keys()):
        left.append(
            f"a Model spreads its replicas over nodes or zones, not over {listed(unknown, 'and')}"
        )
    if "nodeAffinity" in template.spec.affinity or "podAffinity" in template.spec.affinity:
        left.append("a Model has no field for the other affinity of its pods")
    if not known and not budgets:
        return None, left
    least = model.autoscaling.min_replicas if model.autoscaling else model.replicas or 1
    if model.workload != "serving" or model.gang is not None or least < 2:
        what = [*(f"the spread over {it}s" for it in sorted(known)), *(str(it) for it in budgets)]
        left.append(
            f"only a serving model with two replicas has an availability, so {listed(what, 'and')} "
            f"{'is' if len(what) == 1 else 'are'} not in the spec"
        )
        return None, left
    if len(known) > 1:
        left.append("a Model spreads its replicas over nodes or zones; the spec has nodes")
    domain: FailureDomain = next((it for it in ("node", "zone") if it in known), "none")
    available: int | None = None
    for it in budgets:
        wanted = it.fields.min_available
        if isinstance(wanted, int) and 0 < wanted < least:
            available = wanted
        elif it.fields.max_unavailable != 1:
            left.append(
                f"{it} is not in the spec as it is: a model has minAvailable as a number below its "
                f"{least} replicas, or maxUnavailable: 1"
            )
    return Availability(domain, available), left


def _domains(template: PodTemplate) -> set[str]:
    """The keys of the labels over which constraints spread the pods of a template."""
    found = {text(it, "topologyKey") for it in template.spec.topology_spread_constraints}
    anti = mapping(template.spec.affinity, "podAntiAffinity")
    found |= {
        text(it, "topologyKey")
        for it in mappings(anti, "requiredDuringSchedulingIgnoredDuringExecution")
    }
    found |= {
        text(mapping(it, "podAffinityTerm"), "topologyKey")
        for it in mappings(anti, "preferredDuringSchedulingIgnoredDuringExecution")
    }
    return found - {""}
