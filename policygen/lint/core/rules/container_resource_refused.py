"""A container or LimitRange has a resource that containers cannot request."""

from collections.abc import Iterator

from policygen.core.amounts import HUGE_PAGES
from policygen.core.finding import At
from policygen.core.label_grammar import key_fault
from policygen.lint.core import pod_templates
from policygen.lint.core.pod_templates import Part, named
from policygen.lint.core.standard_resources import known_to_containers
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_BESIDE_PAGES = ("cpu", "memory")


def check(facts: Facts) -> Hits:
    """Names that a container cannot have, and huge pages without cpu or memory.

    Source: pkg/apis/core/validation/validation.go, validateContainerResourceName and
    ValidateContainerResourceRequirements.
    """
    for who, name, at in _names(facts):
        if key_fault(name) or not known_to_containers(name):
            yield Hit(
                RULE,
                f'{who} has resource "{name}", which no container can request; write the '
                "name of a resource of the nodes, such as nvidia.com/gpu",
                at.on_key(),
            )
    for spec in pod_templates.pod_specs(facts.cluster):
        for container in pod_templates.containers(spec):
            yield from _pages_alone(container)


def _pages_alone(container: Part) -> Hits:
    resources = container.under("resources")
    parts = [resources.under(field) for field in ("limits", "requests")]
    if any(name in part.data for part in parts for name in _BESIDE_PAGES):
        return
    for part in parts:
        for name in part.data:
            if name.startswith(HUGE_PAGES):
                yield Hit(
                    RULE,
                    f"{named(container)} requests {name} without cpu or memory, which is refused; "
                    "request cpu or memory too",
                    (part.at / name).on_key(),
                )
                return


def _names(facts: Facts) -> Iterator[tuple[str, str, At]]:
    for spec in pod_templates.pod_specs(facts.cluster):
        for container in pod_templates.containers(spec):
            for field in ("limits", "requests"):
                part = container.under("resources").under(field)
                yield from ((named(container), name, part.at / name) for name in part.data)
    for entry in facts.cluster.limit_ranges:
        for i, item in enumerate(entry.fields.limits):
            if item.type not in {"Container", "Pod"}:
                continue
            for field, amounts in item.by_field.items():
                at = entry.at.to("spec", "limits", i, field)
                yield from ((str(entry), name, at / name) for name in amounts)


RULE = ObjectRule(
    "container-resource-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the name of a resource of the nodes; with huge pages, also request cpu or memory.",
    judges=("LimitRange", *pod_templates.KINDS),
    check=check,
)
