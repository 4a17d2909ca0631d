"""Types are built one at a time, since msgspec crashes if two threads build one type."""

import subprocess
import sys
from threading import Event, Thread

import msgspec
import pytest

from policygen.core.decoding import converted, decode, decoder

THREADS = """
import sys
from threading import Barrier, Thread
from typing import Generic, TypeVar
import msgspec
from policygen.core.decoding import converted, decode, decoder

USES = {
    "decoder": lambda type_: decoder(type_).decode(TEXT),
    "decode": lambda type_: decode(TEXT, type_),
    "converted": lambda type_: converted({"meta": {}, "items": []}, type_),
}
TEXT = b'{"meta": {}, "items": []}'
T = TypeVar("T")
use, rounds = USES[sys.argv[1]], int(sys.argv[2])
sys.setswitchinterval(1e-6)  # threads change while a type is built
for _ in range(rounds):
    class Meta(msgspec.Struct):
        token: str = ""

    class Page(msgspec.Struct, Generic[T]):
        meta: Meta
        items: list[T]

    together = Barrier(6)

    def run():
        together.wait()
        assert use(Page[dict]).items == []

    threads = [Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("done")
"""
ROUNDS = 300
"""In each of five trials on one machine, msgspec alone crashed within so many."""

FIRST, SECOND, RELEASED = Event(), Event(), Event()


def paused():
    """The type of a field of `Built`: msgspec asks for it while it builds the type."""
    if FIRST.is_set():
        SECOND.set()
    FIRST.set()
    RELEASED.wait(10)
    return str


@pytest.mark.parametrize("use", ["decoder", "decode", "converted"])
def test_threads_can_use_a_new_type_at_the_same_moment(use):
    command = [sys.executable, "-c", THREADS, use, str(ROUNDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.parametrize(
    ("use", "together"),
    [
        (msgspec.json.Decoder, True),
        (decoder, False),
        (lambda type_: decode("{}", type_), False),
        (lambda type_: converted({}, type_), False),
    ],
    ids=["msgspec", "decoder", "decode", "converted"],
)
def test_msgspec_alone_builds_a_type_in_two_threads(use, together):
    for event in FIRST, SECOND, RELEASED:
        event.clear()
    built = msgspec.defstruct("Built", [("name", "paused()", "")], module=__name__)
    first, second = (Thread(target=use, args=[built]) for _ in range(2))
    first.start()
    assert FIRST.wait(5)
    second.start()
    assert SECOND.wait(5 if together else 0.3) is together
    RELEASED.set()
    first.join()
    second.join()
