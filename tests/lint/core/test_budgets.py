"""A budget without its pods is reported if it refuses every eviction, whatever their number is."""

import pytest

BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: chat, namespace: vision}}
spec: {{{fields}}}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: vision}
spec:
  replicas: 2
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec: {containers: [{name: a, image: a}]}
"""
APP = "selector: {matchLabels: {app: chat}}"


@pytest.mark.parametrize(
    "fields, alone, partial, complete",
    [
        (f"{APP}, maxUnavailable: 0", 1, 1, 1),
        (f'{APP}, maxUnavailable: "0%"', 1, 1, 1),
        (f'{APP}, minAvailable: "100%"', 1, 1, 1),
        (f"{APP}, minAvailable: 2", 0, 0, 1),
        (f'{APP}, minAvailable: "60%"', 0, 0, 1),
        (f"{APP}, maxUnavailable: 1", 0, 0, 0),
        ("selector: {matchLabels: {app: other}}, maxUnavailable: 0", 1, 1, 0),
        ("maxUnavailable: 0", 0, 0, 0),
    ],
)
def test_a_budget_that_refuses_everything_needs_no_pods(lint, fields, alone, partial, complete):
    def hits(*texts, **settings):
        found = lint(*texts, **settings).findings
        return sum(it.rule.name == "budget-blocks-drain" for it in found)

    budget = BUDGET.format(fields=fields)
    counts = (hits(budget), hits(budget, DEPLOYMENT, partial=True), hits(budget, DEPLOYMENT))
    assert counts == (alone, partial, complete)


OTHER = "selector: {matchLabels: {app: %s}}, maxUnavailable: 1"
OPERATOR = "apiVersion: example.com/v1\nkind: Server\nmetadata: {name: a, namespace: vision}\n"


@pytest.mark.parametrize(
    ("fields", "more", "partial", "advice"),
    [
        (OTHER % "chatt", (), False, "write app: chat"),
        (OTHER % "web", (), False, "select the labels of the pods that it protects"),
        ("maxUnavailable: 1", (), False, "select the labels of the pods that it protects"),
        (OTHER % "chat", (), False, ""),
        ("selector: {}, maxUnavailable: 1", (), False, ""),
        (OTHER % "web", (), True, ""),
        (OTHER % "web", (OPERATOR,), False, ""),
        ("selector: {matchLabels: {job-name: a}}, maxUnavailable: 1", (), False, ""),
    ],
)
def test_a_budget_that_selects_no_pod_of_a_complete_input(lint, fields, more, partial, advice):
    report = lint(BUDGET.format(fields=fields), DEPLOYMENT, *more, partial=partial)
    found = [it.message for it in report.findings if it.rule.name == "budget-selects-no-pod"]
    begin = "PodDisruptionBudget vision/chat selects no pod, so a drain can evict all replicas at once; "
    assert found == ([begin + advice] if advice else [])
