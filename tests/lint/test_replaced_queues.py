"""Sums over queues name those that were written by hand, if rendered queues are beside them."""

import pytest

from policygen.lint.volcano.rules import deserved_exceeds_cluster, guarantees_exceed_cluster
from tests.objects import facts

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: 96, memory: 900Gi, nvidia.com/gpu: 8}}
"""
QUEUE = """---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: NAME, labels: {LABELS}}
spec: {SPEC}
"""
AMOUNTS = "{nvidia.com/gpu: 8}"
SET = "policygen.dev/set: lab"


@pytest.mark.parametrize(
    ("rule", "spec"),
    [
        (deserved_exceeds_cluster.RULE, f"deserved: {AMOUNTS}"),
        (guarantees_exceed_cluster.RULE, f"guarantee: {{resource: {AMOUNTS}}}"),
    ],
)
@pytest.mark.parametrize(
    ("labels", "advice"),
    [
        (
            ("", "", SET),
            "; if the rendered queues replace Queue a and Queue b, remove them, otherwise lower ",
        ),
        (("", SET, SET), "; if the rendered queues replace Queue a, remove it, otherwise lower "),
        (("", "", ""), "; lower "),
        ((SET, SET, SET), "; lower "),
    ],
)
def test_queues_by_hand_beside_rendered_queues_are_named(rule, spec, labels, advice):
    queues = [
        QUEUE.replace("NAME", name).replace("LABELS", it).replace("SPEC", spec)
        for name, it in zip("abc", labels, strict=True)
    ]
    (hit,) = rule.check(facts(NODE + "".join(queues)))
    assert advice in hit.message
