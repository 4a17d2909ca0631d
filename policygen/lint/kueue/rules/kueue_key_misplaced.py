"""A label or annotation of Kueue's stands where Kueue does not look for it."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.label_grammar import value_fault
from policygen.core.names import LOCAL_QUEUE
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.known_keys import KUEUE, ON_OBJECT, ON_PODS
from policygen.lint.core.metadata_keys import Place, Written, written
from policygen.lint.kueue.job_metadata import GROUP, GROUP_COUNT
from policygen.lint.kueue.queue_names import managed
from policygen.lint.rule import Facts, Family, ObjectRule

_BY_POD = ("Deployment", "LeaderWorkerSet", "StatefulSet")
"""Kinds whose pods Kueue manages, by the pods' own labels."""


def check(facts: Facts) -> Iterator[Hit]:
    """It reads how to queue from the object that it manages, and how to place from its pods.

    The queue's name has a rule of its own.

    Source: pkg/controller/jobframework/interface.go; pkg/controller/jobframework/tas.go,
    NewPodSetTopologyRequest.
    """
    for workload in managed(facts.cluster):
        for each in written(workload):
            for key, value in each.keys.items():
                domain, _, name = key.partition("/")
                if domain != KUEUE or key == LOCAL_QUEUE:
                    continue
                right = _right(each, name)
                if right is None or (each.form == "labels" and value_fault(value)):
                    continue
                if each.place is Place.POD and key in (GROUP, GROUP_COUNT):
                    continue  # the pod is refused for it
                yield Hit(
                    RULE,
                    f"{workload} has {key} as {'a' if each.form == 'labels' else 'an'} {each.each} of "
                    f"{_of(each.place)}, where Kueue does not look for it; write it in {right}",
                    (each.at / key).on_key(),
                )


def _right(each: Written, name: str) -> str | None:
    """Where a key belongs; None where it stands well, or nobody writes it."""
    if name in ON_OBJECT:
        forms = ON_OBJECT[name]
        places: tuple[Place, ...] = (Place.OBJECT, Place.POD)
        taken_over = each.workload.kind in _BY_POD or (
            each.form == "labels" and not each.workload.labels
        )
        if each.place is Place.PODS and taken_over:
            places = (*places, Place.PODS)
        way = "spec.jobTemplate." if each.workload.kind == "CronJob" else ""
    elif name in ON_PODS:
        forms, places = ON_PODS[name], (Place.PODS, Place.POD)
        way = _to_pods(each.workload)
    else:
        return None
    if each.form in forms and each.place in places:
        return None
    form = each.form if each.form in forms else forms[0]
    return f"{way}metadata.{form}"


def _to_pods(workload: Workload) -> str:
    if len(workload.templates) != 1:
        return "each pod template's "
    path = workload.templates[0].at.path[len(workload.at.path) :]
    return "".join(f"{step}." for step in path)


def _of(place: Place) -> str:
    return {
        Place.OBJECT: "its own",
        Place.PODS: "its pods",
        Place.POD: "its own",
        Place.ABOVE: "its own, and not of its jobs",
    }[place]


RULE = ObjectRule(
    "kueue-key-misplaced", Severity.WARNING, Family.INERT, __doc__, judges=KINDS, check=check
)
