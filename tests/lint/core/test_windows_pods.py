"""Fields that pods of one operating system cannot have; `tests/servers/workload_families.py` asks a server."""

import pytest
import yaml

from policygen.lint.core.pod_templates import pod_specs
from policygen.lint.core.windows_pods import of_pod
from tests.objects import cluster


def faults(system, **spec):
    spec = {"os": {"name": system}, "containers": [{"name": "a"}], **spec}
    data = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    (part,) = pod_specs(cluster(yaml.safe_dump(data)))
    return [".".join(map(str, at.path[1:])) for at, _ in of_pod(part)]


@pytest.mark.parametrize(
    ("system", "spec", "field"),
    [
        ("windows", {"hostPID": True}, "hostPID"),
        ("windows", {"hostUsers": True}, "hostUsers"),
        ("windows", {"shareProcessNamespace": False}, "shareProcessNamespace"),
        ("windows", {"securityContext": {"fsGroup": 1}}, "securityContext.fsGroup"),
        (
            "windows",
            {"containers": [{"name": "a", "securityContext": {"privileged": False}}]},
            "containers.0.securityContext.privileged",
        ),
        ("linux", {"securityContext": {"windowsOptions": {}}}, "securityContext.windowsOptions"),
    ],
)
def test_refused(system, spec, field):
    assert faults(system, **spec) == [field]


def test_accepted():
    assert faults("windows", hostPID=False, securityContext={"sysctls": []}) == []
    assert faults("linux", hostPID=True, securityContext={"fsGroup": 1}) == []
