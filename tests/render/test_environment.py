"""Errors of templates: one line with template, line, kind and object."""

import zipfile

import pytest

from policygen.core.errors import UsageError
from policygen.render.engine import render
from tests.render.templates import SOUND, queue


def test_templates_are_read_from_inside_a_zip(tmp_path, monkeypatch):
    archive = tmp_path / "wheel.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("data/templates/x/queue.yaml.j2", SOUND)
    monkeypatch.setattr("policygen.core.shipped.root", lambda: zipfile.Path(archive, "data/"))
    assert "  name: a\n" in render([queue()])[0].text
    archive.write_bytes(b"")


@pytest.mark.parametrize(
    "line, message",
    [
        ("x: {{ itt.gpus }}", '"itt" is not defined; did you mean "it"?'),
        ("x: {{ it.gpu }}", 'Queue has no field "gpu"; did you mean "gpus"?'),
        ("x: {{ it.colour }}", 'Queue has no field "colour"; known: gpus, labels, meta, note'),
        ("x: {{ it.gpus.count }}", 'int has no field "count"'),
        ("{% if it.missing %}{% endif %}", 'Queue has no field "missing"'),
        ("{% for x in it.missing %}{% endfor %}", 'Queue has no field "missing"'),
        ("x: {{ it.gpus", "unexpected end of template"),
        ("{% iff it.gpus %}", "Encountered unknown tag 'iff'"),
        ("x: {{ it.gpus | random }}", "No filter named 'random'"),
        ("x: {{ lipsum() }}", '"lipsum" is not defined'),
        ("x: {{ 1 / 0 }}", "division by zero"),
        ("x: {{ it }}", "a template cannot print a Queue; print its fields"),
        ("x: {{ it.labels.keys }}", "a template cannot print a builtin_function_or_method"),
        ('{% include "x/none.j2" %}', 'template "x/none.j2" does not exist'),
        ('{% include "../../x" %}', 'template "../../x" does not exist'),
        ('{% include "x/queue.yaml.j2" %}', "includes or calls itself endlessly"),
    ],
)
def test_an_error_names_template_line_kind_and_object(template, line, message):
    template(f"first: 1\nsecond: 2\n{line}\n")
    with pytest.raises(UsageError) as error:
        render([queue("team-a")])
    text = str(error.value)
    assert text.startswith('templates/x/queue.yaml.j2:3: Queue "team-a": '), text
    assert message in text
    assert "\n" not in text


def test_an_error_in_an_included_template_names_that_one(template):
    template('a: 1\n{% include "x/part.j2" %}\n')
    template("\nb: {{ it.none }}\n", "x/part.j2")
    with pytest.raises(UsageError, match=r"^templates/x/part\.j2:2: Queue"):
        render([queue()])


def test_a_value_that_no_manifest_can_hold_names_the_object(template):
    template("note: {{ it.note }}\n")
    with pytest.raises(
        UsageError,
        match='j2:1: Queue "a": a manifest cannot contain a lone surrogate',
    ):
        render([queue(note="\ud800")])


def test_a_missing_template_is_named(template):
    template("", "x/other.j2")
    with pytest.raises(UsageError, match=r'Queue "a": template "x/queue.yaml.j2" does not exist'):
        render([queue()])


def test_control_characters_do_not_reach_the_terminal(template):
    template('{% include "\x1b[31m" %}')
    with pytest.raises(UsageError, match=r"\\x1b"):
        render([queue()])
