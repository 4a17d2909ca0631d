"""Labels and annotations of workloads, by place: on the object, on its pods, or above both."""

from collections.abc import Iterator, Mapping
from enum import Enum

from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes.untyped import keyed_texts
from policygen.kubernetes.workloads import Workload
from policygen.lint.kueue.job_metadata import webhook_object


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
    at: At
    keys: Mapping[str, str]

    @property
    def kind(self) -> str:
        """The name of one of its keys: `label` or `annotation`."""
        return self.form.removesuffix("s")


def written(workload: Workload) -> Iterator[Written]:
    """All labels and annotations of a workload."""
    job = webhook_object(workload)
    data = workload.object.data
    place = MetadataOwner.POD if workload.kind == "Pod" else MetadataOwner.OBJECT
    if job.at != workload.at:
        yield from _both(workload, MetadataOwner.OBJECT, job.at, job.labels, job.annotations)
        place = MetadataOwner.ABOVE
    labels, annotations = (keyed_texts(data, "metadata", form) for form in _FORMS)
    yield from _both(workload, place, workload.at, labels, annotations)
    for template in workload.templates:
        if template.at != workload.at:
            yield from _both(
                workload, MetadataOwner.PODS, template.at, template.labels, template.annotations
            )


_FORMS = ("labels", "annotations")


def _both(
    workload: Workload,
    place: MetadataOwner,
    at: At,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
) -> Iterator[Written]:
    for form, keys in zip(_FORMS, (labels, annotations), strict=True):
        if keys:
            yield Written(workload, place, form, at.to("metadata", form), keys)
