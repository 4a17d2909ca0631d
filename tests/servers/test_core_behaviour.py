"""Quotas and limit ranges of namespaces: what they refuse, count and fill in."""

import pytest
import yaml

from policygen.core.errors import SpecError
from tests.servers.client import ApiError
from tests.servers.cluster import KUEUE, SCHEDULING
from tests.servers.rendering import rendered
from tests.servers.scenes import ONE, held, jobs, ready
from tests.servers.specs import platform, pool, share, team
from tests.servers.workloads import GPU, Ask, deployment, pod, vcjob

PLAIN = {"scheduler": "kube-scheduler"}
DEFAULTS = {"cpu": "500m", "memory": "1Gi"}
NOTHING = Ask(gpus=0)


def refused(cluster, namespace, ask, name="one-more"):
    return cluster.refusal(pod(name, namespace, ask))


def enforced(cluster, namespace, *resources):
    """Wait until the API server knows the status of the quota: until then it counts no pod."""
    path = cluster.client.resource("v1", "Pod").path(namespace)
    for resource in resources:
        tried = pod("tried", namespace, Ask(gpus=100, resource=resource))
        cluster.until(
            f"a quota of {resource}",
            lambda tried=tried: (
                "exceeded quota"
                in cluster.client.request("POST", path, tried, query={"dryRun": "All"}).message
            ),
        )


def test_a_quota_refuses_the_first_gpu_above_the_limit(cluster):
    ready(cluster, pool(**PLAIN), team("web", share(limit=4)))
    enforced(cluster, "web", GPU)
    cluster.create(*(pod(f"p{i}", "web", ONE) for i in range(4)))
    said = refused(cluster, "web", ONE)
    assert "exceeded quota: default, requested: requests.nvidia.com/gpu=1" in said
    assert "used: requests.nvidia.com/gpu=4, limited: requests.nvidia.com/gpu=4" in said
    cluster.becomes("GPUs in use", cluster.bound, 4)
    cluster.create(pod("no-gpu", "web", NOTHING))
    cluster.delete("v1", "Pod", "p0", "web")
    cluster.until("room for another", lambda: _created(cluster, pod("p4", "web", ONE)))


def test_a_deployment_above_the_limit_runs_up_to_it(cluster):
    ready(cluster, pool(**PLAIN), team("web", share(limit=4)))
    cluster.create(deployment("d", "web", Ask(gpus=1), replicas=7))
    cluster.becomes("GPUs in use", cluster.bound, 4)
    cluster.stays("GPUs in use", cluster.bound, 4, for_s=1)
    assert len(cluster.pods("web")) == 4


@pytest.mark.parametrize(
    "whole, more, what",
    [
        (Ask(gpus=0, cpu="48", memory="1Gi"), Ask(gpus=0, cpu="1m", memory="0"), "requests.cpu"),
        (Ask(gpus=0, cpu="1", memory="384Gi"), Ask(gpus=0, cpu="0", memory="1"), "requests.memory"),
        (Ask(gpus=4), ONE, "requests.nvidia.com/gpu"),
    ],
    ids=["cpu", "memory", "gpu"],
)
def test_cpu_and_memory_above_the_limit_are_refused_if_the_pool_sets_it(cluster, whole, more, what):
    """4 GPUs of 8 come with 48 cores and 384Gi."""
    ready(
        cluster,
        platform(defaults={"containerDefaults": {"cpu": "1m", "memory": "1Mi"}}),
        pool(**PLAIN, quotaCpuAndMemory=True),
        team("web", share(limit=4)),
    )
    enforced(cluster, "web", GPU)
    cluster.create(pod("whole", "web", whole))
    assert f"exceeded quota: default, requested: {what}=" in refused(cluster, "web", more)


def test_each_mig_profile_has_a_bound_of_its_own(cluster):
    small, large = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
    gpu = {
        "product": "NVIDIA-A100-SXM4-80GB",
        "sharing": "mig",
        "mig": {"instances": {"1g.10gb": 8, "3g.40gb": 8}},
    }
    ready(
        cluster,
        pool(gpu=gpu, **PLAIN),
        team("web", share(limit={"1g.10gb": 2, "3g.40gb": 1})),
    )
    enforced(cluster, "web", small, large)
    cluster.create(pod("two", "web", Ask(gpus=2, resource=small)))
    assert f"requested: requests.{small}=1" in refused(cluster, "web", Ask(gpus=1, resource=small))
    cluster.create(pod("one", "web", Ask(gpus=1, resource=large)))
    assert f"requested: requests.{large}=1" in refused(cluster, "web", Ask(gpus=1, resource=large))
    cluster.becomes("small in use", lambda: cluster.bound("web", small), 2)
    cluster.becomes("large in use", lambda: cluster.bound("web", large), 1)


