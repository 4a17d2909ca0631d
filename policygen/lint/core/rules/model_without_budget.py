"""A drain can evict all pods of a serving model at once, against the availability of the model."""

from policygen.core.quoting import quoted
from policygen.kubernetes.disruption_budgets import budgeted_pods
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Only manifests: of a cluster, `lint --with workloads` reports a missing rendered budget.

    Source: `plan.workload.availability.budget`, which renders the budget of a model.
    """
    if facts.spec is None or facts.plan is None or facts.cluster.seen is not None:
        return
    from policygen.patch.draft import Contradiction
    from policygen.patch.model_finder import ModelFinder
    from policygen.plan.decisions import Decisions

    finder = ModelFinder(
        Decisions(facts.spec, facts.plan.pools, facts.plan.trees, facts.plan.workloads)
    )
    budgets = facts.cluster.derive(budgeted_pods).by_template
    for workload in facts.cluster.workloads:
        object_ = workload.object
        if object_.kind not in KINDS or object_.at in facts.cluster.context:
            continue
        run = finder.named(object_)
        if run is None or isinstance(run, Contradiction):
            continue
        wanted = run.assignment.model.availability
        if wanted is not None and not any(id(it) in budgets for it in workload.templates):
            least = wanted.min_available
            amount = "maxUnavailable: 1" if least is None else f"minAvailable: {least}"
            yield Hit(
                RULE,
                f"model {quoted(run.model)} has availability, but no PodDisruptionBudget selects the pods "
                f"of {object_}, so a drain can evict all of them at once; write one with {amount}, as "
                f"`policygen workload {run.model}` prints it",
                object_.at,
            )


KINDS = ("Deployment", "StatefulSet")
RULE = ObjectRule(
    "model-without-budget",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the PodDisruptionBudget that `policygen workload MODEL` prints.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.SPEC, Need.WHOLE}),
    reads=("PodDisruptionBudget",),
)
