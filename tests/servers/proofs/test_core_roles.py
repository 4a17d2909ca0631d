"""Bindings and roles that do not grant the rights for which they are written."""

from __future__ import annotations

from tests.servers.cluster import Cluster
from tests.servers.pages import bad, good

REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
LEASES = {"group": "coordination.k8s.io", "resource": "leases", "name": "batch"}


def allowed(cluster: Cluster, account: str, **attributes: str) -> bool:
    """Whether the API server allows a request of a ServiceAccount (namespace:name)."""
    namespace, _, _ = account.partition(":")
    spec = {
        "user": f"system:serviceaccount:{account}",
        "resourceAttributes": {"namespace": namespace, **attributes},
    }
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    answer = cluster.client.request("POST", REVIEWS, review)
    assert answer.ok, answer.message
    return bool(answer.body["status"]["allowed"])


def reads(cluster: Cluster, rule: str) -> dict[str, bool]:
    """Whether the ServiceAccount of the page reads pods, with the bad and with the good binding."""
    cluster.namespace("vision")
    found = {}
    for kind, text in (("bad", bad(rule)), ("good", good(rule))):
        cluster.apply(text)
        may = lambda: allowed(cluster, "vision:trainer", verb="get", resource="pods")
        cluster.becomes("reads pods", may, kind == "good")
        cluster.stays("reads pods", may, kind == "good", for_s=1)
        found[kind] = may()
        cluster.delete("rbac.authorization.k8s.io/v1", "RoleBinding", "trainers", "vision")
    return found


def test_role_missing(cluster: Cluster) -> None:
    assert reads(cluster, "role-missing") == {"bad": False, "good": True}


def test_binding_account_missing(cluster: Cluster) -> None:
    assert reads(cluster, "binding-account-missing") == {"bad": False, "good": True}


def test_scheduler_lease_forbidden(cluster: Cluster) -> None:
    """The ServiceAccount of the page may update only the lease that its Role names."""
    rule = "scheduler-lease-forbidden"
    cluster.namespace("schedulers")
    for text, wanted in ((bad(rule), False), (good(rule), True)):
        cluster.apply(text)
        may = lambda: {
            verb: allowed(cluster, "schedulers:batch-scheduler", verb=verb, **LEASES)
            for verb in ("get", "update")
        }
        cluster.becomes("rights", may, {"get": wanted, "update": wanted})
        cluster.stays("rights", may, {"get": wanted, "update": wanted}, for_s=1)
