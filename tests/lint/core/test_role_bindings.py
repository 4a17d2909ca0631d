"""The roles that bindings name, and the ServiceAccounts among their subjects."""

from policygen.lint.core.role_bindings import bindings, bootstrap_roles, roles
from tests.objects import cluster

TEXT = """
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a, namespace: vision}
roleRef: {kind: Role, name: reader}
subjects: [{kind: User, name: ann}, {kind: ServiceAccount, name: trainer, namespace: nlp}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: b}
roleRef: {kind: ClusterRole, name: view}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: vision}
"""


def test_bindings_with_their_roles_and_accounts():
    first, second = bindings(cluster(TEXT))
    assert (first.kind, first.role, first.namespace) == ("Role", "reader", "vision")
    assert [(at.path, *rest) for at, *rest in first.accounts] == [
        (("subjects", 1, "name"), "nlp", "trainer")
    ]
    assert (second.kind, second.role, second.namespace) == ("ClusterRole", "view", "")
    assert second.accounts == ()


def test_roles_of_a_namespace():
    assert list(roles(cluster(TEXT), "Role", "vision")) == ["reader"]
    assert roles(cluster(TEXT), "Role", "nlp") == {}
    assert roles(cluster(TEXT), "ClusterRole", "") == {}


def test_roles_that_the_api_server_creates():
    reader = "extension-apiserver-authentication-reader"
    assert "system:kube-scheduler" in bootstrap_roles("ClusterRole", "")
    assert reader in bootstrap_roles("Role", "kube-system")
    assert bootstrap_roles("Role", "vision") == frozenset()
