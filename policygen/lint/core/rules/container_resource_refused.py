"""A container or LimitRange has a resource that containers cannot request."""

from collections.abc import Sequence

from policygen.core.amounts import HUGE_PAGES
from policygen.core.finding import At
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.untyped import mapping
from policygen.lint.core import pod_templates
from policygen.lint.core.pod_templates import Part, named
from policygen.lint.core.resource_names import refused
from policygen.lint.core.server_refusals import unsure_pods
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_FIELDS = ("limits", "requests")
_BESIDE_PAGES = frozenset({"cpu", "memory"})


def check(facts: Facts) -> Hits:
    """Names that a container cannot have, and huge pages without cpu or memory.

    Source: pkg/apis/core/validation/validation.go, validateContainerResourceName and
    ValidateContainerResourceRequirements.
    """
    for spec in unsure_pods(facts.cluster):
        for container in spec.containers:
            yield from _container(container)
    for entry in facts.cluster.limit_ranges:
        for i, item in enumerate(entry.fields.limits):
            if item.type not in {"Container", "Pod"}:
                continue
            for field, amounts in item.by_field.items():
                for name in filter(refused, amounts):
                    yield _refused(str(entry), name, entry.at.to("spec", "limits", i, field, name))


def _container(container: Part) -> Hits:
    written = mapping(container.data, "resources")
    amounts = {**mapping(written, "limits"), **mapping(written, "requests")}
    usual = not _BESIDE_PAGES.isdisjoint(amounts) and None not in amounts.values()
    if usual and not any(map(refused, amounts)):
        return
    resources = container.under("resources")
    parts = [resources.under(field) for field in _FIELDS]
    if container.owner.object.group == VOLCANO_BATCH:
        parts = [_without_nulls(it) for it in parts]
    reported: set[str] = set()
    for part in parts:
        for name in part.data:
            if name not in reported and refused(name):
                reported.add(name)
                yield _refused(named(container), name, part.at / name)
    if not any(name in part.data for part in parts for name in _BESIDE_PAGES):
        yield from _pages_alone(container, parts)


def _without_nulls(part: Part) -> Part:
    """The entries that the API server keeps in a custom kind."""
    kept = {key: value for key, value in part.data.items() if value is not None}
    return Part(part.owner, kept, part.steps, part.above)


def _refused(who: str, name: str, at: At) -> Hit:
    message = (
        f'{who} has resource "{name}", which no container can request; write the name of a '
        "resource of the nodes, such as nvidia.com/gpu"
    )
    return Hit(RULE, message, at.on_key())


def _pages_alone(container: Part, parts: Sequence[Part]) -> Hits:
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


RULE = ObjectRule(
    "container-resource-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the name of a resource of the nodes; with huge pages, also request cpu or memory.",
    judges=("LimitRange", *pod_templates.KINDS),
    check=check,
)
