"""A file of findings that were there before, so that only new ones count."""

import json
from collections.abc import Collection, Iterator, Sequence
from functools import partial

import msgspec
from msgspec import Struct

from policygen.core.finding import Finding
from policygen.core.fingerprint import fingerprints
from policygen.core.rule import Rule
from policygen.lint import registry

VERSION = 1


class Known(Struct, frozen=True):
    """A finding that was there."""

    fingerprint: str
    rule: str
    object: str
    path: str
    message: str


class Baseline(Struct, frozen=True):
    """What the file holds."""

    version: int
    findings: tuple[Known, ...]


class Compared(Struct, frozen=True):
    """Findings beside a baseline."""

    new: tuple[Finding, ...]
    known: int
    """How many are in the baseline."""
    gone: tuple[Known, ...]
    """Entries whose finding is no more. An entry of a rule that could not be judged now, or of a
    document that could not be read, is not among them."""


def made(findings: Sequence[Finding]) -> Baseline:
    """The baseline of these findings."""
    prints = fingerprints(findings)
    entries = [
        Known(fingerprint, it.rule.name, it.object, it.anchor, it.message)
        for it, fingerprint in zip(findings, prints, strict=True)
    ]
    return Baseline(VERSION, tuple(sorted(entries, key=lambda it: (it.rule, it.object, it.path))))


def text(baseline: Baseline) -> str:
    """The file: an entry a line, sorted, so that a change of it can be read."""
    lines = [json.dumps(msgspec.to_builtins(entry)) for entry in baseline.findings]
    body = ",\n    ".join(lines)
    return f'{{\n  "version": {VERSION},\n  "findings": [\n    {body}\n  ]\n}}\n'


def read(data: bytes) -> Baseline:
    """The baseline in a file. Raises ValueError, whose message says what is wrong with it."""
    try:
        baseline = msgspec.json.decode(data, type=Baseline)
    except msgspec.DecodeError as error:
        raise ValueError(f"is no baseline: {error}") from None
    if baseline.version != VERSION:
        raise ValueError(f"has version {baseline.version}; make it again with `baseline update`")
    return baseline


def compare(
    findings: Sequence[Finding], baseline: Baseline, evaluated: Collection[str]
) -> Compared:
    """Which findings are new, and which entries are stale; `evaluated` names the rules judged."""
    known = {entry.fingerprint for entry in baseline.findings}
    new, found = [], set[str]()
    for finding, *prints in zip(findings, *_fingerprints(findings), strict=True):
        found.update(prints)
        if known.isdisjoint(prints):
            new.append(finding)
    gone = [
        entry
        for entry in baseline.findings
        if entry.fingerprint not in found and _current(entry.rule) in evaluated
    ]
    return Compared(tuple(new), len(findings) - len(new), tuple(gone))


def _fingerprints(findings: Sequence[Finding]) -> Iterator[list[str]]:
    """Fingerprints by the current names of rules, then by each former one: older baselines have those."""
    yield fingerprints(findings)
    for index in range(max((len(it.rule.aliases) for it in findings), default=0)):
        yield fingerprints(findings, partial(_former, index))


def _former(index: int, rule: Rule) -> str:
    return rule.aliases[index] if index < len(rule.aliases) else rule.name


def _current(name: str) -> str:
    rule = registry.find(name)
    return name if rule is None else rule.name
