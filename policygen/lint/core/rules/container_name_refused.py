"""A container has an invalid name, or two containers of a pod share a name."""

import re

from policygen.core.quoting import quoted
from policygen.lint.core import pod_templates
from policygen.lint.core.pod_templates import Part
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def check(facts: Facts) -> Hits:
    """Init containers and containers share one set of names.

    Source: pkg/apis/core/validation/validation.go, validateContainers.
    """
    for spec in pod_templates.pod_specs(facts.cluster):
        seen: dict[str, Part] = {}
        for container in spec.containers:
            name = container.data.get("name")
            if not isinstance(name, str):
                continue  # `missing-field` or `wrong-type` reports it
            if not _LABEL.fullmatch(name):
                yield Hit(
                    RULE,
                    f"{spec.owner} has a container with name {quoted(name)}, which is not valid; "
                    'write at most 63 lower-case letters, digits and "-"',
                    container.at / "name",
                )
            elif name in seen:
                yield Hit(
                    RULE,
                    f"{spec.owner} has two containers with name {name}, which is refused; rename one of the containers",
                    container.at / "name",
                    (seen[name].at / "name",),
                )
            seen.setdefault(name, container)


RULE = ObjectRule(
    "container-name-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy='Give each container its own name of lower-case letters, digits and "-".',
    judges=pod_templates.KINDS,
    check=check,
)
