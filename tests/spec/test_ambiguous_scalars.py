"""The advice for an ambiguous scalar is a value that its field accepts."""

import pytest

from policygen.documents.document import load
from policygen.documents.files import Source
from policygen.documents.scalars import read
from policygen.spec import forms, schema, subschema, type_errors
from policygen.spec.ambiguous_scalars import advised

INTEGER = {"type": "integer", "minimum": 0, "maximum": 500, "examples": [8]}
LABEL = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "examples": ["a-b"]}
QUANTITY = {"type": ["string", "number"], "format": "kubernetes-quantity", "examples": ["64Gi"]}
LONG = "9" * 30
TEXTS = [
    "yes",
    "On",
    "NO",
    "off",
    "y",
    "N",
    "0777",
    "-010",
    "09",
    "00",
    "0o17",
    "0x1F",
    "-0x1f",
    "0b101",
    "1_000",
    "1_000.5",
    "12:30",
    "1e3",
    "1.5E3",
    "25e-2",
    "1e9999999",
    ".5",
    "5.",
    "+5",
    ".inf",
    ".NaN",
    "2026-01-31",
    "=",
    "<<",
]


@pytest.mark.parametrize(
    "text, field, remedy",
    [
        ("yes", {"type": "string"}, '"yes" in quotes'),
        ("yes", {"type": "boolean"}, "true"),
        ("yes", INTEGER, "a whole number such as 8"),
        ("off", {"type": "string", "enum": ["kueue", "volcano"]}, "kueue or volcano"),
        ("off", {"const": "v1"}, "v1"),
        ("off", {"type": "array"}, "a list"),
        ("off", {"type": "object"}, "a mapping"),
        ("12:30", INTEGER, "a whole number such as 8"),
        ("12:30", {"type": "string"}, '"12:30" in quotes'),
        ("12:30", LABEL, 'text such as "a-b"'),
        ("12:30", QUANTITY, 'a quantity such as "64Gi"'),
        ("0777", INTEGER, "a whole number such as 8"),
        ("0100", INTEGER, "64, or 100"),
        ("0777", LABEL, '"0777" in quotes'),
        ("1e2", INTEGER, "100"),
        ("1e3", INTEGER, "a whole number such as 8"),
        ("1e3", QUANTITY, '1000, or "1e3" in quotes'),
        ("0x10", QUANTITY, "16"),
        (".5", INTEGER, "a whole number such as 8"),
        (LONG, INTEGER, "a shorter number"),
        (LONG, QUANTITY, "a shorter number"),
        (LONG, LABEL, f'"{LONG}" in quotes'),
    ],
)
def test_the_advice_fits_the_field(text, field, remedy):
    assert type_errors.ambiguous_scalar(read(text), field).endswith(f"; write {remedy}")


def fields(node, root):
    """Every part of a schema that is about a scalar."""
    if isinstance(node, dict):
        found = subschema.resolved(root, node)
        if subschema.types_of(found) or "const" in found:
            yield found
        for below in node.values():
            yield from fields(below, root)


@pytest.mark.parametrize("name", sorted(forms.schema_names().values()))
def test_every_advice_for_every_field_is_taken(name):
    root = schema.read(name)
    seen = list(fields(root, root))
    assert len(seen) > 5
    for field in seen:
        for text in TEXTS:
            said = type_errors.ambiguous_scalar(read(text), field).partition("; write ")[2]
            remedies = said.split(", ") if "in quotes" in said or said[0] in "-0123456789" else []
            for remedy in remedies:
                plain = remedy.removeprefix("or ")
                quoted = plain.removesuffix(" in quotes")
                value = read(plain) if quoted == plain else quoted.strip('"')
                assert subschema.fits(field, value), (text, said, field)


def test_only_values_of_known_fields_get_new_advice():
    text = "kind: Team\nspec: {parent: no, on: 1, what: no, weight: &a 1e3, again: *a}\n"
    (document,), _ = load(Source("a.yaml", text, None))
    findings = document.faults
    known = {"parent": {"type": "string"}, "weight": INTEGER}
    told = advised(
        findings, document, {"properties": {"spec": {"properties": known}}, "type": "object"}
    )
    assert [finding.message.partition("; ")[2] for finding in told] == [
        'write "no" in quotes',
        'write "on" in quotes',
        'write false, or "no" in quotes',
        "write a whole number such as 8",
    ]
    assert [finding.place for finding in told] == [finding.place for finding in findings]
