"""Findings about models whose workloads are not rendered, or are not complete."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.plan.decisions import Decisions
from policygen.plan.rules import IMAGE_MISSING, WORKLOAD_NOT_RENDERED
from policygen.plan.workload import availability, capped_metric, scaling


def reports(decided: Decisions) -> Iterator[Hit]:
    """Warnings and notes. None of them prevents rendering."""
    for assignment in decided.workloads.assignments:
        model = assignment.model
        yield from availability.reports(assignment)
        yield from scaling.reports(assignment)
        yield from capped_metric.reports(model)
        if assignment.namespace is None:
            message = (
                f'no workload of model "{model.name}" is rendered, because it has no team, and so no '
                "namespace and no quota; write its team"
            )
            yield Hit(WORKLOAD_NOT_RENDERED, message, model.at / "metadata" / "name")
        elif model.container.image is None:
            # The articles' form has no field for it.
            where = "the image in the workload" if model.renamed else "spec.container.image"
            message = (
                f'model "{model.name}" has no image, so the API server refuses its workload; write '
                f"{where}"
            )
            yield Hit(IMAGE_MISSING, message, model.at / "metadata" / "name")
