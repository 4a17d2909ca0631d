"""Reads a list in pages (limit and continue), and starts again if a continue token expired.

An answer that is not the complete list of the requested kind is an error: a proxy, a broken server or
an old cache can answer with other objects, or with some of them.
"""

import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from threading import Semaphore, Thread
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

from policygen.client.discovery import Resource
from policygen.client.requests import BEGIN, Answer, OnBegin, ReadError, RefusedError
from policygen.core.decoding import decode, decoder
from policygen.core.quoting import counted

FetchPage = Callable[..., Answer]
T = TypeVar("T")
R = TypeVar("R")

LIMIT = 1000
"""Objects per page."""
AHEAD = 2
"""Pages that are requested ahead while one page is decoded."""
RESTARTS = 3
"""How often a list is started again; the last time without pages, so that nothing can expire."""
_EXPIRED = 410
_CONTINUE = re.compile(
    rb'^\{"kind":"\w+","apiVersion":"[^"]*","metadata":\{[^{}]*"continue":"([^"\\]+)"'
)


class Fetch(Protocol):
    """Fetches a page, as `Server.fetch` does."""

    def __call__(self, path: str, query: Mapping[str, str], *, on_begin: OnBegin | None) -> Answer:
        """The answer. `on_begin` is called with its first bytes, if it arrives in several pieces."""


class FetchEarly(Protocol):
    """Requests a page, as `Server.fetch_early` does."""

    def __call__(self, path: str, query: Mapping[str, str], *, on_begin: OnBegin | None) -> None:
        """Send the request in a thread."""


class ListRequest(Struct, frozen=True):
    """The objects of a kind to list: all, or those of a namespace or a selector."""

    resource: Resource
    namespace: str = ""
    query: Mapping[str, str] = msgspec.field(default_factory=dict)


class ListMeta(Struct, rename="camel"):
    """The metadata of a list."""

    continue_: str = msgspec.field(name="continue", default="")
    remaining_item_count: int | None = None


class ListPage(Struct, Generic[T], rename="camel"):
    """A page of a list; `items` is required."""

    api_version: str
    kind: str
    metadata: ListMeta
    items: list[T]


def items(fetch: Fetch, request: ListRequest, type_: type[T], made: Callable[[T], R]) -> list[R]:
    """`made(item)` for each item of a list, page by page, so that few pages are in memory.

    Raises ReadError if the list could not be read completely, or is not a list of the resource.
    """
    page_decoder = decoder(ListPage[type_])  # type: ignore[valid-type] # a type that is given
    for number in range(RESTARTS + 1):
        in_pages = number < RESTARTS
        query = _first(request.query) if in_pages else request.query
        found = _pages(fetch, request, query, page_decoder, made)
        if found is not None:
            return found
    raise ReadError(
        f"the list expired (410) {RESTARTS + 1} times before policygen had read all pages; "
        "try again later"
    )


def begin(fetch_early: FetchEarly, path: str) -> None:
    """Request the first pages of a list for `items`, each when the page before starts to arrive."""

    def of(token: str, left: int) -> None:
        def begun(answer: Answer) -> None:
            after = _early(answer)
            if after and left:
                of(after, left - 1)

        fetch_early(path, _page(_first({}), token), on_begin=begun)

    of("", AHEAD)


def _first(query: Mapping[str, str]) -> Mapping[str, str]:
    return {**query, "limit": str(LIMIT)}


def _page(query: Mapping[str, str], token: str) -> Mapping[str, str]:
    return {**query, "continue": token} if token else query


def _pages(
    fetch: Fetch,
    request: ListRequest,
    query: Mapping[str, str],
    page_decoder: "msgspec.json.Decoder[ListPage[T]]",
    made: Callable[[T], R],
) -> list[R] | None:
    """All items; None if the list expired while it was read."""
    found: list[R] = []
    seen: set[str] = set()
    resource = request.resource
    fetch_page = partial(fetch, resource.path(request.namespace))
    ahead = _Ahead(fetch_page, query)
    try:
        answer = ahead.get("")
        while True:
            text = answer.whole()
            page = page_decoder.decode(text)
            _check(text, page, resource)
            found += map(made, page.items)
            token = page.metadata.continue_
            if not token:
                return found
            if token in seen:
                raise ReadError(
                    "the list does not end, because the server returned the same continue token twice"
                )
            seen.add(token)
            found_ahead = ahead.take(token)
            if found_ahead is None:
                ahead.stop()
                ahead = _Ahead(fetch_page, query)
                found_ahead = ahead.get(token)
            answer = found_ahead
    except RefusedError as error:
        if error.status == _EXPIRED:
            return None
        raise
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReadError(f"the answer is not a list of objects: {error}") from None
    finally:
        ahead.stop()