@pytest.mark.parametrize("cores, runs", [(96, True), (97, False)])
def test_container_defaults_above_a_node_keep_every_pod_pending(cluster, cores, runs):
    """container-defaults-exceed-node: the API server adds them to a container, and a node has 96 cores."""
    web = team("web", share(), containerDefaults={"cpu": str(cores), "memory": "1Gi"})
    if runs:
        out = rendered([pool(**PLAIN), web])
    else:
        with pytest.raises(SpecError) as refusal:
            rendered([pool(**PLAIN), web])
        assert [it.rule.name for it in refusal.value.findings] == ["container-defaults-exceed-node"]
        larger = {"totalGPUs": 8, "nodeAllocatable": {"cpu": "100", "memory": "768Gi"}}
        out = rendered([pool(**PLAIN, capacity=larger), web])
    cluster.apply(out.text)
    cluster.add_nodes(rendered([pool(**PLAIN), team("web", share())]).pools["a100"])
    cluster.create(pod("p", "web", Ask(gpus=0, limits=False)))
    [made] = cluster.pods("web")
    assert made["spec"]["containers"][0]["resources"]["requests"]["cpu"] == str(cores)
    if runs:
        cluster.becomes("waiting", lambda: cluster.waiting("web"), [])
    else:
        cluster.stays("waiting", lambda: cluster.waiting("web"), ["p"], for_s=1)


def test_a_share_above_a_node_is_of_no_use(cluster):
    """share-exceeds-node: two nodes with one instance, whose share is the cpu and memory of both."""
    instance = "nvidia.com/mig-7g.40gb"

    def shared(instances):
        gpu = {
            "product": "NVIDIA-A100-SXM4-40GB",
            "sharing": "mig",
            "mig": {"instances": {"7g.40gb": instances}},
            "memory": "40Gi",
        }
        return pool(gpus=16, gpu=gpu, **PLAIN), team("web", share())

    with pytest.raises(SpecError) as refusal:
        rendered(shared(1))
    [found] = refusal.value.findings
    assert found.rule.name == "share-exceeds-node"
    assert "192 cores and 1.5 TiB of memory" in found.message
    ready(cluster, *shared(16))
    cluster.create(pod("share", "web", Ask(gpus=1, resource=instance, cpu="192", memory="1536Gi")))
    cluster.create(pod("node", "web", Ask(gpus=1, resource=instance, cpu="96", memory="768Gi")))
    cluster.becomes("waiting", lambda: cluster.waiting("web"), ["share"])
    cluster.stays("waiting", lambda: cluster.waiting("web"), ["share"], for_s=1)


def test_namespaces_of_a_team_divide_its_limit(cluster):
    """7 over 3 namespaces: 3, 2 and 2."""
    names = ("web-a", "web-b", "web-c")
    ready(cluster, pool(**PLAIN), team("web", share(limit=7), namespaces=names))
    for name, most in zip(names, (3, 2, 2), strict=True):
        enforced(cluster, name, GPU)
        cluster.create(*(pod(f"p{i}", name, ONE) for i in range(most)))
        assert f"limited: requests.nvidia.com/gpu={most}" in refused(cluster, name, ONE)
    cluster.becomes("GPUs in use", cluster.bound, 7)


def test_a_kube_scheduler_pool_guarantees_nothing(cluster):
    """As is reported: who comes first has the GPUs that the other is guaranteed."""
    out = ready(
        cluster,
        pool(**PLAIN),
        team("api", share(guarantee=4)),
        team("web", share(guarantee=4)),
    )
    rules = [finding.rule.name for finding in out.findings]
    assert rules.count("guarantee-not-enforced") == 2
    cluster.create(*(pod(f"p{i}", "web", ONE) for i in range(8)))
    cluster.becomes("web's", lambda: cluster.bound("web"), 8)
    cluster.create(pod("p", "api", ONE))
    cluster.stays("api's", lambda: cluster.waiting("api"), ["p"], for_s=1)


