"""Documents of our own forms become typed parts of the spec, with their defaults."""

import pytest

from policygen.core.versions import Version
from policygen.spec.types import Autoscaling

HEAD = "apiVersion: policygen.dev/v1alpha1\nkind: {}\nmetadata: {{name: {}}}\nspec: {}\n"


@pytest.fixture
def read(planned, pool):
    """The spec with a document of these fields, and the rules of its findings."""

    def spec(kind, fields, name="it"):
        found = planned(pool(), HEAD.format(kind, name, fields))
        return found.loaded.spec, found.rules

    return spec


def test_a_platform_without_settings_has_defaults(read):
    it = read("Platform", "{}")[0].platform
    assert (it.scheduler, it.target.kueue, it.priorities) == ("kueue", Version(0, 19), ())
    assert (it.kueue.namespace, it.volcano.namespace) == ("kueue-system", "volcano-system")
    assert (it.kube_scheduler.namespace, it.kube_scheduler.image) == ("kube-system", None)


def test_settings_of_a_platform(read):
    it = read(
        "Platform",
        '{target: {kueue: "0.14"}, priorities: [{name: a, value: 5, preempts: false}, {name: b, value: 9}], '
        "defaults: {scheduler: volcano}, lint: {severities: {cohort-of-one: off}, "
        "waivers: [{rule: cohort-of-one, reason: r, expires: 2026-12-31}]}}",
    )[0].platform
    assert (it.target.kueue, it.scheduler) == (Version(0, 14), "volcano")
    assert [(each.name, each.value, each.preempts) for each in it.priorities] == [
        *(("a", 5, False), ("b", 9, True)),
    ]
    assert it.lint.severities == (("cohort-of-one", "off"),)
    assert it.lint.waivers[0].expires == "2026-12-31"


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ('{target: {kueue: "0.12"}}', "unsupported-target"),
        (
            "{lint: {waivers: [{rule: cohort-of-one, reason: r, expires: '2026-02-30'}]}}",
            "invalid-value",
        ),
        ("{defaults: {schedulingPolicy: {binPack: true, spread: true}}}", "pack-and-spread"),
    ],
)
def test_what_no_schema_can_tell(read, fields, rule):
    assert rule in read("Platform", fields)[1]


def test_a_team(read):
    spec, _ = read(
        "Team",
        "{namespaces: [{name: a}, {name: b, create: true}], maxPending: 3, "
        "quotas: [{pool: p, guarantee: 2, cpu: {limit: 8}}]}",
    )
    (team,) = spec.teams
    assert [(it.name, it.create) for it in team.namespaces] == [("a", False), ("b", True)]
    (quota,) = team.quotas
    assert (quota.guarantee, quota.limit, quota.weight) == ((("", 2),), None, 1)
    assert (quota.cpu.guarantee, quota.cpu.limit, team.max_pending) == (None, 8000, 3)


def test_a_model(read):
    spec, _ = read(
        "Model",
        "{team: t, family: llama, size: 8b, resources: {gpuMemory: 16Gi, cpu: 500m}, "
        "gang: {size: 4}, autoscaling: {minReplicas: 0, maxReplicas: 3}, placement: {pools: [p]}}",
    )
    (it,) = spec.models
    assert (it.workload, it.gpu_memory_bytes, it.cpu_milli) == ("serving", 16 << 30, 500)
    assert (it.gang.size, it.gang.run_as) == (4, "pods")
    assert it.autoscaling == Autoscaling(0, 3, None)
    assert (it.placement.pools, it.placement.tolerate_preemptible) == (("p",), False)
