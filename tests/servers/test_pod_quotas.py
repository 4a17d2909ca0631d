"""What ResourceQuotas count of pods, by the API server and by policygen; and Jobs whose pods they refuse."""

from fractions import Fraction

import yaml

from policygen.core import quantity
from policygen.kubernetes.pod_quotas import charge, counts, priority_class_of, unset
from tests.objects import cluster as objects
from tests.servers.workloads import GPU, Ask, job, pod

HARD = ("pods", "count/pods", "cpu", "requests.memory", "limits.cpu", "limits.memory",
        f"requests.{GPU}", "requests.ephemeral-storage")  # fmt: skip
OF_SCOPES = ("pods", "cpu", "requests.memory", "limits.cpu", "limits.memory")
"""Other keys are refused in a quota with scopes."""
SCOPES = {
    "all": {},
    "terminating": {"scopes": ["Terminating"]},
    "not-terminating": {"scopes": ["NotTerminating"]},
    "best-effort": {"scopes": ["BestEffort"]},
    "not-best-effort": {"scopes": ["NotBestEffort"]},
    "crossing": {"scopes": ["CrossNamespacePodAffinity"]},
    **{
        f"class-{operator.lower()}": {
            "scopeSelector": {
                "matchExpressions": [
                    {"scopeName": "PriorityClass", "operator": operator}
                    | ({"values": ["high"]} if operator in ("In", "NotIn") else {})
                ]
            }
        }
        for operator in ("In", "NotIn", "Exists", "DoesNotExist")
    },
}
AFFINITY = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {}, "namespaces": ["b"], "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}


def quota(name, hard, **more):
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "a"},
        "spec": {"hard": dict.fromkeys(hard, "1000"), **more},
    }


def changed(name, ask, **fields):
    made = pod(name, "a", ask)
    made["spec"] |= fields
    return made


def pods():
    full = Ask(gpus=1, cpu="1500m", memory="2Gi")
    init = changed("init", full)
    init["spec"]["initContainers"] = [
        {**init["spec"]["containers"][0], "name": "first",
         "resources": {"limits": {"cpu": "3", "memory": "1Gi", "ephemeral-storage": "1Gi"}}},
        {**init["spec"]["containers"][0], "name": "beside", "restartPolicy": "Always",
         "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}},
    ]  # fmt: skip
    return [
        changed("plain", full),
        changed("best", Ask(gpus=1)),
        changed("nothing", Ask(gpus=0)),
        changed("deadline", full, activeDeadlineSeconds=3600),
        changed("high", Ask(gpus=0, cpu="1", memory="1Gi", priority="high")),
        changed("crossing", Ask(gpus=0), affinity=AFFINITY),
        changed("level", full, resources={"limits": {"cpu": "4", "memory": "8Gi"}}),
        init,
    ]


def test_status_counts_what_policygen_counts(cluster):
    """Ten scopes with eight pods. Quotas of cpu and memory have no scope that makes containers set them."""
    cluster.namespace("a")
    cluster.create(
        {
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"},
            "value": 1000,
        }
    )  # fmt: skip
    made = pods()
    cluster.create(*made)
    quotas = [
        quota(
            name, HARD if name == "all" else ("pods",) if name == "best-effort" else OF_SCOPES, **it
        )
        for name, it in SCOPES.items()
    ]
    cluster.create(*quotas)
    seen = objects(yaml.safe_dump_all([*made, *quotas]))
    specs = [it.templates[0].spec for it in seen.workloads]
    for entry in seen.resource_quotas:
        mine = [it for it in specs if counts(entry.fields, it, priority_class_of(seen, it))]
        want = {
            key: sum((charge(it, key) for it in mine), Fraction(0)) for key in entry.fields.hard
        }
        cluster.becomes(
            entry.name,
            lambda name=entry.name: {
                key: quantity.parse(amount).value
                for key, amount in cluster.get("v1", "ResourceQuota", name, "a")
                .get("status", {})
                .get("used", {})
                .items()
            },
            want,
        )
    for it, spec in zip(made, specs, strict=True):
        again = {**it, "metadata": {**it["metadata"], "name": "again"}}
        missing = {
            entry.name: keys
            for entry in seen.resource_quotas
            if counts(entry.fields, spec, priority_class_of(seen, spec))
            and (keys := unset(entry.fields, spec))
        }
        said = cluster.refusal(again) if missing else ""
        assert bool(missing) is ("must specify" in said)
        assert not missing or any(f"failed quota: {name}:" in said for name in missing)


def test_a_job_creates_the_pods_that_its_quota_allows_and_the_others_later(cluster):
    cluster.namespace("a")
    cluster.create(quota("q", ("pods",)) | {"spec": {"hard": {"pods": "2"}}})
    cluster.until(
        "the quota",
        lambda: cluster.get("v1", "ResourceQuota", "q", "a").get("status", {}).get("used"),
    )
    cluster.create(job("j", "a", Ask(gpus=0), pods=3))
    cluster.becomes("pods", lambda: len(cluster.pods("a")), 2)
    cluster.stays("pods", lambda: len(cluster.pods("a")), 2, for_s=1)
    cluster.patch("v1", "ResourceQuota", "q", {"spec": {"hard": {"pods": "3"}}}, "a")
    cluster.becomes("pods", lambda: len(cluster.pods("a")), 3)
