"""A list in pages: limit and continue, begun anew where its continue has expired."""

import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from threading import Semaphore, Thread
from typing import Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

from policygen.client.requests import BEGIN, Answer, Begun, ReadError, RefusedError

FetchPage = Callable[..., Answer]
T = TypeVar("T")
R = TypeVar("R")

LIMIT = 1000
"""Objects of a page."""
AHEAD = 2
"""Pages that have come or are on their way while one is decoded."""
RESTARTS = 3
"""How often a list is begun anew; the last time without pages, so that nothing can expire."""
_EXPIRED = 410
_CONTINUE = re.compile(
    rb'^\{"kind":"\w+","apiVersion":"[^"]*","metadata":\{[^{}]*"continue":"([^"\\]+)"'
)


class Fetch(Protocol):
    """Gets a page, as `Server.fetch` does."""

    def __call__(self, path: str, query: Mapping[str, str], *, begun: Begun | None) -> Answer:
        """The answer; `begun` hears its first bytes, if it comes in more than one piece."""


class Ask(Protocol):
    """Asks for a page, as `Server.ask` does."""

    def __call__(self, path: str, query: Mapping[str, str], *, begun: Begun | None) -> None:
        """In a thread."""


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
        asked = query if whole else _first(query)
        found = _pages(partial(fetch, path), asked, decoder, made)
        if found is not None:
            return found
    raise ReadError(f"the list expired {RESTARTS + 1} times while it was read")


def begin(ask: Ask, path: str) -> None:
    """Ask for the first pages of a list, for `items` to fetch: each when the one before begins."""

    def of(token: str, left: int) -> None:
        def begun(answer: Answer) -> None:
            after = _early(answer)
            if after and left:
                of(after, left - 1)

        ask(path, _page(_first({}), token), begun=begun)

    of("", AHEAD)


def _first(query: Mapping[str, str]) -> Mapping[str, str]:
    return {**query, "limit": str(LIMIT)}


def _page(query: Mapping[str, str], token: str) -> Mapping[str, str]:
    return {**query, "continue": token} if token else query


def _pages(
    fetch: FetchPage,
    query: Mapping[str, str],
    decoder: "msgspec.json.Decoder[Page[T]]",
    made: Callable[[T], R],
) -> list[R] | None:
    """All items; None where the list expired on the way."""
    found: list[R] = []
    seen: set[str] = set()
    ahead = _Ahead(fetch, query)
    try:
        answer = ahead.get("")
        while True:
            page = decoder.decode(answer.whole())
            found += map(made, page.items)
            token = page.metadata.continue_
            if not token:
                return found
            if token in seen:
                raise ReadError("the list goes on for ever: a page names itself as the next")
            seen.add(token)
            come = ahead.take(token)
            if come is None:
                ahead.stop()
                ahead = _Ahead(fetch, query)
                come = ahead.get(token)
            answer = come
    except RefusedError as error:
        if error.status == _EXPIRED:
            return None
        raise
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReadError(f"the answer is no list: {error}") from None
    finally:
        ahead.stop()


class _Ahead:
    """Gets the pages of a list, each as soon as the one before begins with how the list goes on.

    A server writes a page while it sends it, so it writes two at a time. In threads that do nothing
    else: one that decodes keeps others from running.
    """

    def __init__(self, fetch: FetchPage, query: Mapping[str, str]) -> None:
        self._fetch = fetch
        self._query = query
        self._room = Semaphore(AHEAD)
        self._asked: dict[str, Future[Answer]] = {}
        self._stopped = False

    def get(self, token: str) -> Answer:
        """A page that nobody has asked for. Raises ReadError.

        One that got lost on its way may come again as the beginning of a newer list, which goes on
        elsewhere. What its first beginning led to is then not taken, and the pages behind it are
        asked for anew: else it would hold the room that those need.
        """
        heard = False

        def begun(answer: Answer) -> None:
            nonlocal heard
            heard = heard or self._begun(answer)

        answer = self._fetch(_page(self._query, token), begun=begun)
        begun(answer)  # one that came in a piece
        return answer

    def take(self, token: str) -> Answer | None:
        """A page that was asked for; None if it was not. Raises what getting it raised."""
        asked = self._asked.pop(token, None)
        if asked is None:
            return None
        answer = asked.result()
        self._room.release()
        return answer

    def stop(self) -> None:
        """Ask for no further page."""
        self._stopped = True
        self._room.release()

    def _begun(self, answer: Answer) -> bool:
        """Whether the page says how the list goes on, so that the next one is asked for."""
        token = _early(answer)
        if not token:
            return False
        if token not in self._asked:
            asked = self._asked[token] = Future()
            Thread(
                target=self._run, args=(token, asked), name="policygen-ahead", daemon=True
            ).start()
        return True

    def _run(self, token: str, asked: "Future[Answer]") -> None:
        self._room.acquire()
        if self._stopped:
            return
        try:
            asked.set_result(self.get(token))
        except Exception as error:  # noqa: BLE001 - raised where the page is taken
            asked.set_exception(error)


def _early(answer: Answer) -> str:
    """How a list goes on, by its first bytes; empty: it ends here, or does not say it so early."""
    found = _CONTINUE.match(answer.start(BEGIN))
    return found[1].decode("ascii", "replace") if found else ""
