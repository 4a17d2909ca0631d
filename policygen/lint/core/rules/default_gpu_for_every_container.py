"""A LimitRange gives a GPU to every container that does not request one."""

from policygen.core.amounts import readable
from policygen.kubernetes import accelerators
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_ADVICE = {
    "max": "a maximum without a default also becomes the default, so set default of {name} to 0",
    "min": "a minimum without a default also becomes the default request, so remove the minimum of {name}",
}


def check(facts: Facts) -> Hits:
    """The server adds defaults to each container that does not set the resource, sidecars included.

    A maximum or minimum without a default becomes a default.
    Source: plugin/pkg/admission/limitranger/admission.go, mergeContainerResources;
    pkg/apis/core/v1/defaults.go, SetDefaults_LimitRangeItem.
    """
    for entry in facts.cluster.limit_ranges:
        for i, item in enumerate(entry.fields.limits):
            if item.type != "Container":
                continue
            names = item.filled_requests
            for name in (
                key for key, amount in names.items() if accelerators.is_one(key) and amount
            ):
                field = item.fills_by(name)
                advice = _ADVICE.get(field, "remove {name} from the defaults").format(name=name)
                yield Hit(
                    RULE,
                    f"{entry} gives {readable(name, names[name])} {name} to every container that does not "
                    f"request it, even sidecars; {advice}",
                    entry.at.to("spec", "limits", i, field, name),
                )


RULE = ObjectRule(
    "default-gpu-for-every-container",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Remove GPUs from the defaults, and set default to 0 for a resource with a maximum.",
    judges=("LimitRange",),
    check=check,
)
