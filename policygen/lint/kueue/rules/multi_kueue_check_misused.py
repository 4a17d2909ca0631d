"""A ClusterQueue has MultiKueue checks in a way that makes it inactive."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.admission_checks import MULTI_KUEUE, PROVISIONING, checked, checks
from policygen.lint.kueue.quotas import flavors
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """One check for all flavors, and no ProvisioningRequest beside it, or the queue is inactive.

    Source: pkg/cache/scheduler/clusterqueue.go, updateWithAdmissionChecks; issues 2021, 2023.
    """
    known = facts.cluster.admission_checks
    for queue in facts.cluster.derive(checked):
        mine = [
            (at, each, entry.it.controller_name)
            for at, each in checks(queue)
            if (entry := known.get(each.name)) is not None
        ]
        multi = [(at, each) for at, each, controller in mine if controller == MULTI_KUEUE]
        if not multi:
            continue
        first = multi[0][1].name
        if len(multi) > 1:
            yield Hit(
                RULE,
                f'{queue} has the MultiKueue checks "{first}" and "{multi[1][1].name}"; '
                "keep one of them",
                multi[1][0],
            )
        used = {flavor.name for _, flavor in flavors(queue)}
        for at, each in multi:
            if each.on_flavors and set(each.on_flavors) != used:
                yield Hit(
                    RULE,
                    f'{queue} has the MultiKueue check "{each.name}" for some flavors only; '
                    "delete onFlavors",
                    at / "onFlavors",
                )
        for at, each, controller in mine:
            if controller == PROVISIONING:
                yield Hit(
                    RULE,
                    f'{queue} has the provisioning check "{each.name}" beside the MultiKueue '
                    f'check "{first}"; move it to the queues of the worker clusters',
                    at,
                )


RULE = ObjectRule(
    "multi-kueue-check-misused",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    reads=("AdmissionCheck",),
)
