"""A unified diff of two texts of manifests, in time that is linear in their length."""

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise

_CONTEXT = 3
_LONG = 1000
"""From this number of lines on, a document is compared in parts."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BUT_CRLF = re.compile(r"(?!\r\n)[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WHO = re.compile(r"^(?:kind|  name|  namespace): .*$", re.MULTILINE)
_NO_NEWLINE = "\n\\ No newline at end of file\n"

_Change = tuple[int, int, int, int]
# Lines [first, second) of the old text are replaced by lines [third, fourth) of the new text.


def difference(name: str, old: bytes | None, new: str | None, *, edited: bool = False) -> str:
    """The change of a file from `old` to `new` as a unified diff; "" if they are equal.

    None means that the file does not exist. The file may contain control characters; they are
    shown as text. With `edited`, each old document became the new one at its position, also if its
    name changed, and a CR before a line feed stays, so that the diff can be applied.
    """
    if old == (None if new is None else new.encode()):
        return ""
    control = _BUT_CRLF if edited else _CONTROL
    # As git writes it: a/tmp/x for /tmp/x.
    shown = harmless(name).lstrip("/")
    text = "" if old is None else old.decode("utf-8", "backslashreplace")
    before = _documents(_harmless(text, control))
    after = _documents(_harmless(new or "", control))
    by_position = edited and len(before) == len(after)
    hunks = list(_hunks(before, after, by_position=by_position))
    if not hunks:  # only bytes differ that are not shown, or one is an empty file
        return f"Files a/{shown} and b/{shown} differ\n"
    return "".join(
        (
            "--- /dev/null\n" if old is None else f"--- a/{shown}\n",
            "+++ /dev/null\n" if new is None else f"+++ b/{shown}\n",
            *hunks,
        )
    )


def harmless(content: str) -> str:
    """The text with control characters escaped, for a terminal."""
    return _harmless(content, _CONTROL)


def _harmless(content: str, control: re.Pattern[str]) -> str:
    return control.sub(lambda match: f"\\x{ord(match[0]):02x}", content)


def _documents(content: str) -> list[list[str]]:
    """The lines of each document. difflib takes minutes for ten thousand documents at once."""
    documents: list[list[str]] = [[]]
    for line in _LINE.findall(content):
        if line in ("---\n", "---\r\n"):
            documents.append([])
        documents[-1].append(line)
    return documents


def _who(document: list[str]) -> tuple[str, ...]:
    return tuple(_WHO.findall("".join(document))[:3])


def _hunks(before: list[list[str]], after: list[list[str]], *, by_position: bool) -> Iterator[str]:
    old = [line for document in before for line in document]
    new = [line for document in after for line in document]
    group: list[_Change] = []
    for change in _changes(before, after, by_position=by_position):
        if group and change[0] - group[-1][1] > 2 * _CONTEXT:
            yield _hunk(old, new, group)
            group = []
        group.append(change)
    if group:
        yield _hunk(old, new, group)


def _changes(
    before: list[list[str]], after: list[list[str]], *, by_position: bool
) -> Iterator[_Change]:
    """Where the texts differ. Documents are matched by kind and name, then compared by line.

    With `by_position`, the numbers of documents must be equal.
    """
    old_at = _starts(before)
    new_at = _starts(after)
    old_who, new_who = [_who(each) for each in before], [_who(each) for each in after]
    if by_position:
        old_who = new_who = [(f"{number}",) for number in range(len(after))]
    matcher = SequenceMatcher(None, old_who, new_who, autojunk=False)
    for kind, first, last, new_first, new_last in matcher.get_opcodes():
        if kind != "equal":
            yield old_at[first], old_at[last], new_at[new_first], new_at[new_last]
            continue
        for one, other in zip(range(first, last), range(new_first, new_last), strict=True):
            if before[one] != after[other]:
                for start, stop, new_start, new_stop in _lines(before[one], after[other]):
                    at, new = old_at[one], new_at[other]
                    yield at + start, at + stop, new + new_start, new + new_stop


def _lines(before: list[str], after: list[str]) -> Iterator[_Change]:
    """Where two documents differ, part by part, since difflib is quadratic in the size of a part."""
    for (old, new), (old_end, new_end) in pairwise(_cuts(before, after)):
        if before[old:old_end] == after[new:new_end]:
            continue
        one, other = before[old:old_end], after[new:new_end]
        # autojunk ignores frequent lines in texts of 200 lines or more, so the diff would be longer.
        lines = SequenceMatcher(None, one, other, autojunk=len(other) >= _LONG)
        for what, start, stop, new_start, new_stop in lines.get_opcodes():
            if what != "equal":
                yield old + start, old + stop, new + new_start, new + new_stop


def _cuts(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """Where long documents are cut: at lines that occur once in both, if their order is equal."""
    ends = [(0, 0), (len(before), len(after))]
    if len(before) < _LONG:
        return ends
    counts, new_counts = Counter(before), Counter(after)
    at = {line: number for number, line in enumerate(after) if new_counts[line] == 1}
    found = [(n, at[line]) for n, line in enumerate(before) if counts[line] == 1 and line in at]
    in_order = all(one[1] < other[1] for one, other in pairwise(found))
    return [ends[0], *found, ends[1]] if in_order else ends


def _starts(documents: list[list[str]]) -> list[int]:
    starts = [0]
    for document in documents:
        starts.append(starts[-1] + len(document))
    return starts


def _hunk(old: list[str], new: list[str], group: list[_Change]) -> str:
    first, last = group[0], group[-1]
    lead = min(_CONTEXT, first[0])
    tail = min(_CONTEXT, len(old) - last[1])
    begin, end = first[0] - lead, last[1] + tail
    head = f"@@ -{_range(begin, end)} +{_range(first[2] - lead, last[3] + tail)} @@\n"
    lines = [f" {line}" for line in old[begin : first[0]]]
    for change, following in pairwise([*group, (end, end, 0, 0)]):
        lines += [f"-{line}" for line in old[change[0] : change[1]]]
        lines += [f"+{line}" for line in new[change[2] : change[3]]]
        lines += [f" {line}" for line in old[change[1] : following[0]]]
    return head + "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in lines)


def _range(begin: int, end: int) -> str:
    """A range in the header of a hunk. An empty range has the number of the line before it."""
    count = end - begin
    if count == 1:
        return f"{begin + 1}"
    return f"{begin + 1 if count else begin},{count}"
