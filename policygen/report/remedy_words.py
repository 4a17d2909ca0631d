"""Sentences about the changes that let a workload start, what they cost, and when it starts."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from policygen.core import quantity
from policygen.core.durations import duration
from policygen.core.finding import dotted
from policygen.core.quoting import counted, listed
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.kueue_jobs import MIN_PARALLELISM
from policygen.report.amount_words import amount, bare_amount, names, taint_text
from policygen.simulate.kueue.amounts import shown
from policygen.simulate.why.changes import (
    AffinityRemoved,
    Change,
    ConstraintRemoved,
    FewestPodsChange,
    FieldChange,
    ObjectAdded,
    OwnChange,
    PodsChange,
    PodSetChange,
    PriorityChange,
    QueueChange,
    RequestChange,
    SelectorChange,
    SpecChange,
    SpecEdit,
    TolerationAdded,
)
from policygen.simulate.why.fit import FitOutcome
from policygen.simulate.why.remedy import Cost, Remedy
from policygen.simulate.why.start import Start


def remedy(changes: Sequence[Change], place: str = "") -> str:
    """What to change, as an imperative. `place` is the file and line of the workload."""
    words = [change(it) for it in changes]
    own = [i for i, it in enumerate(changes) if isinstance(it, OwnChange)]
    if own and place:
        words[own[-1]] += f" ({place})"
    return f"{_joined(words)}."


def options(changes: Sequence[Change]) -> str:
    """The options of `policygen fit` that make these changes: `--pods 2 --gpus 4`."""
    return " ".join(it for one in changes for it in _option(one))


def _option(it: Change) -> Iterator[str]:
    match it:
        case PodsChange(after=after):
            yield f"--pods {after}"
        case RequestChange(resource=resource, after=after) if is_one(resource):
            yield f"--gpus {after}"
        case RequestChange(resource="cpu" | "memory" as resource, after=after) if after:
            yield f"--{resource} {shown(resource, after)}"
        case QueueChange(after=after):
            yield f"--pool {after}"
        case PriorityChange(class_name=name) if name:
            yield f"--priority {name}"
        case FieldChange(name="", path=("spec", "queue"), after=after):
            yield f"--pool {after}"
        case FieldChange(name="", path=("spec", "priorityClassName"), after=after):
            yield f"--priority {after}"
        case _:
            pass


def _joined(found: Sequence[str]) -> str:
    """Imperatives as one sentence."""
    return "; ".join([found[0], *(it[0].lower() + it[1:] for it in found[1:])])


def change(it: Change) -> str:
    """One change, as an imperative without a period."""
    match it:
        case FieldChange(place=place):
            return f"{_field(it)}{f' ({place})' if place else ''}"
        case ObjectAdded():
            return _added(it)
        case SpecChange(edits=edits):
            return _joined([_edit(one) for one in edits])
        case QueueChange(before=before, after=after):
            return f"Use LocalQueue {after}{f' instead of {before}' if before else ''}"
        case PriorityChange(after=after, class_name=name, of_pods=True):
            return f"Set priorityClassName of its pods to {name} ({after})"
        case PriorityChange(after=after, class_name=name, of_spec=of_spec):
            if name:
                return f"Use the priority class {name} ({after})"
            if of_spec:
                return f"Add a priority with the value {after} to the Platform, and use it"
            return f"Create a WorkloadPriorityClass with the value {after}, and use it"
        case FewestPodsChange(after=after, pods=pods):
            return f'Set {MIN_PARALLELISM}: "{after}", so that it can run with {after} of its {pods} pods'
        case _:
            return f"{_of_pods(it)}{_of_set(it.pod_set)}"


def _edit(it: SpecEdit) -> str:
    """A change of one field of a spec."""
    place = f" ({it.place})" if it.place else ""
    if it.kind == "ResourcePool":
        return f"Set {it.field} of pool {it.name} to {it.after}{place}"
    verb = "Raise" if _number(it.after) > _number(it.before) else "Lower"
    what = f"{it.field} {it.profile}".rstrip()
    where = f" in pool {it.pool}" if it.pool else ""
    return f"{verb} {what} of team {it.name}{where} from {it.before} to {it.after}{place}"


def _added(it: ObjectAdded) -> str:
    metadata = it.data["metadata"]
    name = "/".join(filter(None, [metadata.get("namespace", ""), metadata["name"]]))
    queue = it.data["spec"].get("clusterQueue")
    return f"Create {it.data['kind']} {name}{f' for ClusterQueue {queue}' if queue else ''}"


def _of_pods(it: PodSetChange) -> str:
    match it:
        case PodsChange(before=before, after=after):
            return f"Run {counted(after, 'pod')} instead of {before}"
        case RequestChange(resource=resource, after=0):
            return f"Remove the request for {resource}"
        case RequestChange(resource=resource, before=before, after=after):
            old = bare_amount(resource, before)
            return f"Request {amount(resource, after)} in each pod instead of {old}"
        case TolerationAdded(toleration=one):
            return f"Add a toleration for the taint {taint_text(one)}"
        case SelectorChange(key=key, before=before, after=None):
            return f"Remove {key}: {before} from nodeSelector"
        case SelectorChange(key=key, before=before, after=after):
            return f"Select nodes with {key}: {after}{f' instead of {before}' if before else ''}"
        case AffinityRemoved():
            return "Remove the required node affinity"
        case ConstraintRemoved(field="topologySpreadConstraints"):
            return "Write ScheduleAnyway in topologySpreadConstraints"
        case ConstraintRemoved(field=field):
            return f"Remove the required terms of {field}"


def _of_set(name: str) -> str:
    return "" if name in ("", "main") else f" (pod set {name})"


def _field(it: FieldChange) -> str:
    named = f"{it.kind} {'/'.join(filter(None, [it.namespace, it.name]))}"
    name = named if it.name else "the job"  # `fit` asks about one that does not exist
    field = str(it.path[-1])
    if field in ("nominalQuota", "borrowingLimit", "lendingLimit"):
        verb = "Raise" if _number(it.after) > _number(it.before) else "Lower"
        return f"{verb} {field} of {it.of} in {name} from {it.before} to {it.after}"
    if it.path[:2] in (("spec", "hard"), ("spec", "capability")):
        return f"Raise {dotted(it.path[1:])} of {name} from {it.before} to {it.after}"
    if it.path[:2] == ("metadata", "labels"):
        return _label(it, field, name)
    if it.path[-2] == "annotations":
        before = f" instead of {it.before}" if it.before is not None else ""
        of = (
            name
            if len(it.path) == len(("metadata", "annotations", field))
            else f"the pods of {name}"
        )
        return f"Set the annotation {field} of {of} to {it.after}{before}"
    if it.kind == "Node":
        return f"Uncordon {name}"
    if it.path == ("status", "state"):
        return f"Open {name} with `vcctl queue operate -n {it.name} -a open`"
    path = dotted(it.path[1:] if it.path[0] == "spec" else it.path)
    if it.after is None:
        return f"Remove {path} from {name}"
    if isinstance(it.after, dict | list):
        more = f" so that it covers {it.of}" if it.of else ""
        return f"Change {path} of {name}{more}: {_brief(it.after)}"
    before = f" instead of {_brief(it.before)}" if it.before is not None else ""
    return f"Set {path} of {name} to {_brief(it.after)}{before}"


def _label(it: FieldChange, key: str, name: str) -> str:
    if it.after is None:
        return f"Remove the label {key} from {name}"
    if it.before is None or it.kind == "Namespace":
        return f"Add the label {key}: {it.after} to {name}"
    return f"Set the label {key} of {name} to {it.after} instead of {it.before}"


def _number(value: Any) -> Fraction:
    try:
        return quantity.read(value).value
    except ValueError:
        return Fraction(0)


def _brief(value: Any) -> str:
    """A value as flow YAML, or its keys if it is large."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        if "matchExpressions" in value:
            one = value["matchExpressions"][0]
            return f"{one['key']} in {listed(list(one['values']), 'or')}"
        if "coveredResources" in value:
            return f"coveredResources {names(value['coveredResources'])}"
        return ", ".join(f"{key}: {_brief(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(_brief(one) for one in value)
    return str(value)


def replicas(it: Remedy) -> str:
    """How many replicas it changes, as a sentence that others follow."""
    return (
        f"It changes all {it.replicas} replicas, and all of them then run. " if it.replicas else ""
    )


def costs(it: Cost) -> str:
    """What a change costs others, as sentences."""
    found = []
    if it.preempted:
        found.append(f"{names(it.preempted)} must leave.")
    if it.delayed:
        waits = "waits" if len(it.delayed) == 1 else "wait"
        found.append(f"{names(it.delayed)} {waits} longer.")
    if it.admitted:
        what = "is" if len(it.admitted) == 1 else "are"
        found.append(f"{names(it.admitted)} {what} admitted too.")
    return " ".join(found) or "No other workload must leave, and no other start is delayed now."


def ends(found: Sequence[str]) -> str:
    """Whose end lets it start."""
    return f"Without a change, it {starts_after(found)[3:]}"


def starts_after(found: Sequence[str]) -> str:
    """Whose end lets it start after a change; empty: it is not known, and the change helps it alone."""
    if not found:
        return "It starts when no other workload runs or waits."
    verb = "ends" if len(found) == 1 else "end"
    return f"It starts when {names(found)} {verb}."


def otherwise(found: Iterable[str]) -> str:
    """What a workload can also do."""
    return f"A tie: with other random choices of the schedulers, it {' or '.join(found)}."


def outcome(it: FitOutcome) -> str:
    """What becomes of a job that does not exist yet: `starts in 2h`."""
    if it.runs:
        return "would run now"
    if it.lasts:
        return "would never start"
    return f"starts in {duration(it.after)}" if it.after is not None else "would wait"


def start(it: Start) -> str:
    """When it starts by the durations of what runs."""
    if it.after is not None:
        have = "has" if len(it.ends) == 1 else "have"
        ended = f", when {names(it.ends)} {have} ended" if it.ends else ""
        leave = f" Then {names(it.preempts)} must leave." if it.preempts else ""
        added = [f"{counted(count, 'node')} to {name}" for name, count in it.nodes]
        nodes = f" An autoscaler adds {listed(added, 'and')} until then." if added else ""
        return f"It starts in {duration(it.after)}{ended}, if no other job arrives.{nodes}{leave}"
    if not it.unknown and it.left:
        holds = "holds" if len(it.left) == 1 else "hold"
        return (
            f"It does not start in a simulation until nothing changes any more: {names(it.left)} "
            f"still {holds} quota or nodes then."
        )
    if not it.unknown:
        return "It still waits when no other job runs any more."
    return (
        "policygen cannot know when it starts, because it does not know how long "
        f"{counted(it.unknown, 'running workload')} will run. Give --duration, such as 2h."
    )
