"""A quota, a LimitRange, a pod or a Node names a resource whose name looks misspelled."""

from collections.abc import Collection, Iterator

from policygen.core.finding import At, Edit, Verb
from policygen.core.quoting import some
from policygen.core.standard_resources import known_to_containers
from policygen.kubernetes.core import LimitRangeView, NodeView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.containers import amounts as amounts_of_containers
from policygen.lint.core.containers import containers
from policygen.lint.core.resource_names import meant, provided
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.quotas import Owner, covered_resources, owners, quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.queues import amounts

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
                    meant=tuple(Edit(Verb.REWRITE, it, right) for it in _places(owner, at, right)),
                )
    for entry in facts.cluster.limit_ranges:
        yield from _limits(entry, there)
    yield from _of_nodes(facts)
    if "pod-fits-no-node" in facts.run and facts.cluster.nodes.any:
        return  # it reports the pods
    wrong = {
        name: right
        for name in amounts_of_containers(facts.cluster)
        if "/" in name and known_to_containers(name)
        if (right := meant(name, there)) is not None
    }
    reported = set()
    for placed in containers(facts.cluster) if wrong else ():
        resources, workload = placed.container.resources, placed.workload
        for field, requested in (("limits", resources.limits), ("requests", resources.requests)):
            for name in requested:
                right = wrong.get(name)
                if right is None or (workload, name) in reported:
                    continue
                reported.add((workload, name))
                yield Hit(
                    RULE,
                    f'{workload} requests "{name}", which is not a known resource of nodes, so its '
                    f'pods stay Pending; did you mean "{right}"?',
                    placed.at.to("resources", field, name).on_key(),
                )


def _of_nodes(facts: Facts) -> Hits:
    """Nodes in manifests whose resource is nearly that of another node, and that no queue and no pod names."""
    cluster = facts.cluster
    there = cluster.derive(provided)
    right_names = {it: right for it in there if (right := meant(it)) in there and "/" in it}
    if not right_names or cluster.seen is not None:
        return  # the kubelets of a cluster report what they have
    right_names = {it: right_names[it] for it in right_names if it not in _named(facts)}
    found: dict[str, list[Entry[NodeView]]] = {}
    for node in cluster.nodes if right_names else ():
        own = node.fields.status.allocatable.keys()
        for name in own & right_names.keys():
            if right_names[name] not in own and node.at not in cluster.context:
                found.setdefault(name, []).append(node)
    for name, nodes in found.items():
        places = [
            node.at.to("status", field, name).on_key()
            for node in nodes
            for field in ("allocatable", "capacity")
            if name in mapping(node.object.data["status"], field)
        ]
        yield Hit(
            RULE,
            f"{some([str(it) for it in nodes], 'other node')} {'has' if len(nodes) == 1 else 'have'} the resource "
            f'"{name}", which no queue and no pod names; did you mean "{right_names[name]}", which other nodes have?',
            places[0],
            tuple(places[1:]),
            meant=tuple(Edit(Verb.RENAME, it, right_names[name]) for it in places),
        )


def _named(facts: Facts) -> Collection[str]:
    """The resources that queues and pods name."""
    found = {name for owner in owners(facts.cluster) for _, name in covered_resources(owner)}
    for queue in facts.cluster.queues:
        found.update(*amounts(queue.fields).values())
    for placed in containers(facts.cluster):
        resources = placed.container.resources
        found.update(resources.limits, resources.requests)
    return found


def _places(owner: Owner, at: At, right: str) -> Iterator[At]:
    """All places of a name in coveredResources and in quotas, if the owner does not have the right one too."""
    covered = dict(covered_resources(owner))
    if right not in covered.values():
        yield at
        for placed in quotas(owner):
            if placed.resource == covered[at]:
                yield placed.at / "name"


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
    judges=("ClusterQueue", "Cohort", "LimitRange", "Node", *KINDS),
    check=check,
    reads=("Configuration", "Queue"),
)
