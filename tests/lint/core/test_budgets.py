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
