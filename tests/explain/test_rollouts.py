"""Why an update of a model's Deployment deletes a pod first, with numbers worked out by hand."""

from textwrap import dedent

import pytest

from policygen.app import explain_object
from tests.explain import walk
from tests.plan.model_specs import a100, models, quotas

SURGE = "spec.strategy.rollingUpdate.maxSurge"


@pytest.mark.parametrize(
    "limit, fields, expected",
    [
        (
            7,
            {"m": "gpus: 2}, replicas: 3"},
            ["3", "3 × 2 = 6", "7", "7 - 6 = 1", "0"],
        ),
        (
            5,
            {"m": "gpus: 1}, replicas: 3", "o": "gpus: 2}"},
            ["3", "3 × 1 = 3", "2", "5", "5 - 3 - 2 = 0", "0"],
        ),
        (
            64,
            {"m": "gpus: 1}, replicas: 8, availability: {failureDomain: node}"},
            ["8", "8", "8 - 8 = 0", "0"],
        ),
        (
            64,
            {"m": "gpus: 5}, replicas: 8"},
            ["8", "8", "floor(8 / 5) = 1", "8", "8 × 1 = 8", "8 - 8 = 0", "0"],
        ),
    ],
)
def test_the_arithmetic_names_what_is_full(tmp_path, limit, fields, expected):
    texts = {name: f"resources: {{{it}" for name, it in fields.items()}
    spec = [a100(), quotas("a", f"pool: p, guarantee: 4, limit: {limit}"), models("a", **texts)]
    path = tmp_path / "spec.yaml"
    path.write_text("---\n".join(dedent(it).lstrip("\n") for it in spec))
    found = walk.opened(path)
    (field,) = explain_object.explain(found, "Deployment/a-ns/m", SURGE).fields
    shown = [" = ".join(filter(None, (it.formula, it.value))) for it in field.steps]
    assert shown == expected
    assert field.steps[0].at.path[:2] == ("spec", "replicas")
