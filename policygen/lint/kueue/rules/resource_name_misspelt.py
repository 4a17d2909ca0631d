"""A quota, a LimitRange or a pod names a resource whose name looks misspelled."""

from collections.abc import Collection
from functools import cache, partial

from policygen.core.standard_resources import known_to_containers
from policygen.kubernetes.core import LimitRangeView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.containers import containers
from policygen.lint.core.resource_names import meant, provided
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.quotas import covered_resources, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_FIELDS = ("default", "defaultRequest", "max", "min", "maxLimitRequestRatio")
"""The fields of a LimitRange with names of resources."""


def check(facts: Facts) -> Hits:
    """Kueue accepts any label key as a resource, and the API server any name with a domain.

    The quota is never used, and what jobs request is not covered; a pod with such a request stays
    Pending, and so does one that gets it from a LimitRange. Names that nodes have, or that the Configuration mentions, are accepted.
    Source: pkg/webhooks/clusterqueue_webhook.go (only the syntax is checked).
    """
    rules = settings(facts)
    there = facts.cluster.derive(provided) | rules.transformations.keys()
    for owner in owners(facts.cluster):
        for at, name in covered_resources(owner):
            right = None if rules.makes(name) else meant(name, there)
            if right is not None:
                yield Hit(
                    RULE,
                    f'{owner} has quota for "{name}", which is not a known resource of nodes; '
                    f'did you mean "{right}"?',
                    at,
                )
    for entry in facts.cluster.limit_ranges:
        yield from _limits(entry, there)
    if "pod-fits-no-node" in facts.run and facts.cluster.nodes.any:
        return  # it reports the pods
    reported = set()
    right_name = cache(partial(meant, there=there))
    for placed in containers(facts.cluster):
        resources, workload = placed.container.resources, placed.workload
        for field, amounts in (("limits", resources.limits), ("requests", resources.requests)):
            for name in amounts:
                right = right_name(name) if "/" in name else None
                if right is None or not known_to_containers(name) or (workload, name) in reported:
                    continue
                reported.add((workload, name))
                yield Hit(
                    RULE,
                    f'{workload} requests "{name}", which is not a known resource of nodes, so its '
                    f'pods stay Pending; did you mean "{right}"?',
                    placed.at.to("resources", field, name).on_key(),
                )


def _limits(entry: Entry[LimitRangeView], there: Collection[str]) -> Hits:
    """The first place of each misspelled resource of a LimitRange."""
    seen = set()
    for i, item in enumerate(entry.fields.limits):
        written = entry.object.data["spec"]["limits"][i]
        filled = item.filled_requests if item.type == "Container" else {}
        for field in _FIELDS:
            for name in mapping(written, field):
                new = "/" in name and name not in seen and known_to_containers(name)
                right = meant(name, there) if new else None
                if right is None:
                    continue
                seen.add(name)
                effect = "pods that get it stay Pending" if filled.get(name) else "it has no effect"
                yield Hit(
                    RULE,
                    f'{entry} sets {field} of "{name}", which is not a known resource of nodes, so '
                    f'{effect}; did you mean "{right}"?',
                    entry.at.to("spec", "limits", i, field, name).on_key(),
                )


RULE = ObjectRule(
    "resource-name-misspelt",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the name that nodes have in status.allocatable.",
    judges=("ClusterQueue", "Cohort", "LimitRange", *KINDS),
    check=check,
    reads=("Node", "Configuration"),
)
