"""The pod sets of the Workloads of each kind."""

from fractions import Fraction

import pytest

from policygen.simulate.kueue.pod_sets import NotQueuedError, groups, of_pods, pod_sets
from tests.objects import cluster, workload

POD = "{spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}"
RAY = f"""headGroupSpec: {{template: {POD}}}, workerGroupSpecs: [
  {{groupName: Small, replicas: 2, template: {POD}}}, {{groupName: big, numOfHosts: 4, template: {POD}}}]"""


def made(group, kind, spec, metadata="name: j"):
    return workload(
        f"{{apiVersion: {group}/v1, kind: {kind}, metadata: {{{metadata}}}, spec: {{{spec}}}}}"
    )


def replicas(field, *types):
    return (
        f"{field}: {{"
        + ", ".join(f"{it}: {{replicas: {i + 1}, template: {POD}}}" for i, it in enumerate(types))
        + "}"
    )


@pytest.mark.parametrize(
    ("it", "sets", "count"),
    [
        (made("batch", "Job", f"template: {POD}"), [("main", 1)], 1),
        (made("batch", "Job", f"parallelism: 5, completions: 3, template: {POD}"), [("main", 3)], 1),
        (made("apps", "StatefulSet", f"replicas: 3, template: {POD}"), [("main", 3)], 1),
        (made("apps", "StatefulSet", f"replicas: 0, template: {POD}"), [("main", 0)], 0),
        (made("apps", "Deployment", f"replicas: 3, template: {POD}"), [("main", 1)], 3),
        (made("apps", "ReplicaSet", f"template: {POD}"), [("main", 1)], 1),
        (
            made("jobset.x-k8s.io", "JobSet", f"""replicatedJobs: [
              {{name: Driver, template: {{spec: {{template: {POD}}}}}}},
              {{name: worker, replicas: 2, template: {{spec: {{parallelism: 4, completions: 3, template: {POD}}}}}}}]"""),
            [("driver", 1), ("worker", 6)], 1,
        ),
        (
            made("leaderworkerset.x-k8s.io", "LeaderWorkerSet", f"replicas: 2, leaderWorkerTemplate: {{size: 4, workerTemplate: {POD}}}"),
            [("main", 4)], 2,
        ),
        (
            made("leaderworkerset.x-k8s.io", "LeaderWorkerSet", f"leaderWorkerTemplate: {{size: 4, leaderTemplate: {POD}, workerTemplate: {POD}}}"),
            [("leader", 1), ("worker", 3)], 1,
        ),
        (made("kubeflow.org", "PyTorchJob", replicas("pytorchReplicaSpecs", "Worker", "Master")), [("master", 2), ("worker", 1)], 1),
        (made("kubeflow.org", "TFJob", replicas("tfReplicaSpecs", "Evaluator", "PS", "Chief")), [("chief", 3), ("ps", 2), ("evaluator", 1)], 1),
        (made("kubeflow.org", "MPIJob", replicas("mpiReplicaSpecs", "Worker", "Launcher")), [("launcher", 2), ("worker", 1)], 1),
        (
            made("workload.codeflare.dev", "AppWrapper", f"""components: [
              {{template: {{apiVersion: batch/v1, kind: Job, spec: {{parallelism: 4, completions: 3, template: {POD}}}}}}},
              {{template: {{apiVersion: v1, kind: Service, spec: {{}}}}}},
              {{template: {{apiVersion: ray.io/v1, kind: RayCluster, spec: {{{RAY}}}}}}}]"""),
            [("j-0", 3), ("j-1", 1), ("j-2", 2), ("j-3", 4)], 1,
        ),
        (made("ray.io", "RayCluster", RAY), [("head", 1), ("small", 2), ("big", 4)], 1),
        (made("ray.io", "RayService", f"rayClusterConfig: {{{RAY}}}"), [("head", 1), ("small", 2), ("big", 4)], 1),
        (made("ray.io", "RayJob", f"rayClusterSpec: {{{RAY}}}"), [("head", 1), ("small", 2), ("big", 4), ("submitter", 1)], 1),
        (made("ray.io", "RayJob", f"submissionMode: HTTPMode, rayClusterSpec: {{{RAY}}}"), [("head", 1), ("small", 2), ("big", 4)], 1),
    ],
)  # fmt: skip
def test_names_and_counts(it, sets, count):
    assert [(found.name, found.count) for found in pod_sets(it)] == sets
    assert groups(it) == count


