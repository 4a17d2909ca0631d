"""Which pods each PodDisruptionBudget selects."""

import json
import random

from policygen.kubernetes.disruption_budgets import budgeted_pods
from tests.objects import cluster

KEYS, VALUES, NAMESPACES = ("app", "tier", "zone"), ("a", "b", ""), ("nlp", "vision")


def labels(draw):
    return {it: draw.choice(VALUES) for it in KEYS if draw.random() < 0.6}


def selector(draw):
    if draw.random() < 0.1:
        return None
    operators = draw.sample(("In", "NotIn", "Exists", "DoesNotExist"), draw.randint(0, 2))
    expressions = [
        {
            "key": draw.choice(KEYS),
            "operator": it,
            "values": [draw.choice(VALUES)] * (it[-1] == "n"),
        }
        for it in operators
    ]
    return {"matchLabels": labels(draw), "matchExpressions": expressions}


def test_the_index_finds_the_pods_that_a_comparison_of_all_pairs_finds():
    """Some labels are common, some selectors have no matchLabels, and some budgets have no selector."""
    draw = random.Random(20261128)
    documents = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"pod-{i}",
                "namespace": draw.choice(NAMESPACES),
                "labels": labels(draw),
            },
            "spec": {"containers": []},
        }
        for i in range(200)
    ] + [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": f"budget-{i}", "namespace": draw.choice(NAMESPACES)},
            "spec": {"selector": found} if (found := selector(draw)) is not None else {},
        }
        for i in range(200)
    ]
    read = cluster("\n---\n".join(map(json.dumps, documents)))
    found = read.derive(budgeted_pods)

    assert [budget for budget, _ in found.by_budget] == list(read.pod_disruption_budgets)
    for budget, selected in found.by_budget:
        expected = [
            (it, it.templates[0])
            for it in read.workloads
            if it.namespace == budget.namespace
            and budget.fields.selector is not None
            and budget.fields.selector.selects(it.templates[0].labels)
        ]
        assert list(selected) == expected
    for workload in read.workloads:
        own = [it for it, selected in found.by_budget if workload in [each for each, _ in selected]]
        assert list(found.by_template.get(id(workload.templates[0]), ())) == own
    sizes = {len(selected) for _, selected in found.by_budget}
    assert 0 in sizes
    assert max(sizes) > 50
