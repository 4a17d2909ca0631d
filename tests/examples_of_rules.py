"""The examples of a rule: those of its page, and the cases of its folder in tests/lint/cases."""

from pathlib import Path

from policygen.lint.page import Example, page

CASES = Path(__file__).parent / "lint" / "cases"
OPTIONS = "# options:"
"""The first line of a case may name the options of its page's example: `# options: seen kueue=0.14`."""


def examples(rule: str, *, good: bool | None = None) -> list[Example]:
    """The bad examples of a rule, then the good ones; with `good`, only those."""
    it = page(rule)
    found = [it.bad, *_cases(rule, "bad"), it.good, *_cases(rule, "good")]
    return [each for each in found if good is None or each.good == good]


def _cases(rule: str, kind: str) -> list[Example]:
    return [
        _case(path, good=kind == "good") for path in sorted((CASES / rule).glob(f"{kind}-*.yaml"))
    ]


def _case(path: Path, *, good: bool) -> Example:
    text = path.read_text("utf-8")
    first, _, rest = text.partition("\n")
    if first.startswith(OPTIONS):
        return Example(rest, tuple(first.removeprefix(OPTIONS).split()), good)
    return Example(text, (), good)
