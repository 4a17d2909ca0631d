"""Responses over a connection: compressed, cut off, damaged, too large."""

import gzip
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from policygen.client import discovery, requests
from tests import loopback
from tests.client import ways

BODY = b'{"items":[' + b'{"a":1},' * 50_000 + b"{}]}"


@pytest.fixture
def answered(tmp_path):
    """Makes one request to a server with the given answers; also returns the number of requests."""
    given = {}

    def respond(request):
        given["asked"] += 1
        body, encoding = given["answers"][min(given["asked"], len(given["answers"])) - 1]
        loopback.send(request, body, headers={"content-encoding": encoding} if encoding else {})

    def answered(*answers):
        given.update(answers=answers, asked=0)
        try:
            return requests.Server(way, requests.Deadline.after(60)).get("/p"), given["asked"]
        except requests.ReadError as error:
            return str(error), given["asked"]

    with ways.to(respond, tmp_path) as way:
        yield answered


@pytest.mark.parametrize(
    ("sent", "encoding"),
    [
        (BODY, ""),
        (BODY, "identity"),
        (gzip.compress(BODY), "gzip"),
        (gzip.compress(BODY[:999]) + gzip.compress(BODY[999:]), "GZIP"),
    ],
)
def test_an_answer_is_the_same_however_it_is_packed(answered, sent, encoding):
    assert answered((sent, encoding)) == (BODY, 1)


@pytest.mark.parametrize("damage", [lambda it: it[:-9], lambda it: b"x" + it, lambda it: it + b"x"])
def test_a_damaged_answer_is_reported(answered, damage):
    said, asked = answered((damage(gzip.compress(BODY)), "gzip"))
    assert asked == 1
    assert "compress" in said


@pytest.mark.parametrize("packed", [False, True])
def test_the_start_of_an_answer_is_known_without_the_rest(packed):
    content = gzip.compress(BODY)[:-20] if packed else BODY
    answer = requests.Answer(content, packed)
    assert answer.start(999) == BODY[:999]
    assert requests.Answer(b"?", packed=True).start(999) == b""


def test_an_answer_that_unpacks_without_end_is_refused(answered, monkeypatch):
    monkeypatch.setattr(requests, "MAX_ANSWER_BYTES", 1 << 20)
    bomb = gzip.compress(bytes(1 << 24))
    assert len(bomb) < 1 << 15
    assert answered((bomb, "gzip")) == (
        "the answer is larger than 1 MiB, the limit of policygen",
        1,
    )
    assert answered((bytes(1 << 21), "")) == (
        "the answer is larger than 1 MiB, the limit of policygen",
        1,
    )


def test_an_unrequested_compression_is_reported(answered):
    said, asked = answered((b"?", "zstd"))
    assert (said, asked) == ("the answer has the encoding zstd, which policygen did not request", 1)


def test_a_deeply_nested_refusal_is_reported(tmp_path):
    body = b'{"message":"no","x":' + b"[" * 200_000
    with ways.to(lambda request: loopback.send(request, body, status=403), tmp_path) as way:
        server = requests.Server(way, requests.Deadline.after(60))
        with pytest.raises(requests.RefusedError, match="the server answered 403"):
            server.get("/p")


@pytest.mark.parametrize(
    ("body", "headers", "says"),
    [
        (b"Client sent an HTTP request to an HTTPS server.\n", {"content-type": "text/plain"}, "400: Client sent an"),
        (b"<html>" + b"x" * 99, {"content-type": "text/html"}, "the server answered 400"),
        (b"x" * 999, {"content-type": "text/plain"}, "the server answered 400"),
        (b"400 Bad\x1b Request", {"content-type": "text/plain; charset=utf-8"}, "400: Bad"),
    ],
)  # fmt: skip
def test_a_refusal_in_short_plain_words_is_shown(tmp_path, body, headers, says):
    def respond(request):
        loopback.send(request, body, status=400, headers=headers)

    with ways.to(respond, tmp_path) as way:
        server = requests.Server(way, requests.Deadline.after(60))
        with pytest.raises(requests.RefusedError, match=says):
            server.get("/p")


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("7", 7), ("", 0), ("soon", 0), ("Fri, 99 Nov 2026", 0), ("9" * 400, 21600)],
)
def test_a_time_to_ask_again_is_seconds_or_nothing(said, seconds):
    assert requests.retry_after({"retry-after": said}) == seconds


