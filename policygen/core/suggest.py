"""The advice in an error about an unknown name: the most similar name, or the known names."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from itertools import accumulate
from typing import Any

_FEW = 100
"""Up to this number, all names are compared."""
_AROUND = 3
"""Above it, this number of names before and after the position of the word is compared."""
_SHOWN = 10
_WIDTH = 80
"""The number of characters of all names that a message shows; a longer first name is shown, too."""
_SEARCHED = 1000
"""Up to this number, names are searched for those that contain the word."""
_WORD = 3
"""The shortest word to search for, in letters."""
SEPARATORS = str.maketrans("", "", "-._")
"""For `str.translate`, which then removes them."""
_PART = re.compile("[-._]")
_LOOK_ALIKE = str.maketrans("oil", "011")
_VAGUE = frozenset("-._oil01")
_LIKE = 0.6
"""The smallest similarity of a suggested name, as difflib computes it."""


class Names(Sequence[str]):
    """Sorted names, to find the most similar name for many words.

    If there are many names, only those with a similar beginning or end are compared. So the time of a
    lookup does not grow with the number of names.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = sorted(set(names))
        self._lowered: dict[str, str] = {}
        self._orders: tuple[list[str], ...] = ()
        self._known_advice: dict[str, tuple[str, str]] = {}

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __getitem__(self, index: Any) -> Any:
        return self._names[index]

    def advice(self, word: str) -> str:
        """The advice for a word, which never suggests the word itself; "" if no other name exists."""
        return self.advised(word)[0]

    def meant(self, word: str) -> str:
        """The most similar name, or "" if no name is similar."""
        return self.advised(word)[1]

    def advised(self, word: str) -> tuple[str, str]:
        """`advice` and `meant`."""
        found = self._known_advice.get(word)
        if found is None:
            meant = next(iter(self.similar(word, 1)), "")
            found = self._known_advice[word] = self._new_advice(word, meant), meant
        return found

    def similar(self, word: str, most: int = 3) -> list[str]:
        """The most similar names, the best first."""
        lowered = word.lower()
        candidates = _with_like_letters(lowered, self._candidates(word))
        close = get_close_matches(lowered, candidates, n=most, cutoff=_LIKE)
        if not close:  # difflib finds no similarity in "ia" and "ai"
            close = [it for it in candidates if sorted(it) == sorted(lowered)][:most]
        return [self._lowered[name] for name in close]

    def _new_advice(self, word: str, meant: str) -> str:
        others = [name for name in self._names[: _SHOWN + 1] if name != word]
        if not others:
            return ""
        if meant:
            return f'did you mean "{meant}"?'
        holding = self._holding(word)
        if holding:
            return f"similar: {_listed(holding, len(holding))}"
        at = bisect_left(self._names, word)
        total = len(self) - (at < len(self) and self._names[at] == word)
        return f"known: {_listed(others, total)}"

    def _holding(self, word: str) -> list[str]:
        """The names that contain the word, if there are too many names to show all."""
        if not _SHOWN < len(self) <= _SEARCHED or len(word) < _WORD:
            return []
        lowered = word.lower()
        return sorted(it for low, it in self._lowered.items() if lowered in low and it != word)

    def _candidates(self, word: str) -> Sequence[str]:
        """Names in lower case that can be similar."""
        if not self._lowered:
            self._lowered = {name.lower(): name for name in reversed(self._names)}
        if len(self._names) <= _FEW:
            return [name for name in self._lowered if self._lowered[name] != word]
        if not self._orders:
            lowered = sorted(self._lowered)
            self._orders = lowered, sorted(name[::-1] for name in lowered)
        ahead, back = (
            _around(order, text)
            for order, text in zip(self._orders, (word.lower(), word.lower()[::-1]), strict=True)
        )
        # Longer names with the same beginning can be between a word and its beginning.
        begins = (word.lower()[:end] for end in range(_WORD, len(word)))
        known = (name for name in begins if name in self._lowered)
        found = sorted({*ahead, *(name[::-1] for name in back), *known})
        return [name for name in found if self._lowered[name] != word]


def firm_letters(word: str) -> frozenset[str]:
    """The letters and digits of a word, without separators and those that look alike.

    Two words that `is_typo` or, without `letters`, `is_near` accepts differ in at most one of them.
    """
    return frozenset(word.lower()) - _VAGUE


