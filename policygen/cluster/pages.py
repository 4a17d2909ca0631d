"""A list in pages: limit and continue, begun anew where its continue has expired."""

from collections.abc import Callable, Mapping
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
    """What is made of each item of a list, page by page, so that no more than a page is held.

    Raises ReadError for any less than all.
    """
    decoder = msgspec.json.Decoder(Page[type_])  # type: ignore[valid-type]
    for number in range(RESTARTS + 1):
        whole = number == RESTARTS
        found = _pages(
            get, path, dict(query) if whole else {**query, "limit": str(LIMIT)}, decoder, made
        )
        if found is not None:
            return found
    raise ReadError(f"the list expired {RESTARTS + 1} times while it was read")


def _pages(
    get: Get,
    path: str,
    query: dict[str, str],
    decoder: "msgspec.json.Decoder[Page[T]]",
    made: Callable[[T], R],
) -> list[R] | None:
    """All items; None where the list expired on the way."""
    found: list[R] = []
    seen = set()
    while True:
        try:
            page = decoder.decode(get(path, query))
            found += map(made, page.items)
        except RefusedError as error:
            if error.status == _EXPIRED:
                return None
            raise
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ReadError(f"the answer is no list: {error}") from None
        token = page.metadata.continue_
        if not token:
            return found
        if token in seen:
            raise ReadError("the list goes on for ever: a page names itself as the next")
        seen.add(token)
        query["continue"] = token
