"""A workload has the queue-name label in a place that Kueue ignores."""

from collections.abc import Iterable, Iterator

from policygen.core.finding import At, NewMapping, dotted
from policygen.core.label_grammar import value_fault
from policygen.core.names import LOCAL_QUEUE
from policygen.core.quoting import listed, quoted
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.kueue_jobs import BY_POD, inner_labels, is_managed, labels
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.known_keys import KUEUE
from policygen.lint.core.metadata_keys import of_domain
from policygen.lint.core.webhook_objects import webhook_object
from policygen.lint.kueue.misplaced_labels import beside
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """Kueue reads the label of the object that it manages; for a CronJob, of the Job it creates.

    No integration of Kueue manages Jobs of Volcano.
    Pods with their own label are queued separately if the pod integration is on. So are pods of
    kinds that no integration manages; Kueue ignores the label of such an object itself. The Jobs of a JobSet
    without a queue name are queued separately, too, by their own label.

    Source: pkg/controller/jobframework/utils.go, QueueNameForObject.
    """
    keyed = dict.fromkeys(it.workload for it in of_domain(facts.cluster, KUEUE))
    for workload in keyed:
        if (workload.object.group, workload.kind) in BY_POD:
            yield from _of_unmanaged(workload)
        elif workload.object.group == VOLCANO_BATCH and workload.labels.get(LOCAL_QUEUE):
            yield Hit(
                RULE,
                f"Kueue does not manage {workload} and ignores its label {LOCAL_QUEUE}, because it is a Job of "
                "Volcano; write a queue of Volcano in spec.queue, or use a Job of Kubernetes",
                workload.at.to("metadata", "labels", LOCAL_QUEUE),
            )
    inside = (
        it
        for it in facts.cluster.workloads
        if any(LOCAL_QUEUE in keys for _, keys in inner_labels(it))
    )
    for workload in filter(is_managed, dict.fromkeys((*keyed, *inside))):
        found = labels(workload)
        inner = [
            (workload.at.to(*path, LOCAL_QUEUE), keys[LOCAL_QUEUE])
            for path, keys in inner_labels(workload)
            if keys.get(LOCAL_QUEUE)
        ]
        places = [*_elsewhere(workload), *inner]
        if found.get(LOCAL_QUEUE):
            yield from _contradicted(workload, found[LOCAL_QUEUE], places)
            continue
        for wrong, name in places:
            depth = len(workload.at.path)
            # Not those that a Job takes from its pods.
            at = webhook_object(workload).at.to("metadata", "labels")
            keys = {LOCAL_QUEUE: name, **beside(workload, wrong)}
            edits = [Edit(Verb.REMOVE, At(wrong.document, (*wrong.path[:-1], key))) for key in keys]
            if len(keys) > 1 and not mapping(webhook_object(workload).data, "metadata", "labels"):
                edits.append(Edit(Verb.ADD, at, NewMapping(tuple(keys.items()))))
            else:
                edits += [Edit(Verb.ADD, at / key, value) for key, value in keys.items()]
            certain = len(places) == 1 and not any(map(value_fault, keys.values()))
            where = f"{listed(list(keys), 'and')} in {dotted(wrong.path[depth:-1])} of {workload}"
            fact, aim = f"Kueue ignores {where}", ""
            if inner and wrong == inner[0][0]:
                fact = f"Kueue uses {where} only for the object with the label, not for the {workload.kind}"
                aim = ", so that Kueue admits all its pods together"
            yield Hit(
                RULE,
                f"{fact}; move the {'label' if len(keys) == 1 else 'labels'} to {dotted(at.path[depth:])}{aim}",
                wrong,
                edits=tuple(edits) if certain and found.keys().isdisjoint(keys) else (),
            )
            break


def _contradicted(workload: Workload, used: str, places: Iterable[tuple[At, str]]) -> Hits:
    """Labels with another queue than the one that Kueue reads; equal copies do no harm."""
    for wrong, name in places:
        if name != used:
            path = dotted(wrong.path[len(workload.at.path) : -1])
            right = dotted(
                webhook_object(workload).at.to("metadata", "labels").path[len(workload.at.path) :]
            )
            yield Hit(
                RULE,
                f"Kueue ignores {LOCAL_QUEUE} in {path} of {workload}, because it reads "
                f"{quoted(used)} in {right}; remove the label, or move its value there",
                wrong,
            )
            return


def _of_unmanaged(workload: Workload) -> Hits:
    """The label of an object that Kueue does not manage, if its pods do not have it."""
    name = workload.labels.get(LOCAL_QUEUE)
    for template in workload.templates[:1]:
        if name and LOCAL_QUEUE not in template.labels:
            wrong = workload.at.to("metadata", "labels", LOCAL_QUEUE)
            right = template.at.to("metadata", "labels", LOCAL_QUEUE)
            yield Hit(
                RULE,
                f"Kueue manages only the pods of {workload} and ignores the label {LOCAL_QUEUE} of "
                "the object itself; move the label to spec.template.metadata.labels",
                wrong,
                edits=()
                if value_fault(name)
                else (Edit(Verb.REMOVE, wrong), Edit(Verb.ADD, right, name)),
            )


def _elsewhere(workload: Workload) -> Iterator[tuple[At, str]]:
    """The places where Kueue does not read a queue name, each with the name."""
    root = workload.at / "metadata"
    if LOCAL_QUEUE in workload.annotations:
        yield root.to("annotations", LOCAL_QUEUE), workload.annotations[LOCAL_QUEUE]
    if workload.kind == "CronJob" and LOCAL_QUEUE in workload.labels:
        yield root.to("labels", LOCAL_QUEUE), workload.labels[LOCAL_QUEUE]
    if workload.kind in ("Pod", "Deployment"):
        return  # Kueue manages a Deployment's pods separately, by their own label
    for template in workload.templates:
        if LOCAL_QUEUE in template.labels:
            at = template.at.to("metadata", "labels", LOCAL_QUEUE)
            yield at, template.labels[LOCAL_QUEUE]
        if LOCAL_QUEUE in template.annotations:
            at = template.at.to("metadata", "annotations", LOCAL_QUEUE)
            yield at, template.annotations[LOCAL_QUEUE]


RULE = ObjectRule(
    "queue-name-misplaced",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Move the queue-name label to the place that the message names.",
    judges=KINDS,
    check=check,
    fix=Fix.UNSAFE,
)
