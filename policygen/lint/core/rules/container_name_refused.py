"""A container has an invalid name, or two containers of a pod share a name."""

import re

from policygen.core.finding import At
from policygen.core.quoting import quoted
from policygen.lint.core import pod_templates
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def check(facts: Facts) -> Hits:
    """Init containers and containers share one set of names.

    Source: pkg/apis/core/validation/validation.go, validateContainers.
    """
    for spec in pod_templates.pod_specs(facts.cluster):
        seen: dict[str, At] = {}
        for container in pod_templates.containers(spec):
            name = container.data.get("name")
            if not isinstance(name, str):
                continue  # `missing-field` or `wrong-type` reports it
            at = container.at / "name"
            if not _LABEL.fullmatch(name):
                yield Hit(
                    RULE,
                    f"{spec.owner} has a container with name {quoted(name)}, which is not valid; "
                    'write at most 63 lower-case letters, digits and "-"',
                    at,
                )
            elif name in seen:
                yield Hit(
                    RULE,
                    f"{spec.owner} has two containers with name {name}, which is refused; rename one of the containers",
                    at,
                    (seen[name],),
                )
            seen.setdefault(name, at)


RULE = ObjectRule(
    "container-name-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy='Give each container its own name of lower-case letters, digits and "-".',
    judges=pod_templates.KINDS,
    check=check,
)
