"""Advice never proposes the queue of another team."""

from datetime import date

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest

TODAY = date(2026, 11, 21)

CLUSTER_QUEUE = """\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec: {{namespaceSelector: {selector}}}
"""
LOCAL_QUEUE = """\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: gpu, namespace: {namespace}}}
spec: {{clusterQueue: {queue}}}
"""
QUEUE = """\
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}}}
spec: {{reclaimable: true, weight: 1, parent: {parent}}}
"""
POD_GROUP = """\
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: gang, namespace: {namespace}}}
spec: {{minMember: 1, queue: {queue}}}
"""


@pytest.fixture
def advice(tmp_path):
    """The end of the only message of a rule."""

    def run(rule, *texts, specs=()):
        file = tmp_path / "one.yaml"
        file.write_text("".join(texts), "utf-8")
        request = LintRequest(specs, manifests=(str(file),), only=(rule,))
        (finding,) = (
            it for it in app_lint.lint(request, today=TODAY).findings if it.rule.name == rule
        )
        return finding.message.rpartition("; ")[2], finding.related

    return run


def only(namespace):
    return f"{{matchLabels: {{kubernetes.io/metadata.name: {namespace}}}}}"


@pytest.mark.parametrize(
    ("selector", "user", "proposed"),
    [
        (only("team-a"), None, False),
        (only("team-b"), "team-a", True),
        ("{}", None, True),
        ("{}", "team-a", False),
        ("{matchLabels: {gpus: allowed}}", None, True),
        ("{matchLabels: {gpus: allowed}}", "team-a", False),
    ],
)
def test_a_cluster_queue_of_another_namespace_is_not_proposed(advice, selector, user, proposed):
    text, _ = advice(
        "local-queue-without-cluster-queue",
        CLUSTER_QUEUE.format(name="team-a.gpu", selector=selector),
        LOCAL_QUEUE.format(namespace=user, queue="team-a.gpu") if user else "",
        LOCAL_QUEUE.format(namespace="team-b", queue="team-b.gpu"),
    )
    near = 'did you mean "team-a.gpu"?'
    assert text == (
        near if proposed else "create it, or write the name of a ClusterQueue for namespace team-b"
    )


@pytest.mark.parametrize(("user", "proposed"), [(None, True), ("team-a", False), ("team-b", True)])
def test_a_queue_that_only_other_namespaces_use_is_not_proposed(advice, user, proposed):
    group = (
        POD_GROUP.format(namespace=user, queue="team-a").replace("gang", "other") if user else ""
    )
    text, _ = advice(
        "gang-without-queue",
        QUEUE.format(name="team-a", parent="root"),
        group,
        POD_GROUP.format(namespace="team-b", queue="team-b"),
    )
    near = 'did you mean "team-a"?'
    assert text == (
        near if proposed else "create this queue, or write the name of a queue of your team"
    )


@pytest.mark.parametrize(
    ("queue", "advised"),
    [
        ("robotic.h100", 'did you mean "robotics.h100"?'),
        ("speechs.h100", "create this queue, or write the name of a queue of your team"),
        ("defaul", 'did you mean "default"?'),
    ],
)
def test_the_spec_tells_whose_queue_it_is(advice, queue, advised):
    gang = POD_GROUP.format(namespace="robotics", queue=queue)
    specs = ("examples/volcano-training/policy.yaml",)
    assert advice("gang-without-queue", gang, specs=specs)[0] == advised


def test_no_leaf_of_another_team_is_proposed(advice):
    queues = QUEUE.format(name="gpu", parent="root") + QUEUE.format(name="a", parent="gpu")
    gang = POD_GROUP.format(namespace="b", queue="gpu")
    assert advice("gang-in-non-leaf-queue", queues, gang) == ("use a queue below gpu", ())
