"""What a Service cannot change; `tests/servers/test_updates.py` asks real servers."""

import pytest

from tests.lint.test_change_refused import messages, run

SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: a, namespace: ml}
spec: {type: ClusterIP, clusterIP: 10.96.0.7, ipFamilies: [IPv4], ports: [{port: 80}]}
"""
HEADLESS = SERVICE.replace("10.96.0.7", "None")
OUTSIDE = SERVICE.replace("type: ClusterIP", "type: ExternalName, externalName: a.b")
BALANCED = SERVICE.replace("type: ClusterIP", "type: LoadBalancer, loadBalancerClass: a.b/c")
IP = "clusterIP is immutable, also to or from None"
FAMILY = "the first entry of ipFamilies is immutable"


@pytest.mark.parametrize(
    ("held", "new", "expected"),
    [
        (SERVICE, SERVICE.replace("80", "81"), ""),
        (SERVICE, SERVICE.replace("clusterIP: 10.96.0.7, ", ""), ""),
        (SERVICE, SERVICE.replace("10.96.0.7", '""'), ""),
        (SERVICE, HEADLESS, IP),
        (HEADLESS, SERVICE, IP),
        (HEADLESS, HEADLESS.replace("IPv4", "IPv6"), ""),
        (SERVICE, SERVICE.replace("10.96.0.7", "10.96.0.8"), IP),
        (SERVICE, SERVICE.replace("IPv4", "IPv6"), FAMILY),
        (SERVICE, SERVICE.replace("IPv4", "IPv4, IPv6"), ""),
        (OUTSIDE, SERVICE.replace("10.96.0.7", "10.96.0.8"), ""),
        (BALANCED, BALANCED.replace("a.b/c", "a.b/d"), "loadBalancerClass of a Service with type"),
        (BALANCED, SERVICE, ""),
    ],
)
def test_with_a_snapshot(tmp_path, held, new, expected):
    found = messages(run(tmp_path, held, new))
    assert [expected in it for it in found] == [True] * bool(expected)
