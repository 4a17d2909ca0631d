"""A Deployment that fits its quota cannot be updated within it."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint import accelerators
from policygen.lint.rollouts import rollout
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Where no pod may be missing, a new one must fit before an old one goes.

    Source: pkg/controller/deployment/rolling.go; pkg/quota/v1/evaluator/core/pods.go.
    """
    quotas = facts.cluster.resource_quotas.by_namespace
    for workload in facts.cluster.workloads:
        update = rollout(workload)
        if update is None or update.unavailable or not update.replicas:
            continue
        for quota in quotas.get(workload.namespace, ()):
            if quota.it.scopes or quota.it.scope_selector:
                continue
            for template in workload.templates:
                for name, amount in accelerators.asked(facts.cluster, template).items():
                    limit = quota.it.hard.get(f"requests.{name}")
                    now = amount * update.replicas
                    if limit is not None and now <= limit < now + amount:
                        yield Claim(
                            f"{workload} uses {now} of the {limit} {name} of {quota}, and its "
                            "update makes a new pod before an old one goes: the new one is "
                            "refused, and the update hangs; write maxUnavailable: 1, maxSurge: 0",
                            workload.at.to("spec", "strategy"),
                            (quota.at.to("spec", "hard", f"requests.{name}"),),
                        )


RULE = Rule(
    "rollout-exceeds-quota",
    Severity.ERROR,
    Family.INERT,
    judges=("Deployment",),
    check=check,
    reads=("ResourceQuota",),
)