def _check(text: bytes, page: ListPage[Any], resource: Resource) -> None:
    expected = resource.api_version, f"{resource.kind}List"
    if (page.api_version, page.kind) != expected:
        raise ReadError(
            f"the answer is a {page.kind} of {page.api_version}, not a {expected[1]} of {expected[0]}"
        )
    if page.metadata.remaining_item_count and not page.metadata.continue_:
        raise ReadError(
            f"the list ends, although {counted(page.metadata.remaining_item_count, 'more object')} "
            "should follow"
        )
    if _has_two_lists(text):
        raise ReadError('the answer has the key "items" twice, so objects may be missing')


def _has_two_lists(text: bytes) -> bool:
    """Whether a page has the key `items` twice at the top. A decoder keeps only the last one."""
    parts = decode(text, dict[str, msgspec.Raw])
    # Servers write JSON without spaces, and then each byte belongs to a key that was decoded.
    known = sum(len(json.dumps(key)) + len(raw) + len(":,") for key, raw in parts.items())
    if known + len("{}") - len(",") == len(text.rstrip()):
        return False
    last: list[tuple[str, Any]] = []  # after the decoding, the pairs of the outermost mapping

    def keep(pairs: list[tuple[str, Any]]) -> None:
        last[:] = pairs

    json.loads(text, object_pairs_hook=keep)
    return [key for key, _ in last].count("items") > 1


class _Ahead:
    """Requests each page of a list as soon as the page before has sent its continue token.

    A server builds a page while it sends it, so it builds two pages at the same time. The requests
    run in separate threads, since a thread that decodes prevents others from running.
    """

    def __init__(self, fetch: FetchPage, query: Mapping[str, str]) -> None:
        self._fetch = fetch
        self._query = query
        self._slots = Semaphore(AHEAD)
        self._futures: dict[str, Future[Answer]] = {}
        self._stopped = False

    def get(self, token: str) -> Answer:
        """Fetch a page that was not requested ahead. Raises ReadError.

        If the connection was lost, the second answer can belong to a newer list with another
        continue token. Then the page that was requested for the first token is not used, and the
        next pages are requested again. Otherwise the unused page would block their slot.
        """
        requested = False

        def begun(answer: Answer) -> None:
            nonlocal requested
            requested = requested or self._begun(answer)

        answer = self._fetch(_page(self._query, token), on_begin=begun)
        begun(answer)  # for an answer that arrived in one piece
        return answer

    def take(self, token: str) -> Answer | None:
        """A page that was requested ahead, or None. Raises the errors of its request."""
        future = self._futures.pop(token, None)
        if future is None:
            return None
        answer = future.result()
        self._slots.release()
        return answer

    def stop(self) -> None:
        """Request no further page."""
        self._stopped = True
        self._slots.release()

    def _begun(self, answer: Answer) -> bool:
        """Request the next page if the answer has a continue token. Returns whether it has one."""
        token = _early(answer)
        if not token:
            return False
        if token not in self._futures:
            future = self._futures[token] = Future()
            Thread(
                target=self._run, args=(token, future), name="policygen-ahead", daemon=True
            ).start()
        return True

    def _run(self, token: str, future: "Future[Answer]") -> None:
        self._slots.acquire()
        if self._stopped:
            return
        try:
            future.set_result(self.get(token))
        except Exception as error:  # noqa: BLE001 - raised where the page is taken
            future.set_exception(error)


def _early(answer: Answer) -> str:
    """The continue token in the first bytes of a list; empty if there is no token there."""
    found = _CONTINUE.match(answer.start(BEGIN))
    return found[1].decode("ascii", "replace") if found else ""
