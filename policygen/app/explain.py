"""Lists and explains all rules: every name that a finding can have."""

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
from policygen.lint.page import page
from policygen.lint.registry import REGISTRY, RULES, find, unknown
from policygen.lint.rule import Need, ObjectRule
from policygen.report.explanation import MAX_COLUMNS, explanation, full_page
from policygen.report.phrases import write_json
from policygen.report.report import Report
from policygen.report.tables import NONE, TablePage

VERSION = 1
"""Version of the JSON; increased when a field changes its meaning or is removed, not for a new field."""


class RuleEntry(Struct, frozen=True, eq=False):
    """A rule, and facts from its page."""

    rule: Rule
    proof: str | None = None
    """The test that shows the harm on real servers."""
    not_shown: str | None = None
    """Why no test shows the harm, if the page gives a reason."""

    @property
    def objects(self) -> ObjectRule | None:
        """The rule if it checks objects."""
        return self.rule if isinstance(self.rule, ObjectRule) else None

    @property
    def judges(self) -> tuple[str, ...]:
        """The kinds that it checks; empty for objects of every kind, or for no object."""
        return self.objects.judges if self.objects else ()

    @property
    def needs(self) -> tuple[str, ...]:
        """Other input that it needs."""
        return tuple(need.value for need in Need if self.objects and need in self.objects.needs)

    @property
    def fix(self) -> str:
        """What `lint --fix` can do: safe, unsafe, or "" for nothing."""
        return self.objects.fix.value if self.objects and self.objects.fix else ""

    def holds(self, target: Mapping[str, versions.Version]) -> bool:
        """Whether it applies to the target versions."""
        return self.objects is None or self.objects.holds(target)


class RuleQuery(Struct, frozen=True):
    """Filters for entries; a filter that is empty or None selects all."""

    families: tuple[str, ...] = ()
    """First words of families."""
    severities: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """Kinds, in upper or lower case."""
    target: Targets | None = None
    """Versions by component, to select rules that apply to them."""
    words: tuple[str, ...] = ()
    """Words that must all be in the name, the sentence or a kind."""


def entries() -> Iterator[RuleEntry]:
    """All entries: first rules that check objects, then rules about specs and runs."""
    for checked in RULES:
        of = page(checked.name)
        yield RuleEntry(checked, of.proof, of.not_shown)
    for family in (Family.REFUSED, Family.RUN, Family.REPORTED):
        yield from (RuleEntry(rule) for rule in REGISTRY if rule.family is family)


def names() -> tuple[str, ...]:
    """Every name that a finding can have."""
    return tuple(rule.name for rule in REGISTRY)


def explain(name: str, *, full: bool = False, wide: int | None = None) -> str:
    """A rule on one screen, by its name or a former one; with `full` its whole page.

    `wide` is the number of columns of the terminal; None: it is no terminal. Raises UsageError for an unknown name.
    """
    rule = _rule(name)
    found = page(rule.name)
    if full:
        return full_page(rule, found, wide)
    return explanation(rule, found, min(wide or MAX_COLUMNS, MAX_COLUMNS))


def entry(name: str) -> RuleEntry:
    """The entry of a rule, by its name or a former one. Raises UsageError for an unknown name."""
    rule = _rule(name)
    return next(it for it in entries() if it.rule is rule)


def _rule(name: str) -> Rule:
    rule = find(name)
    if rule is None:
        from policygen.explain import spec_field
        from policygen.plan.catalog import KINDS  # only an error needs the plan

        word, _, path = name.partition(".")
        kind = next((it.name for it in KINDS if it.name.lower() == word.lower()), "")
        if kind:
            what = f"{name} is a field of an object" if path else f"{kind} is a kind"
            full = f"{kind}/NAME {path}".rstrip()
            raise UsageError(f"{what}; add the name of an object: {full}")
        if path or name[:1].isupper():
            spec_field.find(name)  # raises, with the nearest kind of the spec
        raise UsageError(unknown(name, names()))
    return rule


