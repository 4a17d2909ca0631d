"""Lists in pages: the next is asked for while one is decoded, and what a page says last decides."""

import threading

import msgspec

from policygen.cluster import pages


def page(number, after, *, last=False):
    """As API servers write one: of core kinds its metadata first, of custom ones last."""
    metadata = {"resourceVersion": "7", **({"continue": after} if after else {})}
    items = {"items": [{"number": number}]}
    head = {"kind": "PodList", "apiVersion": "v1"}
    order = [head, items, {"metadata": metadata}] if last else [head, {"metadata": metadata}, items]
    return msgspec.json.encode({key: value for part in order for key, value in part.items()})


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
    body = page(0, "early")[:-1] + b',"metadata":{"continue":"late"}}'
    found, asked = read({"": body, "early": page(8, ""), "late": page(1, "")})
    assert [each["number"] for each in found] == [0, 1]
    assert asked == ["", "early", "late"]
