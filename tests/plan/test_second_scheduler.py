"""The objects of a second kube-scheduler."""

from policygen.core.finding import At
from policygen.plan.second_scheduler import objects
from policygen.spec.programs import KubeSchedulerSettings
from policygen.spec.types import Platform


def test_its_roles_and_its_own_lease():
    settings = KubeSchedulerSettings("sched", "image:1", At(0))
    found = list(objects(Platform("set", None, kube_scheduler=settings)))
    assert [(kind.name, it.meta.name, it.meta.namespace, it.role) for kind, it in found] == [
        ("ServiceAccount", "set-kube-scheduler", "sched", ""),
        ("ClusterRoleBinding", "set-kube-scheduler", None, "system:kube-scheduler"),
        ("ClusterRoleBinding", "set-volume-scheduler", None, "system:volume-scheduler"),
        ("Role", "set-kube-scheduler", "sched", ""),
        ("RoleBinding", "set-kube-scheduler", "sched", "set-kube-scheduler"),
        ("RoleBinding", "set-authentication-reader", "kube-system", "extension-apiserver-authentication-reader"),
        ("Deployment", "set-kube-scheduler", "sched", ""),
    ]  # fmt: skip
    assert {it.account for _, it in found} == {"set-kube-scheduler"}
    assert found[-1][1].image == "image:1"
