"""The book of rules: every name that a finding can carry, what it says, and what may be said of it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TextIO

from msgspec import Struct

from policygen.app.requests import Targets
from policygen.core import versions
from policygen.core.errors import UsageError
from policygen.core.rule import Family, Rule
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.lint.page import has_page, page
from policygen.lint.registry import REGISTRY, RULES, find
from policygen.lint.rule import Need, ObjectRule
from policygen.report.explanation import explanation, wrapped
from policygen.report.phrases import write_json
from policygen.report.report import Report

VERSION = 1
"""Of the JSON; raised when a field changes its meaning or goes away, not for a new one."""

FAMILIES: Mapping[str, Family] = {family.split()[0]: family for family in Family}
"""Every family by its first word, which tells them apart."""

_SAYS = {
    Family.REFUSED: "The spec is invalid: policygen renders and checks nothing until this is fixed.",
    Family.REPORTED: "The spec can still be rendered.",
    Family.RUN: "This is about the inputs or the settings of a run.",
}


class RuleEntry(Struct, frozen=True, eq=False):
    """A rule, and what its page says about it."""

    rule: Rule
    proof: str | None = None
    """The test that shows the harm on real servers."""
    not_shown: str | None = None
    """Why no test does, if the page gives a reason."""

    @property
    def objects(self) -> ObjectRule | None:
        """The rule if it checks objects."""
        return self.rule if isinstance(self.rule, ObjectRule) else None

    @property
    def judges(self) -> tuple[str, ...]:
        """The kinds that it is about; none: objects of every kind, or no object at all."""
        return self.objects.judges if self.objects else ()

    @property
    def needs(self) -> tuple[str, ...]:
        """What it cannot do without beside those."""
        return tuple(need.value for need in Need if self.objects and need in self.objects.needs)

    @property
    def fix(self) -> str:
        """What `lint --fix` may do: safe, unsafe; empty: nothing."""
        return self.objects.fix.value if self.objects and self.objects.fix else ""

    def holds(self, target: Mapping[str, versions.Version]) -> bool:
        """Whether it is true of the target versions."""
        return self.objects is None or self.objects.holds(target)


class RuleQuery(Struct, frozen=True):
    """Which entries are asked for; what is empty or None asks for all."""

    families: tuple[str, ...] = ()
    """First words of families."""
    severities: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """Kinds, in any case of letters."""
    target: Targets | None = None
    """Versions by component: what holds there."""
    words: tuple[str, ...] = ()
    """Each must stand in the name, the sentence or a kind."""


def entries() -> Iterator[RuleEntry]:
    """Every entry: the rules that check objects, then what is found in specs and runs."""
    for checked in RULES:
        of = page(checked.name)
        yield RuleEntry(checked, of.proof, of.not_shown)
    for family in (Family.REFUSED, Family.RUN, Family.REPORTED):
        yield from (RuleEntry(rule) for rule in REGISTRY if rule.family is family)


def names() -> tuple[str, ...]:
    """Every name that a finding can carry."""
    return tuple(rule.name for rule in REGISTRY)


def explain(name: str, *, full: bool = False) -> str:
    """A rule on one screen, by its name or a former one; with `full` its whole page.

    Raises UsageError for an unknown name.
    """
    rule = find(name)
    if rule is None:
        raise UsageError(f'no rule "{name}"; {suggest(name, names())}')
    if full or not has_page(rule.name):
        return _text_of(rule)
    return explanation(rule, page(rule.name))


def _text_of(rule: Rule) -> str:
    if has_page(rule.name):
        return page(rule.name).text
    paragraphs = [f"{rule.summary}. {_SAYS[rule.family]}", *([rule.remedy] if rule.remedy else [])]
    text = "\n\n".join("\n".join(wrapped(each)) for each in paragraphs)
    return f"# {rule.name}\n\n{text}\n"


def pages(report: Report) -> dict[str, str]:
    """What explains the findings of a report, by the names of their rules."""
    rules = {it.rule for it in report.findings}
    return {rule.name: _text_of(rule) for rule in sorted(rules, key=str)}


def select(wanted: RuleQuery) -> list[RuleEntry]:
    """The entries that are asked for. Raises UsageError for a kind or version that there is not."""
    judged = {_kind(name) for name in wanted.kinds}
    target = {**versions.DEFAULT, **wanted.target} if wanted.target else None
    families = {FAMILIES[word] for word in wanted.families}
    words = [word.lower() for word in wanted.words]
    return [
        each
        for each in entries()
        if (not families or each.rule.family in families)
        and (not wanted.severities or str(each.rule.severity) in wanted.severities)
        and (not judged or (each.objects and (not each.judges or judged & set(each.judges))))
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
            return f'no rule contains the word "{word}"; {advice}'
    return ""


def _text(each: RuleEntry) -> str:
    """What words are looked for in."""
    return f"{each.rule} {each.rule.summary} {each.judges}".lower()


def kinds() -> tuple[str, ...]:
    """The kinds that rules judge."""
    return tuple(sorted({kind for rule in RULES for kind in rule.judges}))


def _kind(name: str) -> str:
    known = {kind.lower(): kind for _, kind in Cluster(()).tables}
    if name.lower() not in known:
        raise UsageError(f'--kind: no kind "{name}"; {suggest(name, kinds())}')
    return known[name.lower()]


def table(found: Sequence[RuleEntry]) -> str:
    """A line for each: name, severity, family, fix, whether it is proven, the fault."""
    width = max((len(each.rule.name) for each in found), default=0)
    return "".join(
        f"{each.rule.name:{width}}  {each.rule.severity!s:7}  {each.rule.family.split()[0]:7}  "
        f"{each.fix or '-':6}  {_shown(each):9}  {each.rule.summary}\n"
        for each in found
    )


def _shown(each: RuleEntry) -> str:
    return "proven" if each.proof else "not shown" if each.not_shown else "-"


def write(found: Sequence[RuleEntry], out: TextIO) -> None:
    """The same as JSON, described by schemas/rules.schema.json."""
    rules = [
        {
            "rule": each.rule.name,
            "severity": str(each.rule.severity),
            "family": each.rule.family,
            "about": each.rule.summary,
            "judges": list(each.judges),
            "needs": list(each.needs),
            "fix": each.fix or None,
            "since": _releases(each.objects.since if each.objects else {}),
            "until": _releases(each.objects.until if each.objects else {}),
            "proof": each.proof,
            "notShown": each.not_shown,
        }
        for each in found
    ]
    write_json({"version": VERSION, "rules": rules}, out)


def _releases(bounds: Mapping[str, versions.Minor]) -> dict[str, str]:
    return {component: versions.written(minor) for component, minor in bounds.items()}
