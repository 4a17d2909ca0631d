"""Refuses manifests that no server would accept, or that cannot be simulated as they are written."""

from collections.abc import Iterator, Mapping, Sequence

from policygen.core.errors import InvalidInputError
from policygen.core.finding import THERE, At, Finding, Place
from policygen.core.quoting import counted
from policygen.core.rule import Family, Severity
from policygen.core.versions import Version
from policygen.documents.document import Document
from policygen.kubernetes.cluster import VOLCANO_CONFIGURATION, Cluster
from policygen.kubernetes.locate import locate_objects
from policygen.kubernetes.manifests import Manifests
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import TEMPLATES
from policygen.lint import engine, registry
from policygen.lint.core.rules import container_without_image
from policygen.lint.rule import Facts
from policygen.report.phrases import where
from policygen.simulate.input_faults import input_faults

_SHOWN = 20
"""The most faults in an error."""
_KINDS = frozenset(
    {
        "ClusterQueue", "Cohort", "Configuration", "KubeSchedulerConfiguration", "LimitRange", "LocalQueue",
        "Node", "PodGroup", "PriorityClass", "Queue", "ResourceFlavor", "ResourceQuota", "Topology",
        "WorkloadPriorityClass", VOLCANO_CONFIGURATION,
    }
)  # fmt: skip
"""Kinds that decide about jobs."""
_RULES = tuple(
    it
    for it in registry.RULES
    if it.family is Family.INVALID and it.severity is Severity.ERROR and not it.needs
    if it is not container_without_image.RULE
)
"""The rules of lint about objects that a server refuses, whatever else exists.

`render --with workloads` leaves it to the user.
"""


def check(found: Manifests, target: Mapping[str, Version]) -> None:
    """Raises InvalidInputError with the faults of jobs, queues, nodes, classes and configurations."""
    faults = sorted({*_refused(found, target), *_unclear(found)}, key=_order)
    if not faults:
        return
    lines = [f"{at.file}:{at.line}:{at.column}: {message}" for at, message in faults[:_SHOWN]]
    if len(faults) > _SHOWN:
        lines.append(counted(f"{len(faults) - _SHOWN} more", "fault"))
    raise InvalidInputError(f"{counted(len(faults), 'fault')}; nothing was simulated", lines)


def _counts(it: Object) -> bool:
    return (it.group, it.kind) in TEMPLATES or it.kind in _KINDS


def _order(fault: tuple[Place, str]) -> tuple[str, int, int, str]:
    place, message = fault
    return place.file, place.line, place.column, message


def findings(
    objects: Sequence[Object], documents: Sequence[Document], target: Mapping[str, Version]
) -> list[Finding]:
    """What a server or a scheduler refuses of objects, as lint reports it."""
    if not objects:
        return []
    facts = Facts(Cluster(objects), target, frozenset())
    hits = (hit for outcome in engine.run(_RULES, facts) for hit in outcome.hits)
    return locate_objects(documents, objects, hits)


def _refused(found: Manifests, target: Mapping[str, Version]) -> Iterator[tuple[Place, str]]:
    """What is refused of objects that count in a simulation, except for images, which it does not use."""
    for it in findings([it for it in found.objects if _counts(it)], found.documents, target):
        if it.place is not None and not it.path.endswith(".image"):
            yield it.place, it.message


def _unclear(found: Manifests) -> Iterator[tuple[Place, str]]:
    """The objects that exist twice, and invalid times."""
    by_index = {it.index: it for it in found.documents}

    def place(at: At) -> Place:
        return by_index[at.document].place(at.path)

    for it in input_faults(found.objects):
        message = it.message.replace(THERE, where(place(it.other))) if it.other else it.message
        yield place(it.at), message
