"""A pod or PodGroup has a PriorityClass that does not exist."""

from collections.abc import Iterator

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import At
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
    for owner, at, name, effect in _references(facts.cluster) if classes.any else ():
        if is_subdomain(name) and name not in BUILT_IN and not classes.knows(name):
            yield Hit(
                RULE,
                f'{owner} has PriorityClass "{name}", which does not exist, so {effect}; '
                f"{suggest(name, classes.names())}",
                at.to("spec", "priorityClassName"),
            )


def _references(cluster: Cluster) -> Iterator[tuple[str, At, str, str]]:
    """Each object with a PriorityClass, its place, the name, and the effect if that is unknown."""
    for workload in cluster.workloads:
        for template in workload.templates:
            name = template.spec.priority_class_name
            yield str(workload), template.at, name, "the API server refuses its pods"
    for gang in gang_objects(cluster):
        yield (
            str(gang),
            gang.at,
            gang.fields.priority_class_name,
            f"Volcano gives {gang} priority 0",
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