@pytest.mark.parametrize("later", [90, -90])
def test_a_time_to_ask_again_may_be_a_date(later):
    """Load balancers before an API server send one."""
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=later), usegmt=True)
    found = requests.retry_after({"retry-after": date})
    assert found <= max(later, 0)
    assert found > later - 60 or found == 0 > later


def test_deeply_nested_groups_are_an_error():
    body = b'{"items":[],"x":' + b"[" * 200_000
    with pytest.raises(requests.ReadError, match="/api is not a list of API groups"):
        discovery.served(lambda *_, **__: body)


@pytest.fixture
def slow(tmp_path):
    """A server that sends a part of its body, and the rest once `may` is set; it records requests."""
    given = {"status": 200, "packed": False, "may": threading.Event(), "asked": []}

    def respond(request):
        given["asked"].append(request.path)
        body = gzip.compress(BODY, 0) if given["packed"] else BODY
        headers = {"content-encoding": "gzip"} if given["packed"] else {}
        loopback.begin(request, len(body), given["status"], headers)
        request.wfile.write(body[:9000])
        if given["may"].wait(20):
            request.wfile.write(body[9000:])

    with ways.to(respond, tmp_path) as way:
        given["server"] = requests.Server(way, requests.Deadline.after(60), call_s=3)
        yield given
        given["may"].set()


@pytest.mark.parametrize("packed", [False, True])
def test_the_beginning_of_an_answer_is_heard_before_the_rest_is_sent(slow, packed):
    slow["packed"] = packed
    heard = []

    def begun(answer):
        heard.append(answer.start(requests.BEGIN))
        slow["may"].set()

    assert slow["server"].fetch("/p", on_begin=begun).whole() == BODY
    assert heard == [BODY[: requests.BEGIN]]


def test_the_beginning_of_a_refusal_is_not_heard(slow):
    """The error response of an expired list has a continue token, too."""
    slow["status"] = 410
    slow["may"].set()
    heard = []
    with pytest.raises(requests.RefusedError) as refused:
        slow["server"].fetch("/p", on_begin=heard.append)
    assert (refused.value.status, heard) == (410, [])


def test_what_was_requested_ahead_is_fetched_once(slow):
    server = slow["server"]
    heard = []
    server.fetch_early("/p", {"a": "b"}, on_begin=heard.append)
    slow["may"].set()
    assert server.fetch("/p", {"a": "c"}).whole() == BODY
    assert server.fetch("/p", {"a": "b"}, "text/plain").whole() == BODY
    assert server.fetch("/p", {"a": "b"}).whole() == BODY  # the one that was asked ahead has come
    assert sorted(slow["asked"]) == ["/p?a=b", "/p?a=b", "/p?a=c"], "those are other questions"
    assert len(heard) == 1
    assert len(slow["asked"]) == 3
    server.fetch("/p", {"a": "b"})
    assert len(slow["asked"]) == 4, "who asks again gets a new answer"


def test_what_went_wrong_ahead_is_raised_where_it_is_fetched(slow):
    server = slow["server"]
    slow["status"] = 403
    slow["may"].set()
    server.fetch_early("/p")
    with pytest.raises(requests.RefusedError, match="the server answered 403"):
        server.fetch("/p")
    slow["status"] = 200
    assert server.get("/p") == BODY, "the next is a question of its own"


def test_an_answer_ahead_that_never_ends_takes_no_longer_than_another(slow):
    began = time.monotonic()
    slow["server"].fetch_early("/p")
    with pytest.raises(requests.ReadError, match="was not complete after 3 s"):
        slow["server"].fetch("/p")
    assert time.monotonic() - began < 15


def test_nothing_more_is_asked_ahead_of_a_server_that_was_stopped(slow):
    slow["server"].stop()
    slow["server"].fetch_early("/p")
    with pytest.raises(requests.ReadError, match="time limit was reached"):
        slow["server"].fetch("/p")
    assert slow["asked"] == []
