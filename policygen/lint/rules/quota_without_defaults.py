"""A quota counts cpu or memory, and containers that do not ask for it are refused."""

from collections.abc import Iterator
from typing import Any

from policygen.cluster.table import Entry
from policygen.cluster.workload import Container, Template
from policygen.finding import Severity
from policygen.lint.queued import container_limits
from policygen.lint.rule import Claim, Facts, Family, Need, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Judged by the workloads of the namespace, and by what its LimitRanges fill in.

    Quotas with scopes may not count these pods and are left out.
    Source: pkg/quota/v1/evaluator/core/pods.go, Constraints.
    """
    quotas = facts.cluster.resource_quotas.by(_namespace)
    if any(not entry.namespace for entry in facts.cluster.limit_ranges):
        return  # they may be for any namespace
    for workload in facts.cluster.workloads:
        for quota in quotas.get(workload.namespace, ()) if workload.namespace else ():
            if quota.it.scopes or quota.it.scope_selector:
                continue
            filled = {
                name: {
                    **item.default,
                    **(item.default_request if name == "requests" else {}),
                    **(item.max if name == "limits" else {}),
                }
                for item in container_limits(facts.cluster, workload.namespace)
                for name in ("requests", "limits")
            }
            for template in workload.templates:
                missing = [key for key in quota.it.hard if not _said(template, key, filled)]
                if missing:
                    yield Claim(
                        f"{quota} counts {', '.join(missing)}, and containers of {workload} say "
                        "nothing of it, so its pods are refused; write their resources, or a "
                        "LimitRange with defaults",
                        template.at / "spec",
                        tuple(quota.at.to("spec", "hard", key) for key in missing[:1]),
                    )


def _said(template: Template, key: str, filled: dict[str, dict[str, Any]]) -> bool:
    """Whether each container says what a key of a quota counts."""
    way, _, name = key.rpartition(".")
    if name not in ("cpu", "memory") or way not in ("", "requests", "limits"):
        return True
    way = way or "requests"
    if name in filled.get(way, {}):
        return True
    return all(_has(each, way, name) for each in template.spec.containers)


def _has(container: Container, way: str, name: str) -> bool:
    limits = container.resources.limits
    return name in limits or (way == "requests" and name in container.resources.requests)


def _namespace(entry: Entry[Any]) -> str:
    return entry.namespace


RULE = Rule(
    "quota-without-defaults",
    Severity.ERROR,
    Family.INERT,
    judges=("ResourceQuota",),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
    reads=("LimitRange",),
)
