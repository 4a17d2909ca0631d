"""The roles that bindings of the input grant, and to which ServiceAccounts."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.names import KUBE_SYSTEM
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import numbered, text

RBAC = "rbac.authorization.k8s.io"
KINDS = ("RoleBinding", "ClusterRoleBinding")
ACCOUNT = "ServiceAccount"
_BOOTSTRAP = {
    "ClusterRole": frozenset(
        {
            "admin", "cluster-admin", "edit", "system:auth-delegator", "system:basic-user",
            "system:discovery", "system:kube-aggregator", "system:kube-controller-manager",
            "system:kube-dns", "system:kube-scheduler", "system:monitoring", "system:node-proxier",
            "system:public-info-viewer", "system:volume-scheduler", "view",
        }
    ),
    "Role": frozenset(
        {
            "extension-apiserver-authentication-reader", "system::leader-locking-kube-controller-manager",
            "system::leader-locking-kube-scheduler",
        }
    ),
}  # fmt: skip
"""The roles that an API server creates, those of kind Role in kube-system, without those of controllers and nodes.

Source: plugin/pkg/auth/authorizer/rbac/bootstrappolicy of Kubernetes 1.36.3."""


class RoleBinding(Struct, frozen=True, eq=False):
    """A RoleBinding or ClusterRoleBinding."""

    object: Object
    kind: str
    """The kind of its role."""
    role: str
    namespace: str
    """The namespace of its role; empty for a ClusterRole."""
    accounts: Sequence[tuple[At, str, str]]
    """Place, namespace and name of each ServiceAccount among the subjects."""


def bindings(cluster: Cluster) -> Sequence[RoleBinding]:
    """All bindings; use it with `cluster.derive`."""
    return tuple(
        RoleBinding(
            it,
            kind := text(it.data, "roleRef", "kind"),
            text(it.data, "roleRef", "name"),
            it.namespace if kind == "Role" else "",
            tuple(_accounts(it)),
        )
        for binding in KINDS
        for it in cluster.of(RBAC, binding)
    )


def _accounts(binding: Object) -> Iterator[tuple[At, str, str]]:
    for i, it in numbered(binding.data, "subjects"):
        if text(it, "kind") == ACCOUNT:
            yield binding.at.to("subjects", i, "name"), text(it, "namespace"), text(it, "name")


def roles(cluster: Cluster, kind: str, namespace: str) -> Mapping[str, Object]:
    """The roles of the input by name; `namespace` is empty for ClusterRoles."""
    return cluster.derive(_roles).get((kind, namespace), {})


def _roles(cluster: Cluster) -> Mapping[tuple[str, str], Mapping[str, Object]]:
    found: dict[tuple[str, str], dict[str, Object]] = {}
    for kind in ("Role", "ClusterRole"):
        for it in cluster.of(RBAC, kind):
            found.setdefault((kind, it.namespace), {})[it.name] = it
    return found


def bootstrap_roles(kind: str, namespace: str) -> frozenset[str]:
    """The names of the roles that an API server creates."""
    return _BOOTSTRAP[kind] if kind == "ClusterRole" or namespace == KUBE_SYSTEM else frozenset()
