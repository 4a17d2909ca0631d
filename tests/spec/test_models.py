import pytest

from policygen.core.finding import At
from policygen.core.rule import Severity
from policygen.spec import models
from policygen.spec.types import Autoscaling, Model


def found(**fields):
    return list(models.check(Model("m", At(0), **fields)))


@pytest.mark.parametrize(
    "family, size",
    [
        (None, None),
        (None, "7b"),
        ("llama", "7b"),
        ("Llama", "70B"),
        ("meta-llama/Llama-3.1", "8b"),
        ("mistral-7b", None),
        ("mixtral", "8x7b"),
        # a name without a readable size is reported where models are sized
        ("llama", "7bb"),
        (None, "big"),
    ],
)
def test_known_models(family, size):
    assert found(family=family, size=size) == []


@pytest.mark.parametrize(
    "family, size, field, words",
    [
        ("llaam", "7b", "family", 'did you mean "llama 7b"?'),
        ("acme-chat", "7b", "family", "or omit the family"),
        # An equal size alone does not make qwen similar.
        ("whisper", "1.5b", "family", "write a model that docs/hardware.md lists"),
        ("llama", "9b", "size", 'no data about model "llama 9b"'),
        (
            "llama-3",
            None,
            "family",
            "is missing, so the model is not rendered; write size: 8b or 70b",
        ),
        (
            "acme",
            None,
            "family",
            'no data about model "acme", so the model is not rendered; write a',
        ),
        ("x" * 5000, "7b", "family", "no data about model"),
    ],
)
def test_unknown_models_are_reported(family, size, field, words):
    [hit] = found(family=family, size=size)
    assert (hit.rule.name, hit.rule.severity) == ("unknown-model", Severity.WARNING)
    assert hit.at.path == ("spec", field)
    assert words in hit.message
    assert len(hit.message) < 300


def test_field_is_named_as_the_form_calls_it():
    [hit] = found(family="llaam", size="7b", renamed=(("family", "modelFamily"),))
    assert hit.at.path == ("spec", "modelFamily")


@pytest.mark.parametrize(
    "least, most, rules", [(0, 1, []), (2, 2, []), (3, 2, ["replicas-reversed"])]
)
def test_bounds_of_replicas(least, most, rules):
    assert [hit.rule.name for hit in found(autoscaling=Autoscaling(least, most))] == rules
