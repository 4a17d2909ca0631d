"""Types are built one at a time, since msgspec crashes if two threads build one type."""

import subprocess
import sys

import pytest

THREADS = """
import sys
from threading import Barrier, Thread
from typing import Generic, TypeVar
import msgspec
from policygen.core.decoding import converted, decode, decoder

USES = {
    "msgspec": lambda type_: msgspec.json.Decoder(type_).decode(TEXT),
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
"""In each of five trials, msgspec alone crashed within so many."""


def ran(use, rounds=ROUNDS):
    command = [sys.executable, "-c", THREADS, use, str(rounds)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("use", ["decoder", "decode", "converted"])
def test_threads_can_use_a_new_type_at_the_same_moment(use):
    done = ran(use)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_msgspec_alone_still_crashes():
    """If this fails, msgspec builds types safely, and policygen.core.decoding can go."""
    assert ran("msgspec", 10 * ROUNDS).returncode < 0
