"""What workloads written by hand do, as models: container, checkpoint, schedule and availability."""

import json

import pytest

from policygen.spec.types import Availability, Checkpoint, ModelContainer, ModelSchedule
from tests.adopt.round_trip import adopted
from tests.adopt.test_infer import HAND

MAIN = {"name": "x", "image": "y", "resources": {"limits": {"nvidia.com/gpu": 1}}}
NODES = "kubernetes.io/hostname"


def pods(container=(), **spec):
    template = {"containers": [{**MAIN, **dict(container)}], **spec}
    return {"metadata": {"labels": {"app": "m"}}, "spec": template}


def thing(version, kind, name="m", **spec):
    metadata = {"name": name, "namespace": "a"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def deployment(template, replicas=3):
    return thing("apps/v1", "Deployment", replicas=replicas, template=template)


def cron(schedule="0 3 * * *", deadline=7200, **spec):
    job = {"template": pods(restartPolicy="Never")}
    if deadline:
        job["activeDeadlineSeconds"] = deadline
    return thing("batch/v1", "CronJob", schedule=schedule, jobTemplate={"spec": job}, **spec)


def budget(**spec):
    return thing("policy/v1", "PodDisruptionBudget", selector={"matchLabels": {"app": "m"}}, **spec)


def anti(key=NODES):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "m"}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def read(*things):
    """The model, what it does not have, and the paths of guesses."""
    text = HAND + "".join(f"---\n{json.dumps(it)}\n" for it in things)
    inferred = adopted(text, rendered=False)
    (model,) = inferred.spec.models
    paths = [".".join(it.path) for it in inferred.guesses if it.kind == "Model"]
    left = [it for name, it in inferred.left if name.split()[0] in ("Deployment", "CronJob")]
    return model, left, [it for it in paths if it != "spec.placement.pools"]


def test_the_container_of_the_gpus_is_that_of_the_model():
    own = {"command": ["run"], "args": ["--x"], "ports": [{"containerPort": 8080}]}
    model, left, _ = read(deployment(pods(own)))
    assert model.container == ModelContainer("y", ("run",), ("--x",), 8080)
    assert (model.checkpoint, model.schedule, model.availability, left) == (None, None, None, [])
    model, _, _ = read(deployment(pods({"image": "y "})))
    assert model.container == ModelContainer(None)


def test_what_a_model_cannot_state_is_listed():
    template = pods(
        {"env": [], "livenessProbe": {}, "ports": [{"containerPort": 1}, {"containerPort": 2}]},
        volumes=[{"name": "v"}],
        dnsPolicy="ClusterFirst",
    )
    template["spec"]["containers"].insert(0, {"name": "proxy", "image": "z"})
    _, left, _ = read(deployment(template))
    assert left == [
        'a Model has one container, so these are not in the spec: "proxy"',
        "a Model has one port, so only the first of its container is in the spec",
        "a Model has no field for these of its pods: volumes, env and livenessProbe",
    ]


def test_what_a_model_cannot_state_of_the_workload_is_listed():
    job = thing(
        "batch/v1",
        "Job",
        parallelism=2,
        completions=10,
        backoffLimit=6,
        activeDeadlineSeconds=60,
        template=pods(restartPolicy="Never"),
    )
    stateful = thing(
        "apps/v1",
        "StatefulSet",
        name="s",
        replicas=1,
        serviceName="s",
        podManagementPolicy="OrderedReady",
        volumeClaimTemplates=[{"metadata": {"name": "v"}}],
        template=pods(),
    )
    text = HAND + "".join(f"---\n{json.dumps(it)}\n" for it in (job, stateful))
    assert [it for it in adopted(text, rendered=False).left if it[0][:3] in {"Job", "Sta"}] == [
        (
            "Job a/m",
            "it has 10 completions, of which 2 run at the same time, and a Model runs all its pods at the same time",
        ),
        ("Job a/m", "a Model has no field for these of its Job: activeDeadlineSeconds"),
        (
            "StatefulSet a/s",
            "a Model has no field for these of its StatefulSet: volumeClaimTemplates",
        ),
    ]


