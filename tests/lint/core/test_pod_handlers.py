"""Probes and hooks that API servers refuse; `tests/servers/container_families.py` asks a server for more."""

import pytest

from tests.lint.core.test_field_pairs import pod

GET = {"httpGet": {"path": "/", "port": 80}}
SLEEP = {"lifecycle": {"preStop": {"sleep": {"seconds": 60}}}}


def faults(container, field="containers", **spec):
    return pod({field: [{"name": "main", "image": "a", **container}], **spec})


@pytest.mark.parametrize(
    ("container", "path", "words"),
    [
        ({"livenessProbe": GET | {"exec": {"command": ["a"]}}}, ("livenessProbe", "httpGet"), "exec and httpGet, which is refused; keep one"),
        ({"lifecycle": {"preStop": GET | {"sleep": {"seconds": 1}}}}, ("lifecycle", "preStop", "sleep"), "preStop with httpGet and sleep"),
        ({"readinessProbe": GET | {"terminationGracePeriodSeconds": 5}}, ("readinessProbe", "terminationGracePeriodSeconds"), "remove terminationGracePeriodSeconds"),
        ({"startupProbe": {"httpGet": {"port": 80, "httpHeaders": [{"name": "a b"}]}}}, ("startupProbe", "httpGet", "httpHeaders", 0), 'header named "a b"'),
        (SLEEP, ("lifecycle", "preStop", "sleep", "seconds"), "write 0 to 30"),
    ],
)  # fmt: skip
def test_containers_that_are_refused(container, path, words):
    ((at, message),) = faults(container)
    assert at == ("containers", 0, *path)
    assert words in message


def test_containers_that_are_not():
    assert faults({"livenessProbe": GET, "readinessProbe": GET, "startupProbe": GET}) == []
    assert faults(SLEEP, terminationGracePeriodSeconds=60) == []
    assert faults({"lifecycle": {"stopSignal": "SIGTERM"}}) == []  # API servers drop it
    assert faults({"livenessProbe": None, "lifecycle": {"preStop": None}}) == []


def test_only_init_containers_that_keep_running_have_probes():
    ((at, message),) = faults({"livenessProbe": GET}, "initContainers")
    assert at == ("initContainers", 0, "livenessProbe")
    assert "write restartPolicy: Always, or remove livenessProbe" in message
    assert faults({"livenessProbe": GET, "restartPolicy": "Always"}, "initContainers") == []


@pytest.mark.parametrize(
    ("rules", "fields", "words"),
    [
        ([{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}], {}, "without restartPolicy"),
        ([{"action": "restart", "exitCodes": {"operator": "In"}}], {"restartPolicy": "Never"}, "write Restart or RestartAllContainers"),
        ([{"action": "Restart"}], {"restartPolicy": "Never"}, "without exitCodes"),
        ([{"action": "Restart", "exitCodes": {"operator": "in"}}], {"restartPolicy": "Never"}, "write In or NotIn"),
    ],
)  # fmt: skip
def test_restart_rules_that_are_refused(rules, fields, words):
    ((_, message),) = faults({"restartPolicyRules": rules, **fields})
    assert words in message


@pytest.mark.parametrize(
    ("handler", "key"),
    [({"grpc": {"port": None}}, "port"), ({"tcpSocket": {}}, "port"), ({"exec": {"command": None}}, "command"), ({"exec": {}}, "command")],
)  # fmt: skip
def test_a_handler_has_a_port_or_a_command(handler, key):
    ((at, message),) = faults({"livenessProbe": handler})
    assert at == ("containers", 0, "livenessProbe", *handler)
    assert f"write {key}" in message
