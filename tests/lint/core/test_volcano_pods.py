"""Pods that only Volcano refuses; `tests/servers/container_families.py` asks its webhook for more."""

import pytest
import yaml

from policygen.core.versions import DEFAULT
from policygen.lint.core import pod_handlers, pod_rights, volcano_pods
from policygen.lint.core.pod_templates import pod_specs
from policygen.lint.core.rules.workload_field_refused import RULE
from policygen.lint.rule import Facts, Need
from tests.objects import cluster


def cloned(**source):
    return {"name": "a", "ephemeral": {"volumeClaimTemplate": {"spec": {"dataSource": source}}}}


def part(spec, **task):
    tasks = [{"name": "a", "template": {"spec": spec}, **task}]
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"tasks": tasks}}  # fmt: skip
    (found,) = pod_specs(cluster(yaml.safe_dump(job)))
    return found


@pytest.mark.parametrize(
    ("spec", "path", "words"),
    [
        ({"containers": [{"name": "m", "env": [{"name": "1", "value": "a"}]}]}, ("containers", 0, "env", 0, "name"), 'env with name "1"'),
        ({"containers": [{"name": "m", "env": [{"name": "..a", "value": "a"}]}]}, ("containers", 0, "env", 0, "name"), '"..a"'),
        ({"containers": [{"name": "m", "envFrom": [{"prefix": "a b"}]}]}, ("containers", 0, "envFrom", 0, "prefix"), 'prefix "a b"'),
        ({"containers": [{"name": "m", "restartPolicy": "Always"}]}, ("containers", 0, "restartPolicy"), "remove restartPolicy"),
        ({"initContainers": [{"name": "m", "resizePolicy": [{"resourceName": "cpu"}]}]}, ("initContainers", 0, "resizePolicy"), "remove resizePolicy"),
        ({"dnsConfig": {"searches": ["a_b"]}}, ("dnsConfig", "searches", 0), 'without "_"'),
        ({"volumes": [{"name": "a", "image": {"reference": "b"}}]}, ("volumes", 0, "image"), "write image.pullPolicy"),
        ({"volumes": [{"name": "a", "projected": {"defaultMode": 420}}]}, ("volumes", 0, "projected"), "write sources"),
        ({"volumes": [cloned(kind="PersistentVolumeClaim", name="b")]}, ("spec", "dataSource"), 'write apiGroup: ""'),
    ],
)  # fmt: skip
def test_what_volcano_refuses(spec, path, words):
    ((at, message),) = volcano_pods.of_pod(part(spec))
    assert at.path[-len(path) :] == path
    assert words in message


def test_volcano_writes_no_null_into_a_task_without_defaults():
    spec = {"volumes": [cloned(kind="PersistentVolumeClaim", name="b")]}
    assert [*volcano_pods.of_pod(part(spec, minAvailable=1, maxRetry=3))] == []


def test_what_volcano_accepts():
    source = {"apiGroup": "", "kind": "PersistentVolumeClaim", "name": "b"}
    assert [*volcano_pods.of_pod(part({"volumes": [cloned(**source)]}))] == []
    containers = [{"name": "m", "env": [{"name": "A.b-c_1", "value": "a"}]}]
    assert [*volcano_pods.of_pod(part({"containers": containers}))] == []


def test_volcano_refuses_a_sleep_of_no_time():
    spec = {"containers": [{"name": "m", "lifecycle": {"postStart": {"sleep": {"seconds": 0}}}}]}
    ((_, message),) = pod_handlers.of_pod(part(spec))
    assert "write 1 to 30" in message


def test_volcano_does_not_check_newer_fields():
    newer = part({"securityContext": {"seLinuxChangePolicy": "MountOption"}, "containers": [{"restartPolicyRules": [{}]}]})  # fmt: skip
    assert [*pod_handlers.of_pod(newer), *pod_rights.of_pod(newer)] == []


@pytest.mark.parametrize(("system", "refused"), [(None, True), ({"name": "linux"}, False)])
def test_volcano_checks_signals_that_the_api_server_drops(system, refused):
    spec = {"os": system, "containers": [{"name": "m", "lifecycle": {"stopSignal": "SIGTERM"}}]}
    assert bool([*pod_handlers.of_pod(part(spec))]) == refused


@pytest.mark.parametrize(("kind", "refused"), [("Job", True), ("Pod", False)])
def test_only_volcano_checks_the_words_of_signals(run, tmp_path, kind, refused):
    container = {"name": "m", "image": "a", "lifecycle": {"stopSignal": "TERM"}}
    spec = {"os": {"name": "linux"}, "restartPolicy": "Never", "containers": [container]}
    thing = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    if kind == "Job":
        thing = part(spec).owner.object.data
    file = tmp_path / "a.yaml"
    file.write_text(yaml.safe_dump(thing), "utf-8")
    _, out, _ = run("lint", "--manifests", file, "--partial")
    assert ('stopSignal "TERM"' in out) == refused


@pytest.mark.parametrize(("kind", "refused"), [("Job", False), ("Pod", True)])
def test_volcano_accepts_zeros_before_the_numbers_of_an_address(kind, refused):
    spec = {"hostAliases": [{"ip": "010.0.0.1", "hostnames": ["a"]}]}
    data = part(spec).owner.object.data
    if kind == "Pod":
        data = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    facts = Facts(cluster(yaml.safe_dump(data)), DEFAULT, frozenset(Need))
    assert bool([*RULE.check(facts)]) == refused
