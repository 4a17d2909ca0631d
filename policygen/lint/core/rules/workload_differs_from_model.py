"""A workload does not have the fields that the policy decides for its model."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Difference, Edit, Verb
from policygen.core.names import LOCAL_QUEUE, SET, VOLCANO_QUEUE
from policygen.core.quoting import quoted
from policygen.kubernetes import accelerators
from policygen.kubernetes.node_groups import meant_label
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.differences import message, place
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

if TYPE_CHECKING:  # a lint without a spec does not load the plan
    from policygen.patch.model_finder import ModelFinder
    from policygen.patch.object_patch import ObjectPatch


_LIFECYCLE = "lifecycle"


def check(facts: Facts) -> Hits:
    """Reports what `policygen patch` would add to a workload, and what it would refuse.

    Source: `patch.object_patch`, with the fields that `plan.pods` decides for the pods of a model.
    """
    if facts.spec is None or facts.plan is None:
        return
    from policygen.lint.core.model_findings import reported
    from policygen.patch.model_finder import ModelFinder
    from policygen.plan.decisions import Decisions
    from policygen.plan.rules import HOST_SHARE_EXCEEDED, MODEL_ABOVE_LIMIT

    finder = ModelFinder(
        Decisions(facts.spec, facts.plan.pools, facts.plan.trees, facts.plan.workloads)
    )
    doubtful = _Doubtful(
        frozenset(reported(facts, MODEL_ABOVE_LIMIT)),
        {
            name: hit.message.rpartition("; ")[2]
            for name, hit in reported(facts, HOST_SHARE_EXCEEDED).items()
        },
    )
    live = facts.cluster.seen is not None
    for workload in facts.cluster.workloads:
        if _is_of(facts, workload):
            misspelt = _selected(workload) if "pod-fits-no-node" in facts.run else ()
            yield from _hits(workload.object, finder, misspelt, doubtful, live=live)


def _is_of(facts: Facts, workload: Workload) -> bool:
    """Whether the spec can decide about a workload.

    On a cluster, another spec can have models of the same names, and the scheduler writes the node of a pod.
    """
    object_ = workload.object
    if object_.at in facts.cluster.context or facts.spec is None:
        return False
    if object_.labels.get(SET, facts.spec.platform.name) != facts.spec.platform.name:
        return False
    if facts.cluster.seen is None:
        return True
    return object_.kind != "Pod" and any(
        space.name == object_.namespace for team in facts.spec.teams for space in team.namespaces
    )


def _selected(workload: Workload) -> Collection[str]:
    """The labels that the pods select: pod-fits-no-node reports a misspelled one, which patch does not remove."""
    return {key for it in workload.templates for key in it.spec.node_selector}


class _Doubtful(Struct, frozen=True):
    """The models of which the spec reports a value, so that their workloads can be right."""

    too_many_pods: Collection[str]
    """Those above a limit: with fewer pods, an update also has room for a new one."""
    lower: Mapping[str, str]
    """Those that request too much cpu or memory, with the remedy."""


def _hits(
    object_: Object,
    finder: "ModelFinder",
    misspelt: Collection[str],
    doubtful: _Doubtful,
    *,
    live: bool,
) -> Hits:
    """The differences of an object from its model.

    `misspelt`: labels that can be misspellings of a missing one, which then is not reported.
    `live`: the object is on a server, where autoscalers and other programs have set fields, and its hooks
    were not read, since they are commands.
    """
    from policygen.patch import leftovers
    from policygen.patch.draft import Contradiction
    from policygen.patch.object_patch import object_patch

    run = finder.named(object_)
    if isinstance(run, Contradiction):
        yield Hit(RULE, f"{object_}: {run.message}", object_.at.to(*run.path))
    elif run is not None and not any(leftovers.faults(object_)):
        if live:
            known = (it for it in run.fields if it.value is not None and _LIFECYCLE not in it.path)
            run = replace(run, fields=tuple(known))
        found = object_patch(object_, run)
        skipped = _COUNTS if run.model in doubtful.too_many_pods else ()
        differences = (*_wrong(found, skipped), *_missing(found, misspelt, skipped))
        if differences:
            head = f"{object_} differs from the policy of its model {quoted(run.model)}"
            text = message(head, differences)
            if run.model in doubtful.lower and _is_of_host(differences):
                fault, _, remedy = text.rpartition("; ")
                text = f"{fault}; in the model, {doubtful.lower[run.model]}, or {remedy}"
            yield Hit(
                RULE,
                text,
                place(object_.at, differences),
                differences=differences,
                meant=tuple(
                    Edit(Verb.REWRITE, object_.at.to(*it.path), it.needed)
                    for it in found.faults
                    if isinstance(it.needed, str | int)
                ),
            )


_COUNTS = ("completions", "maxSurge", "maxUnavailable", "minAvailable", "parallelism", "replicas")
"""Fields that follow from the number of pods."""


def _is_of_host(differences: Iterable[Difference]) -> bool:
    """Whether one of them is the cpu or memory of a container."""
    return any(it.at is not None and it.at.path[-1] in ("cpu", "memory") for it in differences)


def _wrong(found: "ObjectPatch", skipped: Collection[str]) -> Iterator[Difference]:
    """The values that patch would refuse."""
    root = found.object.at
    for it in found.faults:
        if it.path[-1:] and it.path[-1] in skipped:
            continue
        rules = next((CONSEQUENCES[key] for key in reversed(it.path) if key in CONSEQUENCES), ())
        if any(accelerators.is_one(str(key)) for key in it.path):
            rules = ("request-not-covered",)
        yield Difference(root, it.brief or it.reason, root.to(*it.path), it.remedy, rules)


def _missing(
    found: "ObjectPatch", misspelt: Collection[str], skipped: Collection[str]
) -> Iterator[Difference]:
    """The fields that patch would add; the label only names the model."""
    from policygen.patch.additions import entries
    from policygen.plan.model_names import MODEL

    texts = {
        f"{key}: {value if isinstance(value, str | int) else json.dumps(value)}": key
        for key, value in entries(found.added)
        if key != MODEL
    }
    for text, key in texts.items():
        if key in skipped or any(meant_label(it, (key,)) for it in misspelt):
            continue
        rules = GPU_CONSEQUENCES if accelerators.is_one(key) else CONSEQUENCES.get(key, ())
        yield Difference(found.object.at, text, rules=rules)


GPU_CONSEQUENCES = ("gpu-request-without-limit", "workload-uses-no-quota")
CONSEQUENCES: Mapping[str | int, tuple[str, ...]] = {
    LOCAL_QUEUE: ("workload-names-no-queue", "quota-omits-gpu-resource"),
    VOLCANO_QUEUE: ("workload-in-default-queue", "workload-names-no-queue"),
    "completions": ("job-index-refused",),
    "completionMode": ("job-index-refused",),
    "command": ("workload-field-refused",),
    "maxSurge": ("rollout-exceeds-nodes", "rollout-exceeds-quota"),
    "namespace": ("workload-without-namespace",),
    "policies": ("job-policy-refused",),
    "queue": ("workload-in-default-queue",),
    "schedule": ("missing-field",),
    "schedulerName": (
        "gang-scheduler-not-volcano",
        "pod-without-packing-profile",
        "quota-omits-gpu-resource",
        "two-schedulers-one-pool",
        "workload-names-no-queue",
    ),
    "tasks": ("min-available-exceeds-replicas",),
    "timeZone": ("cron-without-time-zone",),
    "tolerations": ("pod-fits-no-node",),
}
"""The rules that report a consequence of a field that is missing or wrong."""

RULE = ObjectRule(
    "workload-differs-from-model",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Run `policygen patch FILE --spec SPEC --write`, and correct the values that it names.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.SPEC}),
)
