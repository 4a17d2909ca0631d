"""Lists in pages: the next is asked for while one is decoded, and what a page says last decides."""

import threading

import msgspec
import pytest

from policygen.cluster import pages
from policygen.cluster.requests import Answer, ReadError


def page(number, after, *, last=False):
    """As API servers write one: of core kinds its metadata first, of custom ones last."""
    metadata = {"resourceVersion": "7", **({"continue": after} if after else {})}
    items = {"items": [{"number": number}]}
    head = {"kind": "PodList", "apiVersion": "v1"}
    order = [head, items, {"metadata": metadata}] if last else [head, {"metadata": metadata}, items]
    data = {key: value for part in order for key, value in part.items()}
    return Answer(msgspec.json.encode(data), packed=False)


def read(bodies, made=dict):
    """The items of a list of these pages, by their continue, and what was asked."""
    asked = []

    def get(_, query):
        asked.append(query.get("continue", ""))
        return bodies[asked[-1]]

    return pages.items(get, "/p", {}, dict, made), asked


def test_each_page_is_asked_for_once_wherever_its_metadata_are():
    for last in (False, True):
        bodies = {
            "": page(0, "a", last=last),
            "a": page(1, "b", last=last),
            "b": page(2, "", last=last),
        }
        found, asked = read(bodies)
        assert [each["number"] for each in found] == [0, 1, 2]
        assert asked == ["", "a", "b"]


def test_the_next_page_is_asked_for_while_one_is_decoded():
    second = threading.Event()

    def get(_, query):
        if "continue" in query:
            second.set()
            return page(1, "")
        return page(0, "a")

    def made(item):
        assert second.wait(10), "nobody asked for the second page"
        return item["number"]

    assert pages.items(get, "/p", {}, dict, made) == [0, 1]


def test_the_last_word_of_a_page_decides():
    content = page(0, "early").content[:-1] + b',"metadata":{"continue":"late"}}'
    body = Answer(content, packed=False)
    found, asked = read({"": body, "early": page(8, ""), "late": page(1, "")})
    assert [each["number"] for each in found] == [0, 1]
    assert asked == ["", "early", "late"]


def test_no_more_than_a_few_pages_are_got_ahead():
    """However slowly they are decoded, so that memory does not grow with what waits."""
    asked = []
    enough = threading.Event()

    def get(_, query):
        asked.append(int(query.get("continue", "0")))
        if len(asked) == 1 + pages.AHEAD:
            enough.set()
        return page(asked[-1], str(asked[-1] + 1) if asked[-1] < 9 else "")

    most = []

    def made(item):
        if item["number"] == 0:
            assert enough.wait(10), "too little was got ahead"
        most.append(len(asked) - item["number"])
        return item["number"]

    assert pages.items(get, "/p", {}, dict, made) == list(range(10))
    assert asked == list(range(10))
    assert max(most) <= 2 + pages.AHEAD  # one may be asked for as soon as one is taken


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_page_that_cannot_be_got_is_told_when_its_turn_comes(number):
    def get(_, query):
        index = int(query.get("continue", "0"))
        if index == number:
            raise ReadError("no")
        return page(index, str(index + 1))

    made = []
    with pytest.raises(ReadError, match="no"):
        pages.items(get, "/p", {}, dict, lambda item: made.append(item["number"]))
    assert made == list(range(number))


def test_pages_that_name_each_other_as_the_next_end_with_an_error():
    bodies = {"": page(0, "a"), "a": page(1, "b"), "b": page(2, "a")}
    with pytest.raises(ReadError, match="for ever"):
        read(bodies)
