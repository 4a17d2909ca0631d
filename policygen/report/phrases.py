"""Phrases and limits that several formats share."""

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TextIO

import msgspec

from policygen.core.finding import Finding, Place
from policygen.core.rule import Rule

MAX_OF_A_RULE: Final = 100
"""Findings of one rule that a report for people shows."""
LEAST_GROUP: Final = 5
"""The most findings of one rule that are shown separately; more are grouped."""
SHOWN_OF_GROUP: Final = 3
"""Findings of a group that are shown in full."""
MAX_MESSAGE: Final = 600
"""Characters of a message or a name; longer ones are cut in the middle."""
MORE: Final = "..."
"""Replaces the text that is cut."""

_WIDE = re.compile("[^\x00-\x7f]")


def bounded(findings: Iterable[Finding]) -> tuple[Sequence[Finding], Mapping[str, int]]:
    """The findings that a report for people shows, and the number of hidden ones by rule."""
    seen: Counter[str] = Counter()
    shown = []
    for finding in findings:
        seen[finding.rule.name] += 1
        if seen[finding.rule.name] <= MAX_OF_A_RULE:
            shown.append(finding)
    return shown, {rule: n - MAX_OF_A_RULE for rule, n in seen.items() if n > MAX_OF_A_RULE}


class More(NamedTuple):
    """Findings of one rule that a report for a person does not show one by one."""

    rule: Rule
    findings: tuple[Finding, ...]


def grouped(
    findings: Iterable[Finding], separate: Container[Rule] = ()
) -> Iterator[Finding | More]:
    """The findings in their order, of a rule with more than LEAST_GROUP only the first SHOWN_OF_GROUP.

    Its others follow the last of these as one More. Findings of `separate` rules are never grouped.
    """
    findings = list(findings)
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule.name, []).append(finding)
    shown: Counter[str] = Counter()
    for finding in findings:
        these = by_rule[finding.rule.name]
        shown[finding.rule.name] += 1
        if finding.rule in separate:
            yield finding
            continue
        if len(these) <= LEAST_GROUP or shown[finding.rule.name] <= SHOWN_OF_GROUP:
            yield finding
        if len(these) > LEAST_GROUP and shown[finding.rule.name] == SHOWN_OF_GROUP:
            yield More(finding.rule, tuple(these[SHOWN_OF_GROUP:]))


def cut(text: str) -> str:
    """A name or message, at most MAX_MESSAGE characters long."""
    if len(text) <= MAX_MESSAGE:
        return text
    half = (MAX_MESSAGE - len(MORE)) // 2
    return text[:half] + MORE + text[-half:]


def where(place: Place | None) -> str:
    """`file:line:column`, without the parts that are unknown."""
    if place is None:
        return ""
    numbers = [str(number) for number in (place.line, place.column) if number]
    return ":".join([place.file, *numbers])


def behind(finding: Finding) -> Place | None:
    """The place in a file to edit: that of the finding or, for a cluster, the place in the spec."""
    if not finding.cluster:
        return finding.place
    return next((each.place for each in finding.related if each.place), None)


def whereabouts(finding: Finding) -> str:
    """Where the finding is: a place in a file, or a cluster with object and field."""
    if not finding.cluster:
        return where(finding.place)
    if finding.place is not None:  # in a file that an object holds
        return f"{finding.cluster}: {where(finding.place)}"
    field = f"{finding.object}: {finding.path}" if finding.path else finding.object
    return f"{finding.cluster}: {field}" if field else finding.cluster


def placed_message(finding: Finding) -> str:
    """The message for formats with a field for files: it names the place on a cluster."""
    return f"{whereabouts(finding)}: {finding.message}" if finding.cluster else finding.message


def headline(finding: Finding) -> str:
    """The finding on one line: `file:line:column: severity: message [rule]`."""
    at = whereabouts(finding)
    return f"{f'{at}: ' if at else ''}{finding.severity}: {finding.message} [{finding.rule}]"


def write_json(data: Any, out: TextIO) -> None:
    """Write data as JSON in ASCII, and a newline; half a surrogate pair becomes a question mark."""
    # With an indent, the encoder of Python is written in Python, and takes three times as long.
    compact = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")
    text = msgspec.json.format(compact).decode()
    out.write(_WIDE.sub(lambda match: json.dumps(match[0])[1:-1], text) + "\n")