def test_max_pending_bounds_pods_under_kube_scheduler(cluster):
    """A limit of 2 and maxPending 3 give 5 pods, whatever they request; finished pods do not count."""
    ready(cluster, pool(**PLAIN), team("web", share(limit=2), maxPending=3))
    enforced(cluster, "web", GPU)
    cluster.create(*(pod(f"p{i}", "web", NOTHING) for i in range(5)))
    assert "requested: pods=1, used: pods=5, limited: pods=5" in refused(cluster, "web", NOTHING)
    cluster.patch("v1", "Pod", "p0", {"status": {"phase": "Succeeded"}}, "web", "status")
    cluster.until("room for another", lambda: _created(cluster, pod("p5", "web", NOTHING)))


def test_max_pending_holds_jobs_outside_of_kueue(cluster):
    """A limit of 2 and 3 that wait: of 8 Jobs, 5 have a Workload, 2 run; each that goes lets one in."""
    ready(cluster, pool(), team("nlp", share(limit=2), maxPending=3))
    cluster.create(*jobs("nlp", 8))
    workloads = lambda: len(cluster.objects(KUEUE, "Workload", "nlp"))
    cluster.becomes("running", lambda: cluster.bound("nlp"), 2)
    cluster.becomes("Workloads", workloads, 5)
    cluster.stays("Workloads", workloads, 5, for_s=1)
    assert len(cluster.objects("batch/v1", "Job", "nlp")) == 8
    running = cluster.admitted("nlp")
    for name in running:
        cluster.delete("batch/v1", "Job", name, "nlp")
    cluster.until("others run", lambda: len(set(cluster.admitted("nlp")) - set(running)) == 2)
    cluster.becomes("Workloads", workloads, 5)


def test_max_pending_counts_ended_jobs_until_they_are_deleted(cluster):
    """A Workload stays as long as its Job, and the quota counts it."""
    ready(cluster, pool(), team("nlp", share(limit=2), maxPending=0))
    cluster.create(*jobs("nlp", 2))
    _end(cluster, 2)
    cluster.becomes("after both ended", lambda: held(cluster, "nlp"), [0])
    cluster.create(*jobs("nlp", 1, prefix="next"))
    cluster.stays("admitted", lambda: held(cluster, "nlp"), [0], for_s=3)
    cluster.delete("batch/v1", "Job", "nlp-0", "nlp")
    cluster.becomes("admitted", lambda: cluster.admitted("nlp"), ["next-0"])


def test_max_pending_forgets_ended_jobs_whose_workloads_kueue_deletes(cluster):
    """The same with objectRetentionPolicies, and the Jobs stay."""
    out = ready(cluster, pool(), team("nlp", share(limit=2), maxPending=0))
    configuration = yaml.safe_load(out.kueue_config)
    configuration["objectRetentionPolicies"] = {"workloads": {"afterFinished": "1s"}}
    with cluster.kueue(configuration):
        cluster.create(*jobs("nlp", 2))
        _end(cluster, 2)
        cluster.create(*jobs("nlp", 2, prefix="next"))
        cluster.becomes("admitted", lambda: cluster.admitted("nlp"), ["next-0", "next-1"])
    assert len(cluster.objects("batch/v1", "Job", "nlp")) == 4


def test_max_pending_holds_jobs_outside_of_volcano(cluster):
    """A limit of 2 and 1 that waits: of 5 vcjobs, 3 have a PodGroup."""
    out = ready(cluster, pool(scheduler="volcano"), team("nlp", share(limit=2), maxPending=1))
    assert out.of("ResourceQuota")
    cluster.create(*(vcjob(f"v{i}", "nlp", ONE, queue="nlp.a100") for i in range(5)))
    groups = lambda: len(cluster.objects(SCHEDULING, "PodGroup", "nlp"))
    cluster.becomes("PodGroups", groups, 3)
    cluster.becomes("running", lambda: cluster.bound("nlp"), 2)
    cluster.stays("PodGroups", groups, 3, for_s=1)


def test_max_pending_forgets_ended_vcjobs(cluster):
    """Volcano deletes their PodGroups."""
    ready(cluster, pool(scheduler="volcano"), team("nlp", share(limit=2), maxPending=0))
    cluster.create(*(vcjob(f"v{i}", "nlp", ONE, queue="nlp.a100") for i in range(2)))
    _end(cluster, 2)
    cluster.create(*(vcjob(f"next-{i}", "nlp", ONE, queue="nlp.a100") for i in range(2)))
    cluster.becomes("running", lambda: cluster.bound("nlp"), 2)
    assert len(cluster.objects("batch.volcano.sh/v1alpha1", "Job", "nlp")) == 4


