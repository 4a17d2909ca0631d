"""A list in pages: limit and continue, begun anew where its continue has expired."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from policygen.cluster.requests import Answer, ReadError, RefusedError

T = TypeVar("T")
R = TypeVar("R")

LIMIT = 1000
"""Objects of a page."""
AHEAD = 2
"""Pages that have come or are on their way while one is decoded."""
RESTARTS = 3
"""How often a list is begun anew; the last time without pages, so that nothing can expire."""
_EXPIRED = 410
_HEAD = 1024
"""Bytes in which the metadata of a list are, where they come before its items."""
_CONTINUE = re.compile(
    rb'^\{"kind":"\w+","apiVersion":"[^"]*","metadata":\{[^{}]*"continue":"([^"\\]+)"'
)

Fetch = Callable[[str, Mapping[str, str]], Answer]
FetchPage = Callable[[Mapping[str, str]], Answer]


class Meta(Struct):
    """A list's metadata."""

    continue_: str = msgspec.field(name="continue", default="")


class Page(Struct, Generic[T]):
    """A page of a list; without items it is none."""

    metadata: Meta
    items: list[T]


def items(
    fetch: Fetch, path: str, query: Mapping[str, str], type_: type[T], made: Callable[[T], R]
) -> list[R]:
    """What is made of each item of a list, page by page, so that few pages are held.

    Raises ReadError for any less than all.
    """
    decoder = msgspec.json.Decoder(Page[type_])  # type: ignore[valid-type] # a type that is given
    for number in range(RESTARTS + 1):
        whole = number == RESTARTS
        asked = dict(query) if whole else {**query, "limit": str(LIMIT)}
        found = _pages(partial(fetch, path), asked, decoder, made)
        if found is not None:
            return found
    raise ReadError(f"the list expired {RESTARTS + 1} times while it was read")


def _pages(
    fetch: FetchPage,
    query: Mapping[str, str],
    decoder: "msgspec.json.Decoder[Page[T]]",
    made: Callable[[T], R],
) -> list[R] | None:
    """All items; None where the list expired on the way."""
    found: list[R] = []
    seen: set[str] = set()
    ahead: _Ahead | None = None
    try:
        answer = fetch(query)
        while True:
            early = _early(answer)
            if ahead is None and early and early not in seen:
                ahead = _Ahead(fetch, query, early)
            page = decoder.decode(answer.whole())
            found += map(made, page.items)
            token = page.metadata.continue_
            if not token:
                return found
            if token in seen:
                raise ReadError("the list goes on for ever: a page names itself as the next")
            seen.add(token)
            come = ahead.take(token) if ahead is not None else None
            if come is None:
                ahead = None
                come = fetch({**query, "continue": token})
            answer = come
    except RefusedError as error:
        if error.status == _EXPIRED:
            return None
        raise
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReadError(f"the answer is no list: {error}") from None
    finally:
        if ahead is not None:
            ahead.stop()


class _Ahead:
    """Gets the pages of a list from one on, as far as each begins with how the list goes on.

    In a thread that does nothing else: one that decodes keeps others from running, and the server
    would only be asked for the next page when that is over. The server makes one page at a time.
    """

    def __init__(self, fetch: FetchPage, query: Mapping[str, str], token: str) -> None:
        self._fetch = fetch
        self._query = query
        self._room = Semaphore(AHEAD)
        self._come: SimpleQueue[tuple[str, Answer | Exception | None]] = SimpleQueue()
        self._stopped = False
        Thread(target=self._run, args=(token,), name="policygen-ahead", daemon=True).start()

    def take(self, token: str) -> Answer | None:
        """The next page, if it is that of a continue; else None, and nothing more comes.

        Raises what getting it raised.
        """
        named, come = self._come.get()
        if named != token:
            self.stop()
            return None
        if isinstance(come, Exception):
            raise come
        self._room.release()
        return come

    def stop(self) -> None:
        """Ask for no further page."""
        self._stopped = True
        self._room.release()

    def _run(self, token: str) -> None:
        asked: set[str] = set()
        while token and token not in asked:
            asked.add(token)
            self._room.acquire()
            if self._stopped:
                return
            try:
                answer = self._fetch({**self._query, "continue": token})
            except Exception as error:  # noqa: BLE001 - raised where the page is taken
                self._come.put((token, error))
                return
            self._come.put((token, answer))
            token = _early(answer)
        self._come.put(("", None))


def _early(answer: Answer) -> str:
    """How a list goes on, by its first bytes; empty: it ends here, or does not say it so early."""
    found = _CONTINUE.match(answer.start(_HEAD))
    return found[1].decode("ascii", "replace") if found else ""
