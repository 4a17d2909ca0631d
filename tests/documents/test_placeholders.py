"""Placeholders of templates that are not filled in."""

import pytest

from policygen.documents.files import Source
from policygen.documents.placeholders import is_blank, of_helm


@pytest.mark.parametrize(
    "value", ["{{ .Values.x }}", "a-{{x}}-b", "${NAME}", "x${NAME:-y}", "${a-}", "$NAME"]
)
def test_blanks(value):
    assert is_blank(value)


@pytest.mark.parametrize("value", ["{x}", "$(NAME)", "a $NAME", "$1", "$name", "{{\n}}", "$X\n", 1])
def test_other_values(value):
    assert not is_blank(value)


def test_a_template_of_helm_has_one_finding_at_its_first_blank():
    found = of_helm(Source("a.yaml", "a: 1\nb: {{- .Values.x }}\nc: {{ .Values.y }}\n", None))
    assert found.message == "this is a template of a Helm chart; use the output of `helm template`"
    assert (found.place.line, found.place.column, found.place.length) == (2, 4, 16)


@pytest.mark.parametrize("text", ["a: {{ x }}", "a: .Values.x", "{{ .Valuesx }}", 'include "a"'])
def test_other_templates_are_not_of_helm(text):
    assert of_helm(Source("a.yaml", text, None)) is None
