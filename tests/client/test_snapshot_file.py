"""A snapshot file returns what was written into it, or reports that it is damaged."""

import gzip
import io
import json
import os
import random
import threading
from datetime import UTC, datetime
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policygen.client import snapshot_file
from policygen.client.snapshot_file import SnapshotError
from policygen.core import atomic
from policygen.core.finding import At
from policygen.kubernetes.core import TolerationView
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Gap, GroupKind, Owner, Pod, Seen, Snapshot
from policygen.kubernetes.workloads import Container, PodSpec, Resources

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TIMES = st.datetimes(
    datetime(2020, 1, 1),  # noqa: DTZ001 - st.datetimes adds the zone
    datetime(2100, 1, 1),  # noqa: DTZ001 - as above
    timezones=st.just(UTC),
)
AMOUNTS = st.integers(-(10**20), 10**20).map(lambda number: Fraction(number, 10**9))
KINDS = st.builds(GroupKind, TEXT, TEXT)
SEEN = st.builds(
    Seen,
    context=TEXT,
    taken=TIMES,
    server=TEXT,
    no_server=TEXT,
    read=st.frozensets(KINDS, max_size=3),
    unserved=st.frozensets(KINDS, max_size=2),
    gaps=st.lists(st.builds(Gap, TEXT, TEXT, TEXT, TEXT), max_size=2).map(tuple),
    namespaces=st.lists(TEXT, max_size=2).map(tuple),
    redacted=st.booleans(),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.builds(
    lambda kind, name, more: {
        **more, "apiVersion": "a/v1", "kind": kind, "metadata": {"name": name, "namespace": "n"}
    },
    TEXT.filter(bool), TEXT, st.dictionaries(TEXT, VALUES, max_size=3),
)  # fmt: skip
SPECS = st.builds(
    PodSpec,
    containers=st.lists(
        st.builds(
            Container,
            name=TEXT,
            resources=st.builds(Resources, requests=st.dictionaries(TEXT, AMOUNTS, max_size=2)),
        ),
        max_size=2,
    ).map(tuple),
    node_selector=st.dictionaries(TEXT, TEXT, max_size=2),
    tolerations=st.lists(st.builds(TolerationView, key=TEXT), max_size=1).map(tuple),
    scheduler_name=TEXT,
)
PODS = st.fixed_dictionaries(
    {
        "namespace": TEXT,
        "name": TEXT,
        "node": TEXT,
        "phase": TEXT,
        "owner": st.none() | st.builds(Owner, TEXT, TEXT, TEXT, TEXT),
        "labels": st.dictionaries(TEXT, TEXT, max_size=2),
        "created": st.none() | TIMES,
        "deleted": st.none() | TIMES,
        "gates": st.lists(TEXT, max_size=2).map(tuple),
        "waiting": TEXT,
        "unscheduled": TEXT,
        "unscheduled_why": TEXT,
    }
)


@st.composite
def snapshots(draw):
    specs = draw(st.lists(SPECS, min_size=1, max_size=2))
    rows = draw(st.lists(PODS, max_size=4))
    return Snapshot(
        draw(SEEN),
        tuple(
            Object.read(data, At(5, ("objects", i)))
            for i, data in enumerate(draw(st.lists(OBJECTS, max_size=3)))
        ),
        tuple(
            Pod(document=5, number=i, spec=draw(st.sampled_from(specs)), **row)
            for i, row in enumerate(rows)
        ),
    )


def written(it, tmp_path):
    path = tmp_path / "it.snapshot"
    snapshot_file.write(it, path)
    return path.read_bytes()


def fields(it):
    return msgspec.to_builtins(it, enc_hook=str)


@given(it=snapshots())
def test_what_was_written_is_read(it, tmp_path_factory):
    data = written(it, tmp_path_factory.mktemp("snapshot"))
    back = snapshot_file.read(io.BytesIO(data), document=5)
    assert back.seen == it.seen
    assert list(map(fields, back.objects)) == list(map(fields, it.objects))
    assert list(map(fields, back.pods)) == list(map(fields, it.pods))


def example():
    seen = Seen("bench", datetime(2026, 11, 21, tzinfo=UTC), "v1.36.3")
    objects = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"n{i}"}} for i in range(9)
    ]
    spec = PodSpec(containers=(Container(resources=Resources({"nvidia.com/gpu": Fraction(3, 2)})),))
    return Snapshot(
        seen,
        tuple(Object.read(data, At(0, ("objects", i))) for i, data in enumerate(objects)),
        tuple(Pod(document=0, number=i, namespace="n1", name=f"p{i}", spec=spec) for i in range(9)),
    )


def test_pods_with_equal_requests_share_them(tmp_path):
    back = snapshot_file.read(io.BytesIO(written(example(), tmp_path)))
    assert len({id(pod.spec) for pod in back.pods}) == 1


