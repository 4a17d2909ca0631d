"""Claims of the volumes of a pod that API servers refuse.

Source: pkg/apis/core/validation/validation.go of Kubernetes 1.36.3, ValidatePersistentVolumeClaimTemplate.
"""

from collections.abc import Iterator
from fractions import Fraction

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import FaultAt
from policygen.core.quoting import quoted
from policygen.kubernetes.untyped import read_amount
from policygen.lint.core.pod_selectors import label_selector_faults
from policygen.lint.core.pod_templates import Part, annotation_faults, label_faults

_NOT_OF_CLAIMS = ("name", "generateName", "namespace", "uid", "finalizers", "ownerReferences")
"""Metadata that the claim of a pod's volume cannot have."""
_ALONE = "ReadWriteOncePod"
_CLAIM = "PersistentVolumeClaim"
_SOURCES = ("dataSource", "dataSourceRef")
_COMPARED = ("apiGroup", "kind", "name")


def of_ephemeral(ephemeral: Part, which: str) -> Iterator[FaultAt]:
    """The faults of an `ephemeral`; each message begins with `which`."""
    claim = ephemeral.under("volumeClaimTemplate")
    if not claim.data:
        yield (
            ephemeral.at,
            f"{which} with ephemeral without volumeClaimTemplate, which is refused; write volumeClaimTemplate",
        )
        return
    metadata, spec = claim.under("metadata"), claim.under("spec")
    yield from label_faults(metadata.under("labels"))
    yield from annotation_faults(metadata.under("annotations"))
    for key in _NOT_OF_CLAIMS:
        if metadata.data.get(key):
            yield (
                metadata.at / key,
                f"{which} with a claim with metadata.{key}, which is refused; remove {key}",
            )
    modes, requests = spec.data.get("accessModes"), spec.under("resources").under("requests")
    if modes is None:
        yield (
            claim.at,
            f"{which} with a claim without accessModes, which is refused; write accessModes, such as [ReadWriteOnce]",
        )
    elif isinstance(modes, list) and _ALONE in modes and {*map(str, modes)} != {_ALONE}:
        yield (
            spec.at / "accessModes",
            f"{which} with a claim with {_ALONE} and other accessModes, which is refused; keep one of them",
        )
    storage = requests.data.get("storage")
    amount = Fraction(0) if storage is None else read_amount(storage)
    if amount is not None and amount <= 0:
        yield (
            claim.at,
            f"{which} with a claim that requests no storage, which is refused; write resources.requests.storage",
        )
    yield from label_selector_faults(spec.under("selector"))
    yield from _sources(spec, which)


def _sources(claim: Part, which: str) -> Iterator[FaultAt]:
    """What the volume is filled with. Source: validateDataSource, validateDataSourceRef."""
    sources = [
        claim.under(it)
        for it in _SOURCES
        if isinstance(claim.data.get(it), dict) and claim.data[it]
    ]
    for source in sources:
        kind, group = source.data.get("kind"), source.data.get("apiGroup") or ""
        if isinstance(kind, str) and kind not in ("", _CLAIM) and not group:
            yield (
                source.at,
                f"{which} with a claim with {source.steps[-1]} of {quoted(kind)} without apiGroup, which is refused; write apiGroup, or kind: {_CLAIM}",
            )
        elif isinstance(group, str) and group and not is_subdomain(group):
            yield (
                source.at / "apiGroup",
                f"{which} with a claim with apiGroup {quoted(group)}, which is refused; write the name of an API group",
            )
    if len(sources) == len(_SOURCES) and not sources[1].data.get("namespace"):
        first, second = ([it.data.get(field) for field in _COMPARED] for it in sources)
        if first != second:
            yield (
                claim.at / "dataSource",
                f"{which} with a claim whose dataSource and dataSourceRef differ, which is refused; remove dataSource",
            )
