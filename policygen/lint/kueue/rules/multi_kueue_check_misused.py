"""A ClusterQueue uses MultiKueue checks in a combination that makes it inactive."""

from policygen.core.names import PROVISIONING_CONTROLLER
from policygen.lint.kueue.admission_checks import MULTI_KUEUE, checked, known_checks
from policygen.lint.kueue.quotas import flavors
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The queue is active only with one check for all flavors and no ProvisioningRequest check.

    Source: pkg/cache/scheduler/clusterqueue.go, updateWithAdmissionChecks; issues 2021, 2023.
    """
    for queue in facts.cluster.derive(checked):
        known = list(known_checks(facts.cluster, queue))
        multi = [(at, used) for at, used, check in known if check.controller_name == MULTI_KUEUE]
        if not multi:
            continue
        first = multi[0][1].name
        if len(multi) > 1:
            yield Hit(
                RULE,
                f'{queue} has two MultiKueue checks, "{first}" and "{multi[1][1].name}", so it is '
                "inactive; keep one of them",
                multi[1][0],
            )
        names = {flavor.name for _, flavor in flavors(queue)}
        for at, reference in multi:
            if reference.on_flavors and set(reference.on_flavors) != names:
                yield Hit(
                    RULE,
                    f'{queue} has the MultiKueue check "{reference.name}" for some flavors only, '
                    "so it is inactive; remove onFlavors",
                    at / "onFlavors",
                )
        for at, reference, check in known:
            if check.controller_name == PROVISIONING_CONTROLLER:
                yield Hit(
                    RULE,
                    f'{queue} has ProvisioningRequest check "{reference.name}" and MultiKueue '
                    f'check "{first}", so it is inactive; use the ProvisioningRequest check only '
                    "in the worker clusters",
                    at,
                )


RULE = ObjectRule(
    "multi-kueue-check-misused",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Keep one MultiKueue check, without onFlavors and without a ProvisioningRequest check.",
    judges=("ClusterQueue",),
    check=check,
    reads=("AdmissionCheck",),
)
