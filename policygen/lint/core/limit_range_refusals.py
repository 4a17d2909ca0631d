"""The pods that a LimitRange of their namespace refuses."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import At, Exceeded, Path
from policygen.kubernetes.core import LimitRangeItem, LimitRangeView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import Container, PodTemplate, Resources, Workload
from policygen.lint.core.containers import paths
from policygen.lint.core.limit_range_amounts import refused_ranges
from policygen.lint.rule import Facts

_ZERO = Fraction(0)
_NONE: frozenset[str] = frozenset()
_Limits = tuple[tuple[Entry[LimitRangeView], int, LimitRangeItem], ...]
"""The items that can refuse a pod, each with its LimitRange and its index in `limits`."""


class _Amounts(Struct, frozen=True):
    """What a container or a pod requests, with the defaults of a LimitRange."""

    requests: Mapping[str, Fraction]
    limits: Mapping[str, Fraction]
    unlimited: frozenset[str] = frozenset()
    """Resources without a limit of their own."""


class RangeRefusal(NamedTuple):
    """What a limit refuses in a template."""

    workload: Workload
    template: PodTemplate
    what: str
    at: At
    limit: At
    exceeds: Exceeded | None
    """None for a minimum, a ratio and a missing limit."""


def range_refusals(facts: Facts) -> Mapping[At, Sequence[RangeRefusal]]:
    """What each limit refuses, by the place of the limit; use it with `facts.derive`.

    Without limits of a LimitRange that is itself refused, if another rule reports it.
    """
    ranges = facts.cluster.limit_ranges.by_namespace
    invalid: Collection[At] = ()
    if "limit-range-amount-refused" in facts.run:
        invalid = facts.cluster.derive(refused_ranges)

    @cache
    def limits_of(namespace: str) -> tuple[_Limits, tuple[LimitRangeItem, ...]]:
        """The valid limits of a namespace, and its defaults for containers."""
        valid = (it for it in ranges.get(namespace, ()) if it.at not in invalid)
        items = [(it, i, item) for it in valid for i, item in enumerate(it.fields.limits)]
        defaults = tuple(item for _, _, item in items if item.type == "Container")
        return tuple(it for it in items if _refuses(it[-1])), defaults

    found: dict[At, list[RangeRefusal]] = {}
    for workload in facts.cluster.workloads:
        limits, defaults = limits_of(workload.namespace) if workload.namespace else ((), ())
        for template in workload.templates if limits else ():
            for it in _refusals(workload, template, limits, defaults):
                found.setdefault(it.limit, []).append(it)
    return found


def refused_by_range(facts: Facts) -> frozenset[int]:
    """The ids of the templates whose pods limit-range-refuses-pods reports; use it with `facts.derive`."""
    if "limit-range-refuses-pods" not in facts.run:
        return frozenset()
    refusals = facts.derive(range_refusals).values()
    return frozenset(id(it.template) for each in refusals for it in each)


def is_refused_by_range(facts: Facts, workload: Workload) -> bool:
    """Whether limit-range-refuses-pods reports pods of a workload."""
    refused = facts.derive(refused_by_range)
    return bool(refused) and any(id(it) in refused for it in workload.templates)


def _refuses(item: LimitRangeItem) -> bool:
    """Whether an item can refuse a pod: one with only default requests refuses none."""
    limits = item.max or item.min or item.max_limit_request_ratio or item.filled_limits
    return item.type in ("Container", "Pod") and bool(limits)


def _refusals(
    workload: Workload,
    template: PodTemplate,
    limits: _Limits,
    defaults: tuple[LimitRangeItem, ...],
) -> Iterator[RangeRefusal]:
    reported: set[tuple[Path, str]] = set()
    for entry, i, item in limits:
        checked: list[tuple[Path, str, _Amounts]]
        if item.type == "Container":
            checked = [
                (("spec", *path, "resources"), f"container {it.name}", _filled(it, (item,)))
                for path, it in paths(template)
            ]
        else:
            checked = [(("spec",), "a pod", _of_pod(template, defaults))]
        for path, who, requested in checked:
            for what, field, name in _faults(requested, item, who, entry):
                if (path, name) not in reported:
                    reported.add((path, name))
                    limit = entry.at.to("spec", "limits", i, field, name)
                    exceeds = None
                    most = item.max.get(name, _ZERO)
                    amounts = (requested.requests, requested.limits)
                    if field == "max" and any(it.get(name, _ZERO) > most for it in amounts):
                        words = f"the maximum of {entry} is {amount_of(name, most)}"
                        exceeds = Exceeded(workload.at, name, most, words, of_pod=True)
                    yield RangeRefusal(
                        workload, template, what, template.at.to(*path), limit, exceeds
                    )


def _filled(container: Container, items: Iterable[LimitRangeItem]) -> _Amounts:
    """A limit is also the request if the request is missing. Defaults are added after that."""
    written = container.resources
    requests, limits = {**written.limits, **written.requests}, written.limits
    for item in items:
        requests = {**item.filled_requests, **requests}
        limits = {**item.filled_limits, **limits}
    unlimited = _NONE if len(limits) == len(written.limits) else limits.keys() - written.limits
    return _Amounts(requests, limits, frozenset(unlimited))


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
    requested: _Amounts, item: LimitRangeItem, who: str, entry: Entry[LimitRangeView]
) -> Iterator[tuple[str, str, str]]:
    """A message, and the field and resource of the item."""
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
    for name in sorted(requested.unlimited - item.max.keys()) if requested.unlimited else ():
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
