"""The scopes of a ResourceQuota exclude each other, or cannot count its resources."""

from collections.abc import Iterator

from policygen.core.finding import At
from policygen.core.quoting import listed
from policygen.core.standard_resources import QUOTA_KEYS
from policygen.kubernetes.core import ResourceQuotaView, ScopeRequirement
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_PODS = ("pods",)
_HUGE = ("hugepages-", "requests.hugepages-")
"""Prefixes of resources that no scope can count."""
_COMPUTE = tuple(
    f"{prefix}{name}" for prefix in ("", "requests.", "limits.") for name in ("cpu", "memory")
)
_FITS = {
    "Terminating": (*_PODS, *_COMPUTE),
    "NotTerminating": (*_PODS, *_COMPUTE),
    "BestEffort": _PODS,
    "NotBestEffort": (*_PODS, *_COMPUTE),
    "PriorityClass": (*_PODS, *_COMPUTE),
    "CrossNamespacePodAffinity": (*_PODS, *_COMPUTE),
    "VolumeAttributesClass": ("persistentvolumeclaims", "requests.storage"),
}
"""The resources without a domain that each scope can count."""
_PAIRS = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_WITH_VALUES = ("PriorityClass", "VolumeAttributesClass")
_VALUED = ("In", "NotIn")


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/core/validation/validation.go, validateResourceQuotaScopes and validateScopeSelector."""
    for quota in facts.cluster.resource_quotas:
        spec = quota.at / "spec"
        resource_quota = quota.fields
        selected = (
            resource_quota.scope_selector.match_expressions if resource_quota.scope_selector else ()
        )
        at = spec.to("scopeSelector", "matchExpressions")
        found = [
            *_scopes(resource_quota, resource_quota.scopes, spec / "scopes"),
            *_scopes(resource_quota, tuple(requirement.scope_name for requirement in selected), at),
        ]
        for i, requirement in enumerate(selected):
            found += _expression(requirement, at / i)
        yield from (Hit(RULE, f"{quota}: {message}", place) for message, place in found)


def _scopes(quota: ResourceQuotaView, scopes: tuple[str, ...], at: At) -> Iterator[tuple[str, At]]:
    for i, scope in enumerate(scopes):
        if scope not in _FITS:
            continue  # `unsupported-value` reports it
        plain = (it for it in quota.hard if it in QUOTA_KEYS or it.startswith(_HUGE))
        if others := [it for it in plain if it not in _FITS[scope]]:
            names = listed(others, "and")
            yield f"scope {scope} cannot count {names}; write a separate quota for {names}", at / i
    for pair in _PAIRS:
        if set(pair) <= set(scopes):
            yield (
                f"scopes {' and '.join(pair)} exclude each other; remove one of the two scopes",
                at,
            )


def _expression(requirement: ScopeRequirement, at: At) -> Iterator[tuple[str, At]]:
    if (
        requirement.scope_name in _FITS
        and requirement.scope_name not in _WITH_VALUES
        and requirement.operator != "Exists"
    ):
        yield (
            f"scope {requirement.scope_name} takes only the operator Exists; write operator: Exists",
            at / "operator",
        )
    elif requirement.operator in _VALUED and not requirement.values:
        yield (
            f"operator {requirement.operator} needs values; write at least one value, or use Exists",
            at / "values",
        )
    elif requirement.operator not in _VALUED and requirement.values:
        yield (
            f"operator {requirement.operator} takes no values; remove the values, or use In",
            at / "values",
        )


RULE = ObjectRule(
    "quota-scopes-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a separate quota for each scope.",
    judges=("ResourceQuota",),
    check=check,
)