@pytest.mark.parametrize(
    ("grace", "hook", "expected", "left"),
    [
        (None, None, None, []),
        (30, None, None, []),
        (300, None, Checkpoint(300), []),
        (None, {"exec": {"command": ["save"]}}, Checkpoint(30, ("save",)), []),
        (0, None, None, ["its terminationGracePeriodSeconds: 0 is not in the spec, which has 1 or more"]),
        (-5, None, None, []),
        (604_800, None, Checkpoint(86_400),
         ["its terminationGracePeriodSeconds: 604800 is longer than a day, so the spec has 86400"]),
        (60, {"sleep": {"seconds": 5}}, Checkpoint(60),
         ["its preStop hook runs no command, so it is not in the spec"]),
    ],
)  # fmt: skip
def test_the_time_to_stop_is_a_checkpoint(grace, hook, expected, left):
    container = {"lifecycle": {"preStop": hook}} if hook else {}
    more = {} if grace is None else {"terminationGracePeriodSeconds": grace}
    model, found, _ = read(deployment(pods(container, **more)))
    assert (model.checkpoint, found) == (expected, left)


@pytest.mark.parametrize("port", [0, 99_999])
def test_a_port_that_the_server_refuses_is_not_in_the_spec(port):
    model, _, _ = read(deployment(pods({"ports": [{"containerPort": port}]})))
    assert model.container.port is None


OVERLAP = "its runs can overlap (concurrencyPolicy), and those of a model cannot"


@pytest.mark.parametrize(
    ("it", "expected", "guesses", "left"),
    [
        (
            cron(timeZone="Europe/Paris", concurrencyPolicy="Forbid"),
            ModelSchedule("0 3 * * *", "Europe/Paris", 2), [], [],
        ),
        (
            cron(concurrencyPolicy="Forbid"),
            ModelSchedule("0 3 * * *", "Etc/UTC", 2), ["spec.schedule.timeZone"], [],
        ),
        (
            cron(deadline=None, timeZone="Etc/UTC"),
            ModelSchedule("0 3 * * *", "Etc/UTC", 24), ["spec.schedule.hours"], [OVERLAP],
        ),
        (
            cron(deadline=100, timeZone="Etc/UTC"),
            ModelSchedule("0 3 * * *", "Etc/UTC", 1), ["spec.schedule.hours"], [OVERLAP],
        ),
        (cron("daily"), None, [], ['its schedule "daily" is not valid, so the model has no schedule']),
    ],
)  # fmt: skip
def test_a_cron_job_has_a_schedule(it, expected, guesses, left):
    assert read(it)[1:] == (left, guesses)
    assert read(it)[0].schedule == expected


@pytest.mark.parametrize(
    ("spec", "budgets", "expected"),
    [
        ({"affinity": anti()}, [], Availability("node")),
        ({"affinity": anti("topology.kubernetes.io/zone")}, [], Availability("zone")),
        (
            {"topologySpreadConstraints": [{"topologyKey": NODES, "maxSkew": 1}]},
            [{"minAvailable": 2}], Availability("node", 2),
        ),
        ({}, [{"maxUnavailable": 1}], Availability("none")),
    ],
)  # fmt: skip
def test_constraints_and_a_budget_are_the_availability(spec, budgets, expected):
    model, left, _ = read(deployment(pods(**spec)), *(budget(**it) for it in budgets))
    assert (model.availability, left) == (expected, [])


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ([deployment(pods()), budget(minAvailable="50%")], "is not in the spec as it is"),
        ([deployment(pods(), 1), budget(minAvailable=1)], "only a serving model with two replicas"),
        ([deployment(pods(affinity=anti("rack")))], "over nodes or zones, not over rack"),
        ([deployment(pods(affinity={"nodeAffinity": {}}))], "the other affinity of its pods"),
    ],
)
def test_another_availability_is_listed(made, words):
    (found,) = read(*made)[1]
    assert words in found


def test_resources_labels_and_images_that_a_model_cannot_state_are_listed():
    limits = {"nvidia.com/gpu": 1, "cpu": 4, "memory": "8Gi", "rdma/hca": 1}
    own = {"image": "y z", "resources": {"limits": limits, "requests": {"cpu": 2}}}
    template = pods(own, nodeSelector={"gpu": "a100", "disk": "ssd"})
    model, left, _ = read(deployment(template, replicas=0))
    assert (model.cpu_milli, model.memory_bytes, model.replicas) == (2000, 8 << 30, None)
    assert left == [
        "it has 0 replicas, and a model has at least 1, so the spec has 1",
        "a Model has no field for these resources of its pods: rdma/hca",
        "its limits of cpu differ from its requests, and a model has one amount for both; the spec has the requests",
        'its image "y z" has spaces, so it is not in the spec',
        "a Model has no field for the nodeSelector of its pods: disk: ssd",
    ]
