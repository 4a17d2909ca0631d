"""Every string that users read, as one list, and the words that plain English avoids.

`python -m tests.style` prints the list, one string a line with its file and line.
`--sample 100 --seed 13` prints some of them, for a reading without their context, `--offences`
prints only those with a word of `AVOIDED`, and `--long 25` those with a sentence of more words.

The list has the help of all commands, the strings of messages in `policygen` with the names of the
values that they fill in, the summaries and pages of rules, the docs, the examples' comments, the
comments of templates, and the descriptions of the JSON Schemas.
"""

import argparse
import ast
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

AVOIDED = {
    r"stands?|stood|standing": "is, is set, is used",
    r"tells|told|say|says|said": "reports, message, description",
    r"mend(s|ed|ing)?": "fix, fixed",
    r"(un)?heed(s|ed|ing)?": "uses, takes effect, is ignored",
    r"in vain": "without effect; held but unused",
    r"nobody|anybody|somebody": "no rule, no team, any, another team",
    r"none": "missing, not set, does not exist",
    r"(?<!there )(is|are) no(?! longer| more)": "is not a valid ...",
    r"ask(s|ed|ing)? for|want(s|ed|ing)?": "requests, needs",
    r"gets? no": "has no",
    r"(leav(e|es|ing)|left)( \w+){0,2} out": "omit, skip",
    r"counts? (at|by)": "is counted per",
    r"what (is given|comes|came)": "input, response",
    r"(?<!a )(?<!the )whole(?! number)|by halves": "complete, partial",
    r"apart(?! from)": "separate",
    r"closer look|at a glance|surely": "full parse, fast parse, prevalidate",
    r"whom|wherever|likewise": "a plain relative clause, or a repeated noun",
    r"(all|just) the same|for ever": "equal, anyway, forever",
}
"""A pattern of words to what to write instead."""

ALLOWED = {
    "mend.sh": "the name of a script that `lint --patches` writes",
    "background: none": "CSS",
    "if nobody edited them": "written into output folders, whose bytes must not change",
}
"""Text that is allowed, and the reason."""

_AVOIDED = re.compile(
    "|".join(rf"(?<![\w-])(?:{pattern})(?![\w-])" for pattern in AVOIDED), re.IGNORECASE
)
_WRITERS = {
    "amount_of",
    "encode",
    "len",
    "listed",
    "named",
    "quoted",
    "readable",
    "readable_bytes",
    "shorten",
    "shown",
    "value",
}
"""Functions that write their first argument."""
_PROSE = re.compile(r"[A-Za-z]{2,}[,;:]? [a-z]{2,}")
_CODE = re.compile(r"`[^`]*`|\]\([^)]*\)")
_WORD = re.compile(r"\S*\w\S*")
_SENTENCE_END = re.compile(r"[.;:?!|](?=\s|$)")
_COMMENT = re.compile(r"(?:^|\s)#\s+(\S.*)")


class Text(NamedTuple):
    """A string that users read."""

    file: str
    line: int
    text: str

    @property
    def offences(self) -> list[str]:
        """The avoided words in it; names, code and links do not count."""
        plain = _CODE.sub("`", self.text)
        for allowed in ALLOWED:
            plain = plain.replace(allowed, "")
        return [found[0] for found in _AVOIDED.finditer(plain) if not _is_value(found[0])]

    @property
    def longest(self) -> int:
        """The number of words of its longest sentence."""
        return max(len(_WORD.findall(it)) for it in _SENTENCE_END.split(self.text))

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def _is_value(word: str) -> bool:
    return word == "None"  # the value of an enumeration, as of stopPolicy


def texts() -> list[Text]:
    """All strings that users read, by file."""
    found: list[Text] = []
    for path in sorted((ROOT / "policygen").rglob("*.py")):
        found += _python(path)
    pages = [*(ROOT / "policygen").rglob("*.md"), *(ROOT / "docs").rglob("*.md")]
    of_all = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
    for path in sorted([*pages, *(ROOT / name for name in of_all)]):
        found += _markdown(path)
    commented = [
        *(ROOT / "templates").rglob("*.j2"),
        *(it for it in (ROOT / "examples").rglob("*") if it.is_file()),
        *(it for it in (ROOT / "docs" / "policy-tests").rglob("*") if it.is_file()),
    ]
    for path in sorted(it for it in commented if "expected" not in it.parts):
        found += _comments(path)
    schemas = [*(ROOT / "schemas").glob("*.json"), *(ROOT / "schemas" / "spec").glob("*.json")]
    for path in sorted(schemas):
        found += _schema(path)
    return found


def _text(path: Path, line: int, text: str) -> Text:
    return Text(path.relative_to(ROOT).as_posix(), line, " ".join(text.split()))


