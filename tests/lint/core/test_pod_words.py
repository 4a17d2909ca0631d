"""Words of the API in Volcano's Jobs; `tests/servers/workload_families.py` asks Volcano's webhook."""

import pytest
import yaml

from policygen.lint.core.pod_templates import pod_specs
from policygen.lint.core.pod_words import init_policies, unknown_words
from tests.objects import cluster


def faults(**spec):
    spec = {"containers": [{"name": "a"}], **spec}
    task = {"name": "a", "replicas": 1, "template": {"spec": spec}}
    data = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "p"}}
    (part,) = pod_specs(cluster(yaml.safe_dump({**data, "spec": {"tasks": [task]}})))
    words = [f"{it.text}, which is refused; {it.advice}" for it in unknown_words(part)]
    return [*words, *(message for _, message in init_policies(part))]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (
            {"restartPolicy": "never"},
            'restartPolicy "never", which is refused; did you mean "Never"',
        ),
        ({"dnsPolicy": "Standard"}, "which is refused; "),
        ({"tolerations": [{"effect": "noSchedule"}]}, "NoSchedule"),
        ({"containers": [{"ports": [{"protocol": "tcp"}]}]}, "TCP"),
        ({"initContainers": [{"restartPolicy": "Never"}]}, "which Volcano refuses; write Always"),
    ],
)
def test_refused(spec, words):
    (message,) = faults(**spec)
    assert words in message


def test_accepted():
    assert faults(restartPolicy="OnFailure", dnsPolicy="", tolerations=[{"effect": None}]) == []
