"""Reports go to files and standard output; one that cannot be written does not stop the others."""

import json

import pytest

from policygen.app.delivery import send, write
from policygen.core.errors import UsageError
from tests.report.reports import report


def test_each_format_goes_to_its_file(tmp_path, capfdbinary):
    file = tmp_path / "report.json"
    write(report(), [("text", None), ("json", file)])
    out, err = capfdbinary.readouterr()
    assert b"wrong: queue a" in out
    assert json.loads(file.read_bytes())["summary"]["error"] == 1
    assert b"rule fifth-rule has a bug" in err
    assert b"some input could not be read" in err


def test_what_can_be_written_is_written_before_the_error(tmp_path, capfdbinary):
    good, bad = tmp_path / "good", tmp_path / "no" / "folder"
    with pytest.raises(UsageError, match="cannot be written: No such file"):
        send([(None, b"out"), (bad, b"x"), (good, b"y")])
    assert good.read_bytes() == b"y"
    assert capfdbinary.readouterr().out == b"out"
