"""Names that Kubernetes refuses, and names that it accepts."""

import pytest

from policygen.spec.name_errors import label_fault, subdomain_fault


@pytest.mark.parametrize(
    ("text", "fault", "name"),
    [
        ("Team A", 'character "T" at position 1 is not allowed', 'such as "team-a"'),
        ("a.b", 'character "." at position 2 is not allowed', 'such as "a-b"'),
        ("-a-", "the label must begin and end with a letter or digit", 'such as "a"'),
        ("", "the label must begin and end", None),
        ("é", 'character "é" at position 1', None),
        ("A" * 64, "is not allowed", None),
    ],
)
def test_labels(text, fault, name):
    message = label_fault(text)
    assert "is not a valid DNS label" in message
    assert fault in message
    assert (name in message) if name else ("such as" not in message)


@pytest.mark.parametrize(
    ("text", "fault", "name"),
    [
        ("a..B", 'character "B" at position 4', 'such as "a.b"'),
        ("a.-b", "each part between dots", 'such as "a.b"'),
        ("a_b", 'character "_" at position 2', 'such as "a-b"'),
    ],
)
def test_subdomains(text, fault, name):
    message = subdomain_fault(text)
    assert fault in message
    assert name in message
