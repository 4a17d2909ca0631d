"""What the API server would refuse in each object, checked once for all rules that report it."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from msgspec import Struct, field, structs

from policygen.api_validation import schemas
from policygen.api_validation.metadata import NOT_APPLIED, apply_refusals, is_subdomain
from policygen.api_validation.prevalidate import METADATA, acceptor
from policygen.api_validation.refusal import Reason, Refusal
from policygen.api_validation.refusals import refusals as api_refusals
from policygen.api_validation.refusals import refusals_with_apply
from policygen.core import quantity
from policygen.core.finding import At, Edit, Path, Verb, at_path
from policygen.core.label_grammar import key_fault
from policygen.kubernetes import renames
from policygen.kubernetes.cluster import VOLCANO, VOLCANO_BATCH, Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import TEMPLATES
from policygen.lint.core import template_fields
from policygen.lint.core.pod_templates import Part, PodPart, specs_in, templates_of
from policygen.lint.rule import Facts

_COMPONENTS = {"kueue.x-k8s.io": "kueue", "volcano.sh": "volcano"}
"""The component whose release defines the kinds of a group, by the end of the group."""

_QUANTITIES = ("nominalQuota", "borrowingLimit", "lendingLimit", "weight")
_MADE_ONLY = " ({} corrects the value when the object is created, but every update is refused)"

_SOURCE: Path = ("spec", "kubeConfig")
"""A field of v1beta1 whose replacement is then missing."""

MANY = 70
"""Objects of one kind that are worth prevalidation: its schema takes 2 ms to compile, and then each object
takes 0.005 ms instead of 0.035 ms. A schema with pods takes 12 ms, so it needs three times as many."""


class FoundRefusal(Struct, frozen=True, eq=False):
    """A refusal of an object: the place, the message, and the edits that fix it.

    Not a Hit: rules for its reason add their name, and may skip it because of its object.
    """

    object: Object
    at: At
    message: str
    edits: tuple[Edit, ...]


class Refused(Struct, frozen=True, eq=False):
    """All refusals by reason."""

    found: Mapping[Reason, tuple[FoundRefusal, ...]]
    objects: frozenset[At]
    """The roots of the objects that a server refuses to create."""
    misspelt: Mapping[At, Mapping[Path, str]]
    """For each object, by its root: the paths of unknown fields, and the missing field that each resembles."""
    miswritten: Mapping[At, Mapping[Path, Any]] = field(default_factory=dict)
    """For each object, by its root: the paths of refused values, and what probably was meant."""
    accepted: frozenset[At] = frozenset()
    """The roots of the objects in which prevalidation accepted everything, or everything except the metadata."""
    plain: frozenset[At] = frozenset()
    """The roots of the objects in which prevalidation accepted the pods: those of `plain_pods`."""


def refused(cluster: Cluster) -> Refused:
    """Check every object whose kind a recorded server serves."""
    checked = [it for it in cluster.objects if it.at not in cluster.context]
    return _checked(checked, applied=cluster.seen is None)


def unsure_pods(cluster: Cluster) -> tuple[PodPart, ...]:
    """The `spec` of each pod or template in which rules about its fields can find a fault."""
    return cluster.derive(_unsure_pods)


def _unsure_pods(cluster: Cluster) -> tuple[PodPart, ...]:
    return tuple(specs_in(cluster.derive(_unsure_templates)))


def unsure_templates(cluster: Cluster) -> Iterator[Part]:
    """The pod templates in whose metadata a rule can find a fault."""
    return (it for it in cluster.derive(_unsure_templates) if it.steps)


def _unsure_templates(cluster: Cluster) -> tuple[Part, ...]:
    plain = cluster.derive(refused).plain
    # The schema of a Job of Volcano is that of its definition.
    unsure = (
        it for it in cluster.workloads if it.at not in plain or it.object.group == VOLCANO_BATCH
    )
    return tuple(templates_of(unsure))


def as_meant(
    before: Refused, objects: Iterable[Object], others: Mapping[At, Object]
) -> tuple[list[Object], Refused]:
    """The objects of manifests as they were probably meant, and their refusals.

    Misspelled fields are renamed and miswritten values rewritten. `others`: the objects with other faults,
    such as a wrong kind, as they should be; the fields that these misspell, too, remain.
    """
    changed = {*before.misspelt, *before.miswritten, *others}
    every = [
        others.get(it.at) or (_as_meant(it, before) if it.at in changed else it) for it in objects
    ]
    again = _checked([it for it in every if it.at in changed], applied=True)
    found = {
        reason: (
            *(it for it in before.found.get(reason, ()) if it.object.at not in changed),
            *again.found.get(reason, ()),
        )
        for reason in {*before.found, *again.found}
    }
    unclear = {at: again.misspelt[at] for at in again.misspelt if at in others}
    refused_objects = before.objects - changed | again.objects
    accepted = before.accepted - changed | again.accepted
    plain = before.plain - changed | again.plain
    return every, Refused(found, refused_objects, unclear, accepted=accepted, plain=plain)


def _as_meant(obj: Object, refused: Refused) -> Object:
    """The object with other names and values of some fields."""
    made = deepcopy(obj.data)
    for path, value in refused.miswritten.get(obj.at, {}).items():
        at_path(made, path[:-1])[path[-1]] = value
    for path, name in refused.misspelt.get(obj.at, {}).items():
        holder = at_path(made, path[:-1])
        value = holder.pop(path[-1])
        holder.setdefault(name, value)
    return Object.read(made, obj.at) or structs.replace(obj, data=made)


def _checked(objects_: Sequence[Object], *, applied: bool) -> Refused:
    """`applied`: they are manifests, not objects of a cluster."""
    found: dict[Reason, list[FoundRefusal]] = {}
    objects, accepted, plain = set(), set(), set()
    misspelt: dict[At, dict[Path, str]] = {}
    miswritten: dict[At, dict[Path, Any]] = {}
    often = Counter((obj.api_version, obj.kind) for obj in objects_)
    many = {kind for kind, number in often.items() if number >= _worth(*kind)}
    acceptors = {kind: acceptor(*kind) for kind in many if schemas.served(*kind) is not None}
    described = {kind for kind in acceptors if not template_fields.pod_paths(*kind)}
    for obj in objects_:
        kind = obj.api_version, obj.kind
        moved: Mapping[Path, tuple[str, tuple[Edit, ...]]] | None = None
        part = acceptors[kind].unsure_part(obj.data) if kind in acceptors else ()
        if part is None or part == METADATA:
            accepted.add(obj.at)
        if part is None or (part and not _has_pods(obj, part)):
            plain.add(obj.at)
        if part is None and kind in described and NOT_APPLIED.isdisjoint(obj.data["metadata"]):
            continue  # its schema describes all fields, and it has none that server-side apply refuses
        for refusal, corrected in _refusals(obj, part, many=kind in many, applied=applied):
            moved = renames.leftovers(obj) if moved is None else moved
            if not corrected and refusal.reason is not Reason.SERVER_SIDE_APPLY:
                objects.add(obj.at)
            field = (*refusal.path[:-1], refusal.meant)
            of_field = refusal.reason is Reason.UNKNOWN_FIELD
            if of_field and refusal.meant and not _is_there(obj.data, field):
                misspelt.setdefault(obj.at, {})[refusal.path] = refusal.meant
            if (value := _likely_value(obj, refusal)) is not None:
                miswritten.setdefault(obj.at, {})[refusal.path] = value
            if refusal.reason is not Reason.MISSING_FIELD or _SOURCE not in moved:
                one = _found(obj, refusal, moved.get(refusal.path), corrected)
                reason = Reason.UPDATE if corrected else refusal.reason
                found.setdefault(reason, []).append(one)
    reasons = {reason: tuple(ones) for reason, ones in found.items()}
    return Refused(
        reasons,
        frozenset(objects),
        misspelt,
        miswritten,
        accepted=frozenset(accepted),
        plain=frozenset(plain),
    )


def _has_pods(obj: Object, part: Path) -> bool:
    """Whether a part of an object can contain a part of its pods."""
    paths = [it.templates for it in TEMPLATES.get((obj.group, obj.kind), ())]
    return part != METADATA and any(not it or part[:2] == it[: len(part)][:2] for it in paths)


def _worth(api_version: str, kind: str) -> int:
    """The number of objects from which prevalidation is worth it."""
    has_pods = (api_version.rpartition("/")[0], kind) in TEMPLATES
    return 3 * MANY if has_pods else MANY


def _likely_value(obj: Object, refusal: Refusal) -> Any:
    """What a refused value probably means, where rules would otherwise use another value; else None.

    Values of a wrong type count as invalid fields, except labels and annotations, which rules skip. Names
    and the prefixes of label keys have no capital letters.
    """
    verb, to = refusal.fix or (None, "")
    if verb is Verb.REWRITE and refusal.reason is Reason.VALUE:
        return to
    if refusal.reason is Reason.VALUE and refusal.meant:
        return refusal.meant
    if refusal.path[-1:] == ("nodeLabel",):
        label = at_path(obj.data, refusal.path)
        prefix, slash, name = label.rpartition("/") if isinstance(label, str) else ("", "", "")
        lowered = f"{prefix.lower()}{slash}{name}"
        return lowered if lowered != label and not key_fault(lowered) else None
    if refusal.reason in (Reason.NAME, Reason.FORMAT) and not refusal.key:
        name = at_path(obj.data, refusal.path)
        is_upper = isinstance(name, str) and name != name.lower() and is_subdomain(name.lower())
        return name.lower() if is_upper else None
    if verb is Verb.QUOTE and refusal.path[-2:-1] in {("labels",), ("annotations",)}:
        return json.dumps(at_path(obj.data, refusal.path))
    return None


def _refusals(
    obj: Object, part: Path | None, *, many: bool, applied: bool
) -> Iterator[tuple[Refusal, str]]:
    """The refusals of an object, with the component that corrects each value on create, or "".

    `part`: what `Acceptor.unsure_part` returned. `applied`: it is a manifest, not an object of a cluster.
    """
    kind = obj.api_version, obj.kind
    served = schemas.served(*kind)
    if applied:
        yield from ((it, "") for it in template_fields.misspelt(obj, many=many))
    if served is None:
        return
    if applied:
        yield from ((it, "") for it in apply_refusals(obj.data.get("metadata")))
    if part is None:
        return
    judged = (
        refusals_with_apply(obj.data, served, part) if applied else api_refusals(obj.data, served)
    )
    found = [(it, _corrected_by(obj, it)) for it in judged]
    yield from found
    corrected = [it for it, by in found if by]
    if corrected:
        # Validation rules do not run on a value with another fault, but they run on the corrected value.
        created = _corrected(obj.data, corrected)
        known = {it.path for it, _ in found}
        for refusal in api_refusals(created, served):
            if refusal.reason is Reason.CRD_RULE and refusal.path not in known:
                yield refusal, _corrected_by(obj, refusal)


def _corrected(data: dict[str, Any], refusals_: Iterable[Refusal]) -> dict[str, Any]:
    """The data with what webhooks write on create: an amount for an amount, and no empty text."""
    made = deepcopy(data)
    for refusal in refusals_:
        *above, last = refusal.path
        holder: Any = made
        for step in above:
            holder = holder[step]
        if refusal.reason is Reason.MISSING_FIELD:
            holder[last] |= {"value": ""} if _is_header(refusal) else {"nominalQuota": "0"}
        elif holder[last] is None:
            holder[last] = {"name": ""} if "admissionChecksStrategy" in above else ""
        elif holder[last] == "":
            del holder[last]
        else:
            holder[last] = 1 if holder[last] == 0 else "1"
    return made


def _is_there(data: Any, path: Path) -> bool:
    *above, last = path
    for step in above:
        data = data[step]
    return last in data


def _found(
    obj: Object,
    refusal: Refusal,
    moved: tuple[str, tuple[Edit, ...]] | None,
    corrected: str,
) -> FoundRefusal:
    at = obj.at.to(*refusal.path)
    fix = refusal.fix
    message, edits = moved or (
        refusal.message,
        (Edit(fix[0], at, fix[1]),) if fix else (),
    )
    if corrected:
        fault, semicolon, remedy = message.rpartition("; ")
        message = f"{fault}{_MADE_ONLY.format(corrected)}{semicolon}{remedy}"
    return FoundRefusal(obj, at.on_key() if refusal.key else at, f"{obj}: {message}", edits)


def _corrected_by(obj: Object, refusal: Refusal) -> str:
    """The component whose webhook corrects the value, only on create; empty if no webhook does.

    A mutating webhook writes what it has decoded: Kueue all of a ClusterQueue, Volcano the tasks of a
    Job. So a quantity in another form becomes canonical, and an empty text is dropped. Volcano
    also replaces a weight of 0 with 1. Source: pkg/webhooks/clusterqueue_webhook.go of Kueue,
    `verbs=create`; pkg/webhooks/admission/{queues,jobs}/mutate of Volcano.
    """
    kind, path = (obj.group, obj.kind), refusal.path
    if kind == ("kueue.x-k8s.io", "ClusterQueue") and path and path[-1] in _QUANTITIES:
        value = at_path(obj.data, path)
        number = refusal.reason is Reason.TYPE and isinstance(value, int | float)
        decoded = refusal.reason is Reason.FORMAT or (number and not isinstance(value, bool))
        return "Kueue" if decoded and _is_read(obj, path) else ""
    if kind == ("kueue.x-k8s.io", "ClusterQueue") and at_path(obj.data, path) is None:
        return "Kueue" if _may_be_empty(obj, path) else ""
    if kind == ("kueue.x-k8s.io", "ClusterQueue") and refusal.reason is Reason.VALUE:
        return "Kueue" if at_path(obj.data, path) == "" else ""
    if kind == ("kueue.x-k8s.io", "ClusterQueue") and refusal.reason is Reason.MISSING_FIELD:
        return "Kueue" if "field nominalQuota" in refusal.message else ""
    if kind == (VOLCANO_BATCH, "Job") and path == ("spec", "queue"):
        return "Volcano" if at_path(obj.data, path) == "" else ""
    if kind == (VOLCANO_BATCH, "Job") and path[:2] == ("spec", "tasks") and _writes_tasks(obj):
        value = at_path(obj.data, path)
        dropped = value == "" and path[-1] in ("name", "topologyPolicy")
        written = refusal.reason is Reason.FORMAT or isinstance(value, float)
        of_amount = "resources" in path or path[-1] == "sizeLimit"
        amount = written and of_amount and _is_read(obj, path)
        return "Volcano" if dropped or amount or _is_header(refusal) else ""
    zero = path == ("spec", "weight") and mapping(obj.data, "spec").get("weight") == 0
    return "Volcano" if kind == (VOLCANO, "Queue") and zero else ""


def _is_header(refusal: Refusal) -> bool:
    """Whether a header of a probe or hook of a pod has no value: Go writes an empty one, which is valid."""
    return (
        refusal.reason is Reason.MISSING_FIELD
        and refusal.path[-2:-1] == ("httpHeaders",)
        and "field value" in refusal.message
    )


def _may_be_empty(queue: Object, path: Path) -> bool:
    """Whether Kueue makes a null in a list of a ClusterQueue an empty text that is valid there.

    Measured with Kueue 0.19.2: it is created, and every update or apply of the same is refused.
    """
    match path:
        case ("spec", "admissionChecks", int()):
            return True
        case ("spec", "admissionChecksStrategy", "admissionChecks", int()):
            return queue.version == "v1beta1"
        case ("spec", "namespaceSelector", "matchExpressions", int(), "values", int()):
            return True
    return False


def _writes_tasks(job: Object) -> bool:
    """Whether Volcano's webhook sets a default in a task, and with it writes all tasks again.

    Source: pkg/webhooks/admission/jobs/mutate/mutate_job.go of Volcano 1.14.1, mutateSpec.
    """
    tasks = mapping(job.data, "spec").get("tasks")
    return any(
        not task.get("name") or task.get("minAvailable") is None or not task.get("maxRetry")
        for task in (tasks if isinstance(tasks, list) else ())
        if isinstance(task, dict)
    )


def _is_read(obj: Object, path: Path) -> bool:
    """Whether a server decodes a value as a quantity that its schema refuses."""
    try:
        quantity.read(at_path(obj.data, path))
    except ValueError:
        return False
    return True


def refusals(facts: Facts, reason: Reason, *, known_releases: bool) -> Iterator[FoundRefusal]:
    """The refusals for one reason.

    With `known_releases`, without kinds that may be different in the target release, because it is
    later than the recorded server.
    """
    for refusal in facts.cluster.derive(refused).found.get(reason, ()):
        of = component(refusal.object)
        if not known_releases or schemas.covers(of, facts.target[of]):
            yield refusal


def component(obj: Object) -> str:
    """The component whose release defines the kind of an object: kubernetes, kueue or volcano."""
    for end, name in _COMPONENTS.items():
        if obj.group.endswith(end):
            return name
    return "kubernetes"
