"""A VerticalPodAutoscaler observes an object of each model, and changes nothing."""

from tests.plan.model_specs import a100, models, quotas

VPA = frozenset({"vpa"})
SCHEDULE = 'schedule: {cron: "0 22 * * *", timeZone: UTC, hours: 8}'
FORMS = {
    "chat": "resources: {gpus: 1}, replicas: 2",
    "gangs": "resources: {gpus: 1}, gang: {size: 2}, replicas: 2",
    "train": "workload: training, resources: {gpus: 1}, replicas: 3",
    "night": f"workload: batch, resources: {{gpus: 1}}, {SCHEDULE}",
    "vcjob": "workload: training, resources: {gpus: 1}, gang: {size: 2, runAs: vcjob}, placement: {pools: [v]}",
}


def test_one_object_of_each_model_is_observed(planned):
    teams = quotas("a", "pool: p, guarantee: 8", "pool: v, guarantee: 8")
    pools = a100(), a100("v", more="      scheduler: volcano")
    done = planned(*pools, teams, models("a", **FORMS), extras=VPA)
    found = done.of("VerticalPodAutoscaler")
    assert {name: (it.target.kind, it.target.name) for name, it in found.items()} == {
        "a-ns/chat": ("Deployment", "chat"),
        "a-ns/gangs": ("StatefulSet", "gangs-0"),
        "a-ns/train": ("Job", "train-0"),
        "a-ns/night": ("CronJob", "night"),
    }
    assert not done.of("Deployment")
