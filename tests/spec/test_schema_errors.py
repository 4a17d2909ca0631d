"""Schema errors are one plain line, at the right position."""

import pytest

from policygen.core.finding import At
from policygen.documents import document as documents
from policygen.documents.files import Source
from policygen.documents.locate import locate
from policygen.spec import forms, schema
from tests.spec.form_documents import BAD, by_name


@pytest.mark.parametrize("form, data, expected", by_name(BAD))
def test_bad_documents_give_all_their_hits(form, data, expected):
    hits = schema.check(form, data, 7)
    assert [(hit.rule.name, hit.at.path) for hit in hits] == [
        (wanted["rule"], tuple(wanted["at"])) for wanted in expected
    ]
    for hit, wanted in zip(hits, expected, strict=True):
        assert wanted.get("says", "") in hit.message
        assert hit.at.document == 7


@pytest.mark.parametrize("word, meant", [("kube", "kube-scheduler"), ("kueu", "kueue")])
def test_the_only_value_that_begins_with_a_word_is_suggested(word, meant):
    hits = schema.check(forms.RESOURCE_POOL, {"spec": {"scheduler": word}}, 0)
    assert any(f'did you mean "{meant}"?' in hit.message for hit in hits)


def test_every_rule_and_every_keyword_is_met_by_the_corpus():
    met = {wanted["rule"] for *_, hits in BAD for wanted in hits}
    assert met == {
        "invalid-name",
        "invalid-value",
        "duplicate-entry",
        "wrong-length",
        "missing-field",
        "unsupported-value",
        "out-of-range",
        "unknown-field",
        "wrong-type",
    }


@pytest.mark.parametrize("form, data", [pytest.param(*case[1:3], id=case[0]) for case in BAD])
def test_messages_are_one_plain_line(form, data):
    for hit in schema.check(form, data, 0):
        assert hit.message.isprintable()
        assert not hit.message.endswith(".") or hit.message.endswith("...")
        assert len(hit.message) < 250


def test_unknown_and_missing_keys_are_shown_by_their_key():
    data = {"apiVersion": "policygen.dev/v1alpha1", "kind": "Model", "metadata": {"name": "a"}}
    data["spec"] = {"shedule": "x"}
    hits = schema.check(forms.MODEL, data, 2)
    assert [hit.at for hit in hits] == [
        At(2, ("spec",), key=True),
        At(2, ("spec", "shedule"), key=True),
    ]


def test_numbers_are_shown_as_they_are_written():
    text = "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata:\n  name: a\n"
    text += "spec:\n  target:\n    kubernetes: 1.30\n"
    (document,), findings = documents.load(Source("a.yaml", text, None))
    assert documents.with_faults([document], findings) == []
    (hit,) = schema.check(forms.PLATFORM, document.data, 0, document.raw)
    assert hit.message.startswith("1.30 is a number; write one of 1.33, ")
    assert hit.message.endswith(", in quotes")
    (finding,) = locate([document], [hit])
    assert (finding.place.line, finding.place.column, finding.place.length) == (7, 17, 4)


def test_keys_one_level_too_high_are_one_finding():
    data = {
        "apiVersion": "policygen.dev/v1alpha1",
        "kind": "ResourcePool",
        "metadata": {"name": "p"},
        "spec": {
            "nodeSelector": {"pool": "p"},
            "gpu": {"sharing": "mig", "mig": {"1g.5gb": 32, "3g.20gb": 16, "strateg": "mixed"}},
            "capacity": {"nodes": 2},
        },
    }
    hits = schema.check(forms.RESOURCE_POOL, data, 0)
    assert [hit.message for hit in hits] == [
        'unknown fields "1g.5gb" and "3g.20gb"; write them under instances',
        'unknown field "strateg"; did you mean "strategy"?',
    ]
