"""What a ClusterQueue that lacks some of its quota probably means, so that only its fault is reported.

Otherwise other queues of the cohort seem to be the only ones with quota, and jobs to request what is not covered.
"""

from collections.abc import Mapping
from copy import deepcopy
from fractions import Fraction
from typing import Any

from policygen.api_validation.metadata import is_subdomain
from policygen.core.amounts import written
from policygen.core.finding import At, Edit, NewMapping, NewValue, Path, Verb, at_path
from policygen.core.suggest import Names
from policygen.kubernetes.cluster import KUEUE, Cluster
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.node_groups import NATIVE
from policygen.kubernetes.object import Object
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mappings, read_amount, text
from policygen.lint.core.resource_names import extended, provided
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.quotas import nominal_quotas

_ENOUGH = Fraction(1000)
"""An amount if neither nodes nor other queues show how much is meant."""
_SPEC: Path = ("spec",)
_GROUPS: Path = (*_SPEC, "resourceGroups")
_Data = dict[str, Any]


def probable_quotas(cluster: Cluster) -> Mapping[At, tuple[Edit, ...]]:
    """The edits that complete the quotas of incomplete ClusterQueues, by their roots; for `cluster.derive`.

    The values are those of another queue, one of the same cohort first, or of the nodes.
    """
    found = {}
    for obj in cluster.of(KUEUE, "ClusterQueue"):
        spec = at_path(obj.data, _SPEC)
        at, before = (_GROUPS, at_path(spec, _GROUPS[1:])) if spec else (_SPEC, spec)
        made: Any = _completed(cluster, obj, spec) if spec else _spec(cluster, obj)
        if made and made != before:
            verb = Verb.ADD if before is None else Verb.REWRITE
            found[obj.at] = (Edit(verb, obj.at.to(*at), _new(made)),)
    return found


def _spec(cluster: Cluster, obj: Object) -> _Data:
    """The spec of another queue, but for all namespaces."""
    other = _other(cluster, obj, None)
    spec = dict(other.object.data["spec"]) if other else {}
    groups = _completed(cluster, obj, None)
    return {**spec, "namespaceSelector": {}, "resourceGroups": groups}


def _other(cluster: Cluster, obj: Object, spec: Any) -> Entry[ClusterQueueView] | None:
    """Another queue with quota, preferably of the same cohort."""
    cohort = at_path(spec, ("cohortName",)) or at_path(spec, ("cohort",))
    others = [
        it
        for it in cluster.cluster_queues
        if it.at != obj.at and any(group.flavors for group in it.fields.resource_groups)
    ]
    return min(others, key=lambda it: it.fields.cohort_name != cohort, default=None)


def _completed(cluster: Cluster, obj: Object, spec: Any) -> list[_Data]:
    """The resource groups with all that Kueue requires, as they are where they are valid."""
    other = _other(cluster, obj, spec)
    made = deepcopy(mappings(spec, "resourceGroups"))
    if not made and other:
        return deepcopy(mappings(other.object.data["spec"], "resourceGroups"))
    groups = other.fields.resource_groups if other else ()
    of_other = [flavor.name for group in groups for flavor in group.flavors]
    flavors = [*dict.fromkeys((*of_other, *(it.name for it in cluster.flavors)))]
    used = {text(it, "name") for group in made for it in mappings(group, "flavors")}
    free = [it for it in flavors if it not in used]
    for group in made or ([{}] if flavors else []):
        own = mappings(group, "flavors") or [_Data() for _ in of_other or [""]]
        for it in own:
            name = text(it, "name") or (free.pop(0) if free else "default")
            it["name"] = name if is_subdomain(name) else Names(flavors).meant(name) or name
        group["flavors"] = own
        _complete(cluster, group)
    return made


def _complete(cluster: Cluster, group: _Data) -> None:
    """Makes the resources of all flavors those that the group covers."""
    names = [
        [*filter(None, (text(each, "name") for each in mappings(it, "resources")))]
        for it in group["flavors"]
    ]
    longest = max(names, key=len)
    known = {name for _, name in cluster.derive(nominal_quotas)} | cluster.derive(provided)
    devices = sorted(it for it in known if extended(it))
    known |= {*NATIVE}
    listed = group.get("coveredResources")
    covered = [it for it in listed if isinstance(it, str)] if isinstance(listed, list) else []
    if len(longest) > len(covered):
        covered = longest
    covered = covered or ["cpu", "memory", *devices]
    for flavor in group["flavors"]:
        quotas = mappings(flavor, "resources")
        others = [it for it in quotas if text(it, "name") not in covered]
        flavor["resources"] = []
        for i, name in enumerate(covered):
            quota = next((it for it in quotas if text(it, "name") == name), None)
            quota = quota or (others.pop(0) if others else {})
            if text(quota, "name") in known and name not in known:
                covered[i] = text(quota, "name")
            quota["name"] = covered[i]
            if read_amount(quota.get("nominalQuota")) is None:
                quota["nominalQuota"] = _amount(cluster, flavor["name"], covered[i])
            flavor["resources"].append(quota)
    group["coveredResources"] = covered


def _amount(cluster: Cluster, flavor: str, resource: str) -> str:
    """What another queue has of a resource, or the nodes."""
    placed = cluster.derive(nominal_quotas).get((flavor, resource), ())
    if placed:
        return written(resource, max(it.quota.nominal_quota for it in placed))
    own = cluster.derive(nodes).get(flavor)
    return written(resource, (own.total.get(resource) if own else None) or _ENOUGH)


def _new(value: Any) -> NewValue:
    """The value of an edit."""
    if isinstance(value, dict):
        return NewMapping(tuple((key, _new(it)) for key, it in value.items()))
    if isinstance(value, list):
        return tuple(map(_new, value))
    made: NewValue = value
    return made
