"""The labels of nodes that a pod names, each with its place."""

import pytest
import yaml

from policygen.core.finding import at_path
from policygen.lint.core.label_uses import label_uses
from tests.objects import cluster

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERM = "{topologyKey: zone, labelSelector: {}}"
EXPRESSIONS = (
    "{matchExpressions: [{key: a, operator: NotIn, values: [x]}, {key: zone, operator: Exists}]}"
)


def uses(spec):
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a, namespace: b}}\nspec: {spec}"
    data = yaml.safe_load(text)["spec"]
    [pod] = cluster(text).workloads
    found = list(label_uses(pod.templates[0].spec))
    for it in found:
        assert at_path(data, it.path) == it.key or it.path[-1] == it.key
    return [(it.field, it.key, it.required) for it in found]


@pytest.mark.parametrize(
    ("spec", "field", "required"),
    [
        ("{nodeSelector: {zone: a}}", "nodeSelector", True),
        (
            "{topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}",
            "topologySpreadConstraints",
            True,
        ),
        (
            "{topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}",
            "topologySpreadConstraints",
            False,
        ),
        (f"{{affinity: {{podAffinity: {{{REQUIRED}: [{TERM}]}}}}}}", "podAffinity", True),
        (
            f"{{affinity: {{podAntiAffinity: {{{PREFERRED}: [{{podAffinityTerm: {TERM}}}]}}}}}}",
            "podAntiAffinity",
            False,
        ),
        (
            f"{{affinity: {{nodeAffinity: {{{REQUIRED}: {{nodeSelectorTerms: [{EXPRESSIONS}]}}}}}}}}",
            "nodeAffinity",
            True,
        ),
        (
            f"{{affinity: {{nodeAffinity: {{{PREFERRED}: [{{preference: {EXPRESSIONS}}}]}}}}}}",
            "nodeAffinity",
            False,
        ),
    ],
)
def test_each_use_has_its_place(spec, field, required):
    assert uses(spec) == [(field, "zone", required)]


def test_one_of_several_terms_is_no_requirement():
    terms = f"{{nodeSelectorTerms: [{EXPRESSIONS}, {EXPRESSIONS}]}}"
    assert uses(f"{{affinity: {{nodeAffinity: {{{REQUIRED}: {terms}}}}}}}") == []
