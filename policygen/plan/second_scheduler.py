"""Decides the objects of a second kube-scheduler, which runs the profiles in addition to the main one.

It is for clusters whose main scheduler cannot be configured.
"""

from collections.abc import Iterator

from msgspec import Struct

from policygen.core.names import KUBE_SYSTEM
from policygen.plan.decisions import Decisions, Generators
from policygen.plan.kind import Meta
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


def own_objects(decided: Decisions) -> Iterator[SecondScheduler]:
    """Its ServiceAccount, its Deployment, or the Role for its own lease.

    The bootstrap role of the main scheduler names only the lease `kube-scheduler`.
    """
    platform = decided.platform
    name = derived_names.second_scheduler(platform)
    yield _object(platform, name, platform.kube_scheduler.namespace)


def cluster_role_bindings(decided: Decisions) -> Iterator[SecondScheduler]:
    """Bindings to the roles of the main scheduler."""
    for suffix in ("kube-scheduler", "volume-scheduler"):
        name = derived_names.component(decided.platform, suffix)
        yield _object(decided.platform, name, None, f"system:{suffix}", "ClusterRole")


def role_bindings(decided: Decisions) -> Iterator[SecondScheduler]:
    """Bindings to its own Role, and to the role that lets a server check its clients."""
    platform = decided.platform
    own = derived_names.second_scheduler(platform)
    yield _object(platform, own, platform.kube_scheduler.namespace, own, "Role")
    # The other role exists in kube-system only.
    reader = "extension-apiserver-authentication-reader"
    name = derived_names.component(platform, "authentication-reader")
    yield _object(platform, name, KUBE_SYSTEM, reader, "Role")


def _object(
    platform: Platform, name: str, namespace: str | None, role: str = "", role_kind: str = ""
) -> SecondScheduler:
    account = derived_names.second_scheduler(platform)
    return SecondScheduler(
        meta=Meta(name, platform.name, namespace),
        account=account,
        namespace=platform.kube_scheduler.namespace,
        image=platform.kube_scheduler.image or "",
        config_map=account,
        role=role,
        role_kind=role_kind,
    )


OBJECTS: Generators = {
    "ServiceAccount": own_objects,
    "ClusterRoleBinding": cluster_role_bindings,
    "Role": own_objects,
    "RoleBinding": role_bindings,
    "Deployment": own_objects,
}
