"""A Kueue label or annotation is in a place where Kueue ignores it."""

from itertools import chain

from policygen.core.finding import dotted
from policygen.core.label_grammar import value_fault
from policygen.core.names import LOCAL_QUEUE
from policygen.kubernetes.kueue_jobs import GROUP, GROUP_COUNT, is_managed
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.known_keys import KUEUE, ON_OBJECT, ON_PODS
from policygen.lint.core.metadata_keys import MetadataOwner, Written, of_domain
from policygen.lint.core.webhook_objects import webhook_object
from policygen.lint.kueue.job_metadata import BY_PODS
from policygen.lint.kueue.misplaced_labels import are_together
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue reads how to queue from the object that it manages, and how to place from its pods.

    Another rule checks the label for the queue's name.

    Source: pkg/controller/jobframework/interface.go; pkg/controller/jobframework/tas.go,
    NewPodSetTopologyRequest.
    """
    reported = "queue-name-misplaced" in facts.run
    for metadata in of_domain(facts.cluster, KUEUE):
        workload = metadata.workload
        for key, value in metadata.keys.items() if is_managed(workload) else ():
            domain, _, name = key.partition("/")
            if domain != KUEUE or key == LOCAL_QUEUE:
                continue
            right = _right(metadata, name)
            if right is None or (metadata.form == "labels" and value_fault(value)):
                continue
            if metadata.place is MetadataOwner.POD and key in (GROUP, GROUP_COUNT):
                continue  # reported by kueue-annotation-refused
            if reported and are_together(workload, key, metadata.at):
                continue
            used = _used(workload, key)
            if used == {value}:
                continue  # an equal copy does no harm
            wrong = dotted(metadata.at.path[len(workload.at.path) :])
            advice = (
                f"remove it, because Kueue reads it in {right}" if used else f"move it to {right}"
            )
            yield Hit(
                RULE,
                f"Kueue ignores {key} in {wrong} of {workload}; {advice}",
                (metadata.at / key).on_key(),
            )


def _right(metadata: Written, name: str) -> str | None:
    """The field where a key belongs; None if it is there already, or if Kueue has no such key."""
    parent: str | None
    if name in ON_OBJECT:
        forms = ON_OBJECT[name]
        places: tuple[MetadataOwner, ...] = (MetadataOwner.OBJECT, MetadataOwner.POD)
        read_from_pods = metadata.workload.kind in BY_PODS or (
            metadata.form == "labels" and not metadata.workload.labels
        )
        if metadata.place is MetadataOwner.PODS and read_from_pods:
            places = (*places, MetadataOwner.PODS)
        parent = "spec.jobTemplate." if metadata.workload.kind == "CronJob" else ""
    elif name in ON_PODS:
        forms, places = ON_PODS[name], (MetadataOwner.PODS, MetadataOwner.POD)
        parent = _template_path(metadata.workload)
    else:
        return None
    if metadata.form in forms and metadata.place in places:
        return None
    form = metadata.form if metadata.form in forms else forms[0]
    return (
        f"{parent}metadata.{form}"
        if parent is not None
        else f"metadata.{form} of each pod template"
    )


def _used(workload: Workload, key: str) -> set[str]:
    """The values of a key where Kueue reads it; empty if one of several pod templates lacks it."""
    name = key.partition("/")[2]
    if name in ON_OBJECT:
        job = webhook_object(workload)
        forms, owners = ON_OBJECT[name], [(job.labels, job.annotations)]
    else:
        forms, owners = ON_PODS[name], [(it.labels, it.annotations) for it in workload.templates]
    found = [
        [
            keys[key]
            for form, keys in zip(("labels", "annotations"), owner, strict=True)
            if form in forms and key in keys
        ]
        for owner in owners
    ]
    return set(chain.from_iterable(found)) if all(found) else set()


def _template_path(workload: Workload) -> str | None:
    """The path of the pod template within a workload, ending with a dot; None if it has several."""
    if len(workload.templates) != 1:
        return None
    path = workload.templates[0].at.path[len(workload.at.path) :]
    return "".join(f"{step}." for step in path)


RULE = ObjectRule(
    "kueue-key-misplaced",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Move the label or annotation to the place that the message names.",
    judges=KINDS,
    check=check,
)
