"""The objects of a second kube-scheduler."""

from policygen.core.finding import At
from policygen.plan.catalog import KINDS
from policygen.plan.compile import objects
from policygen.plan.decisions import Decisions
from policygen.plan.extras import SECOND_SCHEDULER
from policygen.plan.workloads import Workloads
from policygen.spec.programs import KubeSchedulerSettings
from policygen.spec.types import Platform, Spec


def test_its_roles_and_its_own_lease():
    settings = KubeSchedulerSettings("sched", "image:1", At(0))
    spec = Spec(Platform("set", None, kube_scheduler=settings))
    kinds = [kind for kind in KINDS if kind.extra == SECOND_SCHEDULER]
    found = list(objects(Decisions(spec, (), (), Workloads((), ())), kinds))
    assert [(it.kind.name, it.meta.name, it.meta.namespace, it.fields.role) for it in found] == [
        ("ServiceAccount", "set-kube-scheduler", "sched", ""),
        ("ClusterRoleBinding", "set-kube-scheduler", None, "system:kube-scheduler"),
        ("ClusterRoleBinding", "set-volume-scheduler", None, "system:volume-scheduler"),
        ("Role", "set-kube-scheduler", "sched", ""),
        ("RoleBinding", "set-kube-scheduler", "sched", "set-kube-scheduler"),
        ("RoleBinding", "set-authentication-reader", "kube-system", "extension-apiserver-authentication-reader"),
        ("Deployment", "set-kube-scheduler", "sched", ""),
    ]  # fmt: skip
    assert {it.fields.account for it in found} == {"set-kube-scheduler"}
    assert found[-1].fields.image == "image:1"
