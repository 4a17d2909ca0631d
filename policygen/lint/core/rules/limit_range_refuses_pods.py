"""A pod requests more or less than a LimitRange of its namespace allows."""

from collections.abc import Sequence

from policygen.core.amounts import at_most
from policygen.core.quoting import some
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.limit_range_refusals import RangeRefusal, range_refusals
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The API server refuses the pods; Kueue does not admit the workload.

    Reports the first fault of each container and resource, also if there are several LimitRanges, and
    all workloads that one limit refuses together. Skips a LimitRange that is itself refused.
    Source: plugin/pkg/admission/limitranger; pkg/util/limitrange of Kueue.
    """
    for refusals in facts.derive(range_refusals).values():
        yield _hit(refusals)


def _hit(refusals: Sequence[RangeRefusal]) -> Hit:
    """One hit for all workloads that the same limit refuses."""
    first = refusals[0]
    names = list(dict.fromkeys(str(it.workload) for it in refusals))
    others = [it.at for it in refusals if it.workload is not first.workload]
    exceeds = (first.exceeds,) if first.exceeds and len(names) == 1 else ()
    which = f"in {first.workload} " if len(names) > 1 else ""
    allowed = "what the LimitRange allows"
    if first.exceeds:
        allowed = "at most " + at_most(first.exceeds.resource, first.exceeds.most)
    return Hit(
        RULE,
        f"the pods of {some(names, 'other workload')} are refused: {which}{first.what}; request {allowed}, or change "
        "the LimitRange",
        first.at,
        related=(first.limit, *others),
        exceeds=exceeds,
    )


RULE = ObjectRule(
    "limit-range-refuses-pods",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Request what the LimitRange allows, or change the LimitRange.",
    judges=KINDS,
    check=check,
    reads=("LimitRange",),
)
