"""A ResourceQuota counts objects by a resource name that does not exist."""

from functools import cache

from policygen.api_validation import schemas
from policygen.core.quoting import listed
from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_COUNT = "count/"
_BUILT_IN = {
    "": (
        "configmaps",
        "endpoints",
        "limitranges",
        "persistentvolumeclaims",
        "pods",
        "podtemplates",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "serviceaccounts",
        "services",
    ),
    "apps": ("controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"),
    "batch": ("cronjobs", "jobs"),
}
"""Namespaced resources that a quota can count, by group; events are never counted."""


def check(facts: Facts) -> Hits:
    """The API server accepts any qualified name. Groups without a known list are skipped.

    Source: pkg/quota/v1/generic/evaluator.go, ObjectCountQuotaResourceNameFor;
    pkg/quota/v1/install/registry.go.
    """
    known = _known()
    every = [
        _COUNT + (f"{name}.{group}" if group else name) for group in known for name in known[group]
    ]
    for quota in facts.cluster.resource_quotas:
        for key in quota.fields.hard:
            resource, _, group = key.removeprefix(_COUNT).partition(".")
            if key.startswith(_COUNT) and group in known and resource not in known[group]:
                # The resource of another group is likelier than one with a similar name.
                right = [it for it in every if it.startswith(f"{_COUNT}{resource}.")]
                advice = f"write {listed(right)}" if right else suggest(key, every)
                yield Hit(
                    RULE,
                    f"{quota} counts {key}, but no resource has this name, so the quota has no effect; {advice}",
                    quota.at.to("spec", "hard", key).on_key(),
                )


@cache
def _known() -> dict[str, frozenset[str]]:
    found = {group: set(names) for group, names in _BUILT_IN.items()}
    for at, kinds in schemas.index().kinds.items():
        for kind in kinds:
            served = schemas.served(at.removeprefix(f"{schemas.CORE}/"), kind)
            if served is not None and served.custom:
                names = found.setdefault(served.group, set())
                if served.namespaced:
                    names.add(served.plural)
    return {group: frozenset(names) for group, names in found.items()}


RULE = ObjectRule(
    "object-quota-counts-nothing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the plural and group of a namespaced resource, such as count/jobs.batch.",
    judges=("ResourceQuota",),
    check=check,
)
