"""What several formats say alike."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TextIO

from policygen.core.finding import Finding, Place

MAX_OF_A_RULE: Final = 100
"""Findings of one rule that a report for a person shows."""
MAX_MESSAGE: Final = 600
"""Characters of a message or a name; longer ones are cut in the middle."""
MORE: Final = "..."
"""In the place of what is cut."""

_WIDE = re.compile("[^\x00-\x7f]")


def bounded(findings: Iterable[Finding]) -> tuple[Sequence[Finding], Mapping[str, int]]:
    """What a report for a person shows of findings, and how many more there are by rule."""
    seen: Counter[str] = Counter()
    shown = []
    for finding in findings:
        seen[finding.rule.name] += 1
        if seen[finding.rule.name] <= MAX_OF_A_RULE:
            shown.append(finding)
    return shown, {rule: n - MAX_OF_A_RULE for rule, n in seen.items() if n > MAX_OF_A_RULE}


def cut(text: str) -> str:
    """A name or message that is not endless."""
    if len(text) <= MAX_MESSAGE:
        return text
    half = (MAX_MESSAGE - len(MORE)) // 2
    return text[:half] + MORE + text[-half:]


def where(place: Place | None) -> str:
    """`file:line:column`, as far as it is known."""
    if place is None:
        return ""
    numbers = [str(number) for number in (place.line, place.column) if number]
    return ":".join([place.file, *numbers])


def behind(finding: Finding) -> Place | None:
    """Where somebody would edit a file of theirs: the place itself; for what is on a cluster, that in a spec."""
    if not finding.cluster:
        return finding.place
    return next((each.place for each in finding.related if each.place), None)


def whereabouts(finding: Finding) -> str:
    """Where it stands: in a file, or which field of an object on which cluster."""
    if not finding.cluster:
        return where(finding.place)
    if finding.place is not None:  # in a file that an object holds
        return f"{finding.cluster}: {where(finding.place)}"
    field = f"{finding.object}: {finding.path}" if finding.path else finding.object
    return f"{finding.cluster}: {field}" if field else finding.cluster


def headline(finding: Finding) -> str:
    """The finding on one line: `file:line:column: severity: message [rule]`."""
    at = whereabouts(finding)
    return f"{f'{at}: ' if at else ''}{finding.severity}: {finding.message} [{finding.rule}]"


def write_json(data: Any, out: TextIO) -> None:
    """Write data as JSON in ASCII, and a newline; half a surrogate pair becomes a question mark."""
    text = json.dumps(data, indent=2, ensure_ascii=False).encode("utf-8", "replace").decode()
    out.write(_WIDE.sub(lambda match: json.dumps(match[0])[1:-1], text) + "\n")
