"""A PersistentVolumeClaim requests more or less storage than a LimitRange of its namespace allows."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.amounts import readable
from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.untyped import mapping, numbered, read_amount
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_CLAIM = "PersistentVolumeClaim"
_STORAGE = "storage"


def check(facts: Facts) -> Hits:
    """The API server refuses the claim. A StatefulSet then creates no pod, and a pod waits for its claim.

    Source: plugin/pkg/admission/limitranger/admission.go, PersistentVolumeClaimValidateLimitFunc, of
    Kubernetes 1.36.3.
    """
    ranges = facts.cluster.limit_ranges.by_namespace
    limits = {
        namespace: found
        for namespace, entries in ranges.items()
        if (
            found := [
                (entry, i, item)
                for entry in entries
                for i, item in enumerate(entry.fields.limits)
                if item.type == _CLAIM and (_STORAGE in item.max or _STORAGE in item.min)
            ]
        )
    }
    for owner, namespace, at, claim in _claims(facts.cluster) if limits else ():
        amount = read_amount(mapping(claim, "spec", "resources", "requests").get(_STORAGE))
        if amount is None:
            continue
        for entry, i, item in limits.get(namespace, ()):
            if amount > item.max.get(_STORAGE, amount):
                field, bound = "max", item.max[_STORAGE]
            elif amount < item.min.get(_STORAGE, amount):
                field, bound = "min", item.min[_STORAGE]
            else:
                continue
            word = f"{field}imum"
            yield Hit(
                RULE,
                f"{owner} requests {readable(_STORAGE, amount, bound)} of storage, but the {word} of {entry} is "
                f"{readable(_STORAGE, bound, amount)}, so the claim is refused; request what the LimitRange allows, or "
                "change the LimitRange",
                at.to("spec", "resources", "requests", _STORAGE),
                (entry.at.to("spec", "limits", i, field, _STORAGE),),
            )
            break


def _claims(cluster: Cluster) -> Iterator[tuple[str, str, At, Mapping[str, Any]]]:
    """The claims, and those that StatefulSets and pods create: in messages, their namespaces, places and data."""
    for claim in cluster.persistent_volume_claims:
        yield str(claim), claim.namespace, claim.at, claim.object.data
    for workload in cluster.workloads_of("apps"):
        for i, data in numbered(workload.spec, "volumeClaimTemplates"):
            at = workload.at.to("spec", "volumeClaimTemplates", i)
            yield f"a claim of {workload}", workload.namespace, at, data
    for workload in cluster.workloads:
        for template in workload.templates:
            for i, volume in enumerate(template.spec.volumes):
                if data := mapping(volume, "ephemeral", "volumeClaimTemplate"):
                    at = template.at.to("spec", "volumes", i, "ephemeral", "volumeClaimTemplate")
                    yield f"a claim of {workload}", workload.namespace, at, data


RULE = ObjectRule(
    "limit-range-refuses-claims",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Request as much storage as the LimitRange allows, or change the LimitRange.",
    judges=(*KINDS, _CLAIM),
    check=check,
    reads=("LimitRange",),
)
