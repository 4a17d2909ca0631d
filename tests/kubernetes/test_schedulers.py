"""Names of schedulers."""

import pytest

from policygen.kubernetes.schedulers import meant_scheduler, profile_names
from tests.objects import cluster

PROFILES = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: farm-binpack}]
"""


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("", ""),
        ("volcano", ""),
        ("Volcanoo", "volcano"),
        ("defualt-scheduler", "default-scheduler"),
        ("farm-binpak", "farm-binpack"),
        ("farm-binpack", ""),
        ("farm-binpack2", ""),
        ("farm-binpack-2", ""),
        ("nobody", ""),
        ("volcano-scheduler", "volcano"),
        ("kube-scheduler", "default-scheduler"),
    ],
)
def test_the_scheduler_that_a_misspelled_name_means(name, meant):
    assert meant_scheduler(cluster(PROFILES), name) == meant


def test_the_names_of_profiles():
    assert profile_names(cluster(PROFILES)) == {"default-scheduler", "farm-binpack"}
