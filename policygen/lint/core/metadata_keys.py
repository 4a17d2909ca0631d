"""Labels and annotations of workloads, by place: on the object, on its pods, or above both."""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain

from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import Workload
from policygen.lint.core.webhook_objects import webhook_object


class MetadataOwner(Enum):
    """Whose metadata it is."""

    OBJECT = "object"
    """The object that Kueue manages."""
    PODS = "pods"
    POD = "pod"
    """A Pod, which is both."""
    ABOVE = "above"
    """A CronJob, whose Jobs have their own labels."""


class Written(Struct, frozen=True, eq=False):
    """The labels, or the annotations, of one piece of metadata."""

    workload: Workload
    place: MetadataOwner
    form: str
    """`labels` or `annotations`."""
    root: At
    """The place of what has the metadata."""
    keys: Mapping[str, str]

    @property
    def at(self) -> At:
        """The place of the labels or annotations."""
        return self.root.to("metadata", self.form)

    @property
    def kind(self) -> str:
        """The name of one of its keys: `label` or `annotation`."""
        return self.form.removesuffix("s")


def written(cluster: Cluster) -> tuple[Written, ...]:
    """All labels and annotations of all workloads."""
    return cluster.derive(_written)


def of_domain(cluster: Cluster, domain: str) -> Sequence[Written]:
    """Those with a key of a domain, such as `kueue.x-k8s.io`, in the order of the input."""
    return cluster.derive(_by_domain).get(domain, ())


def _by_domain(cluster: Cluster) -> Mapping[str, Sequence[Written]]:
    found: dict[str, list[Written]] = {}
    for metadata in written(cluster):
        for domain in {key.partition("/")[0] for key in metadata.keys}:
            found.setdefault(domain, []).append(metadata)
    return found


def _written(cluster: Cluster) -> tuple[Written, ...]:
    return tuple(chain.from_iterable(map(of_workload, cluster.workloads)))


def of_workload(workload: Workload) -> Iterator[Written]:
    """All labels and annotations of a workload."""
    own = workload.at, workload.labels, workload.annotations
    if workload.kind == "CronJob":
        job = webhook_object(workload)
        found = [
            (MetadataOwner.OBJECT, job.at, job.labels, job.annotations),
            (MetadataOwner.ABOVE, *own),
        ]
    else:
        found = [(MetadataOwner.POD if workload.kind == "Pod" else MetadataOwner.OBJECT, *own)]
    found += [
        (MetadataOwner.PODS, template.at, template.labels, template.annotations)
        for template in workload.templates
        if template.at != workload.at
    ]
    for place, at, labels, annotations in found:
        for form, keys in (("labels", labels), ("annotations", annotations)):
            if keys:
                yield Written(workload, place, form, at, keys)
