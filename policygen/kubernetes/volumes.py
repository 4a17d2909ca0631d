"""The nodes that the volumes of a pod can be attached to.

Source: pkg/scheduler/framework/plugins/{volumebinding,volumezone} of Kubernetes 1.36.3.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from policygen.core.finding import Path
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import PersistentVolumeView, Requirement
from policygen.kubernetes.node_filters import Demand, Placed, Term, Volume, VolumeFilter, terms
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping, mappings, numbered, text, texts
from policygen.kubernetes.workloads import PodSpec

_ZONES = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_BETA = "failure-domain.beta.kubernetes.io"
_FORMER = {key: f"{_BETA}/{key.rpartition('/')[2]}" for key in _ZONES}
_TOPOLOGY = (*_ZONES, *_FORMER.values())
_SEPARATOR = "__"
"""Between several zones in the label of a volume."""
_CLASS = ("volumeClaimTemplate", "spec", "storageClassName")
_NO_PROVISIONER = "kubernetes.io/no-provisioner"


def with_volumes(cluster: Cluster, spec: PodSpec, namespace: str, own: Demand) -> Demand:
    """The demand of pods with what their volumes require of a node.

    Without volumes that are not in the input, or that a StatefulSet creates.
    """
    found = tuple(_volumes(cluster, spec, namespace)) if spec.volumes else ()
    return replace(own, volumes=found) if found else own


def _volumes(cluster: Cluster, spec: PodSpec, namespace: str) -> Iterator[Volume]:
    for i, volume in enumerate(spec.volumes):
        path: Path = ("volumes", i, "persistentVolumeClaim", "claimName")
        name = text(volume, "persistentVolumeClaim", "claimName")
        if name:
            claim = cluster.persistent_volume_claims.get(name, namespace)
            if claim is None:
                continue
            bound = cluster.persistent_volumes.get(claim.fields.volume_name)
            if bound is not None:
                yield from _of_volume(bound, path)
            class_ = "" if claim.fields.volume_name else claim.fields.storage_class_name
        else:
            path = ("volumes", i, "ephemeral", *_CLASS)
            class_ = text(mapping(volume, "ephemeral"), *_CLASS)
        yield from _of_class(cluster, class_, path)


def _of_volume(volume: Entry[PersistentVolumeView], path: Path) -> Iterator[Volume]:
    """What a bound volume requires. kube-scheduler does not know the names of nodes here."""
    required = mapping(volume.fields.node_affinity, "required")
    if required and not any(
        it.get("matchFields") for it in mappings(required, "nodeSelectorTerms")
    ):
        found = tuple(terms(required, path))
        yield Volume(path, str(volume), VolumeFilter.AFFINITY, found)
    for key in _TOPOLOGY:
        zones = volume.labels.get(key, "").split(_SEPARATOR)
        if all(zones):
            found = tuple(_of_zone(key, tuple(sorted(map(str.strip, zones))), path))
            yield Volume(path, str(volume), VolumeFilter.ZONE, found)


def _of_zone(key: str, zones: tuple[str, ...], path: Path) -> Iterator[Term]:
    """A label of the volume: nodes have it too, or the current one instead of a former one.

    Nodes without any such label are in the only zone.
    """
    required = Placed(path, Requirement(key, "In", zones))
    yield Term(path, (required,))
    for current, former in _FORMER.items():
        if key == former:
            instead = Placed(path, Requirement(current, "In", zones))
            yield Term(path, (_missing(former, path), instead))
    yield Term(path, tuple(_missing(each, path) for each in _TOPOLOGY))


def _of_class(cluster: Cluster, name: str | None, path: Path) -> Iterator[Volume]:
    """Where a new volume can be, if no volume that exists can be bound instead."""
    found = cluster.storage_classes.get(name or "")
    if found is None or found.fields.volume_binding_mode != "WaitForFirstConsumer":
        return
    topologies = found.fields.allowed_topologies
    if not topologies or found.fields.provisioner in ("", _NO_PROVISIONER):
        return
    for volume in cluster.persistent_volumes:
        if volume.fields.storage_class_name == name and not volume.fields.claim_ref:
            return
    allowed = (_allowed(it, path) for it in topologies)
    yield Volume(path, str(found), VolumeFilter.TOPOLOGY, tuple(allowed))


def _allowed(topology: Mapping[str, Any], path: Path) -> Term:
    required = (
        Placed(path, Requirement(text(it, "key"), "In", texts(it, "values")))
        for _, it in numbered(topology, "matchLabelExpressions")
    )
    return Term(path, tuple(required))


def _missing(key: str, path: Path) -> Placed:
    return Placed(path, Requirement(key, "DoesNotExist"))
