"""A replaced file never has wider permissions than the old one."""

import os
import stat

import pytest

from policygen.core import atomic


@pytest.fixture
def modes(monkeypatch):
    """The modes with which files are created, as the calls of `os.open` give them."""
    asked = []
    original = os.open

    def opened(path, flags, mode=0o777, **more):
        if flags & os.O_CREAT:
            asked.append(mode)
        return original(path, flags, mode, **more)

    monkeypatch.setattr(os, "open", opened)
    return asked


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_what_replaces_a_private_file_is_private_from_its_first_byte_on(tmp_path, modes):
    path = tmp_path / "kubeconfig"
    path.write_bytes(b"old")
    path.chmod(0o600)
    modes.clear()
    atomic.write(path, b"new")
    assert modes == [0o600]
    assert (path.read_bytes(), mode(path)) == (b"new", 0o600)


def test_a_private_file_is_made_private(tmp_path, modes):
    path = tmp_path / "names"
    atomic.write(path, b"new", private=True)
    assert set(modes) == {0o600}
    assert (path.read_bytes(), mode(path)) == (b"new", 0o600)


def test_permissions_that_the_umask_takes_away_are_kept(tmp_path):
    path = tmp_path / "shared"
    path.write_bytes(b"old")
    path.chmod(0o666)
    before = os.umask(0o077)
    try:
        atomic.write(path, b"new")
    finally:
        os.umask(before)
    assert mode(path) == 0o666


def test_a_link_in_the_place_of_the_staged_file_is_not_followed(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"kept")
    path = tmp_path / "report"
    (tmp_path / f".report.policygen-{os.getpid()}").symlink_to(elsewhere)
    atomic.write(path, b"new")
    assert (path.read_bytes(), elsewhere.read_bytes()) == (b"new", b"kept")
    assert sorted(it.name for it in tmp_path.iterdir()) == ["elsewhere", "report"]
