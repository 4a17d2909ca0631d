"""The lease of a kube-scheduler, and which Deployment of the input is the second scheduler."""

import pytest

from policygen.lint.scheduler.leases import lease, second_scheduler
from tests.objects import cluster

CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
%s
"""
DEPLOYMENT = """
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s, namespace: n}
spec:
  template:
    spec:
      containers: [{name: c, image: registry.k8s.io/kube-scheduler:v1.36.3, command: [kube-scheduler%s]}]
"""


@pytest.mark.parametrize(
    ("election", "found"),
    [
        ("", ("kube-scheduler", "kube-system", (), False)),
        (
            "leaderElection: {resourceNamespace: n}",
            ("kube-scheduler", "n", ("leaderElection",), False),
        ),
        (
            "leaderElection: {resourceName: a}",
            ("a", "kube-system", ("leaderElection", "resourceName"), True),
        ),
        ("leaderElection: {leaderElect: false, resourceName: a}", None),
    ],
)
def test_the_lease_of_a_configuration(election, found):
    [entry] = cluster(CONFIGURATION % election).scheduler_configurations
    it = lease(entry)
    assert (it and (it.name, it.namespace, it.at.path, it.is_written)) == found


def test_the_only_scheduler_without_flags_of_the_election():
    def name(text):
        found = second_scheduler(cluster(text))
        return found and found.object.name

    configuration = CONFIGURATION % ""
    assert name(configuration + DEPLOYMENT % ("a", "")) == "a"
    assert name(DEPLOYMENT % ("a", "")) is None
    assert name(configuration + DEPLOYMENT % ("a", ", --leader-elect=false")) is None
    assert name(configuration + DEPLOYMENT % ("a", "") + DEPLOYMENT % ("b", "")) is None
