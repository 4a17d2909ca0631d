"""A JobSet and a LeaderWorkerSet of `policygen workload` run on their controllers, with the admission policies."""

from pathlib import Path

import yaml

from policygen.app.requests import RenderRequest
from policygen.app.workload import workload
from policygen.plan.model_names import MODEL
from tests.examples_of_rules import examples
from tests.servers.rendering import json_documents, rendered
from tests.servers.set_controllers import set_controllers
from tests.servers.test_admission import Door, tried
from tests.servers.test_admission_workloads import templates

POLICY = Path(__file__).parents[2] / "examples" / "ml-platform" / "policy.yaml"
QUEUE = "kueue.x-k8s.io/queue-name"
FORMS = {"pretraining": "jobset", "translator": "lws"}
OF_PODS = ("schedulerName", "priorityClassName", "terminationGracePeriodSeconds")


def printed(model, form):
    text = workload(RenderRequest((str(POLICY),), {}), model, form).text
    return next(yaml.safe_load_all(text))


def without_queue(thing):
    labels = {key: value for key, value in thing["metadata"]["labels"].items() if key != QUEUE}
    return {**thing, "metadata": {**thing["metadata"], "labels": labels}}


def fields(pod):
    """The fields of the policy in a pod or pod template."""
    (container,) = pod["spec"]["containers"]
    default = {"terminationGracePeriodSeconds": 30}
    found = {it: pod["spec"].get(it, default.get(it)) for it in OF_PODS}
    return {**found, **{it: container.get(it) for it in ("lifecycle", "resources")}}


def phases(cluster):
    return sorted(
        (it["metadata"]["labels"][MODEL], it["status"].get("phase"))
        for it in cluster.pods("language")
    )


def test_sets_run_with_all_fields_and_are_denied_without_their_queue(cluster, tools):
    out = rendered(POLICY.read_text("utf-8"), "admission")
    sets = {model: printed(model, form) for model, form in FORMS.items()}
    running = [(model, "Running") for model in FORMS for _ in range(2)]
    door = Door(cluster)
    with set_controllers(cluster, tools), cluster.kube_scheduler(out.scheduler_config):
        try:
            door.close(out)
            for facts in out.pools.values():
                cluster.add_nodes(facts)
            for model, thing in sets.items():
                message = tried(cluster, without_queue(thing))
                assert f"{model} needs [queue] labels {QUEUE}: h100; run" in message, message
            for _ in range(2):  # it changes nothing to apply them again
                cluster.apply(json_documents([*sets.values()]))
                cluster.becomes("pods", lambda: phases(cluster), running)
            cluster.stays("pods", lambda: phases(cluster), running, for_s=1)
            assert cluster.admitted("language") == [*FORMS]
            for pod in cluster.pods("language"):
                (template,) = templates(sets[pod["metadata"]["labels"][MODEL]])
                assert fields(pod) == fields(template)
                assert pod["spec"]["nodeName"].startswith("h100-")
                assert pod["status"]["qosClass"] == "Guaranteed"
        finally:
            door.open()


def test_job_sets_that_the_webhook_refuses(cluster, tools):
    """All examples of the rule: only the bad ones are refused, by the webhook and not by the schema."""
    rule = "job-set-refused"
    cluster.namespace("vision")
    refused = {True: [], False: []}
    with set_controllers(cluster, tools):
        for is_good, found in refused.items():
            for number, it in enumerate(examples(rule, good=is_good)):
                message = tried(cluster, yaml.safe_load(it.text))
                found.append((number, message)) if message else None
    assert refused[True] == []
    assert [number for number, _ in refused[False]] == [*range(len(examples(rule, good=False)))]
    assert all("vjobset.kb.io" in message for _, message in refused[False]), refused[False]
