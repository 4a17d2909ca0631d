"""A pod or PodGroup has a PriorityClass that does not exist."""

from collections.abc import Iterator
from typing import NamedTuple

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import At
from policygen.core.quoting import listed
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.priorities import BUILT_IN
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.queues import gang_objects


def check(facts: Facts) -> Hits:
    """Pods are refused when they are created; a PodGroup silently has priority 0.

    Checks only if the input has PriorityClasses. Other rules report names that no class can have.
    Source: plugin/pkg/admission/priority; volcano's pkg/scheduler/cache/cache.go.
    """
    classes = facts.cluster.priority_classes
    found: dict[tuple[At, str], list[_Reference]] = {}
    for it in _references(facts.cluster) if classes.any else ():
        if is_subdomain(it.name) and it.name not in BUILT_IN and not classes.knows(it.name):
            found.setdefault((it.root, it.name), []).append(it)
    for (_, name), references in found.items():
        first, *others = references
        effects = dict.fromkeys(it.effect for it in references)
        fields = f" (in {len(references)} fields)" if others else ""
        yield Hit(
            RULE,
            f'{first.owner} has PriorityClass "{name}"{fields}, which does not exist, so '
            f"{listed([*effects], 'and')}; {suggest(name, classes.names())}",
            first.at,
            tuple(it.at for it in others),
        )


class _Reference(NamedTuple):
    """A field with the name of a PriorityClass."""

    owner: str
    root: At
    """The place of the object."""
    at: At
    name: str
    effect: str
    """What happens if the class does not exist."""


def _references(cluster: Cluster) -> Iterator[_Reference]:
    """All fields of PodGroups, Volcano Jobs and pod templates that name a PriorityClass."""
    field = ("spec", "priorityClassName")
    for gang in gang_objects(cluster):
        name, effect = gang.fields.priority_class_name, f"Volcano gives {gang} priority 0"
        yield _Reference(str(gang), gang.at, gang.at.to(*field), name, effect)
    for workload in cluster.workloads:
        for template in workload.templates:
            yield _Reference(
                str(workload),
                workload.at,
                template.at.to(*field),
                template.spec.priority_class_name,
                "the API server refuses its pods",
            )


RULE = ObjectRule(
    "priority-class-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the name of an existing PriorityClass, or create the PriorityClass first.",
    judges=("PodGroup", *KINDS),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("PriorityClass",),
)
