"""How long Kueue waits for pods, and after each timeout."""

import pytest

from policygen.core.versions import DEFAULT
from policygen.kubernetes.kueue_settings import first
from policygen.simulate.kueue.pods_ready import PodsReadyRule, pods_ready_rule
from tests.objects import cluster

CONFIGURATION = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
waitForPodsReady:
"""


def _rule(text):
    return pods_ready_rule(first(cluster(text), DEFAULT["kueue"]))


def test_kueue_waits_half_an_hour_by_default():
    assert _rule("") == PodsReadyRule(1800, 60, 3600, None, behind=True)


def test_the_configuration_changes_each_value():
    text = f"""{CONFIGURATION}  timeout: 5m
  requeuingStrategy:
    timestamp: Creation
    backoffLimitCount: 2
    backoffBaseSeconds: 10
    backoffMaxSeconds: 300
"""
    assert _rule(text) == PodsReadyRule(300, 10, 300, 2, behind=False)


@pytest.mark.parametrize(("requeues", "wait"), [(1, 60), (2, 120), (6, 1920), (7, 3600)])
def test_the_wait_doubles_until_its_limit(requeues, wait):
    assert PodsReadyRule().wait(requeues) == wait


def test_the_first_wait_is_not_limited():
    assert PodsReadyRule(base=130, most=90).wait(1) == 130