def is_slip(word: str, meant: str) -> bool:
    """Whether a word is another one with one letter too many, one too few, two swapped, or another case.

    A digit, or another letter in the same place, can be intended: `rack` and `rank`, `zone1` and `zone2`.
    """
    word, meant = word.lower(), meant.lower()
    size = min(len(word), len(meant))
    half = size // 2
    rest = size - half - 1
    if rest > 0 and word[:half] != meant[:half] and word[-rest:] != meant[-rest:]:
        return False  # one slip leaves one of the halves; this takes a tenth of the time
    pairs = enumerate(zip(word, meant, strict=False))
    start = next((i for i, (one, other) in pairs if one != other), size)
    if abs(len(word) - len(meant)) == 1 and size >= _WORD:
        short, long = sorted((word, meant), key=len)
        return long[start].isalpha() and long[start + 1 :] == short[start:]
    pair = word[start : start + 2]
    return word == meant or (
        len(pair) == 2 and meant == f"{word[:start]}{pair[::-1]}{word[start + 2 :]}"
    )


def is_typo(word: str, meant: str, *, like: float = 1) -> bool:
    """Whether words certainly mean the same: they differ by separators, by O or l for a digit, or in one part.

    This part has only letters, and differs by a slip, or is at least as similar as `like`. `a100` and `h100`, or
    `team-a` and `team-b`, can both be intended.
    """
    word, meant = word.lower(), meant.lower()
    if any(word.translate(it) == meant.translate(it) for it in (SEPARATORS, _LOOK_ALIKE)):
        return True
    parts, others = _PART.split(word), _PART.split(meant)
    differing = [[it for it in parts if it not in others], [it for it in others if it not in parts]]
    if any(len(it) != 1 or not it[0].isalpha() for it in differing):
        return False
    (one,), (other,) = differing
    return is_slip(one, other) or (
        min(len(one), len(other)) > _WORD and SequenceMatcher(None, one, other).ratio() >= like
    )


def is_near(word: str, name: str, *, letters: bool = True) -> bool:
    """Whether names differ by a slip or by separators; with `letters`, also by one other letter."""
    if is_slip(word, name) or word.translate(SEPARATORS) == name.translate(SEPARATORS):
        return True
    differing = [pair for pair in zip(word, name, strict=False) if pair[0] != pair[1]]
    return (
        letters
        and len(word) == len(name) > _WORD
        and len(differing) == 1
        and "".join(differing[0]).isalpha()
    )


def meant_file(name: str, entries: Iterable[str]) -> str:
    """The file or folder that a missing one resembles most, or "". Endings do not count."""
    stems = {_stem(it): it for it in entries}
    return stems.get(_stem(name)) or stems.get(Names(stems).meant(_stem(name)), "")


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name


def suggest(word: str, known: Iterable[str], kind: str = "name") -> str:
    """The end of a message about an unknown name: `did you mean "a100"?`, or the known names.

    If no name is known, it says that none of this kind is defined. Pass `Names` to look up many words.
    """
    names = known if isinstance(known, Names) else Names(known)
    return names.advice(word) or f"no {'other ' if names else ''}{kind} is defined"


def _listed(names: Sequence[str], total: int) -> str:
    """The first names, as many as fit into a message, and the number of the others."""
    lengths = accumulate(len(name) for name in names[:_SHOWN])
    shown = max(1, sum(length <= _WIDTH for length in lengths))
    more = f" and {total - shown} more" if total > shown else ""
    return f"{', '.join(names[:shown])}{more}"


def _with_like_letters(word: str, names: Iterable[str]) -> list[str]:
    """The names that share enough letters with a word to be similar: a fast bound of what difflib computes."""
    letters = word.encode("ascii", "replace")
    found = []
    for name in names:
        of_name = name.encode("ascii", "replace")
        other = len(of_name.translate(None, letters)) + len(letters.translate(None, of_name))
        if other <= (1 - _LIKE) * (len(letters) + len(of_name)) + 1e-9:
            found.append(name)
    return found


def _around(order: list[str], text: str) -> list[str]:
    at = bisect_left(order, text)
    return order[max(0, at - _AROUND) : at + _AROUND + 1]
