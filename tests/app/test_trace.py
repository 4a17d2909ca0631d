"""Reads the file of a trace."""

import gzip
import os
import threading

import pytest

from policygen.app.requests import SimulateRequest
from policygen.app.simulate import simulate
from policygen.app.trace import read
from policygen.core.errors import InvalidInputError, UnreadError, UsageError
from tests.simulate.scenes import QUEUES

DAMAGED = gzip.compress(b"time,duration,team\n" * 9, mtime=0)[:12] + b"\xff" * 20
TEXT = "\ufefftime,duration,team\n0,60,nlp\n5,60,nlp\n"


def test_a_file_can_be_compressed(tmp_path):
    plain, packed = tmp_path / "a.csv", tmp_path / "a.csv.gz"
    plain.write_text(TEXT, "utf-8")
    packed.write_bytes(gzip.compress(TEXT.encode()))
    shown = []
    for path in (plain, packed):
        assert [it.at for it in read(path, None, shown.append)] == [0, 5]
    assert shown == ["", ""]


def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(gzip.compress(TEXT.encode()),))
    writer.start()
    assert [it.at for it in read(path, None, lambda _: None)] == [0, 5]
    writer.join()


@pytest.mark.parametrize("content", [b"\x1f\x8bx", DAMAGED, b"time,duration,team\n0,60,\xff\n"])
def test_a_file_that_cannot_be_read(tmp_path, content):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(UnreadError, match=r"a\.csv: the trace cannot be read: "):
        read(path, None, lambda _: None)


def test_all_faults_are_in_the_error(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("time,duration,team\n0,-1,nlp\n1,inf,nlp\n", "utf-8")
    with pytest.raises(InvalidInputError, match="2 faults in"):
        read(path, "csv", lambda _: None)


def test_a_trace_without_known_teams_is_refused(tmp_path):
    path, queues = tmp_path / "a.csv", tmp_path / "queues.yaml"
    path.write_text("time,duration,team\n0,1,x\n", "utf-8")
    queues.write_text(QUEUES, "utf-8")
    request = SimulateRequest(workloads=(str(queues),), trace=path)
    with pytest.raises(
        UsageError, match=r"no job of the trace can be simulated: .* for x \(1 job\)"
    ):
        simulate(request)
