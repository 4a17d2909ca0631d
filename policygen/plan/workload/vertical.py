"""Decides the VerticalPodAutoscalers of models: they recommend cpu and memory, and change nothing."""

from collections.abc import Iterator

from msgspec import Struct

from policygen.plan.decisions import Decisions, Generators
from policygen.plan.kind import Meta
from policygen.plan.model_names import MODEL
from policygen.plan.workload import forms, objects
from policygen.plan.workload.forms import WorkloadForm
from policygen.plan.workload.scaling import ScaleTarget


class Recommender(Struct, frozen=True):
    """A VerticalPodAutoscaler of a model."""

    meta: Meta
    model: str
    pool: str
    target: ScaleTarget


def recommenders(decided: Decisions) -> Iterator[Recommender]:
    """One for each model, for the first of its equal objects.

    The autoscaler finds no pods of a Volcano Job, which has no scale subresource. Source:
    pkg/target/fetcher.go of the VerticalPodAutoscaler 1.8.
    """
    for assignment in decided.workloads.assignments:
        form, namespace = forms.default(assignment), assignment.namespace
        if form == WorkloadForm.VOLCANO_JOB or namespace is None:
            continue
        name = assignment.model.name
        yield Recommender(
            meta=Meta(name, decided.platform.name, namespace.name, own_labels={MODEL: name}),
            model=name,
            pool=assignment.facts.name,
            target=ScaleTarget(*objects.kind_of(form), forms.names(assignment, form)[0]),
        )


OBJECTS: Generators = {"VerticalPodAutoscaler": recommenders}
