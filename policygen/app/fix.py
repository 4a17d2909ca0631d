"""What `policygen lint --fix` does: applies edits of findings to texts until nothing is fixable.

A changed text is used only if it parses to the intended content and still has all its comments.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from io import BytesIO
from typing import BinaryIO

from msgspec import Struct, field
from msgspec.structs import replace

from policygen.app import inputs, lint
from policygen.app.edited_text import edited_text
from policygen.app.requests import LintRequest
from policygen.core.finding import Edit, Finding
from policygen.core.quoting import counted
from policygen.documents.document import Document
from policygen.documents.edit import rewrite
from policygen.documents.edit.apply import EditError
from policygen.documents.edit.overwrite import overwrite
from policygen.documents.edit.splice import Splice, Taken
from policygen.documents.files import MAX_FILE_BYTES, Source
from policygen.documents.positions import line_break, line_starts
from policygen.kubernetes import manifests
from policygen.lint import registry
from policygen.lint.rule import Fix
from policygen.render.difference import difference, harmless
from policygen.report.report import Repair, Replacement, Report

MAX_PASSES = 20
"""The largest number of rounds. One fix can make another possible; real rules need far fewer rounds."""
_FIXES = {rule.name: rule.fix for rule in registry.RULES}
"""The kind of fix of each rule, by its name."""


class Fixed(Struct, frozen=True):
    """The result of the fixes."""

    before: Report
    """The report on the original files."""
    after: Report
    """The report on the fixed texts."""
    texts: tuple[tuple[Source, str], ...] = ()
    """The changed files, with their new texts."""
    done: Mapping[str, int] = field(default_factory=dict)
    """The number of fixed findings of each rule."""
    held_back: int = 0
    """The number of additional fixes with --unsafe."""
    left: tuple[tuple[Finding, str], ...] = ()
    """Findings that could not be fixed, and why."""


def run(
    request: LintRequest, *, today: date, unsafe: bool, write: bool, stdin: BinaryIO | None = None
) -> tuple[Report, str, list[str]]:
    """Fix findings, and with `write` change the files. Returns a report, a diff and a summary.

    The diff is empty if the files were changed. Raises UsageError if a file must not be changed;
    then no file was changed.
    """
    fixed = fix(request, today=today, unsafe=unsafe, stdin=stdin)
    lines = [harmless(line) for line in summary(fixed, written=write)]
    if not write:
        return fixed.before, diff(fixed), lines
    overwrite(fixed.texts)
    return fixed.after, "", lines


def diff(fixed: Fixed) -> str:
    """All changes as one unified diff that can be applied."""
    return "".join(
        difference(source.name, source.whole(source.text), source.mark + text, edited=True)
        for source, text in fixed.texts
    )


def fix(
    request: LintRequest, *, today: date, unsafe: bool = False, stdin: BinaryIO | None = None
) -> Fixed:
    """Apply the certain fixes for the findings of `lint.lint`, in memory.

    Raises the errors of `lint.lint`.
    """
    data = stdin.read(MAX_FILE_BYTES + 1) if stdin else b""
    run = inputs.prepare(request, BytesIO(data))
    now = sources = list(run.manifests.sources)
    kinds_of_fix = {Fix.SAFE, Fix.UNSAFE} if unsafe else {Fix.SAFE}
    done: Counter[str] = Counter()
    results = lint.clusters(run)
    report = before = lint.report(run, results, today)
    for number in range(MAX_PASSES + 1):
        in_files = {document.index for document in report.documents}
        allowed = [
            it
            for it in report.findings
            if _FIXES.get(it.rule.name) in kinds_of_fix
            and in_files & {edit.at.document for edit in it.edits}
        ]
        step = _pass(now, report, allowed) if number < MAX_PASSES else _Pass(now)
        if not step.used:
            break
        used, tried = {id(it.finding) for it in step.used}, step.tried
        others = _by_object(it for it in report.findings if id(it) not in used)
        waiting = _by_object(it for it in allowed if id(it) not in tried)
        now = step.sources
        unreadable = run.manifests.unreadable
        run = inputs.with_manifests(run, request.manifests, now, unreadable, BytesIO(data))
        report = lint.report(run, results, today)
        # Numbers, not paths, since a fix that removes a list entry changes the paths of the others.
        gone = others - _by_object(report.findings)
        done.update(it.finding.rule.name for it in step.used)
        done.update(rule for rule, _ in (waiting & gone).elements())  # another fix removed them too
    return Fixed(
        before=before,
        after=report,
        texts=tuple(
            (old, new.text) for old, new in zip(sources, now, strict=True) if old.text != new.text
        ),
        done=dict(sorted(done.items())),
        held_back=0 if unsafe else list(fixable(report).values()).count(Fix.UNSAFE),
        left=tuple(step.left),
    )


def fixable(report: Report) -> dict[int, Fix]:
    """The kind of fix of each finding that `fix` can fix, by its number, as far as unchanged texts show it."""
    numbers = {id(finding): number for number, finding in enumerate(report.findings)}
    with_edits = [it for it in report.findings if it.edits]
    return {
        numbers[id(it.finding)]: kind
        for _, proposals in _planned(report, with_edits, [])
        for it in proposals
        if (kind := _FIXES.get(it.finding.rule.name)) is not None
    }


def repairs(report: Report) -> dict[int, Repair]:
    """The changes that fix each finding separately, by its number; checked as in `fix`."""
    sources = list({id(each.source): each.source for each in report.documents}.values())
    numbers = {id(finding): number for number, finding in enumerate(report.findings)}
    left = [finding for finding in report.findings if finding.edits and finding.rule.name in _FIXES]
    starts: dict[int, list[int]] = {}  # of the lines of each source
    found: dict[int, Repair] = {}
    while left:  # of overlapping changes, a round uses the first; the next round uses the next
        step = _pass(sources, report, left)
        for proposal in step.used:
            finding, source = proposal.finding, proposal.document.source
            if id(source) not in starts:
                starts[id(source)] = line_starts(source.text)
            found[numbers[id(finding)]] = _repair(
                proposal, starts[id(source)], unsafe=_FIXES[finding.rule.name] is Fix.UNSAFE
            )
        tried = step.tried
        if not tried:
            break
        left = [finding for finding in left if id(finding) not in tried]
    return found


def _repair(proposal: "_Proposal", starts: Sequence[int], *, unsafe: bool) -> Repair:
    """`starts` are the first characters of the lines of the text."""
    source = proposal.document.source
    ending = line_break(source.text)

    def place(index: int) -> tuple[int, int]:
        line = bisect_right(starts, index)
        return line, index - starts[line - 1] + 1

    return Repair(
        source.name,
        unsafe,
        tuple(
            Replacement(place(part.start), place(part.end), part.text.replace("\n", ending))
            for part in sorted(set(proposal.parts))
        ),
    )


def summary(fixed: Fixed, *, written: bool) -> list[str]:
    """The summary of the fixes, as lines."""
    count = sum(fixed.done.values())
    rules = ", ".join(f"{rule} {number}" for rule, number in fixed.done.items())
    files = counted(len(fixed.texts), "file")
    given = all(source.path for source, _ in fixed.texts)
    how = "with --write in" if given else "in"
    text = f"{counted(count, 'finding')} can be fixed {how} {files} ({rules})"
    if written:
        text = f"fixed {counted(count, 'finding')} in {files} ({rules})"
    if not count:
        text = "nothing to fix"
    if fixed.held_back:
        noun = "more finding" if count else "finding"
        text += f"; {counted(fixed.held_back, noun)} can be fixed with --unsafe"
    if count and not given:
        text += "; --write cannot change standard input, so pass the file by its path"
    return [*unfixed(fixed), text]


def unfixed(fixed: Fixed) -> list[str]:
    """The findings that could not be fixed, and why, as lines."""
    lines = []
    for finding, reason in fixed.left:
        where = f"{finding.place.file}:{finding.place.line}: " if finding.place else ""
        lines.append(f"{where}{finding.rule} is not fixed: {reason}")
    return lines


class _Proposal(Struct, frozen=True, eq=False):
    """A finding that can be fixed, and its changes."""

    finding: Finding
    document: Document
    parts: tuple[Splice, ...]


class _Pass(Struct, eq=False):
    """The result of one round over all texts."""

    sources: list[Source]
    used: list[_Proposal] = field(default_factory=list)
    """The applied fixes, one per finding."""
    left: list[tuple[Finding, str]] = field(default_factory=list)

    @property
    def tried(self) -> set[int]:
        """The ids of the findings that were fixed or cannot be fixed; the others can wait."""
        return {id(it.finding) for it in self.used} | {id(it) for it, _ in self.left}


def _by_object(findings: Iterable[Finding]) -> Counter[tuple[str, str]]:
    """The number of findings of each rule about each object."""
    return Counter((it.rule.name, it.object) for it in findings)


def _pass(sources: list[Source], report: Report, findings: Sequence[Finding]) -> _Pass:
    """Apply all fixes that are possible in one round; of overlapping changes, only the first."""
    made = _Pass(list(sources))
    numbers = {id(source): number for number, source in enumerate(sources)}
    for documents, proposals in _planned(report, findings, made.left):
        source = documents[0].source
        taken = Taken()
        fitting = [it for it in proposals if taken.take(it.parts)]
        used, text = _Text(source, documents, made.left).fixed(fitting)
        made.used += used
        made.sources[numbers[id(source)]] = replace(source, text=text)
    return made


def _planned(
    report: Report, findings: Sequence[Finding], left: list[tuple[Finding, str]]
) -> Iterator[tuple[list[Document], list[_Proposal]]]:
    """For each file, its documents and the changes for its findings.

    Findings without a certain place are added to `left`.
    """
    by_source: dict[int, list[Document]] = {}
    for document in report.documents:
        by_source.setdefault(id(document.source), []).append(document)
    in_files = {document.index for document in report.documents}
    found: dict[int, list[Finding]] = {}
    for finding in findings:
        inside = {edit.at.document for edit in finding.edits}
        if len(inside) == 1 and inside <= in_files:
            found.setdefault(inside.pop(), []).append(finding)
        else:
            reason = "the fix would change several objects, or an object outside the input files"
            left.append((finding, f"{reason}; edit the files by hand"))
    for documents in by_source.values():
        changed = [document for document in documents if document.index in found]
        if not changed:
            continue
        if not report.complete and not manifests.read([changed[0].source]).complete:
            every = [finding for document in changed for finding in found[document.index]]
            left += [(finding, "the file cannot be parsed completely") for finding in every]
            continue
        proposals = []
        for document in changed:
            of_document = found[document.index]
            fixes = rewrite.splices(document, [it.edits for it in of_document])
            for finding, parts in zip(of_document, fixes, strict=True):
                if isinstance(parts, EditError):
                    left.append((finding, str(parts)))
                else:
                    proposals.append(_Proposal(finding, document, tuple(parts)))
        yield documents, proposals


class _Text(Struct, frozen=True, eq=False):
    """One file in one round."""

    source: Source
    documents: Sequence[Document]
    """The documents in the file, and those in texts inside it."""
    left: list[tuple[Finding, str]]
    """Findings that could not be fixed, and why."""

    def fixed(self, proposals: Sequence[_Proposal]) -> tuple[Sequence[_Proposal], str]:
        """As many proposals as possible that give the intended content, and the changed text."""
        if not proposals:
            return (), self.source.text
        text = self._checked(proposals)
        if text is not None:
            return proposals, text
        if len(proposals) == 1:
            reason = "the edit would also change other values; edit the file by hand"
            self.left.append((proposals[0].finding, reason))
            return (), self.source.text
        half = len(proposals) // 2
        first, text = self.fixed(proposals[:half])
        second, other = self.fixed(proposals[half:])
        if not first or not second:
            return (first, text) if first else (second, other)
        both = self._checked([*first, *second])
        return ([*first, *second], both) if both is not None else (first, text)

    def _checked(self, proposals: Sequence[_Proposal]) -> str | None:
        """The text with the changes, if it parses to the intended content; else None."""
        edits: dict[int, list[Edit]] = {}
        for proposal in proposals:
            edits.setdefault(proposal.document.index, []).extend(proposal.finding.edits)
        parts = (part for it in proposals for part in it.parts)
        return edited_text(self.source, self.documents, parts, edits)
