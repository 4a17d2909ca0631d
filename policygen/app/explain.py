"""The book of rules: every name that a finding can carry, what it says, and what may be said of it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TextIO

from msgspec import Struct

from policygen.core import versions
from policygen.core.errors import UsageError
from policygen.core.finding import Family, Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.lint.page import page
from policygen.lint.registry import RULES
from policygen.lint.rule import Need, Rule
from policygen.lint.spec_errors import REMEDIES, RUN_ERRORS, RUN_RULES, SPEC_ERRORS
from policygen.lint.spec_rules import NOTES, SPEC_RULES
from policygen.report.phrases import write_json
from policygen.report.report import Report

VERSION = 1
"""Of the JSON; raised when a field changes its meaning or goes away, not for a new one."""

REFUSED, REPORTED, RUN = "refused spec", "spec", "run"
"""Families of what is found without a rule of the catalog: in a spec, or in how policygen was run."""

FAMILIES: Mapping[str, str] = {
    family.split()[0]: family for family in (*map(str, Family), REFUSED, REPORTED, RUN)
}
"""Every family by its first word, which tells them apart."""

_SAYS = {
    REFUSED: "Such a spec is refused: nothing is rendered and nothing linted until it is mended; "
    "the finding says what to write instead.",
    REPORTED: "Reported of a spec that can be rendered all the same.",
    RUN: "Said of the inputs or the settings of a run.",
}


class Entry(Struct, frozen=True, eq=False):
    """A name that a finding can carry."""

    name: str
    severity: Severity
    """Unless the spec gives it another."""
    family: str
    about: str
    """The fault in a sentence."""
    rule: Rule | None = None
    """The rule of the catalog, where it is one."""
    proof: str | None = None
    """The test that shows the harm on real servers."""
    not_shown: str | None = None
    """Why no test does, where its page says so."""

    @property
    def judges(self) -> tuple[str, ...]:
        """The kinds that it is about; none: objects of every kind, or no object at all."""
        return self.rule.judges if self.rule else ()

    @property
    def needs(self) -> tuple[str, ...]:
        """What it cannot do without beside those."""
        return tuple(need.value for need in Need if self.rule and need in self.rule.needs)

    @property
    def fix(self) -> str:
        """What `lint --fix` may do: safe, unsafe; empty: nothing."""
        return self.rule.fix.value if self.rule and self.rule.fix else ""

    def holds(self, target: Mapping[str, versions.Version]) -> bool:
        """Whether it is true of the target versions."""
        return self.rule is None or self.rule.holds(target)


class Wanted(Struct, frozen=True):
    """Which entries are asked for; what is empty or None asks for all."""

    families: tuple[str, ...] = ()
    """First words of families."""
    severities: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """Kinds, in any case of letters."""
    target: Mapping[str, str] | None = None
    """Versions by component: what holds there."""
    words: tuple[str, ...] = ()
    """Each must stand in the name, the sentence or a kind."""


def entries() -> Iterator[Entry]:
    """Every entry: the rules of the catalog, then what is found in specs and runs."""
    for rule in RULES:
        of = page(rule.name)
        yield Entry(
            rule.name, rule.severity, rule.family.value, rule.about, rule, of.proof, of.not_shown
        )
    for family, abouts in ((REFUSED, SPEC_ERRORS), (RUN, RUN_ERRORS)):
        for name, about in abouts.items():
            yield Entry(name, Severity.ERROR, family, about)
    for family, abouts in ((REPORTED, SPEC_RULES), (RUN, RUN_RULES)):
        for name, about in abouts.items():
            severity = Severity.INFO if name in NOTES else Severity.WARNING
            yield Entry(name, severity, family, about)


def names() -> tuple[str, ...]:
    """Every name that a finding can carry."""
    every = (*(it.name for it in RULES), *SPEC_ERRORS, *SPEC_RULES, *RUN_ERRORS, *RUN_RULES)
    return tuple(sorted(every))


def explain(name: str) -> str:
    """What there is to say of a name. Raises UsageError for an unknown one."""
    if name not in names():
        raise UsageError(f'no rule "{name}"; {suggest(name, names())}')
    if any(rule.name == name for rule in RULES):
        return page(name).text
    entry = next(each for each in entries() if each.name == name)
    remedy = f"\n{REMEDIES[name]}\n" if name in REMEDIES else ""
    return f"# {name}\n\n{entry.about}. {_SAYS[entry.family]}\n{remedy}"


def pages(report: Report) -> dict[str, str]:
    """What explains the findings of a report, by their rules."""
    return {name: explain(name) for name in sorted({it.rule for it in report.findings})}


def select(wanted: Wanted) -> list[Entry]:
    """The entries that are asked for. Raises UsageError for a kind or version that there is not."""
    judged = {_kind(name) for name in wanted.kinds}
    target = None
    if wanted.target:
        try:
            given = {name: versions.parse(name, text) for name, text in wanted.target.items()}
        except ValueError as error:
            raise UsageError(f"--target: {error}") from None
        target = {**versions.DEFAULT, **given}
    families = {FAMILIES[word] for word in wanted.families}
    words = [word.lower() for word in wanted.words]
    return [
        each
        for each in entries()
        if (not families or each.family in families)
        and (not wanted.severities or str(each.severity) in wanted.severities)
        and (not judged or (each.rule and (not each.judges or judged & set(each.judges))))
        and (target is None or each.holds(target))
        and all(word in _text(each) for word in words)
    ]


def lost(words: Iterable[str]) -> str:
    """Why a word that no entry has finds nothing, and what may be meant; empty: each has one."""
    texts = [_text(each) for each in entries()]
    for word in words:
        if not any(word.lower() in text for text in texts):
            spoken = {said for text in texts for said in re.findall(r"\w+", text)}
            near = get_close_matches(word.lower(), sorted(spoken), n=1)
            advice = f'did you mean "{near[0]}"?' if near else "`policygen rules` lists all"
            return f'no rule speaks of "{word}"; {advice}'
    return ""


def _text(each: Entry) -> str:
    """What words are looked for in."""
    return f"{each.name} {each.about} {each.judges}".lower()


def kinds() -> tuple[str, ...]:
    """The kinds that rules judge."""
    return tuple(sorted({kind for rule in RULES for kind in rule.judges}))


def _kind(name: str) -> str:
    known = {kind.lower(): kind for _, kind in Cluster(()).tables}
    if name.lower() not in known:
        raise UsageError(f'--kind: no kind "{name}"; {suggest(name, kinds())}')
    return known[name.lower()]


def table(found: Sequence[Entry]) -> str:
    """A line for each: name, severity, family, fix, whether it is proven, the fault."""
    width = max((len(each.name) for each in found), default=0)
    return "".join(
        f"{each.name:{width}}  {each.severity!s:7}  {each.family.split()[0]:7}  "
        f"{each.fix or '-':6}  {_shown(each):9}  {each.about}\n"
        for each in found
    )


def _shown(each: Entry) -> str:
    return "proven" if each.proof else "not shown" if each.not_shown else "-"


def write(found: Sequence[Entry], out: TextIO) -> None:
    """The same as JSON, described by schemas/rules.schema.json."""
    rules = [
        {
            "rule": each.name,
            "severity": str(each.severity),
            "family": each.family,
            "about": each.about,
            "judges": list(each.judges),
            "needs": list(each.needs),
            "fix": each.fix or None,
            "since": _releases(each.rule.since if each.rule else {}),
            "until": _releases(each.rule.until if each.rule else {}),
            "proof": each.proof,
            "notShown": each.not_shown,
        }
        for each in found
    ]
    write_json({"version": VERSION, "rules": rules}, out)


def _releases(bounds: Mapping[str, versions.Minor]) -> dict[str, str]:
    return {component: versions.written(minor) for component, minor in bounds.items()}
