"""A ResourceQuota counts cpu or memory, but containers of its namespace do not set that resource."""

from collections.abc import Mapping, Sequence
from functools import cache

from policygen.core.finding import At
from policygen.core.quoting import some
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import ResourceQuotaView
from policygen.kubernetes.pod_quotas import sets
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import PodSpec, Workload
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_REQUIRED = ("cpu", "memory")


def check(facts: Facts) -> Hits:
    """Checks the workloads of the namespace with the defaults of its LimitRanges.

    Skips quotas with scopes, which may not count these pods. Reports the first of several quotas, and all
    workloads that lack the same keys together.
    Source: pkg/quota/v1/evaluator/core/pods.go, Constraints.
    """
    quotas = facts.cluster.resource_quotas.by_namespace
    if any(not entry.namespace for entry in facts.cluster.limit_ranges):
        return  # they may be meant for any namespace
    filled = facts.cluster.derive(_filled)
    found: dict[tuple[Entry[ResourceQuotaView], tuple[str, ...]], list[tuple[Workload, At]]] = {}

    @cache
    def required(namespace: str) -> Sequence[tuple[Entry[ResourceQuotaView], Sequence[str]]]:
        """The quotas of a namespace that need requests or limits, with the keys."""
        return [
            (quota, keys)
            for quota in (quotas.get(namespace, ()) if namespace else ())
            if quota.fields.counts_all
            if (keys := [it for it in quota.fields.hard if it.rpartition(".")[2] in _REQUIRED])
        ]

    for workload in facts.cluster.workloads:
        keys_by_quota = required(workload.namespace)
        if not keys_by_quota:
            continue
        known = filled.get(workload.namespace, frozenset())
        for template in workload.templates:
            for quota, keys in keys_by_quota:
                missing = tuple(key for key in keys if not _is_set(template.spec, key, known))
                if missing:
                    found.setdefault((quota, missing), []).append((workload, template.at / "spec"))
                    break
    for (quota, missing), pods in found.items():
        names = list(dict.fromkeys(str(workload) for workload, _ in pods))
        listed = ", ".join(missing)
        yield Hit(
            RULE,
            f"{quota} counts {listed}, but not every container of {some(names, 'other workload')} sets {listed}, so "
            "the API server refuses the pods; set requests and limits in every container, or create a "
            "LimitRange with defaults",
            pods[0][1],
            (quota.at.to("spec", "hard", missing[0]), *(at for _, at in pods[1:])),
        )


def _filled(cluster: Cluster) -> Mapping[str, frozenset[str]]:
    """What the LimitRanges of each namespace add to containers, such as `requests.cpu`."""
    found: dict[str, set[str]] = {}
    for entry in cluster.limit_ranges:
        for item in entry.fields.limits:
            if item.type == "Container":
                names = found.setdefault(entry.namespace, set())
                names.update(f"limits.{name}" for name in item.filled_limits)
                names.update(f"requests.{name}" for name in item.filled_requests)
    return {namespace: frozenset(names) for namespace, names in found.items()}


def _is_set(spec: PodSpec, key: str, filled: frozenset[str]) -> bool:
    """Whether each container sets what a key of a quota counts.

    Also true if the pod has resources of its own: servers of 1.36.3 require no more then.
    """
    prefix, _, name = key.rpartition(".")
    prefix = prefix or "requests"
    if prefix not in ("requests", "limits") or f"{prefix}.{name}" in filled or spec.pod_level():
        return True
    return all(sets(it, key) for it in (*spec.containers, *spec.init_containers))


RULE = ObjectRule(
    "quota-without-defaults",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Set requests and limits in every container, or create a LimitRange with defaults.",
    judges=("ResourceQuota",),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
    reads=("LimitRange",),
)
