"""A fault of one object is reported once, and not again for each object that uses it.

The manifests are those of a cluster without a spec: nodes, queues of Kueue and Volcano, and the workloads of
three teams.
"""

import shutil
from datetime import date
from pathlib import Path

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest
from policygen.core.rule import Severity

MANIFESTS = Path(__file__).parent / "cluster_manifests"
TODAY = date(2026, 11, 21)
VISION = "kind: ClusterQueue\nmetadata: {name: vision}"
RESEARCH = "kind: ClusterQueue\nmetadata: {name: research}"
SLICES = "kind: ResourceFlavor\nmetadata: {name: slices}"
QUEUED_CPU = """\
    - coveredResources: [cpu, memory, nvidia.com/mig-1g.10gb, nvidia.com/mig-3g.40gb]
      flavors:
        - name: slices
          resources:
            - {name: cpu, nominalQuota: 188}
            - {name: memory, nominalQuota: 2200Gi}
"""
OTHER_FLAVOR = """\
    - coveredResources: [cpu, memory]
      flavors:
        - name: a100
          resources:
            - {name: cpu, nominalQuota: 0}
            - {name: memory, nominalQuota: 0}
    - coveredResources: [nvidia.com/mig-1g.10gb, nvidia.com/mig-3g.40gb]
      flavors:
        - name: slices
          resources:
"""
GPU = "            - {name: nvidia.com/gpu, nominalQuota: 16, borrowingLimit: 8}\n"


def found(folder, *edits):
    """The rules and messages of the findings above info after edits of a copy of the manifests.

    An edit is a file, a text in it after which the edit begins, the old and the new text.
    """
    shutil.copytree(MANIFESTS, folder)
    for file, start, old, new in edits:
        path = folder / file
        head, middle, tail = path.read_text("utf-8").partition(start)
        assert middle, start
        assert old in tail, old
        path.write_text(head + middle + tail.replace(old, new, 1), "utf-8")
    report = app_lint.lint(LintRequest(manifests=(str(folder),)), today=TODAY)
    return [(it.rule.name, it.message) for it in report.findings if it.severity != Severity.INFO]


def test_the_manifests_are_sound(tmp_path):
    assert found(tmp_path / "manifests") == []


@pytest.mark.parametrize(
    ("edits", "rule", "words"),
    [
        (
            [("queues.yaml", SLICES, "gpu-type: slices", "gpu-type: mig")],
            "flavor-matches-no-node",
            "no node has label example.com/gpu-type: mig, which ResourceFlavor slices requires",
        ),
        (
            [("queues.yaml", "name: slices, namespace: vision", "Queue: vision", "Queue: search")],
            "namespace-not-selected",
            "write clusterQueue: vision, which selects it",
        ),
        (
            [
                ("queues.yaml", RESEARCH, "memory, nvidia.com/gpu]", "memory]"),
                ("queues.yaml", RESEARCH, GPU, ""),
            ],
            "request-not-covered",
            (
                "JobSet research/rl, LeaderWorkerSet research/sharded, RayCluster research/tune and 1 other workload "
                "request nvidia.com/gpu, which ClusterQueue research does not cover; nodes have it"
            ),
        ),
        (
            [("research.yaml", "name: pretrain", "Name: volcano", "Name: default-scheduler")],
            "gang-scheduler-not-volcano",
            "write schedulerName: volcano in spec",
        ),
        (
            [("vision.yaml", "image: example.com/distill:7", "nvidia.com/gpu", "amd.com/gpu")] * 2,
            "pod-fits-no-node",
            'lack amd.com/gpu; did you mean "nvidia.com/gpu"?',
        ),
        (
            [("search.yaml", "name: ranker", "topology.kubernetes.io/zone", "example.com/rack")],
            "pod-fits-no-node",
            "label the nodes, or write another topologyKey",
        ),
        (
            [
                (
                    "namespaces.yaml",
                    "ResourceQuota",
                    'namespace: search}\nspec:\n  hard: {pods: "80"}',
                    'namespace: research}\nspec:\n  hard: {limits.cpu: "8000"}',
                )
            ],
            "quota-without-defaults",
            (
                "not every container of Job research/pretrain, JobSet research/rl, LeaderWorkerSet research/sharded "
                "and 1 other workload sets limits.cpu"
            ),
        ),
        (
            [("vision.yaml", "name: notebook,", "mig-1g.10gb", "gpu")] * 2,
            "request-not-covered",
            'does not cover; did you mean "nvidia.com/mig-3g.40gb"?',
        ),
        (
            [("queues.yaml", "kind: Queue\nmetadata: {name: vision}", '"380"', '"0"')],
            "deserved-above-capability",
            "above its capability of 0 cores; raise capability, because 0 means no limit",
        ),
        (
            [("research.yaml", "name: pretrain", "nvidia.com/gpu: 8", "nvidia.com/gpu: 4")] * 2,
            "gpus-left-unusable",
            "because cpu runs out first; request at most 95 cores and 950 GiB of memory in each pod",
        ),
        (
            [("search.yaml", "name: gateway", "replicas: 2", "replicas: 5")],
            "replicas-exceed-nodes",
            "lower the number of pods and write maxUnavailable: 1 and maxSurge: 0, or relax the constraint",
        ),
        (
            [("search.yaml", "PodDisruptionBudget", "minAvailable: 2", "minAvailable: 3")],
            "budget-blocks-drain",
            "write maxUnavailable: 1 instead of minAvailable",
        ),
    ],
)
def test_a_fault_is_reported_once(edits, rule, words, tmp_path):
    result = found(tmp_path / "manifests", *edits)
    assert [it[0] for it in result] == [rule], result
    assert words in result[0][1]


def test_flavors_of_two_groups_are_reported_and_not_the_jobs_that_select_one(tmp_path):
    edits = [("queues.yaml", VISION, QUEUED_CPU, OTHER_FLAVOR)]
    result = found(tmp_path / "manifests", *edits)
    assert "workload-fits-no-flavor" not in {it[0] for it in result}
    assert [it[0] for it in result].count("flavor-labels-collide") == 1


def test_two_names_of_one_cohort_are_reported_once(tmp_path):
    edits = [("queues.yaml", RESEARCH, "cohortName: shared", "cohortName: shard")]
    messages = [it[1] for it in found(tmp_path / "manifests", *edits) if it[0] == "cohort-of-one"]
    assert messages == [
        (
            'ClusterQueue search is alone in cohort "shared", and ClusterQueue research in cohort "shard", so they '
            "can neither borrow nor lend; write the same cohort in both"
        )
    ]


def test_a_similar_namespace_that_has_the_queue_is_proposed(tmp_path):
    shutil.copytree(MANIFESTS, tmp_path / "manifests")
    (tmp_path / "manifests" / "namespaces.yaml").unlink()  # else namespace-missing reports it
    job = tmp_path / "manifests" / "search.yaml"
    job.write_text(
        job.read_text("utf-8").replace("namespace: search", "namespace: saerch", 1), "utf-8"
    )
    report = app_lint.lint(LintRequest(manifests=(str(tmp_path / "manifests"),)), today=TODAY)
    messages = [
        it.message for it in report.findings if it.rule.name == "workload-without-local-queue"
    ]
    assert len(messages) == 1
    assert messages[0].endswith('did you mean namespace "search"?')
