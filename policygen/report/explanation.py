"""A rule explained on one screen: why it matters, and what differs between the bad and the good example."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from textwrap import fill
from typing import Final

from policygen.core.quoting import counted
from policygen.core.rule import Rule
from policygen.lint.page import RulePage
from policygen.lint.rule import ObjectRule
from policygen.report.phrases import MORE
from policygen.report.text import folded

MAX_LINES: Final = 45
"""Lines of a screen."""
MAX_COLUMNS: Final = 100
"""Columns of a screen."""
_CONTEXTS: Final = (3, 2, 1, 0)
"""Unchanged lines around a change: as many as fit."""
_OWN_LINE = re.compile(r"[-*] |[|\s]|```|\d+\. ")
_KIND = re.compile(r"^kind: (\S+)")
_NAME = re.compile(r"^  name: (\S+)")


def explanation(rule: Rule, page: RulePage, columns: int = MAX_COLUMNS) -> str:
    """The name, severity and family of a rule, the text of its page, and the differing lines of its examples.

    At most MAX_LINES lines of `columns`; what does not fit is counted.
    """
    facts = [line for fact in _facts(rule, page) for line in wrapped(fact, columns)]
    head = [f"# {rule.name}", "", *facts, "", *_prose(page, columns), ""]
    bad, good = page.bad.text.splitlines(), page.good.text.splitlines()
    if page.bad.language != "yaml":
        body = ["Bad:", *_indented(bad), "Good:", *_indented(good)]
    else:
        room = MAX_LINES - len(head) - 1
        options = _options(page)
        candidates = [[*options, *_difference(bad, good, context)] for context in _CONTEXTS]
        body = next((each for each in candidates if len(each) <= room), candidates[-1])
        body = ["Bad (-) and good (+):", *body]
    lines = [*head, *body]
    if len(lines) > MAX_LINES:
        rest = len(lines) - MAX_LINES + 1
        lines = [*lines[: MAX_LINES - 1], f"... {rest} more lines: policygen explain {rule} --full"]
    return "".join(f"{_cut(line, columns)}\n" for line in lines)


def full_page(rule: Rule, page: RulePage, wide: int | None = None) -> str:
    """The complete page, with the severity, the family and the texts of the rule below its title.

    `wide` is that of `folded`.
    """
    title, _, rest = page.text.partition("\n")
    facts = [line for fact in _about(rule) for line in wrapped(fact)]
    lines = "\n".join([title, "", *facts, rest]).split("\n")
    return "\n".join(it for line in lines for it in folded(line, wide))


def wrapped(text: str, columns: int = MAX_COLUMNS) -> list[str]:
    """The lines of a text that is at most `columns` wide; words are never broken."""
    return fill(text, columns, break_long_words=False, break_on_hyphens=False).splitlines()


def _about(rule: Rule) -> tuple[str, str]:
    """Severity, family and fault of a rule, and how to fix the fault."""
    return f"{rule.severity}, {rule.family.word}: {rule.summary}", f"Fix: {rule.remedy}"


def _facts(rule: Rule, page: RulePage) -> Iterator[str]:
    yield from _about(rule)
    if isinstance(rule, ObjectRule) and rule.judges:
        kinds = ", ".join(rule.judges[:4])
        more = f" and {counted(len(rule.judges) - 4, 'more kind')}" if len(rule.judges) > 4 else ""
        yield f"Checks {kinds}{more}"
    if page.proof:
        yield f"Proven: {page.proof}"
    if page.not_shown:
        yield f"Not proven: {page.not_shown}"
    if page.fixed_by:
        yield f"Fixed by: {page.fixed_by}"


def _prose(page: RulePage, columns: int) -> list[str]:
    """The text between the title and the examples, without the lines that are facts."""
    text = page.text.split("\n\n", 1)[1].partition("\n## Bad")[0]
    paragraphs = [
        paragraph
        for paragraph in text.strip().split("\n\n")
        if not paragraph.startswith(("Proven:", "Not proven:", "Fixed by:"))
    ]
    return [line for each in paragraphs for line in ("", *_fitted(each, columns))][1:]


def _cut(line: str, columns: int) -> str:
    """A line of an example may be wider than a screen."""
    return line if len(line) <= columns else f"{line[: columns - len(MORE)]}{MORE}"


def _options(page: RulePage) -> list[str]:
    """What the examples are linted with, if that differs."""
    if page.bad.options == page.good.options:
        return []
    pairs = (("-", page.bad.options), ("+", page.good.options))
    return [
        f"  {sign} checked with `policygen lint {' '.join(options)}`"
        for sign, options in pairs
        if options
    ]


def _fitted(paragraph: str, columns: int) -> list[str]:
    """The lines of a paragraph as they are written, or wrapped anew if one is too wide.

    The lines of lists, tables and code stay lines of their own.
    """
    lines = paragraph.splitlines()
    if max(map(len, lines)) <= columns:
        return lines
    if any(_OWN_LINE.match(line) for line in lines):
        return [it for line in lines for it in folded(line, columns)]
    return wrapped(" ".join(lines), columns)


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _difference(bad: Sequence[str], good: Sequence[str], context: int) -> Iterator[str]:
    """The differing lines as in a unified diff; each group begins with the object that it is in."""
    matcher = SequenceMatcher(None, bad, good, autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        yield f"  {_object(bad, group[0][1], group[-1][2]) or _object(good, group[0][3], group[-1][4])}"
        for tag, low, high, good_low, good_high in group:
            if tag == "equal":
                yield from (f"    {line}" for line in bad[low:high])
            else:
                yield from (f"  - {line}" for line in bad[low:high])
                yield from (f"  + {line}" for line in good[good_low:good_high])


def _object(lines: Sequence[str], low: int, high: int) -> str:
    """Kind and name of the object that holds a line; empty if the text does not give both."""
    start = max((i + 1 for i, line in enumerate(lines[:low]) if line == "---"), default=0)
    end = next(
        (i for i, line in enumerate(lines) if i >= max(high - 1, start) and line == "---"), None
    )
    document = lines[start:end]
    kind = next((match[1] for line in document if (match := _KIND.match(line))), "")
    name = next((match[1] for line in document if (match := _NAME.match(line))), "")
    return f"{kind} {name}".strip()
