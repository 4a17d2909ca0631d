"""Lists in pages: the next page is requested when a page begins, and the last response decides."""

import threading

import msgspec
import pytest

from policygen.client import pages
from policygen.client.discovery import Resource
from policygen.client.pages import ListRequest
from policygen.client.requests import Answer, ReadError

REQUEST = ListRequest(Resource("", "v1", "Pod", "pods", namespaced=True))


def page(number, after, *, last=False):
    """A page as API servers write it: core kinds begin with metadata, custom kinds end with it."""
    metadata = {"resourceVersion": "7", **({"continue": after} if after else {})}
    items = {"items": [{"number": number}]}
    head = {"kind": "PodList", "apiVersion": "v1"}
    order = [head, items, {"metadata": metadata}] if last else [head, {"metadata": metadata}, items]
    data = {key: value for part in order for key, value in part.items()}
    return Answer(msgspec.json.encode(data), packed=False)


def read(bodies, made=dict):
    """The items of a list with these pages, by their continue token, and the requests."""
    asked = []

    def get(_, query, **_begun):
        asked.append(query.get("continue", ""))
        return bodies[asked[-1]]

    return pages.items(get, REQUEST, dict, made), asked


def test_each_page_is_requested_once_for_any_position_of_metadata():
    for last in (False, True):
        bodies = {
            "": page(0, "a", last=last),
            "a": page(1, "b", last=last),
            "b": page(2, "", last=last),
        }
        found, asked = read(bodies)
        assert [each["number"] for each in found] == [0, 1, 2]
        assert asked == ["", "a", "b"]


def test_the_next_page_is_requested_while_one_is_decoded():
    second = threading.Event()

    def get(_, query, **_begun):
        if "continue" in query:
            second.set()
            return page(1, "")
        return page(0, "a")

    def made(item):
        assert second.wait(10), "the second page was not requested"
        return item["number"]

    assert pages.items(get, REQUEST, dict, made) == [0, 1]


def test_the_next_page_is_requested_when_one_begins():
    """The request does not wait for the end of the page: the first bytes are enough."""
    began = {number: threading.Event() for number in range(4)}

    def get(_, query, on_begin=None):
        number = int(query.get("continue", "0"))
        began[number].set()
        after = str(number + 1) if number < 3 else ""
        whole = page(number, after)
        on_begin(Answer(whole.content[: whole.content.index(b"items")], packed=False))
        if after:
            assert began[number + 1].wait(10), "the next page was not requested"
        return whole

    assert pages.items(get, REQUEST, dict, lambda item: item["number"]) == [0, 1, 2, 3]


def test_the_page_after_a_repeated_page_is_requested_once():
    """A repeated page begins twice, and so names the next page twice."""
    asked = []

    def get(_, query, on_begin=None):
        asked.append(query.get("continue", ""))
        whole = page(len(asked), "b" if asked[-1] == "" else "")
        on_begin(whole)
        on_begin(whole)
        return whole

    assert pages.items(get, REQUEST, dict, lambda item: item["number"]) == [1, 2]
    assert asked == ["", "b"]


def test_a_page_that_comes_again_as_that_of_a_newer_list_leads_on():
    """Otherwise pages of the older list would occupy the read-ahead limit forever."""
    asked = []

    def get(_, query, on_begin=None):
        token = query.get("continue", "")
        asked.append(token)
        if not token:
            on_begin(page(0, "old-1"))  # and is cut off
            on_begin(page(0, "new-1"))
            return page(0, "new-1")
        age, _, number = token.partition("-")
        whole = page(int(number), f"{age}-{int(number) + 1}" if int(number) < 9 else "")
        on_begin(whole)
        return whole

    found = []

    def read():
        found.extend(pages.items(get, REQUEST, dict, lambda item: item["number"]))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(30)
    assert found == list(range(10))
    assert [it for it in asked if it.startswith("new")] == [
        f"new-{number}" for number in range(1, 10)
    ]


