"""Kueue counts less than the pods request, because a LimitRange sets the requests that are missing."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from policygen.core.amounts import amount_of
from policygen.core.finding import At
from policygen.core.quoting import counted as counted_noun
from policygen.core.quoting import listed
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.core import LimitRangeView
from policygen.kubernetes.kueue_jobs import counted
from policygen.kubernetes.kueue_requests import BY_POD_KINDS, adjusted, as_pod
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.coverage import READS, PodRequest, covered, pod_requests
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_FIELDS = ("defaultRequest", "default", "max", "min")
"""The fields that set requests, also if one of the others is removed."""
_Range = Entry[LimitRangeView]


class _Uncounted(NamedTuple):
    """Resources of a pod of which Kueue counts too little, because of one item of a LimitRange."""

    request: PodRequest
    names: list[str]


def check(facts: Facts) -> Hits:
    """For a container with only a limit, Kueue uses the default request; the API server uses the limit.

    Kueue reads pods of these kinds from the template, which the API server does not fill in. Source:
    pkg/workload/resources.go of Kueue 0.19.2, AdjustResources: LimitRanges first, then limits;
    pkg/apis/core/v1/defaults.go of Kubernetes 1.36.3, SetDefaults_Pod.
    """
    if not facts.cluster.limit_ranges.any:
        return
    found: dict[tuple[At, int, bool], list[_Uncounted]] = {}
    ranges: dict[At, _Range] = {}
    for request in pod_requests(facts):
        by_item: dict[tuple[At, int, bool], list[str]] = {}
        for entry, i, name in _sources(facts, request):
            ranges[entry.at] = entry
            by_item.setdefault((entry.at, i, is_one(name)), []).append(name)
        for key, names in by_item.items():
            found.setdefault(key, []).append(_Uncounted(request, names))
    for (at, i, _), each in found.items():
        yield _hit(facts, ranges[at], i, each)


def _sources(facts: Facts, request: PodRequest) -> Iterator[tuple[_Range, int, str]]:
    """The defaults because of which Kueue counts too little: a LimitRange, an item, and a resource."""
    ranges = facts.cluster.limit_ranges.by_namespace.get(request.workload.namespace, ())
    if not ranges or request.workload.kind in BY_POD_KINDS:
        return
    spec = request.template.spec
    containers = [it.resources for it in (*spec.containers, *spec.init_containers)]
    names = {name for it in containers for name in it.limits.keys() - it.requests.keys()}
    names &= covered(request.queue)
    if not names:
        return
    reported = "default-gpu-for-every-container" in facts.run
    real, seen = _real(facts, request), _counted(facts, request)
    for entry in ranges:
        for i, item in enumerate(entry.fields.limits):
            filled = item.filled_requests if item.type == "Container" else {}
            for name in sorted(names & filled.keys()):
                names.remove(name)  # Kueue uses the first default
                is_reported = reported and is_one(name) and filled[name]
                if not is_reported and seen.get(name, 0) < real.get(name, 0):
                    yield entry, i, name


def _counted(facts: Facts, request: PodRequest) -> Mapping[str, Fraction]:
    """The requests of a pod as Kueue counts them."""
    return counted(facts.cluster, request.workload, request.template)


def _real(facts: Facts, request: PodRequest) -> Mapping[str, Fraction]:
    """The requests of a pod on the API server."""
    spec = as_pod(request.template.spec)
    return adjusted(facts.cluster, spec, request.workload.namespace).requests


def _hit(facts: Facts, entry: _Range, i: int, found: Sequence[_Uncounted]) -> Hit:
    item, (first, names) = entry.fields.limits[i], found[0]
    seen, real = _counted(facts, first), _real(facts, first)
    less = listed([amount_of(it, seen.get(it, Fraction(0)), real[it]) for it in names], "and")
    more = listed([amount_of(it, real[it]) for it in names], "and")
    others = len({it.request.workload.at for it in found}) - 1
    beside = f" (also for {counted_noun(others, 'other workload')})" if others else ""
    advice = "write all requests in the pods"
    if is_one(names[0]):
        every = sorted({name for it in found for name in it.names})
        filling = [it for it in _FIELDS if not item.by_field[it].keys().isdisjoint(every)]
        advice += (
            f", or remove {listed(every, 'and')} from {listed(filling, 'and')} of the LimitRange"
        )
    return Hit(
        RULE,
        f"Kueue counts only {less} for each pod of {first.workload}, which requests {more}{beside}: the pods set only "
        f"limits, and Kueue uses the default requests of {entry} before limits; {advice}",
        entry.at.to("spec", "limits", i, item.fills_by(names[0]), names[0]),
        related=tuple(dict.fromkeys(it.request.template.at / "spec" for it in found)),
    )


RULE = ObjectRule(
    "limits-not-counted",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the resource in requests of the pods, or remove GPUs from the defaults of the LimitRange.",
    judges=("LimitRange",),
    check=check,
    needs=frozenset({Need.WORKLOADS}),
    reads=tuple(it for it in READS if it != "LimitRange"),
)
