"""What the rules about drift have in common."""

from policygen.drift.drift import GROUP_KINDS
from policygen.drift.mending import kubectl
from policygen.lint.rule import Facts, Need

_ON_REQUEST = {"ServiceAccount", "ClusterRoleBinding", "Role", "RoleBinding"}

KINDS = tuple(sorted({it.kind for it in GROUP_KINDS} - _ON_REQUEST))
"""The kinds that a spec renders; what only `--with` adds is read where it is rendered."""

NEEDS = frozenset({Need.SPEC, Need.SEEN})


def kubectl_of(facts: Facts) -> list[str]:
    """How a command of kubectl about the cluster begins."""
    seen = facts.cluster.seen
    return kubectl(seen.kubectl_context if seen else "", facts.kubeconfig)