def test_the_first_pages_are_requested_when_the_previous_one_begins():
    asked = []

    def ask(path, query, on_begin):
        asked.append((path, query.get("continue", ""), query["limit"]))
        on_begin(page(0, f"after {asked[-1][1]}"))

    pages.begin(ask, "/p")
    tokens = ["", "after ", "after after "]
    assert asked == [("/p", token, str(pages.LIMIT)) for token in tokens]
    assert len(asked) == 1 + pages.AHEAD

    asked.clear()
    last = page(0, "")
    pages.begin(lambda path, _, on_begin: (asked.append(path), on_begin(last)), "/p")
    assert asked == ["/p"], "it has one page"


def test_the_last_word_of_a_page_decides():
    content = page(0, "early").content[:-1] + b',"metadata":{"continue":"late"}}'
    body = Answer(content, packed=False)
    found, asked = read({"": body, "early": page(8, ""), "late": page(1, "")})
    assert [each["number"] for each in found] == [0, 1]
    assert asked == ["", "early", "late"]


def test_no_more_than_a_few_pages_are_got_ahead():
    """Slow decoding must not let waiting pages fill the memory."""
    asked = []
    enough = threading.Event()

    def get(_, query, **_begun):
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

    assert pages.items(get, REQUEST, dict, made) == list(range(10))
    assert asked == list(range(10))
    assert max(most) <= 2 + pages.AHEAD  # one more may be requested when one is taken


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_failed_page_is_reported_when_it_is_needed(number):
    def get(_, query, **_begun):
        index = int(query.get("continue", "0"))
        if index == number:
            raise ReadError("no")
        return page(index, str(index + 1))

    made = []
    with pytest.raises(ReadError, match="no"):
        pages.items(get, REQUEST, dict, lambda item: made.append(item["number"]))
    assert made == list(range(number))


def test_pages_that_name_each_other_as_the_next_end_with_an_error():
    bodies = {"": page(0, "a"), "a": page(1, "b"), "b": page(2, "a")}
    with pytest.raises(ReadError, match="the list does not end"):
        read(bodies)


def answered(**changed):
    """Reads a list of one page with these fields, from the text that a server sends."""
    body = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [{"number": 1}]}
    content = msgspec.json.encode(body | changed)
    return read({"": Answer(content, packed=False)})


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"kind": "NodeList"}, "the answer is a NodeList of v1, not a PodList of v1"),
        ({"apiVersion": "v2"}, "the answer is a PodList of v2, not a PodList of v1"),
        ({"kind": "Status"}, "the answer is a Status of v1, not a PodList of v1"),
        (
            {"metadata": {"remainingItemCount": 1}},
            "the list ends, although 1 more object should follow",
        ),
        ({"metadata": {"remainingItemCount": 30, "continue": ""}}, "although 30 more objects"),
    ],
)
def test_an_answer_that_is_not_the_complete_list_is_an_error(changed, message):
    with pytest.raises(ReadError, match=message):
        answered(**changed)


@pytest.mark.parametrize("field", ["kind", "apiVersion", "metadata", "items"])
def test_an_answer_without_the_fields_of_a_list_is_an_error(field):
    body = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": []}
    del body[field]
    with pytest.raises(ReadError, match="the answer is not a list of objects"):
        read({"": Answer(msgspec.json.encode(body), packed=False)})


HEAD = b'{"kind":"PodList","apiVersion":"v1","metadata":{},'
TWICE = [
    b'"items":[{"number":1}],"items":[]}',
    b'"items":[],"items":[{"number":1}]}\n',
    b' "items": [{"items": 1}], "x": 1, "items": [{"items": 2}] }',
    rb'"items":[],"it\u0065ms":[]}',
]
ONCE = [
    b'"items":[{"items":[{"items":1}],"number":1}]}',
    b'"items":[{"items":1}]}\n',
    b' "items": [ {"items": 1} ], "x": {"items": []} }',
    '"items":[{"items":"ü"}],"ü":"items"}'.encode(),
]


@pytest.mark.parametrize("tail", TWICE)
def test_a_page_with_two_lists_is_an_error(tail):
    with pytest.raises(ReadError, match='the key "items" twice'):
        read({"": Answer(HEAD + tail, packed=False)})


@pytest.mark.parametrize("tail", ONCE)
def test_items_inside_objects_are_not_a_second_list(tail):
    found, _ = read({"": Answer(HEAD + tail, packed=False)})
    assert len(found) == 1
