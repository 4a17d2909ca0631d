"""A pod requests more or less than a LimitRange of its namespace allows."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import At, Path
from policygen.kubernetes.core import LimitRangeItem, LimitRangeView
from policygen.kubernetes.limit_ranges import container_limits
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS, Container, PodTemplate, Resources
from policygen.lint.core.containers import paths
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_ZERO = Fraction(0)
_Ranges = tuple[Entry[LimitRangeView], ...]


class _Amounts(Struct, frozen=True):
    """What a container or a pod requests, with the defaults of a LimitRange."""

    requests: Mapping[str, Fraction]
    limits: Mapping[str, Fraction]
    unlimited: frozenset[str] = frozenset()
    """Resources without a limit of their own."""


def check(facts: Facts) -> Hits:
    """The API server refuses the pods; Kueue does not admit the workload.

    Reports the first fault of each container and resource, also if there are several LimitRanges.
    Source: plugin/pkg/admission/limitranger; pkg/util/limitrange of Kueue.
    """
    ranges = facts.cluster.limit_ranges.by_namespace
    defaults_of = cache(lambda namespace: tuple(container_limits(facts.cluster, namespace)))
    for workload in facts.cluster.workloads:
        limits = ranges.get(workload.namespace, ()) if workload.namespace else ()
        if not limits:
            continue
        defaults = defaults_of(workload.namespace)
        for template in workload.templates:
            for what, at, limit in _refusals(template, limits, defaults):
                yield Hit(
                    RULE,
                    f"the pods of {workload} are refused: {what}; request what the LimitRange "
                    "allows, or change the LimitRange",
                    at,
                    related=(limit,),
                )


def _refusals(
    template: PodTemplate, ranges: _Ranges, defaults: tuple[LimitRangeItem, ...]
) -> Iterator[tuple[str, At, At]]:
    reported: set[tuple[Path, str]] = set()
    for entry in ranges:
        for i, item in enumerate(entry.fields.limits):
            checked: list[tuple[Path, _Amounts]] = []
            if item.type == "Container":
                checked = [
                    (("spec", *path, "resources"), _filled(it, (item,)))
                    for path, it in paths(template)
                ]
            elif item.type == "Pod":
                checked = [(("spec",), _of_pod(template, defaults))]
            for path, requested in checked:
                for what, field, name in _faults(requested, item, entry):
                    if (path, name) not in reported:
                        reported.add((path, name))
                        at = entry.at.to("spec", "limits", i, field, name)
                        yield what, template.at.to(*path), at


def _filled(container: Container, items: Iterable[LimitRangeItem]) -> _Amounts:
    """A limit is also the request if the request is missing. Defaults are added after that."""
    written = container.resources
    requests = {**written.limits, **written.requests}
    limits = dict(written.limits)
    for item in items:
        requests = {**item.filled_requests, **requests}
        limits = {**item.filled_limits, **limits}
    return _Amounts(requests, limits, frozenset(limits) - frozenset(written.limits))


def _of_pod(template: PodTemplate, defaults: tuple[LimitRangeItem, ...]) -> _Amounts:
    """What all containers request together, as the scheduler counts it."""

    def total(field: str, resources: Resources) -> Mapping[str, Fraction]:
        def one(container: Container) -> Container:
            amounts = dict(getattr(_filled(container, defaults), field))
            return replace(container, resources=Resources(requests=amounts))

        return replace(
            template.spec,
            containers=tuple(map(one, template.spec.containers)),
            init_containers=tuple(map(one, template.spec.init_containers)),
            resources=resources,
        ).requests

    resources = template.spec.resources
    return _Amounts(
        total("requests", resources) if defaults else template.spec.requests,
        total("limits", Resources(limits=resources.limits)),
    )


def _faults(
    requested: _Amounts, item: LimitRangeItem, entry: Entry[LimitRangeView]
) -> Iterator[tuple[str, str, str]]:
    """A message, and the field and resource of the item."""
    who = "a pod" if item.type == "Pod" else "a container"
    yield from _too_much(requested, item, who, entry)
    yield from _too_little(requested, item, who, entry)
    for name, most in item.max_limit_request_ratio.items():
        request, limit = requested.requests.get(name, _ZERO), requested.limits.get(name, _ZERO)
        if not request or not limit:
            message = (
                f"{who} has no request or no limit of {name}, but maxLimitRequestRatio of {entry} "
                "requires both"
            )
            yield message, "maxLimitRequestRatio", name
        elif limit / request > most:
            message = (
                f"{who} has a limit of {amount_of(name, limit)} and a request of "
                f"{readable(name, request)}, but maxLimitRequestRatio of {entry} is {float(most):g}"
            )
            yield message, "maxLimitRequestRatio", name


def _too_much(
    requested: _Amounts, item: LimitRangeItem, who: str, entry: Entry[LimitRangeView]
) -> Iterator[tuple[str, str, str]]:
    requests, limits = requested.requests, requested.limits
    for name, most in item.max.items():
        amount = max(requests.get(name, _ZERO), limits.get(name, _ZERO))
        if amount > most:
            message = (
                f"{who} requests {amount_of(name, amount, most)}, but the maximum of {entry} is "
                f"{readable(name, most, amount)}"
            )
            yield message, "max", name
        elif name not in limits:
            yield (
                f"{who} has no limit of {name}, but {entry} has the maximum {readable(name, most)}, which requires a limit",
                "max",
                name,
            )
    for name in sorted(requested.unlimited - item.max.keys()):
        amount, most = requests.get(name, _ZERO), limits[name]
        if amount > most:
            message = (
                f"{who} requests {amount_of(name, amount, most)} without a limit, but the default "
                f"limit of {entry} is {readable(name, most, amount)}"
            )
            yield message, "default", name


def _too_little(
    requested: _Amounts, item: LimitRangeItem, who: str, entry: Entry[LimitRangeView]
) -> Iterator[tuple[str, str, str]]:
    for name, least in item.min.items():
        amount = min(requested.requests.get(name, _ZERO), requested.limits.get(name, least))
        if amount < least:
            message = (
                f"{who} requests {amount_of(name, amount, least)}, but the minimum of {entry} is "
                f"{readable(name, least, amount)}"
            )
            yield message, "min", name


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
