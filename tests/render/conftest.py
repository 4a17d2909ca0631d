"""Folders of templates: those of users, and one that replaces the shipped folder."""

import pytest

from tests.render.sandboxed import PATH


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "own"
    made.mkdir()
    return made


@pytest.fixture
def own(folder):
    def write(text, name=PATH):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.fixture
def template(tmp_path, monkeypatch):
    """Writes a template for one test and uses its folder in place of the shipped one."""
    monkeypatch.setattr("policygen.core.shipped.root", lambda: tmp_path)

    def write(text, name="x/queue.yaml.j2"):
        path = tmp_path / "templates" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    return write