@pytest.mark.parametrize("backstop", [True, False])
def test_a_backstop_refuses_pods_that_pass_by_kueue(cluster, backstop):
    ready(cluster, pool(quotaBackstop=backstop), team("nlp", share(guarantee=2, limit=4)))
    cluster.create(*jobs("nlp", 6))
    cluster.becomes("queued ones run", lambda: cluster.bound("nlp"), 4)
    by = pod("passes-by", "nlp", ONE)
    if backstop:
        enforced(cluster, "nlp", GPU)
        assert "limited: requests.nvidia.com/gpu=4" in cluster.refusal(by)
    else:
        cluster.create(by)
        cluster.becomes("with the one that passed by", lambda: cluster.bound("nlp"), 5)


def test_a_backstop_is_at_the_limit_in_each_namespace(cluster):
    """So the queue alone decides where in its namespaces a team uses its limit."""
    names = ("nlp-a", "nlp-b")
    ready(cluster, pool(quotaBackstop=True), team("nlp", share(limit=4), namespaces=names))
    cluster.create(*jobs("nlp-a", 3))
    cluster.becomes("first", lambda: cluster.bound("nlp-a"), 3)
    cluster.create(*jobs("nlp-b", 3))
    cluster.becomes("second", lambda: cluster.bound("nlp-b"), 1)
    enforced(cluster, "nlp-b", GPU)
    assert "limited: requests.nvidia.com/gpu=4" in refused(cluster, "nlp-b", Ask(gpus=4))


def test_a_container_without_a_gpu_request_has_no_gpu(cluster):
    ready(
        cluster,
        pool(**PLAIN, quotaCpuAndMemory=True),
        team("web", share(limit=4), containerDefaults=DEFAULTS),
    )
    cluster.create(pod("silent", "web", Ask(gpus=0, limits=False)), pod("one", "web", ONE))
    assert _requests(cluster, "silent") == DEFAULTS
    assert _requests(cluster, "one") == {**DEFAULTS, GPU: "1"}
    cluster.becomes("running", lambda: cluster.waiting("web"), [])
    assert cluster.bound("web") == 1


def test_without_defaults_a_quota_of_cpu_refuses_a_silent_container(cluster):
    """The control: what the LimitRange is for."""
    out = rendered(
        [
            pool(**PLAIN, quotaCpuAndMemory=True),
            team("web", share(limit=4), containerDefaults=DEFAULTS),
        ]
    )
    cluster.apply(out.text)
    cluster.delete("v1", "LimitRange", "default", "web")
    silent = pod("silent", "web", NOTHING)
    assert "must specify requests.cpu for: main; requests.memory for: main" in cluster.refusal(
        silent
    )


def _requests(cluster, name):
    [container] = cluster.get("v1", "Pod", name, "web")["spec"]["containers"]
    return container["resources"]["requests"]


def _end(cluster, count):
    """Wait until so many pods run in nlp, and let them succeed."""

    def running():
        return [pod["status"].get("phase") for pod in cluster.pods("nlp")].count("Running")

    cluster.becomes("running", running, count)  # only bound ones kwok would set to Running again
    for each in cluster.pods("nlp"):
        name = each["metadata"]["name"]
        cluster.patch("v1", "Pod", name, {"status": {"phase": "Succeeded"}}, "nlp", "status")


def _created(cluster, thing):
    try:
        cluster.create(thing)
    except ApiError:
        return False
    return True


def test_a_runtime_class_adds_its_selector_and_tolerations(cluster):
    toleration = {"key": "sandbox", "operator": "Exists", "effect": "NoSchedule"}
    kind = ("node.k8s.io/v1", "RuntimeClass", "kata")
    scheduling = {"nodeSelector": {"runtime": "kata"}, "tolerations": [toleration]}
    cluster.create(
        {
            "apiVersion": kind[0],
            "kind": kind[1],
            "metadata": {"name": kind[2]},
            "handler": "kata",
            "scheduling": scheduling,
        }
    )
    sandboxed = pod("a", "vision", NOTHING)
    sandboxed["spec"]["runtimeClassName"] = kind[2]
    cluster.create(sandboxed)
    [stored] = cluster.objects("v1", "Pod", "vision")
    cluster.delete(*kind)
    assert stored["spec"]["nodeSelector"] == scheduling["nodeSelector"]
    assert toleration in stored["spec"]["tolerations"]