def _python(path: Path) -> Iterator[Text]:
    """The strings of a module that read like a message, and the docstrings that users see.

    Those are the docstrings of rules, which are their summaries, and of commands, which are help.
    """
    tree = ast.parse(path.read_text("utf-8"))
    if path.parent.name == "rules":
        summary = ast.get_docstring(tree)
        if summary:
            yield _text(path, 1, summary)
    hidden: set[int] = set()
    for node in ast.walk(tree):
        hidden |= {id(text) for text in _read_by_code(node)}
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            hidden.add(id(node.value))
        if isinstance(node, ast.FunctionDef) and path.parent.name == "cli" and node.decorator_list:
            described = ast.get_docstring(node)
            if described:
                yield _text(path, node.lineno, described)
        if _string(node):
            hidden |= {id(part) for part in _parts(node)}
    for node in ast.walk(tree):
        text = "" if id(node) in hidden else _string(node)
        if _PROSE.search(text):
            yield _text(path, node.lineno, text)  # type: ignore[attr-defined] - strings have one


def _string(node: ast.AST) -> str:
    """The text of a literal, with the name of each value that an f-string fills in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.FormattedValue):
        return f"{{{_name(node.value)}}}"
    parts = _parts(node)
    texts = [_string(part) for part in parts]
    if not any(texts):
        return ""
    return "".join(text or f"{{{_name(part)}}}" for text, part in zip(texts, parts, strict=True))


def _parts(node: ast.AST) -> list[ast.expr]:
    """The parts of a text that is written in parts."""
    match node:
        case ast.JoinedStr(values=values):
            return values
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [left, right]
    return []


def _name(value: ast.expr) -> str:
    """What a reader may call a value: `{queue.name}`, and `{queue}` for `quoted(queue)`."""
    match value:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=attribute):
            return f"{_name(owner)}.{attribute}"
        case ast.Call():
            return _name_of_call(value)
        case ast.Subscript(value=first) | ast.BinOp(left=first) | ast.BoolOp(values=[first, *_]):
            return _name(first)
        case ast.GeneratorExp(generators=[ast.comprehension(iter=values)]):
            return _name(values)
        case ast.IfExp(body=ast.Constant(value=one), orelse=ast.Constant(value=other)):
            return f"{one!s} or {other!s}"
    return ""


def _name_of_call(call: ast.Call) -> str:
    match call:
        case ast.Call(func=ast.Name(id="counted"), args=[number, ast.Constant(value=noun), *_]):
            return f"{_name(number)} {noun}"
        case ast.Call(func=ast.Attribute(attr="join"), args=[values]):
            return _name(values)
        case ast.Call(func=ast.Name(id=function), args=[argument, *_]) if function in _WRITERS:
            return _name(argument)
    return _name(call.func).lstrip("_")


def _read_by_code(node: ast.AST) -> list[ast.expr | None]:
    """The strings of an expression that no user sees.

    Those are patterns, keys, and what the text of another program is compared with.
    """
    match node:
        case ast.Dict(keys=keys):
            return keys
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re")), args=arguments):
            return [*arguments]
        case ast.Call(func=ast.Name(id="cast"), args=[type_, *_]):
            return [type_]
        case ast.Call(func=ast.Name(id="counted"), args=[_, *nouns]):
            return [*nouns]
        case ast.Constant(value=str(text)) if "%(prog)s" in text:  # a script for a shell
            return [node]
    return []


def _markdown(path: Path) -> Iterator[Text]:
    """Paragraphs, entries of lists, rows of tables, and the comments in blocks of code."""
    paragraph: list[str] = []
    start, fenced = 0, False
    for number, line in enumerate([*path.read_text("utf-8").splitlines(), ""], 1):
        fence = line.lstrip().startswith("```")
        ends = fence or not line.strip() or line.lstrip().startswith(("- ", "|", "#", "<!--"))
        if paragraph and (ends or fenced):
            yield _text(path, start, " ".join(paragraph))
            paragraph = []
        if fence:
            fenced = not fenced
        elif fenced:
            comment = _COMMENT.search(line)
            if comment:
                yield _text(path, number, comment[1])
        elif not line.startswith("<!--") and (_PROSE.search(line) or paragraph):
            start = start if paragraph else number
            paragraph.append(line)


def _comments(path: Path) -> Iterator[Text]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        comment = re.search(r"\{#-?\s*(.*?)-?#\}", line) or _COMMENT.search(line)
        if comment and _PROSE.search(comment[1]):
            yield _text(path, number, comment[1])


def _schema(path: Path) -> Iterator[Text]:
    lines = path.read_text("utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        match = re.search(r'"(?:description|title|\$comment)": ("(?:[^"\\]|\\.)*")', line)
        if match:
            yield _text(path, number, json.loads(match[1]))


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, metavar="N", help="print only N of them, at random")
    parser.add_argument("--seed", type=int, default=0, help="draw the sample with this seed")
    parser.add_argument("--offences", action="store_true", help="print only what uses AVOIDED")
    parser.add_argument(
        "--long", type=int, metavar="N", help="print only sentences of over N words"
    )
    parser.add_argument("part", nargs="*", help="print only files whose path contains one of these")
    options = parser.parse_args()
    found = [
        it for it in texts() if not options.part or any(part in it.file for part in options.part)
    ]
    if options.offences:
        for it in found:
            if it.offences:
                print(f"{it}  [{', '.join(it.offences)}]")  # noqa: T201 - a tool's output
        return
    if options.long:
        found = [it for it in found if it.longest > options.long]
    if options.sample:
        found = random.Random(options.seed).sample(found, options.sample)
    for it in found:
        print(it)  # noqa: T201 - a tool's output


if __name__ == "__main__":
    main()
