"""The action enqueue holds jobs back that preempt and reclaim would help."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.lint.volcano_settings import all_settings


def check(facts: Facts) -> Iterator[Claim]:
    """Preempt and reclaim pass over jobs that are not enqueued; without the action all are.

    Source: pkg/scheduler/actions/{reclaim,preempt,enqueue}; volcano-sh/volcano#4756.
    """
    for each in all_settings(facts):
        if each.evicts and "enqueue" in each.actions:
            rest = ", ".join(name for name in each.actions if name != "enqueue")
            yield Claim(
                f"enqueue holds a job back while its queue or the cluster is full, and "
                f"{' and '.join(each.evicts)} act only for jobs that it let in; write "
                f'actions: "{rest}"',
                each.actions_at,
            )


RULE = Rule(
    "enqueue-starves-claimants",
    Severity.WARNING,
    Family.INERT,
    judges=("volcano-scheduler.conf",),
    check=check,
)
