"""Messages for values of a wrong type, with the remedy."""

import math

import pytest

from policygen.documents.scalars import AmbiguousScalar, read
from policygen.spec.subschema import types_of
from policygen.spec.type_errors import ambiguous_scalar, expected, message

TEXT, WHOLE, TRUTH = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
TAINT = {"type": "object", "properties": {"key": TEXT, "value": TEXT, "effect": TEXT}}
LIST = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": TEXT}, "required": ["name"]},
}


@pytest.mark.parametrize(
    ("value", "schema", "written", "words"),
    [
        (True, TEXT, None, 'true is a boolean; write "true" in quotes'),
        (1, TEXT, "1", '1 is a number; write "1" in quotes'),
        (1.10, TEXT, "1.10", 'write "1.10" in quotes'),
        (1.5, WHOLE, "1.5", "1.5 is a fraction; write a whole number"),
        (math.inf, WHOLE, ".inf", ".inf is not a finite number"),
        ("8", WHOLE, None, '"8" is text; write 8 without quotes'),
        ("yes", TRUTH, None, '"yes" is text; write true without quotes'),
        ("eight", WHOLE, None, '"eight" is text; write a whole number'),
        ("a", LIST, None, "write a list, even if it has only one entry: [{name: a}]"),
        ({"name": "a"}, LIST, None, 'a mapping is not allowed here; write a list: write "- " before the first key, and indent the other keys'),
        ({"a": 8, "b": 8}, LIST, None, 'write a list with an entry for each key, such as "- name: a"'),
        ([{"a": "1"}, {"b": "2"}], {"type": "object"}, None, 'write a mapping: remove "- " before each key'),
        ("8 GPUs", WHOLE, None, '"8 GPUs" is text; write 8, without a unit'),
        ("gpu=yes:NoSchedule", TAINT, None, "write {key: gpu, value: yes, effect: NoSchedule}"),
        ("a.io/gpu:NoExecute", TAINT, None, "write {key: a.io/gpu, effect: NoExecute}"),
        ([], TEXT, None, "a list is not allowed here; write text"),
        ([], {"type": "string", "contentMediaType": "application/yaml"}, None, 'write "|" after the key'),
    ],
)  # fmt: skip
def test_what_to_write_instead(value, schema, written, words):
    assert words in message(value, schema, types_of(schema), written, schema)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"enum": ["a", "b", "c"]}, "a, b or c"),
        ({"const": "v1"}, "v1"),
        ({"type": ["integer", "object"]}, "a whole number or a mapping"),
        ({"type": "object", "required": ["a", "b"]}, "a mapping with a and b"),
        ({"type": "string", "format": "kubernetes-quantity", "examples": ["80Gi"]}, 'a quantity such as "80Gi"'),
    ],
)  # fmt: skip
def test_what_a_value_must_be(schema, words):
    assert expected(schema, types_of(schema)) == words


@pytest.mark.parametrize(
    ("text", "schema", "words"),
    [
        ("no", TRUTH, "write false"),
        ("no", TEXT, 'write "no" in quotes'),
        ("0777", WHOLE, "write 511, or 777"),
    ],
)
def test_an_ambiguous_scalar_in_a_field_of_a_known_type(text, schema, words):
    it = read(text)
    assert isinstance(it, AmbiguousScalar)
    assert words in ambiguous_scalar(it, schema)
