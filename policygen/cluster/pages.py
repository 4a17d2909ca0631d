"""A list in pages: limit and continue, begun anew where its continue has expired."""

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from policygen.cluster.requests import ReadError, RefusedError

T = TypeVar("T")
R = TypeVar("R")

LIMIT = 1000
"""Objects of a page."""
RESTARTS = 3
"""How often a list is begun anew; the last time without pages, so that nothing can expire."""
_EXPIRED = 410
_HEAD = 1024
"""Bytes in which the metadata of a list are, where they come before its items."""
_CONTINUE = re.compile(
    rb'^\{"kind":"\w+","apiVersion":"[^"]*","metadata":\{[^{}]*"continue":"([^"\\]+)"'
)

Get = Callable[[str, Mapping[str, str]], bytes]


class Meta(Struct):
    """A list's metadata."""

    continue_: str = msgspec.field(name="continue", default="")


class Page(Struct, Generic[T]):
    """A page of a list; without items it is none."""

    metadata: Meta
    items: list[T]


def items(
    get: Get, path: str, query: Mapping[str, str], type_: type[T], made: Callable[[T], R]
) -> list[R]:
    """What is made of each item of a list, page by page, so that no more than two pages are held.

    Raises ReadError for any less than all.
    """
    decoder = msgspec.json.Decoder(Page[type_])  # type: ignore[valid-type]
    for number in range(RESTARTS + 1):
        whole = number == RESTARTS
        asked = dict(query) if whole else {**query, "limit": str(LIMIT)}
        with ThreadPoolExecutor(1, thread_name_prefix="policygen-ahead") as ahead:
            found = _pages(partial(get, path), ahead, asked, decoder, made)
        if found is not None:
            return found
    raise ReadError(f"the list expired {RESTARTS + 1} times while it was read")


def _pages(
    get: Callable[[Mapping[str, str]], bytes],
    ahead: ThreadPoolExecutor,
    query: Mapping[str, str],
    decoder: "msgspec.json.Decoder[Page[T]]",
    made: Callable[[T], R],
) -> list[R] | None:
    """All items; None where the list expired on the way.

    The server makes the next page while one is decoded, where a page begins with its metadata.
    """
    found: list[R] = []
    seen: set[str] = set()
    try:
        body = get(query)
        while True:
            early = _early(body)
            going = early and early not in seen
            coming = ahead.submit(get, {**query, "continue": early}) if going else None
            page = decoder.decode(body)
            del body  # so that no third page is held
            found += map(made, page.items)
            token = page.metadata.continue_
            if not token:
                return found
            if token in seen:
                raise ReadError("the list goes on for ever: a page names itself as the next")
            seen.add(token)
            if coming is not None and token == early:
                body = coming.result()
            else:
                body = get({**query, "continue": token})
    except RefusedError as error:
        if error.status == _EXPIRED:
            return None
        raise
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReadError(f"the answer is no list: {error}") from None


def _early(body: bytes) -> str:
    """How a list goes on, by its first bytes; empty: it ends here, or does not say it so early."""
    found = _CONTINUE.match(body, 0, _HEAD)
    return found[1].decode("ascii", "replace") if found else ""