def test_the_file_is_its_owners_and_no_other_file_is_left(tmp_path):
    written(example(), tmp_path)
    (path,) = tmp_path.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_pipe_or_link_is_written_to(tmp_path):
    """It is not replaced: for root, this could remove a device of the machine."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    got = []
    reader.start()
    snapshot_file.write(example(), pipe)
    reader.join(20)
    assert pipe.is_fifo()
    link.symlink_to(tmp_path / "file")
    snapshot_file.write(example(), link)
    assert link.is_symlink()
    assert got == [link.read_bytes()] == [snapshot_file.packed(example())]


def test_no_other_user_may_read_it_before_it_is_complete(tmp_path, monkeypatch):
    """If the file has narrow permissions, no copy ever has wider ones."""
    modes, real = [], os.open

    def spy(path, flags, mode):
        modes.append(mode)
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", spy)
    path = tmp_path / "x"
    atomic.write(path, b"new")
    path.chmod(0o604)
    atomic.write(path, b"newer")
    snapshot_file.write(example(), tmp_path / "y")
    assert modes == [0o666, 0o604, 0o600]
    assert path.stat().st_mode & 0o777 == 0o604
    assert path.read_bytes() == b"newer"


def test_the_same_snapshot_is_the_same_file(tmp_path):
    assert written(example(), tmp_path) == written(example(), tmp_path)


def test_a_file_that_is_cut_off_anywhere_is_an_error(tmp_path):
    data = written(example(), tmp_path)
    for length in range(len(data)):
        with pytest.raises(SnapshotError):
            snapshot_file.read(io.BytesIO(data[:length]))


def test_lines_that_are_missing_are_an_error(tmp_path):
    lines = gzip.decompress(written(example(), tmp_path)).splitlines(keepends=True)
    for number in range(len(lines)):
        rest = b"".join(lines[:number] + lines[number + 1 :])
        with pytest.raises(SnapshotError):
            snapshot_file.read(io.BytesIO(gzip.compress(rest)))
        with pytest.raises(SnapshotError):
            snapshot_file.read(io.BytesIO(gzip.compress(b"".join(lines[:number]))))


def at(header, time):
    return header | {"seen": header["seen"] | {"taken": time}}


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda header: header | {"policygenSnapshot": 2}, "format 2, but this policygen reads"),
        (lambda header: header | {"policygenSnapshot": None}, "is not a snapshot"),
        (lambda header: at(header, "2026-01-01T00:00:00"), "no time zone"),
        (lambda header: at(header, "now"), "is damaged"),
        (lambda _: {"items": []}, "is not a snapshot"),
    ],
)
def test_another_header_is_an_error(tmp_path, change, message):
    first, rest = gzip.decompress(written(example(), tmp_path)).split(b"\n", 1)
    data = json.dumps(change(json.loads(first))).encode() + b"\n" + rest
    with pytest.raises(SnapshotError, match=message):
        snapshot_file.read(io.BytesIO(gzip.compress(data)))


def test_a_pods_time_without_a_zone_is_an_error(tmp_path):
    """Rules compute with it."""
    it = example()
    naive = msgspec.structs.replace(it.pods[0], created=datetime(2026, 11, 20))  # noqa: DTZ001 - that is it
    data = written(msgspec.structs.replace(it, pods=(naive,)), tmp_path)
    with pytest.raises(
        SnapshotError, match="the snapshot is truncated or damaged; take a new snapshot"
    ):
        snapshot_file.read(io.BytesIO(data))


@pytest.mark.parametrize("change", ["its sum", "behind it", "a line"])
def test_a_damaged_one_is_reported_as_damaged(tmp_path, change):
    """The message does not quote the decoder's error."""
    data = bytearray(written(example(), tmp_path))
    if change == "its sum":
        data[-6] ^= 1
    elif change == "behind it":
        data += b"junk"
    else:
        first, rest = gzip.decompress(data).split(b"\n", 1)
        data = gzip.compress(first + b'\n["object", "text"]\n' + rest)
    with pytest.raises(SnapshotError) as told:
        snapshot_file.read(io.BytesIO(data))
    assert str(told.value) == "the snapshot is truncated or damaged; take a new snapshot"


@pytest.mark.parametrize(
    "data",
    [b"", b"apiVersion: v1\n", b"\0" * 99, gzip.compress(b""), gzip.compress(b"\0\n" * 9)],
    ids=["empty", "yaml", "zeros", "packed-nothing", "packed-zeros"],
)
def test_other_files_are_reported_as_no_snapshot(data):
    with pytest.raises(SnapshotError, match=r"is not a snapshot|is truncated"):
        snapshot_file.read(io.BytesIO(data))


def test_garbage_in_the_middle_is_an_error_or_another_text(tmp_path):
    """A damaged file does not crash; what is read matches the counts in its last line."""
    plain = gzip.decompress(written(example(), tmp_path))
    draw = random.Random(1)
    for _ in range(400):
        at = draw.randrange(len(plain))
        junk = draw.choice([b"\0", b"[", b"]\n[", b"\xff", b'"', b"\n", b"1e999", b"[" * 2000])
        data = gzip.compress(plain[:at] + junk + plain[at + draw.randint(0, 3) :], 1)
        try:
            back = snapshot_file.read(io.BytesIO(data))
        except SnapshotError:
            continue
        assert (len(back.objects), len(back.pods)) == (9, 9)


def test_a_bomb_is_an_error(monkeypatch):
    monkeypatch.setattr(snapshot_file, "MAX_UNPACKED_BYTES", 10_000)
    with pytest.raises(SnapshotError, match="when decompressed"):
        snapshot_file.read(io.BytesIO(gzip.compress(b"{" * 20_000)))
