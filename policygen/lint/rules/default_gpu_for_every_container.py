"""A LimitRange gives a GPU to every container that asks for none."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint import accelerators
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Defaults are written into each container that lacks the resource, sidecars included.

    Source: plugin/pkg/admission/limitranger/admission.go, mergeContainerResources.
    """
    for entry in facts.cluster.limit_ranges:
        for i, item in enumerate(entry.it.limits):
            names = {**item.default, **item.default_request}
            for name in (name for name, it in names.items() if accelerators.is_one(name) and it):
                field = "default" if name in item.default else "defaultRequest"
                yield Claim(
                    f"{entry} gives {names[name]} {name} to every container that asks for none, "
                    "sidecars and debug shells included; take it out of the defaults",
                    entry.at.to("spec", "limits", i, field, name),
                )


RULE = Rule(
    "default-gpu-for-every-container",
    Severity.ERROR,
    Family.INERT,
    judges=("LimitRange",),
    check=check,
)
