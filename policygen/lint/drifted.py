"""What the rules about drift have in common."""

from policygen.drift.drift import GROUP_KINDS
from policygen.lint.rule import Facts, Need

_ON_REQUEST = {"ServiceAccount", "ClusterRoleBinding", "Role", "RoleBinding"}

KINDS = tuple(sorted({it.kind for it in GROUP_KINDS} - _ON_REQUEST))
"""The kinds that a spec renders; what only `--with` adds is read where it is rendered."""

NEEDS = frozenset({Need.SPEC, Need.SEEN})


def context(facts: Facts) -> str:
    """The name of the cluster for kubectl; empty where it has none."""
    return facts.cluster.seen.context if facts.cluster.seen else ""
