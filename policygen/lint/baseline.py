"""The baseline: a file of known findings, so that only new ones are reported."""

import json
from collections.abc import Collection, Iterator, Sequence
from functools import partial

import msgspec
from msgspec import Struct

from policygen.core.decoding import decode
from policygen.core.finding import Finding
from policygen.core.fingerprint import fingerprints
from policygen.core.rule import Rule
from policygen.lint import registry

VERSION = 1


class Known(Struct, frozen=True):
    """A known finding."""

    fingerprint: str
    rule: str
    object: str
    path: str
    message: str


class Baseline(Struct, frozen=True):
    """The content of the file."""

    version: int
    findings: tuple[Known, ...]


class Compared(Struct, frozen=True):
    """Findings compared with a baseline."""

    new: tuple[Finding, ...]
    known: int
    """The number of findings that are in the baseline."""
    gone: tuple[Known, ...]
    """Entries whose finding no longer occurs. Entries of rules that did not run, and of documents
    that could not be read, are not included."""


def create(findings: Sequence[Finding]) -> Baseline:
    """The baseline with these findings."""
    prints = fingerprints(findings)
    entries = [
        Known(fingerprint, finding.rule.name, finding.object, finding.anchor, finding.message)
        for finding, fingerprint in zip(findings, prints, strict=True)
    ]
    return Baseline(VERSION, tuple(sorted(entries, key=lambda it: (it.rule, it.object, it.path))))


def text(baseline: Baseline) -> str:
    """The text of the file: sorted, one entry a line, so that diffs are readable."""
    lines = [json.dumps(msgspec.to_builtins(entry)) for entry in baseline.findings]
    body = ",\n    ".join(lines)
    return f'{{\n  "version": {VERSION},\n  "findings": [\n    {body}\n  ]\n}}\n'


def read(data: bytes) -> Baseline:
    """The baseline in a file. Raises ValueError with a message if it is invalid."""
    try:
        baseline = decode(data, Baseline)
    except msgspec.DecodeError as error:
        raise ValueError(f"this file is not a valid baseline: {error}") from None
    if baseline.version != VERSION:
        raise ValueError(
            f"this baseline has version {baseline.version}, but policygen reads version {VERSION}; "
            "create the baseline again with `policygen baseline update`"
        )
    return baseline


def compare(
    findings: Sequence[Finding], baseline: Baseline, evaluated: Collection[str]
) -> Compared:
    """Which findings are new, and which entries are stale. `evaluated` names the rules that ran."""
    known = {entry.fingerprint for entry in baseline.findings}
    new, found = [], set[str]()
    for finding, *prints in zip(findings, *_fingerprints(findings), strict=True):
        found.update(prints)
        if known.isdisjoint(prints):
            new.append(finding)
    gone = [
        entry
        for entry in baseline.findings
        if entry.fingerprint not in found and registry.current_name(entry.rule) in evaluated
    ]
    return Compared(tuple(new), len(findings) - len(new), tuple(gone))


def _fingerprints(findings: Sequence[Finding]) -> Iterator[list[str]]:
    """Fingerprints by current rule names, then by each former name, which older baselines contain."""
    yield fingerprints(findings)
    for index in range(max((len(it.rule.aliases) for it in findings), default=0)):
        yield fingerprints(findings, partial(_former, index))


def _former(index: int, rule: Rule) -> str:
    return rule.aliases[index] if index < len(rule.aliases) else rule.name
