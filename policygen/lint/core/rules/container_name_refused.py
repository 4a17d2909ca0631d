"""Two containers of a pod have one name, or one has a name that it cannot have."""

import re
from collections.abc import Iterator

from policygen.core.finding import At, Severity
from policygen.core.quoting import quoted
from policygen.lint.core import pod_templates
from policygen.lint.rule import Claim, Facts, Family, Rule

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def check(facts: Facts) -> Iterator[Claim]:
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
                yield Claim(
                    f"{spec.owner}: {quoted(name)} is no name of a container; write lower-case "
                    'letters, digits and "-", at most 63',
                    at,
                )
            elif name in seen:
                yield Claim(
                    f"{spec.owner}: two containers are called {name}, which is refused; rename one",
                    at,
                    (seen[name],),
                )
            seen.setdefault(name, at)


RULE = Rule(
    "container-name-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=pod_templates.KINDS,
    check=check,
)
