"""Labels and annotations of workloads that Kueue's webhooks refuse."""

import pytest
import yaml

from policygen.lint.core.webhook_objects import webhook_object
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.job_metadata import faults, refusing
from tests.objects import facts, workload

DOMAIN = "kueue.x-k8s.io/"
NOTHING = "{apiVersion: v1, kind: Namespace, metadata: {name: a}}"


def made(kind="Job", labels=(), annotations=(), **spec):
    group = {"Pod": "v1", "Deployment": "apps/v1", "ReplicaSet": "apps/v1"}.get(kind, "batch/v1")
    metadata = {
        "name": "j",
        **{
            form: {DOMAIN + key: value for key, value in dict(these).items()}
            for form, these in (("labels", labels), ("annotations", annotations))
        },
    }
    spec = {"template": {}, **spec} if kind != "Pod" else spec
    return workload(
        yaml.safe_dump({"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec})
    )


def faults_of(it, **target):
    return [
        (path[1].removeprefix(DOMAIN), words)
        for path, words in faults(webhook_object(it), settings(facts(NOTHING, **target)))
    ]


@pytest.mark.parametrize(
    ("it", "key", "words"),
    [
        (made(labels={"max-exec-time-seconds": "1h"}), "max-exec-time-seconds", 'write the number of seconds, such as "3600"'),
        (made(labels={"max-exec-time-seconds": "0"}), "max-exec-time-seconds", "write 1 or more"),
        (made(labels={"prebuilt-workload-name": "A_b"}), "prebuilt-workload-name", "is not a valid object name"),
        (made(annotations={"job-min-parallelism": "x"}, parallelism=4), "job-min-parallelism", "is not an integer"),
        (made(annotations={"job-min-parallelism": "4"}, parallelism=4), "job-min-parallelism", "write a number from 1 to 3"),
        (made(annotations={"job-completions-equal-parallelism": "on"}), "job-completions-equal-parallelism", 'write "true" or "false"'),
        (made(annotations={"job-completions-equal-parallelism": "true"}), "job-completions-equal-parallelism", "completionMode: Indexed"),
        (made(annotations={"job-completions-equal-parallelism": "true"}, completionMode="Indexed", parallelism=2, completions=3), "job-completions-equal-parallelism", "requires equal completions (3) and parallelism (2)"),
        (made("Pod", labels={"pod-group-name": "g"}), "pod-group-name", "is set, but the pod has no annotation"),
        (made("Pod", annotations={"pod-group-total-count": "2"}), "pod-group-total-count", "is set, but the pod has no label"),
        (made("Pod", {"pod-group-name": "g"}, {"pod-group-total-count": "0"}), "pod-group-total-count", "1 or more"),
        (made("Pod", {"pod-group-name": "g", "prebuilt-workload-name": "h"}, {"pod-group-total-count": "1"}), "prebuilt-workload-name", "but kueue.x-k8s.io/pod-group-name is"),
        (made(annotations={"admission-gated-by": "a.com/b,,"}), "admission-gated-by", "has an empty entry"),
    ],
)  # fmt: skip
def test_what_is_refused(it, key, words):
    at, message = faults_of(it)[0]
    assert at == key
    assert words in message


@pytest.mark.parametrize(
    "it",
    [
        made(),
        made(labels={"max-exec-time-seconds": "60"}),
        made("Deployment", labels={"max-exec-time-seconds": "1h"}),
        made(annotations={"job-min-parallelism": "2"}, parallelism=4),
        made("Pod", {"pod-group-name": "g"}, {"pod-group-total-count": "2"}),
        made(annotations={"job-completions-equal-parallelism": "false"}),
    ],
)
def test_what_is_not(it):
    assert faults_of(it) == []


def test_a_webhook_refuses_only_what_an_enabled_integration_manages():
    head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    assert refusing(made("Pod"), settings(facts(NOTHING)))
    assert not refusing(made("Pod"), settings(facts(head + "namespace: a\n")))
    assert refusing(made("Pod"), settings(facts(head + "integrations: {frameworks: [pod]}\n")))
    assert not refusing(made("ReplicaSet"), settings(facts(NOTHING)))


def test_a_cron_job_is_checked_by_its_job():
    it = workload(
        "{apiVersion: batch/v1, kind: CronJob, metadata: {labels: {kueue.x-k8s.io/max-exec-time-seconds: x}}, "
        "spec: {jobTemplate: {metadata: {labels: {a: b}}, spec: {parallelism: 3, template: {}}}}}"
    )
    assert faults_of(it) == []
