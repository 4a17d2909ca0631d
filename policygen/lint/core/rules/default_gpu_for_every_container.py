"""A LimitRange gives a GPU to every container that asks for none."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core import accelerators
from policygen.lint.rule import Facts, Family, ObjectRule

_TAKE_OUT = "; take it out of the defaults"
_MENDS = {
    "max": ", since a maximum without a default is the default; write default 0 beside it",
    "min": ", since a minimum without a default is the default request; take it out",
}


def check(facts: Facts) -> Iterator[Hit]:
    """Defaults are written into each container that lacks the resource, sidecars included.

    A maximum or minimum without a default is one. Source:
    plugin/pkg/admission/limitranger/admission.go, mergeContainerResources;
    pkg/apis/core/v1/defaults.go, SetDefaults_LimitRangeItem.
    """
    for entry in facts.cluster.limit_ranges:
        for i, item in enumerate(entry.it.limits):
            if item.type != "Container":
                continue
            names = item.filled_requests
            for name in (name for name, it in names.items() if accelerators.is_one(name) and it):
                field = item.fills_by(name)
                yield Hit(
                    RULE,
                    f"{entry} gives {names[name]} {name} to every container that asks for none, "
                    f"sidecars and debug shells included{_MENDS.get(field, _TAKE_OUT)}",
                    entry.at.to("spec", "limits", i, field, name),
                )


RULE = ObjectRule(
    "default-gpu-for-every-container",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("LimitRange",),
    check=check,
)
