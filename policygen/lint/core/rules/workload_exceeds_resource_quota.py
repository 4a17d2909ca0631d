"""A workload requests more than a ResourceQuota of its namespace allows."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import At, Exceeded
from policygen.core.quoting import listed, some
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.pod_quotas import PODS, charge
from policygen.kubernetes.workloads import KINDS, Workload, replicas_at
from policygen.lint.core.autoscalers import autoscaler_of
from policygen.lint.core.excess_words import left_to
from policygen.lint.core.namespace_quotas import QuotaExcess, quota_excesses, used_until_deleted
from policygen.lint.core.queue_sums import LASTING
from policygen.lint.core.refused_pods import request_path
from policygen.lint.kueue.admitted import Admitted, admitted
from policygen.lint.kueue.coverage import refused_by_template
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_FEWER = "run fewer pods"


def check(facts: Facts) -> Hits:
    """Pods above the quota are refused when they are created.

    All workloads above one limit are reported together, and all amounts of one workload.
    Source: see lint/core/namespace_quotas.py.
    """
    alone: dict[tuple[At, At], list[QuotaExcess]] = {}
    uncovered = facts.derive(refused_by_template)
    for it in facts.cluster.derive(quota_excesses):
        templates = [each for workload, _ in it.workloads for each in workload.templates]
        if not it.bound.limit and all(
            it.resource in uncovered.get(id(each), ()) for each in templates
        ):
            continue  # request-not-covered reports a resource with a limit of 0 that the queue does not cover
        workload, *others = (each for each, _ in it.workloads)
        queues = facts.cluster.derive(admitted).get(it.at)
        if queues is not None and queues.exceed(it.bound.limit):
            yield _hit(facts, [it], queues)
        elif others:
            yield _hit(facts, [it])
        else:
            alone.setdefault((workload.at, it.bound.quota.at), []).append(it)
    for excesses in alone.values():
        yield _hit(facts, excesses)


def _hit(facts: Facts, excesses: Sequence[QuotaExcess], queues: Admitted | None = None) -> Hit:
    """One hit for one limit, or for all limits of a ResourceQuota that a workload exceeds.

    With `queues`, it is at the limit, because they admit more.
    """
    first = excesses[0]
    workload, *others = (it for it, _ in first.workloads)
    pods, autoscaler = (
        sum(it.replicas or 0 for it in workload.templates),
        autoscaler_of(facts.cluster, workload),
    )
    scaled = autoscaler is not None and autoscaler.pods(pods) > pods
    at, fewer = workload.at / "spec", "lower the minimum of its autoscaler"
    if not scaled:
        main = min(excesses, key=_gpus_first)
        at, fewer = _place(main, workload)
        if fewer == _FEWER and not others and queues is None:
            fewer += _left_to_others(facts, main, workload)
    advice = f"{fewer}, or {_raise(first)}"
    places = [*(it.at for it in excesses), *(it.at / "spec" for it in others)]
    if queues is not None:
        at, places[0] = places[0], workload.at / "spec"
        advice = f"write at least {queues.written}, because {queues.nominal(first.bound.limit)}{queues.others}"
        if any(needs > queues.amount for _, needs in first.workloads):
            advice = f"{fewer}, and {advice}"
    return Hit(
        RULE,
        f"{_of_all(first) if others else _of_one(excesses, scaled=scaled)}, so the API server refuses the last pods; {advice}",
        at,
        tuple(places),
        exceeds=() if others else tuple(map(_exceeded, excesses)),
    )


def _raise(it: QuotaExcess) -> str:
    """Advice to raise the limit, which may be a number of cores with the unit m by mistake."""
    cores = it.bound.limit * 1000
    needs = max(amount for _, amount in it.workloads)
    if it.resource != "cpu" or it.bound.limit >= 1 or cores < needs:
        return "raise the quota"
    return f"raise the quota, such as {cores} instead of {cores}m"


def _place(it: QuotaExcess, workload: Workload) -> tuple[At, str]:
    """The request of a pod that is too large alone, or else the number of pods, and how to change it."""
    each = {template: charge(template.spec, it.key) for template in workload.templates}
    largest = max(each, key=each.__getitem__)
    if each[largest] > it.bound.limit and it.key not in PODS:
        path = request_path(largest.spec, it.resource)
        return largest.at.to("spec", *path), "lower the requests of its pods"
    most = max(each, key=lambda template: each[template] * (template.replicas or 0))
    return replicas_at(workload, most), _FEWER


def _left_to_others(facts: Facts, it: QuotaExcess, workload: Workload) -> str:
    """What fewer pods must leave to the other workloads of the namespace; else ""."""
    used = facts.derive(used_until_deleted).get((workload.namespace, it.key), {})
    lasting = {str(other): amount for other, amount in used.items() if other is not workload}
    jobs = {
        str(other): _of_a_pod(other, it.key)
        for other in (
            facts.derive(_jobs).get(workload.namespace, ()) if workload.kind in LASTING else ()
        )
    }
    return left_to(lasting, jobs, it.resource, it.bound.limit - _of_a_pod(workload, it.key))


def _of_a_pod(workload: Workload, key: str) -> Fraction:
    """What the most demanding pod of a workload uses of a limit."""
    return max(charge(template.spec, key) for template in workload.templates)


def _jobs(facts: Facts) -> Mapping[str, Sequence[Workload]]:
    """The workloads whose pods end, by namespace; use it with `facts.derive`."""
    found: dict[str, list[Workload]] = {}
    for it in facts.cluster.workloads:
        if it.templates and it.kind not in (*LASTING, "Pod"):
            found.setdefault(it.namespace, []).append(it)
    return found


def _gpus_first(it: QuotaExcess) -> bool:
    return not is_one(it.resource)


def _of_one(excesses: Sequence[QuotaExcess], *, scaled: bool) -> str:
    workload = excesses[0].workloads[0][0]
    requested, allowed = [], []
    for it in sorted(excesses, key=_gpus_first):
        amount = it.workloads[0][1]
        requested.append(amount_of(it.resource, amount, it.bound.limit))
        allowed.append(f"{readable(it.resource, it.bound.limit, amount)}{_for(it)}")
    pods = "the pods of its autoscaler's minimum" if scaled else "all its pods"
    return (
        f"{workload} requests {listed(requested, 'and')} in {pods} together, "
        f"but {excesses[0].bound.quota} allows {listed(allowed, 'and')}"
    )


def _of_all(it: QuotaExcess) -> str:
    names = [f"{each} ({readable(it.resource, needs)})" for each, needs in it.workloads]
    limit = amount_of(it.resource, it.bound.limit)
    return (
        f"{some(names, 'other workload')} each request more than the {limit} that {it.bound.quota} allows"
        f"{_for(it)}"
    )


def _for(it: QuotaExcess) -> str:
    """The key, if it does not limit the requests."""
    return f" for {it.key}" if it.key.startswith("limits.") else ""


def _exceeded(it: QuotaExcess) -> Exceeded:
    [(workload, amount)] = it.workloads
    allowed = amount_of(it.resource, it.bound.limit, amount)
    limit = f"{it.bound.quota} allows {allowed}{_for(it)}"
    return Exceeded(workload.at, it.resource, it.bound.limit, limit)


RULE = ObjectRule(
    "workload-exceeds-resource-quota",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Run no more pods than the quota allows, or raise the quota.",
    judges=("ResourceQuota", *KINDS),
    check=check,
    reads=(
        "LimitRange",
        "LocalQueue",
        "ClusterQueue",
        "PriorityClass",
        "HorizontalPodAutoscaler",
        "ScaledObject",
    ),
)