def head(spec, metadata="name: j", kind="RayCluster"):
    found = pod_sets(made("ray.io", kind, spec, metadata))[0]
    return found.template.spec.requests


def test_what_kube_ray_adds_to_the_head():
    """cpu 1 of its own; memory in Mi."""
    mi = 2**20
    autoscaled = f"enableInTreeAutoscaling: true, {RAY}"
    assert head(RAY) == {"cpu": 1}
    assert head(autoscaled) == {"cpu": Fraction(3, 2), "memory": 512 * mi}
    options = "autoscalerOptions: {resources: {requests: {cpu: 2}}}"
    assert head(f"{options}, {autoscaled}") == {"cpu": 3}
    tolerant = {"cpu": 1, "memory": 256 * mi}
    assert head(RAY, "name: j, annotations: {ray.io/ft-enabled: 'True'}") == tolerant
    assert head(f"gcsFaultToleranceOptions: {{}}, {RAY}") == tolerant
    sidecar = f"submissionMode: SidecarMode, rayClusterSpec: {{{RAY}}}"
    assert head(sidecar, kind="RayJob") == {"cpu": Fraction(3, 2), "memory": 200 * mi}


def test_the_submitter_of_a_ray_job():
    it = made("ray.io", "RayJob", f"submitterPodTemplate: {POD}, rayClusterSpec: {{{RAY}}}")
    assert pod_sets(it)[-1].template.spec.requests == {"cpu": 1}
    it = made("ray.io", "RayJob", f"rayClusterSpec: {{{RAY}}}")
    assert pod_sets(it)[-1].template.spec.requests == {"cpu": Fraction(1, 2), "memory": 200 * 2**20}


@pytest.mark.parametrize(("text", "fewest"), [("2", 2), ("two", None)])
def test_partial_admission(text, fewest):
    annotation = f"name: j, annotations: {{kueue.x-k8s.io/job-min-parallelism: '{text}'}}"
    (found,) = pod_sets(made("batch", "Job", f"parallelism: 5, template: {POD}", annotation))
    assert found.min_count == fewest


@pytest.mark.parametrize(
    ("it", "reason"),
    [
        (made("batch", "Job", "parallelism: 1"), "its pod template is missing"),
        (
            made("ray.io", "RayJob", f"submitterPodTemplate: {{spec: {{containers: 1}}}}, rayClusterSpec: {{{RAY}}}"),
            "its field submitterPodTemplate.spec cannot be read",
        ),
    ],
)  # fmt: skip
def test_pods_that_are_not_known(it, reason):
    with pytest.raises(NotQueuedError, match=reason):
        pod_sets(it)


def group(*specs, total=None):
    it = cluster(
        "\n---\n".join(
            f"{{apiVersion: v1, kind: Pod, metadata: {{name: p{i}}}, spec: {{{spec}}}}}"
            for i, spec in enumerate(specs)
        )
    )
    return of_pods(it, it.workloads, total)


ONE, LIMIT, TWO = (
    f"containers: [{{resources: {{{kind}: {{cpu: {cpu}}}}}}}]"
    for kind, cpu in (("requests", 1), ("limits", 1), ("requests", 2))
)


@pytest.mark.parametrize(
    ("specs", "counts"),
    [
        ((ONE, ONE, TWO), [2, 1]),
        ((ONE, LIMIT), [2]),
        ((ONE, f"nodeSelector: {{a: b}}, {ONE}"), [1, 1]),
        ((ONE, f"{ONE}, initContainers: [{{}}]"), [1, 1]),
        ((ONE, ONE.replace("[{", "[{ports: [{containerPort: 1}], ")), [1, 1]),
    ],
)
def test_pods_of_a_group_with_equal_specs_are_one_pod_set(specs, counts):
    found = group(*specs)
    assert sorted((it.count for it in found), reverse=True) == counts
    assert sorted(it.name for it in found) == [it.name for it in found]


def test_with_fast_admission_the_first_pod_counts_for_all():
    (found,) = group(ONE, TWO, total=5)
    assert (found.count, found.template.spec.requests) == (5, {"cpu": 1})
