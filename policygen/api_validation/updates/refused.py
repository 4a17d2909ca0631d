"""Changes of an existing object that a server refuses: immutable fields, and forbidden transitions.

Sources: pkg/apis/{apps,batch,core,node,rbac,scheduling}/validation of k8s.io/kubernetes 1.36.3, and those of
the modules beside this one.
Proven: `tests/servers/updates.py` compares `refused_changes` with the answers of real servers.
"""

from collections.abc import Callable, Iterator, Mapping

from policygen.api_validation.updates import kubernetes as api_server
from policygen.api_validation.updates import kueue, transitions, volcano
from policygen.api_validation.updates.states import Data, schema_of
from policygen.api_validation.updates.update import ObjectUpdate, RefusedChange, group_kind
from policygen.core.finding import Path
from policygen.core.versions import Minor

_SELECTOR: tuple[Path, ...] = (("spec", "selector"),)
_IMMUTABLE: Mapping[tuple[str, str], tuple[Path, ...]] = {
    ("node.k8s.io", "RuntimeClass"): (("handler",),),
    ("scheduling.k8s.io", "PriorityClass"): (("value",), ("preemptionPolicy",)),
    ("apps", "Deployment"): _SELECTOR,
    ("apps", "ReplicaSet"): _SELECTOR,
    ("apps", "DaemonSet"): _SELECTOR,
    ("rbac.authorization.k8s.io", "RoleBinding"): (("roleRef",),),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (("roleRef",),),
    ("", "Secret"): (("type",),),
    ("batch", "Job"): (
        ("spec", "selector"),
        ("spec", "completionMode"),
        ("spec", "podFailurePolicy"),
        ("spec", "backoffLimitPerIndex"),
        ("spec", "managedBy"),
        ("spec", "successPolicy"),
    ),
    ("kueue.x-k8s.io", "ClusterQueue"): (("spec", "concurrentAdmissionPolicy"),),
}
"""The fields that no update may change."""
_CODE = {
    **api_server.CODE,
    ("batch.volcano.sh", "Job"): volcano.job,
    ("kueue.x-k8s.io", "Workload"): kueue.workload,
}
"""Kinds for which a server has code."""


def refused_changes(
    old: Data,
    new: Data,
    kubernetes: Minor = api_server.JOB_RESOURCES_SINCE,
    storage_class: Callable[[str], Data | None] = lambda _: None,
) -> Iterator[RefusedChange]:
    """Why a server refuses to replace the old state of an object by the new one.

    Both are complete objects of one API version, except that defaults of built-in kinds must be in
    both or in none; `applied` makes such a new state. It does not report what `refusals` and the
    rules of lint report about the new state alone. `kubernetes` is the release of the server, and
    `storage_class` finds a StorageClass by its name.
    """
    update = ObjectUpdate(old, new, schema_of(old), kubernetes, storage_class)
    kind = group_kind(old)
    for path in _IMMUTABLE.get(kind, ()):
        yield from update.refused(path, f"{path[-1]} is immutable")
    if kind in _CODE:
        yield from _CODE[kind](update)
    yield from transitions.by_cel(update)
    yield from kueue.labels(update)