def pages(report: Report) -> dict[str, str]:
    """The pages of the rules in a report, by name."""
    rules = {it.rule for it in report.findings}
    return {rule.name: page(rule.name).text for rule in sorted(rules, key=str)}


def select(query: RuleQuery) -> list[RuleEntry]:
    """The entries that match the filters. Raises UsageError for an unknown kind or version."""
    judged = {_kind(name) for name in query.kinds}
    target = {**versions.DEFAULT, **query.target} if query.target else None
    words = [word.lower() for word in query.words]
    return [
        entry
        for entry in entries()
        if (not query.families or entry.rule.family.word in query.families)
        and (not query.severities or str(entry.rule.severity) in query.severities)
        and (not judged or (entry.objects and (not entry.judges or judged & set(entry.judges))))
        and (target is None or entry.holds(target))
        and all(word in _text(entry) for word in words)
    ]


def unknown_word(words: Iterable[str]) -> str:
    """A message about a word that no entry contains; "" if all words occur."""
    texts = [_text(each) for each in entries()]
    for word in words:
        if not any(word.lower() in text for text in texts):
            known = {found for text in texts for found in re.findall(r"\w+", text)}
            near = get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.8)
            advice = f'did you mean "{near[0]}"?' if near else "`policygen rules` lists all rules"
            return f'no rule contains the word "{word}"; {advice}'
    return ""


def _text(entry: RuleEntry) -> str:
    """The text in which words are searched."""
    return f"{entry.rule} {entry.rule.summary} {entry.judges}".lower()


def kinds() -> tuple[str, ...]:
    """The kinds that rules check."""
    return tuple(sorted({kind for rule in RULES for kind in rule.judges}))


def _kind(name: str) -> str:
    from policygen.plan.catalog import KINDS  # few commands need the plan

    names = {*(kind for _, kind in Cluster(()).tables), *(it.name for it in KINDS)}
    known = {kind.lower(): kind for kind in names}
    if name.lower() not in known:
        raise UsageError(f'--kind: kind "{name}" is unknown; {suggest(name, kinds())}')
    return known[name.lower()]


def lines(found: Sequence[RuleEntry], page: TablePage) -> None:
    """Write one line per rule: name, severity, family, fix, whether it is proven, the fault."""
    width = max((len(each.rule.name) for each in found), default=0)
    for entry in found:
        page.line(
            f"{entry.rule.name:{width}}  {entry.rule.severity!s:7}  {entry.rule.family.word:7}  "
            f"{entry.fix or '-':6}  {_shown(entry):10}  {entry.rule.summary}"
        )


def table(found: Sequence[RuleEntry], page: TablePage) -> None:
    """Write the same as a table."""
    heads = ("RULE", "SEVERITY", "FAMILY", "FIX", "PROOF", "FAULT")
    rows = [
        (
            it.rule.name,
            str(it.rule.severity),
            it.rule.family.word,
            it.fix or NONE,
            _shown(it),
            it.rule.summary,
        )
        for it in found
    ]
    page.table("Rules", heads, rows)


def _shown(entry: RuleEntry) -> str:
    return "proven" if entry.proof else "not proven" if entry.not_shown else "-"


def write(found: Sequence[RuleEntry], out: TextIO) -> None:
    """Write the entries as JSON, described by schemas/rules.schema.json."""
    rules = [
        {
            "rule": entry.rule.name,
            "severity": str(entry.rule.severity),
            "family": entry.rule.family,
            "about": entry.rule.summary,
            "remedy": entry.rule.remedy,
            "judges": list(entry.judges),
            "needs": list(entry.needs),
            "fix": entry.fix or None,
            "since": _releases(entry.objects.since if entry.objects else {}),
            "until": _releases(entry.objects.until if entry.objects else {}),
            "proof": entry.proof,
            "notShown": entry.not_shown,
        }
        for entry in found
    ]
    write_json({"version": VERSION, "rules": rules}, out)


def _releases(bounds: Mapping[str, versions.Minor]) -> dict[str, str]:
    return {component: versions.written(minor) for component, minor in bounds.items()}
