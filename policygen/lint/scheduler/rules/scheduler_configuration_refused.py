"""A value in a KubeSchedulerConfiguration is invalid, so kube-scheduler does not start."""

from collections.abc import Mapping, Sequence
from typing import Any

from policygen.core.finding import At
from policygen.core.quoting import shown
from policygen.core.versions import Version
from policygen.kubernetes.configurations import PluginSet, SchedulerConfigurationView
from policygen.kubernetes.configurations import SchedulerProfileView as Written
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import entries, mapping, numbered
from policygen.lint.core import typed_fields
from policygen.lint.core.typed_fields import Fields
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.scheduler import arguments, bounds, terms
from policygen.lint.scheduler import profiles as scheduler_profiles
from policygen.lint.scheduler.scoring import FIT, ScoredProfile, profiles

_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_RATIO = "requestedToCapacityRatio"


def check(facts: Facts) -> Hits:
    """Types, bounds, profiles, plugins and their arguments.

    Source: pkg/scheduler/apis/config/validation; pkg/scheduler/framework/runtime/framework.go
    (Kubernetes 1.36.3).
    """
    fields = terms.configuration(facts.target["kubernetes"])
    for entry in facts.cluster.scheduler_configurations:
        data = entry.object.data
        for path, fault in bounds.faults(data):
            yield Hit(RULE, fault, entry.at.to(*path))
        yield from _types(data, fields, entry.at)
        yield from _percentage(entry.fields.percentage_of_nodes_to_score, entry.at)
        yield from _profiles(entry)
    for one in profiles(facts.cluster):
        for path, fault in scheduler_profiles.faults(one.profile, facts.target["kubernetes"]):
            yield Hit(RULE, fault, one.at.to(*path))
        yield from _arguments(one, facts.target["kubernetes"])


def _types(data: Mapping[str, Any], fields: Fields, at: At) -> Hits:
    for path, fault in typed_fields.faults(data, fields, lists=terms.LISTS):
        yield Hit(RULE, f"{path[-1]}: {fault}", at.to(*path))


def _profiles(entry: Entry[SchedulerConfigurationView]) -> Hits:
    named: dict[str, int] = {}
    several = len(entry.fields.profiles) > 1
    for i, profile in enumerate(entry.fields.profiles):
        at = entry.at.to("profiles", i)
        written = mapping(entry.object.data["profiles"][i]).get("schedulerName")
        if not written and (several or written == ""):
            yield Hit(
                RULE, "a profile has no schedulerName, which is refused; write a schedulerName", at
            )
        elif profile.scheduler_name in named:
            yield Hit(
                RULE,
                f'a second profile is also named "{written}", which is refused; write another name',
                at / "schedulerName",
                (entry.at.to("profiles", named[profile.scheduler_name], "schedulerName"),),
            )
        named.setdefault(profile.scheduler_name, i)
        yield from _percentage(profile.percentage_of_nodes_to_score, at)
        if _queue_sort(profile) != _queue_sort(entry.fields.profiles[0]):
            yield Hit(
                RULE,
                "queueSort of this profile differs from queueSort of the first profile, which is refused; "
                "write the same queueSort in all profiles",
                at.to("plugins", "queueSort") if "queueSort" in profile.plugins else at,
            )


def _queue_sort(profile: Written) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = profile.plugins.get("queueSort", PluginSet())
    return tuple(it.name for it in found.enabled), tuple(it.name for it in found.disabled)


def _percentage(share: int | None, at: At) -> Hits:
    if share is not None and not 0 <= share <= 100:
        yield Hit(
            RULE,
            f"percentageOfNodesToScore {share} is refused; write 0 to 100",
            at / "percentageOfNodesToScore",
        )


def _arguments(scored: ScoredProfile, target: Version) -> Hits:
    seen: set[str] = set()
    for i, config in enumerate(scored.profile.plugin_config):
        at = scored.at.to("pluginConfig", i)
        if config.name in seen:
            yield Hit(
                RULE,
                f"two entries of pluginConfig have arguments for {config.name}, which is refused; merge the entries",
                at / "name",
            )
        seen.add(config.name)
        if config.name in terms.REMOVED:
            yield Hit(
                RULE,
                f"{config.name} no longer exists, so its arguments are refused; remove this entry",
                at / "name",
            )
        args, place = config.args, at / "args"
        fields = terms.arguments(config.name, target)
        if fields is not None and not isinstance(config.written, dict | None):
            fault = f"args of {config.name} are {shown(config.written)}, which is refused; write a mapping"
            yield Hit(RULE, fault, place)
        yield from _types(args, fields or {}, place)
        for path, fault in arguments.faults(config.name, args):
            yield Hit(RULE, fault, place.to(*path))
        if config.name == FIT and isinstance(args.get("scoringStrategy"), dict):
            yield from _strategy(args["scoringStrategy"], place / "scoringStrategy")


def _strategy(data: Mapping[str, Any], at: At) -> Hits:
    kind = data.get("type")
    if kind not in _STRATEGIES:
        yield Hit(
            RULE,
            f'scoringStrategy type "{kind or ""}" is refused; write one of '
            f"{', '.join(_STRATEGIES)}",
            at / "type",
        )
        return
    for j, resource in numbered(data, "resources"):
        name, weight = resource.get("name"), resource.get("weight")
        if isinstance(weight, int) and not 0 <= weight <= 100:
            yield Hit(
                RULE,
                f"weight {weight} of resource {shown(name)} is refused; write 1 to 100",
                at.to("resources", j, "weight"),
            )
    if kind != _STRATEGIES[2]:
        if data.get(_RATIO) is not None:
            yield Hit(RULE, f"{_RATIO} with type {kind} is refused; remove {_RATIO}", at / _RATIO)
        return
    shape = entries(data, _RATIO, "shape")
    if not shape:
        yield Hit(
            RULE,
            f"type {kind} without {_RATIO}.shape is refused; write the points of the shape",
            at / _RATIO,
        )
        return
    yield from _shape(shape, at.to(_RATIO, "shape"))


def _shape(points: Sequence[Any], at: At) -> Hits:
    before = -1
    for j, point in enumerate(points):
        use, score = _number(point, "utilization"), _number(point, "score")
        where = at / j
        if not before < use <= 100:
            advice = (
                f"is not above {before}, which is refused; sort the points by ascending utilization"
            )
            if use == before:
                advice = "is in two points, which is refused; remove one of them"
            if not 0 <= use <= 100:
                advice = "is refused; write 0 to 100"
            yield Hit(
                RULE,
                f"utilization {use} {advice}",
                where / "utilization",
            )
        if not 0 <= score <= 10:
            yield Hit(RULE, f"score {score} is refused; write 0 to 10", where / "score")
        before = use


def _number(point: Any, field: str) -> int:
    found = point.get(field, 0) if isinstance(point, dict) else 0
    return found if isinstance(found, int) else 0


RULE = ObjectRule(
    "scheduler-configuration-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a value that the message allows.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
)
