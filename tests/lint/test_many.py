"""Many objects: the same is said of each as if it were alone."""

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policygen.app import lint
from policygen.lint.core.server_refusals import MANY
from policygen.lint.kueue import quotas

QUEUE = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  queueingStrategy: {strategy}
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: a
      resources:
      - name: cpu
        nominalQuota: {cpu}
      - name: {resource}
        nominalQuota: 1Gi
"""
GOOD = {"strategy": "StrictFIFO", "cpu": "4", "resource": "memory"}


def findings(tmp_path, objects):
    file = tmp_path / "in.yaml"
    file.write_text("".join(QUEUE.format(**{**GOOD, **it}) for it in objects), "utf-8")
    settings = lint.LintRequest(manifests=(str(file),), partial=True)
    report = lint.lint(settings, today=date(2026, 11, 21))
    return [(it.object, it.rule.name, it.message, it.path, it.place.text) for it in report.findings]


@pytest.mark.parametrize(
    "fault, rule",
    [
        ({"strategy": "StrictFifo"}, "value-unsupported"),
        ({"strategy": "8"}, "type-refused"),
        ({"cpu": '"4 cores"'}, "value-form-refused"),
        ({"cpu": "-4"}, "quota-negative"),
        ({"cpu": '"4000m"'}, "quota-not-canonical"),
        ({"cpu": "9000000"}, "quota-without-bound"),
        ({"resource": "cpu"}, "list-entry-twice"),
    ],
)
def test_a_fault_among_many(tmp_path, fault, rule):
    alone = findings(tmp_path, [{"name": "bad", **fault}])
    assert rule in [found[1] for found in alone]
    good = [{"name": f"q{n}"} for n in range(2 * MANY)]
    assert findings(tmp_path, good) == []
    assert findings(tmp_path, [*good, {"name": "bad", **fault}]) == alone
    assert len(findings(tmp_path, [{**it, **fault} for it in good])) == len(good) * len(alone)


AMOUNT = st.sampled_from([0, 4, "4", "4000m", "-1", "1.5", "9000000", "1Gi", "100"])
QUOTA = st.fixed_dictionaries(
    {"name": st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "nvidia.com/gpus"])},
    optional={"borrowingLimit": AMOUNT, "lendingLimit": AMOUNT},
).flatmap(lambda it: AMOUNT.map(lambda amount: {**it, "nominalQuota": amount}))
FLAVOR = st.fixed_dictionaries(
    {"name": st.sampled_from("ab"), "resources": st.lists(QUOTA, min_size=1, max_size=2)}
)
GROUP = st.lists(FLAVOR, min_size=1, max_size=2).map(
    lambda flavors: {
        "coveredResources": [each["name"] for each in flavors[0]["resources"]],
        "flavors": flavors,
    }
)
COHORT = st.sampled_from(["", "left", "right", "up"])


@st.composite
def objects(draw):
    """Queues and cohorts that write the same of a few quotas, and flavors."""
    shared = draw(st.lists(st.lists(GROUP, max_size=2), min_size=1, max_size=3))
    made = []
    for kind, field, names in (
        ("ClusterQueue", "cohortName", [f"q{n}" for n in range(draw(st.integers(1, 8)))]),
        ("Cohort", "parentName", ["left", "right", "up"]),
    ):
        for name in names:
            spec = {"resourceGroups": draw(st.sampled_from(shared))}
            if cohort := draw(COHORT):
                spec[field] = cohort
            if kind == "ClusterQueue":
                spec["namespaceSelector"] = {}
            made.append((kind, name, spec))
    made += [("ResourceFlavor", name, {"nodeLabels": {"pool": "one"}}) for name in "ab"]
    return [
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": kind,
            "metadata": {"name": name},
            "spec": spec,
        }
        for kind, name, spec in made
    ]


@given(given=objects())
def test_queues_that_write_the_same_are_judged_as_each_by_itself(tmp_path_factory, given):
    file = tmp_path_factory.mktemp("many") / "in.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": given}), "utf-8")
    settings = lint.LintRequest(manifests=(str(file),))

    def report():
        return lint.lint(settings, today=date(2026, 11, 21))

    together = report()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(quotas, "_alike", lambda owners: tuple(quotas.Alike([it]) for it in owners))
        apart = report()
    assert together.findings == apart.findings
    assert together.rules == apart.rules
