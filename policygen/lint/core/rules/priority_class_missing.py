"""A pod or PodGroup has a PriorityClass that does not exist."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import At
from policygen.core.quoting import listed
from policygen.core.suggest import Names, suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.priorities import BUILT_IN, default
from policygen.kubernetes.untyped import text
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.renamed_objects import NameUse, renamed_objects
from policygen.lint.core.scheduling_policies import scheduling_policies
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity, written
from policygen.lint.volcano.queues import gang_objects


def check(facts: Facts) -> Hits:
    """Pods are refused when they are created; a PodGroup silently has the default priority.

    Checks only if the input has PriorityClasses. Of pods and Volcano Jobs, other rules report names that no
    class can have; for PodGroups, no server checks the name.
    Source: plugin/pkg/admission/priority; volcano's pkg/scheduler/cache/cache.go.
    """
    classes = facts.cluster.priority_classes
    found: dict[tuple[At, str], list[_Reference]] = {}
    every = [
        it
        for it in (_references(facts.cluster) if classes.any else ())
        if it.name and it.name not in BUILT_IN
    ]
    uses = (NameUse(it.owner, it.name, it.at) for it in every)
    renamed = renamed_objects(uses, classes, _other_uses(facts.cluster))
    for other in renamed.values():
        yield from other.hits(facts, RULE)
    for it in every:
        is_valid = it.is_free or is_subdomain(it.name)
        if is_valid and it.name not in renamed and not classes.knows(it.name):
            found.setdefault((it.root, it.name), []).append(it)
    for (_, name), references in found.items():
        first, *others = references
        effects = dict.fromkeys(it.effect for it in references)
        fields = f" (in {len(references)} fields)" if others else ""
        candidates = Names(_candidates(name, classes.names()))
        meant = candidates.meant(name)
        yield Hit(
            RULE,
            f'{first.owner} has PriorityClass "{name}"{fields}, which does not exist, so '
            f"{listed([*effects], 'and')}; {suggest(name, candidates)}",
            first.at,
            tuple(it.at for it in others),
            meant=tuple(edit for it in references for edit in written(it.at, meant)),
        )


def _other_uses(cluster: Cluster) -> Iterator[str]:
    """The classes that a ResourceQuota names, or that pods without a class get."""
    for quota in cluster.resource_quotas:
        selector = quota.fields.scope_selector
        for expression in selector.match_expressions if selector else ():
            yield from expression.values
    for class_ in cluster.priority_classes:
        if class_.fields.global_default:
            yield class_.name


def _candidates(name: str, declared: Iterable[str]) -> list[str]:
    """The classes that were meant: those of Kubernetes only if the name is similar."""
    own = Names(BUILT_IN).meant(name)
    return [own] if own else [*declared]


class _Reference(NamedTuple):
    """A field with the name of a PriorityClass."""

    owner: str
    root: At
    """The place of the object."""
    at: At
    name: str
    effect: str
    """What happens if the class does not exist."""
    is_free: bool = False
    """Whether servers accept a name that no class can have."""


def _references(cluster: Cluster) -> Iterator[_Reference]:
    """All fields of PodGroups, Volcano Jobs, training jobs and pod templates that name a PriorityClass."""
    field, priority = ("spec", "priorityClassName"), default(cluster)
    for gang in gang_objects(cluster):
        name, effect = gang.fields.priority_class_name, f"Volcano gives {gang} priority {priority}"
        is_group = gang.object.kind == "PodGroup"
        yield _Reference(str(gang), gang.at, gang.at.to(*field), name, effect, is_group)
    for policy in scheduling_policies(cluster):
        owner = str(policy.workload)
        yield _Reference(
            owner,
            policy.workload.at,
            policy.at("priorityClass"),
            text(policy.data, "priorityClass"),
            f"Volcano gives the PodGroup of {owner} priority {priority}",
            is_free=True,
        )
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
    judges=("PodGroup", "PriorityClass", *KINDS),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("PriorityClass", "ResourceQuota"),
)
