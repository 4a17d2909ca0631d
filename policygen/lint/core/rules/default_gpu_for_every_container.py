"""A LimitRange gives a GPU to every container that does not request one."""

from collections.abc import Iterator

from policygen.core.amounts import readable
from policygen.core.finding import At
from policygen.kubernetes import accelerators
from policygen.kubernetes.core import LimitRangeItem
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb

_ADVICE = {
    "max": "a maximum without a default also becomes the default, so {fix}",
    "min": "a minimum without a default also becomes the default request, so remove the minimum of {name}",
}


def check(facts: Facts) -> Hits:
    """The server adds defaults to each container that does not set the resource, sidecars included.

    A maximum or minimum without a default becomes a default. A default of 0 is no remedy with Kueue: it
    counts this default for containers with only a limit, as `limits-not-counted` reports.
    Source: plugin/pkg/admission/limitranger/admission.go, mergeContainerResources;
    pkg/apis/core/v1/defaults.go, SetDefaults_LimitRangeItem.
    """
    kueue = facts.cluster.cluster_queues.any
    fix = "remove the maximum of {name}" if kueue else "set default of {name} to 0"
    for entry in facts.cluster.limit_ranges:
        for i, item in enumerate(entry.fields.limits):
            if item.type != "Container":
                continue
            names = item.filled_requests
            for name in (
                key for key, amount in names.items() if accelerators.is_one(key) and amount
            ):
                field = item.fills_by(name)
                advice = _ADVICE.get(field, "remove {name} from the defaults").format(
                    name=name, fix=fix.format(name=name)
                )
                at = entry.at.to("spec", "limits", i)
                yield Hit(
                    RULE,
                    f"{entry} gives {readable(name, names[name])} {name} to every container that does not "
                    f"request it, even sidecars; {advice}",
                    at.to(field, name),
                    meant=tuple(
                        _removed(item, at, name) if kueue else _zero(item, at, field, name)
                    ),
                )


def _removed(item: LimitRangeItem, at: At, name: str) -> Iterator[Edit]:
    """The edits after which no container gets a resource, and Kueue counts limits."""
    for field, amounts in (
        ("min", item.min),
        ("max", item.max),
        ("default", item.default),
        ("defaultRequest", item.default_request),
    ):
        if name in amounts:
            yield Edit(Verb.REMOVE, at.to(field, name))


def _zero(item: LimitRangeItem, at: At, field: str, name: str) -> Iterator[Edit]:
    """The edits after which a container without a request gets none of a resource."""
    if field == "min":
        yield Edit(Verb.REMOVE, at.to("min", name))
        return
    if name in item.default_request:
        yield Edit(Verb.REMOVE, at.to("defaultRequest", name))
    yield Edit(Verb.REWRITE if name in item.default else Verb.ADD, at.to("default", name), 0)


RULE = ObjectRule(
    "default-gpu-for-every-container",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Remove GPUs from the defaults and the maximum; without Kueue, a default of 0 beside the maximum also works.",
    judges=("LimitRange",),
    check=check,
    reads=("ClusterQueue",),
)
