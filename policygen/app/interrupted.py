"""Says what Ctrl-C has stopped, and what was known then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class AnswerInterrupted(KeyboardInterrupt):
    """Ctrl-C came before there was an answer. The message says what was stopped, and what is known."""


@contextmanager
def stops(words: Callable[[], str]) -> Iterator[None]:
    """Let Ctrl-C in this block raise AnswerInterrupted with the words that hold then."""
    try:
        yield
    except AnswerInterrupted:
        raise
    except KeyboardInterrupt:
        raise AnswerInterrupted(words()) from None
