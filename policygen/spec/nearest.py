"""The words of an error that names something unknown: the nearest match, or all that is known."""

from collections.abc import Iterable
from difflib import get_close_matches


def suggest(word: str, known: Iterable[str]) -> str:
    """How a message about an unknown name ends: `did you mean "a100"?` or what there is."""
    names = sorted(set(known))
    if not names:
        return "there is none"
    lowered = {name.lower(): name for name in reversed(names)}
    close = get_close_matches(word.lower(), list(lowered), n=1, cutoff=0.6)
    if close:
        return f'did you mean "{lowered[close[0]]}"?'
    shown = ", ".join(names[:10])
    return f"known are {shown}" + (f" and {len(names) - 10} more" if len(names) > 10 else "")
