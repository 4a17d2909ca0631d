"""The page of a rule: why it matters, how to fix it, a bad and a good example."""

import re
from functools import cache
from pathlib import Path

from msgspec import Struct

from policygen.core import shipped

_FENCE = re.compile(
    r"^```(?P<language>yaml|sh|text)(?P<options>[^\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_PROOF = re.compile(r"^Proven: `(?P<test>[^`]+)`$", re.MULTILINE)
_FIXED = re.compile(r"^Fixed by: `(?P<how>[^`]+)`$", re.MULTILINE)

_NOT_PROVEN = re.compile(r"^Not proven: (?P<why>.+?)(?=\n\n|\n*\Z)", re.MULTILINE | re.DOTALL)


class Example(Struct, frozen=True):
    """Objects or a spec: with a fault of a rule, or without."""

    text: str
    options: tuple[str, ...]
    """Words after ```yaml: `partial`; `seen` for a cluster, with or without a spec; `applied` if the
    cluster also has what the spec renders; `changed` if the first document is on the cluster, and the others
    are manifests; target versions such as `kueue=0.14`."""
    good: bool
    language: str = "yaml"
    """`yaml`: tests check it. `sh` or `text`: only shown, for faults that no file can have."""


class RulePage(Struct, frozen=True):
    """A rule's page."""

    text: str
    bad: Example
    good: Example
    proof: str | None
    """The test that shows the harm on real servers, if there is one."""
    not_shown: str | None = None
    """Why no test shows it, if the page gives a reason."""
    fixed_by: str | None = None
    """The command that fixes some or all of its faults, if there is one."""


@cache
def _paths() -> dict[str, Path]:
    """The file of each page by its rule: beside a rule of objects, else in `pages` of its package."""
    found = [*shipped.PACKAGE.glob("lint/*/rules/*.md"), *shipped.PACKAGE.glob("*/pages/*.md")]
    return {path.stem.replace("_", "-"): path for path in found}


def page(rule: str) -> RulePage:
    """The page of a rule by its name. Raises KeyError, and ValueError for a page without both examples."""
    text = _paths()[rule].read_text("utf-8")
    good = text.find("\n## Good")
    examples = [
        Example(
            match["text"],
            tuple(match["options"].split()),
            good=match.start() > good >= 0,
            language=match["language"],
        )
        for match in _FENCE.finditer(text)
    ]
    if [it.good for it in examples] != [False, True]:
        raise ValueError(f"the page of {rule} needs one example under Bad and one under Good")
    proof, why, fixed = (it.search(text) for it in (_PROOF, _NOT_PROVEN, _FIXED))
    return RulePage(
        text=text,
        bad=examples[0],
        good=examples[1],
        proof=proof["test"] if proof else None,
        not_shown=" ".join(why["why"].split()) if why else None,
        fixed_by=fixed["how"] if fixed else None,
    )
