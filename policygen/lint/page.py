"""The page of a rule: why it matters, a bad and a good example, how to mend it."""

import re

from msgspec import Struct

from policygen.core import shipped

_FENCE = re.compile(r"^```yaml(?P<options>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_PROOF = re.compile(r"^Proven: `(?P<test>[^`]+)`$", re.MULTILINE)
_FIXED = re.compile(r"^Fixed by: `(?P<how>[^`]+)`$", re.MULTILINE)

_NOT_SHOWN = re.compile(r"^Not shown: (?P<why>.+?)(?=\n\n|\n*\Z)", re.MULTILINE | re.DOTALL)


class Example(Struct, frozen=True):
    """Objects that break a rule, or keep it."""

    text: str
    options: tuple[str, ...]
    """Words behind ```yaml: `partial`, `seen` for what a cluster has, beside a spec or none, `applied`
    where what the spec renders is on it too, and target
    versions such as `kueue=0.14`."""
    good: bool


class Page(Struct, frozen=True):
    """A rule's page."""

    text: str
    bad: Example
    good: Example
    proof: str | None
    """The test that shows the harm on real servers; None: no test does."""
    not_shown: str | None = None
    """Why no test does, if the page gives a reason."""
    fixed_by: str | None = None
    """The command that fixes some or all of its faults; None: no command does."""


def page(rule: str) -> Page:
    """The page of a rule by its name. Raises FileNotFoundError, and ValueError for a page without both examples."""
    name = f"{rule.replace('-', '_')}.md"
    paths = list((shipped.PACKAGE / "lint").glob(f"*/rules/{name}"))
    if not paths:
        raise FileNotFoundError(f"the rule {rule} has no page")
    text = paths[0].read_text("utf-8")
    good = text.find("\n## Good")
    examples = [
        Example(match["text"], tuple(match["options"].split()), good=match.start() > good >= 0)
        for match in _FENCE.finditer(text)
    ]
    if [each.good for each in examples] != [False, True]:
        raise ValueError(f"the page of {rule} needs one example under Bad and one under Good")
    proof, why, fixed = (each.search(text) for each in (_PROOF, _NOT_SHOWN, _FIXED))
    return Page(
        text=text,
        bad=examples[0],
        good=examples[1],
        proof=proof["test"] if proof else None,
        not_shown=" ".join(why["why"].split()) if why else None,
        fixed_by=fixed["how"] if fixed else None,
    )
