"""Two containers of a pod have one name, or one has a name that it cannot have."""

import re
from collections.abc import Iterator

from policygen.core.finding import At, Hit
from policygen.core.quoting import quoted
from policygen.core.rule import Severity
from policygen.lint.core import pod_templates
from policygen.lint.rule import Facts, Family, ObjectRule

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def check(facts: Facts) -> Iterator[Hit]:
    """Init containers share the names.

    Source: pkg/apis/core/validation/validation.go, validateContainers.
    """
    for spec in pod_templates.pod_specs(facts.cluster):
        seen: dict[str, At] = {}
        for container in pod_templates.containers(spec):
            name = container.data.get("name")
            if not isinstance(name, str):
                continue  # a field is missing, or of another type
            at = container.at / "name"
            if not _LABEL.fullmatch(name):
                yield Hit(
                    RULE,
                    f"{spec.owner}: {quoted(name)} is no name of a container; write lower-case "
                    'letters, digits and "-", at most 63',
                    at,
                )
            elif name in seen:
                yield Hit(
                    RULE,
                    f"{spec.owner}: two containers are called {name}, which is refused; rename one",
                    at,
                    (seen[name],),
                )
            seen.setdefault(name, at)


RULE = ObjectRule(
    "container-name-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=pod_templates.KINDS,
    check=check,
)
