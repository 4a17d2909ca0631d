"""Decides the objects of a second kube-scheduler, which runs the profiles in addition to the main one."""

from collections.abc import Iterator

from msgspec import Struct

from policygen.core.names import KUBE_SYSTEM
from policygen.plan.kind import Kind, Meta, Release
from policygen.spec import derived_names
from policygen.spec.types import Platform


class SecondScheduler(Struct, frozen=True):
    """ServiceAccount, bindings or Deployment of a second kube-scheduler."""

    meta: Meta
    account: str
    namespace: str
    image: str
    config_map: str
    role: str
    role_kind: str


SERVICE_ACCOUNT = Kind(
    "ServiceAccount", "kubernetes", (Release((1, 33), "v1", "scheduler/service_account.yaml.j2"),)
)
CLUSTER_ROLE_BINDING = Kind(
    "ClusterRoleBinding",
    "kubernetes",
    (Release((1, 33), "rbac.authorization.k8s.io/v1", "scheduler/cluster_role_binding.yaml.j2"),),
)
ROLE = Kind(
    "Role",
    "kubernetes",
    (Release((1, 33), "rbac.authorization.k8s.io/v1", "scheduler/role.yaml.j2"),),
)
ROLE_BINDING = Kind(
    "RoleBinding",
    "kubernetes",
    (Release((1, 33), "rbac.authorization.k8s.io/v1", "scheduler/role_binding.yaml.j2"),),
)
DEPLOYMENT = Kind(
    "Deployment", "kubernetes", (Release((1, 33), "apps/v1", "scheduler/deployment.yaml.j2"),)
)


def objects(platform: Platform) -> Iterator[tuple[Kind, SecondScheduler]]:
    """The objects of a second scheduler, for clusters whose main scheduler cannot be configured.

    Its roles are those of the main scheduler, and its own lease (its bootstrap role names only the
    lease `kube-scheduler`).
    """
    settings = platform.kube_scheduler
    account = derived_names.second_scheduler(platform)
    image = settings.image or ""

    def it(
        name: str, role: str = "", role_kind: str = "", namespace: str | None = settings.namespace
    ) -> SecondScheduler:
        return SecondScheduler(
            meta=Meta(name, platform.name, namespace),
            account=account,
            namespace=settings.namespace,
            image=image,
            config_map=account,
            role=role,
            role_kind=role_kind,
        )

    yield SERVICE_ACCOUNT, it(account)
    for suffix in ("kube-scheduler", "volume-scheduler"):
        name = derived_names.component(platform, suffix)
        yield CLUSTER_ROLE_BINDING, it(name, f"system:{suffix}", "ClusterRole", namespace=None)
    yield ROLE, it(account)
    yield ROLE_BINDING, it(account, account, "Role")
    # The role that lets a server check its clients exists in kube-system only.
    reader = "extension-apiserver-authentication-reader"
    name = derived_names.component(platform, "authentication-reader")
    yield ROLE_BINDING, it(name, reader, "Role", namespace=KUBE_SYSTEM)
    yield DEPLOYMENT, it(account)
