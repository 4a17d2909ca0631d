"""Changes that the API server refuses of claims for volumes, and of the objects that make them.

Sources: pkg/apis/{apps,core,storage}/validation and plugin/pkg/admission/storage/persistentvolume/resize of
k8s.io/kubernetes 1.36.3.
"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from policygen.api_validation.updates.states import Data
from policygen.api_validation.updates.update import (
    RECREATE,
    ObjectUpdate,
    RefusedChange,
    names,
)
from policygen.core import quantity
from policygen.core.finding import Path, at_path

_CLAIMS = "volumeClaimTemplates"
_MUTABLE_OF_STATEFUL_SET = {
    "replicas", "template", "updateStrategy", "minReadySeconds", "ordinals",
    "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy",
}  # fmt: skip
_ORPHAN = (
    "delete the StatefulSet with --cascade=orphan and create it again (claims that exist do not "
    "change), or keep the old value"
)


def _stateful_set(update: ObjectUpdate) -> Iterator[RefusedChange]:
    for name in sorted(names(update, ("spec",)) - _MUTABLE_OF_STATEFUL_SET):
        why = f"{name} of a StatefulSet is immutable"
        remedy = _ORPHAN if name == _CLAIMS else RECREATE
        yield from update.refused(("spec", name), why, remedy)


def _storage_class(update: ObjectUpdate) -> Iterator[RefusedChange]:
    for name in ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"):
        yield from update.refused((name,), f"{name} of a StorageClass is immutable")


_MUTABLE_OF_CLAIM = {"resources", "volumeAttributesClassName", "volumeName"}
_SIZE: Path = ("spec", "resources", "requests", "storage")
_CLASS: Path = ("spec", "storageClassName")
_FORMER_CLASS: Path = ("metadata", "annotations", "volume.beta.kubernetes.io/storage-class")


def _claim(update: ObjectUpdate) -> Iterator[RefusedChange]:
    bound = _is_bound(update)
    kept = _MUTABLE_OF_CLAIM if bound else {"resources", "volumeName"}
    if not bound and at_path(update.old, _CLASS) is None:
        kept = {*kept, "storageClassName"}  # a cluster without a default class may get one later
    for name in sorted(names(update, ("spec",)) - kept):
        yield from update.refused(("spec", name), f"{name} of a PersistentVolumeClaim is immutable")
    why = "only the storage of a PersistentVolumeClaim can change"
    yield from update.refused(("spec", "resources"), why, but=lambda path: path == _SIZE)
    if at_path(update.old, ("spec", "volumeName")):
        yield from update.refused(("spec", "volumeName"), "volumeName is immutable")
    yield from _resized(update)


def _is_bound(update: ObjectUpdate) -> bool:
    return bool(at_path(update.old, ("status", "phase")) == "Bound")


def _resized(update: ObjectUpdate) -> Iterator[RefusedChange]:
    """The refusals about the size of a claim. Without the sizes, nothing is known."""
    old, new = _amount(update.old, _SIZE), _amount(update.new, _SIZE)
    if old is None or new is None or old == new:
        return
    capacity = _amount(update.old, ("status", "capacity", "storage"))
    if not _is_bound(update):
        why = "storage can only grow, and only after the claim is bound"
        yield RefusedChange(_SIZE, why, RECREATE)
    elif new < old and (capacity is None or new <= capacity):
        yield RefusedChange(_SIZE, "storage of a claim can only grow", "keep the old value")
    elif new > old and not at_path(update.old, _FORMER_CLASS):
        yield from _not_expandable(update)


def _not_expandable(update: ObjectUpdate) -> Iterator[RefusedChange]:
    name = at_path(update.old, _CLASS)
    if not name:
        why = "the volume of a claim without a StorageClass does not grow"
        yield RefusedChange(_SIZE, why, RECREATE)
        return
    found = update.storage_class(str(name))
    if found is not None and found.get("allowVolumeExpansion") is False:
        why = f"StorageClass {name} does not have allowVolumeExpansion: true"
        remedy = "set it in the StorageClass if its driver can expand volumes, or keep the old size"
        yield RefusedChange(_SIZE, why, remedy)


def _amount(data: Data, path: Path) -> Fraction | None:
    try:
        return quantity.parse(at_path(data, path)).value
    except (TypeError, ValueError):
        return None


CODE: Mapping[tuple[str, str], Callable[[ObjectUpdate], Iterator[RefusedChange]]] = {
    ("", "PersistentVolumeClaim"): _claim,
    ("apps", "StatefulSet"): _stateful_set,
    ("storage.k8s.io", "StorageClass"): _storage_class,
}
"""Kinds with storage for which the API server has code."""
