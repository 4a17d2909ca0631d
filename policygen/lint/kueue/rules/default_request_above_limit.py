"""A LimitRange gives containers a request above their own limit, so Kueue never admits the job."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.amounts import amount_of, readable, written
from policygen.core.finding import At
from policygen.core.quoting import some
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.core import LimitRangeView
from policygen.kubernetes.kueue_requests import BY_POD_KINDS
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.containers import paths
from policygen.lint.core.limit_range_amounts import refused_ranges
from policygen.lint.kueue.coverage import READS, PodRequest, pod_requests
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb


class _Above(Struct, frozen=True, eq=False):
    """A container that has a limit but no request, and gets a request above this limit."""

    workload: Workload
    at: At
    """Its resources."""
    name: str
    request: Fraction
    limit: Fraction
    entry: Entry[LimitRangeView]
    default: At
    """The field of the LimitRange."""


def check(facts: Facts) -> Hits:
    """Kueue adds the default request before it takes limits as requests; the API server adds it after that.

    The maximum is the default if there is none. In pods, the API server has written the requests before.
    Source: pkg/workload/resources.go of Kueue 0.19.2, AdjustResources and ValidateResources;
    pkg/apis/core/v1/defaults.go of Kubernetes 1.36.3, SetDefaults_Pod and SetDefaults_LimitRangeItem.
    """
    if not facts.cluster.limit_ranges.any:
        return
    found: dict[At, list[_Above]] = {}
    for request in pod_requests(facts):
        if request.counted is request.written or request.workload.kind in BY_POD_KINDS:
            continue
        for it in _above(facts, request):
            found.setdefault(it.entry.at, []).append(it)
    for above in found.values():
        yield _hit(above)


def _above(facts: Facts, request: PodRequest) -> Iterator[_Above]:
    """The faults of a template. Of several defaults of a resource, the first counts.

    default-gpu-for-every-container reports those of GPUs.
    """
    skips_gpus = "default-gpu-for-every-container" in facts.run
    ranges: Sequence[Entry[LimitRangeView]]
    ranges = facts.cluster.limit_ranges.by_namespace.get(request.workload.namespace, ())
    if "limit-range-amount-refused" in facts.run:
        invalid = facts.cluster.derive(refused_ranges)
        ranges = [it for it in ranges if it.at not in invalid]
    defaults: dict[str, tuple[Fraction, Entry[LimitRangeView], At]] = {}
    for entry in ranges:
        for i, item in enumerate(entry.fields.limits):
            for name, amount in item.filled_requests.items() if item.type == "Container" else ():
                if skips_gpus and is_one(name):
                    continue
                at = entry.at.to("spec", "limits", i, item.fills_by(name), name)
                defaults.setdefault(name, (amount, entry, at))
    for path, container in paths(request.template):
        own = container.resources
        for name in sorted((defaults.keys() & own.limits.keys()) - own.requests.keys()):
            amount, entry, at = defaults[name]
            if amount > own.limits[name]:
                place = request.template.at.to("spec", *path, "resources")
                yield _Above(request.workload, place, name, amount, own.limits[name], entry, at)


def _hit(found: Sequence[_Above]) -> Hit:
    """One hit for all jobs that a LimitRange keeps from starting."""
    first = found[0]
    names = list(dict.fromkeys(str(it.workload) for it in found))
    return Hit(
        RULE,
        f"Kueue never admits {some(names, 'other job')}: {first.entry} gives a container without a request "
        f"{amount_of(first.name, first.request, first.limit)}, above its limit of "
        f"{readable(first.name, first.limit, first.request)}; write the limits of the containers as requests too",
        first.default,
        tuple(dict.fromkeys(it.at for it in found)),
        meant=tuple(
            Edit(Verb.ADD, it.at.to("requests", it.name), written(it.name, it.limit))
            for it in found
        ),
    )


RULE = ObjectRule(
    "default-request-above-limit",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the limits of the containers as requests too.",
    judges=("LimitRange",),
    check=check,
    reads=tuple(dict.fromkeys((*(it for it in READS if it != "LimitRange"), *KINDS))),
)
