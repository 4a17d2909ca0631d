"""What rules call refused is what real servers refuse, with every webhook on, and nothing else is.

Each page's examples are applied as a user would apply them, but dry: server-side apply, strict. Only
what a later object needs is made: namespaces, Volcano's queues, PriorityClasses.
"""

import json
import time
from datetime import date

import pytest

from policygen.app import fix
from policygen.app.requests import LintRequest
from policygen.core import versions
from policygen.lint.registry import RULES
from policygen.lint.rule import Family
from tests.examples_of_rules import examples
from tests.servers.agreement import RUNNING
from tests.servers.apply import FIELD_MANAGER, parse, stages
from tests.servers.client import APPLY, ApiError
from tests.servers.cluster import LATE
from tests.servers.workloads import Ask, pod

MADE = ("Namespace", "PriorityClass", "Queue")
QUERY = {"fieldManager": FIELD_MANAGER, "force": "true", "fieldValidation": "Strict"}
TODAY = date(2026, 11, 21)
LAG_S = 3.0
"""For a webhook whose cache trails what was just made."""

NO_OBJECT = {
    rule.name: "it is about a program's configuration file, which no API server sees"
    for rule in RULES
    if rule.judges
    and all("Configuration" in kind or kind.endswith(".conf") for kind in rule.judges)
}
TAKEN = {
    **NO_OBJECT,
    "concurrent-admission-refused": "its feature gate is off on the bench",
    "feature-gate-unknown": "Kueue reads its command line, and no API server does",
    "job-set-refused": "the bench runs JobSet only in tests/servers/test_sets.py, where it refuses them",
    "leader-worker-set-refused": "the bench has no CRD and no webhook of LeaderWorkerSet",
    "namespace-missing": "every namespace is made before",
    "training-job-refused": "the bench runs no training operator and no mpi-operator",
    "ray-workload-refused": "the bench has no CRDs of Ray, and Kueue's webhook sees only its kinds",
}
"""Rules of the invalid family whose bad example is still accepted, and why."""
RULE_BY_NAME = {rule.name: rule for rule in RULES}
REFUSED = dict.fromkeys(
    ("queue-of-another-team", "team-queue-has-children"),
    "the spec of the example renders its queue, and is no manifest",
)
"""Rules of other families whose bad example is refused, and why."""


class Server:
    """The API server of the bench, asked dry."""

    def __init__(self, cluster):
        self.cluster, self.client = cluster, cluster.client

    def refusals(self, text):
        """The server's refusals of some manifests, as text; unserved kinds are skipped."""
        for stage in stages(parse(text, "example")):
            for document in stage:
                try:
                    path = self.path(document.thing)
                except LookupError:
                    continue
                answer = self._ask(path, document)
                if not answer.ok:
                    yield f"{document.kind} {document.name}: {answer.message}"
                elif document.kind in MADE:
                    assert self._send(path, document).ok

    def knows(self, text):
        """Whether it has any of the kinds."""
        for document in parse(text, "example"):
            try:
                self.path(document.thing)
            except LookupError:
                continue
            return True
        return False

    def path(self, thing):
        resource = self.client.resource(str(thing.get("apiVersion")), str(thing.get("kind")))
        metadata = thing.get("metadata") or {}
        namespace = (metadata.get("namespace") or "default") if resource.namespaced else None
        if namespace:
            self.cluster.namespace(namespace)
        return resource.path(namespace, str(metadata.get("name")))

    def _ask(self, path, document):
        end = time.monotonic() + LAG_S
        while True:
            answer = self._send(path, document, dryRun="All")
            late = not answer.ok and LATE.search(answer.message)
            if not late or time.monotonic() > end:
                return answer
            time.sleep(0.1)

    def _send(self, path, document, **more):
        return self.client.request(
            "PATCH", path, document.text, content_type=APPLY, query={**QUERY, **more}
        )


@pytest.fixture
def server(cluster):
    return Server(cluster)


def of(*, invalid):
    return [
        pytest.param(rule, id=rule.name)
        for rule in RULES
        if (rule.family is Family.INVALID) == invalid
    ]


def examples_for(rule, server, *, good):
    """Those that are for the versions that run, and hold what a server knows."""
    if not rule.holds(RUNNING):
        pytest.skip(f"{rule.name} does not hold for {', '.join(map(str, RUNNING.values()))}")
    found = [
        each.text
        for each in examples(rule.name)
        if each.good == good
        and all(_runs(*word.split("=")) for word in each.options if "=" in word)
        and server.knows(each.text)
    ]
    if not found:
        pytest.skip("no example is for the versions that run, and of kinds that they know")
    return found


def _runs(component, version):
    return versions.parse(component, version).release == RUNNING[component].release


@pytest.mark.parametrize("rule", of(invalid=True))
def test_bad_examples_are_refused(server, rule):
    if rule.name in TAKEN:
        pytest.skip(TAKEN[rule.name])
    for text in examples_for(rule, server, good=False):
        assert list(server.refusals(text)), text


@pytest.mark.parametrize("rule", of(invalid=True))
def test_good_examples_are_accepted(server, rule):
    for text in examples_for(rule, server, good=True):
        assert not list(server.refusals(text))


@pytest.mark.parametrize("rule", of(invalid=False))
def test_what_other_rules_find_is_accepted(server, rule):
    if rule.name in REFUSED:
        pytest.skip(REFUSED[rule.name])
    for text in examples_for(rule, server, good=False):
        assert not list(server.refusals(text))


FRACTION_IN_A_TASK = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: resize, namespace: vision}
spec:
  schedulerName: volcano
  queue: default
  minAvailable: 1
  tasks:
  - name: worker
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        containers: [{name: resize, image: registry.example.com/resize, resources: {limits: {cpu: 1.5}}}]
"""


def test_every_update_is_refused(server):
    """Also one that only adds a label."""
    bad = examples_for(RULE_BY_NAME["every-update-refused"], server, good=False)
    for text in [*bad, FRACTION_IN_A_TASK]:
        (document,) = parse(text, "example")
        path = server.path(document.thing)
        made = server.client.request("POST", path.rpartition("/")[0], json.dumps(document.thing))
        assert made.ok, made.message
        metadata = {**document.thing["metadata"], "labels": {"changed": "yes"}}
        changed = json.dumps({**document.thing, "metadata": metadata})
        answer = server.client.request("PATCH", path, changed, content_type=APPLY, query=QUERY)
        assert answer.status in (400, 422), answer.message


def test_half_a_gpu_in_a_quota_allows_0_gpus(cluster):
    (text,) = (it.text for it in examples("gpu-quota-fractional") if not it.good)
    cluster.namespace("vision")
    assert not cluster.try_apply(text).refused
    with pytest.raises(ApiError, match="exceeded quota"):
        cluster.create(pod("one", "vision", Ask(gpus=1)))


@pytest.mark.parametrize(
    "rule", [pytest.param(rule, id=rule.name) for rule in RULES if rule.fix is not None]
)
def test_fixed_examples_are_accepted(server, rule, tmp_path):
    file = tmp_path / "example.yaml"
    for text in examples_for(rule, server, good=False):
        file.write_text(text)
        settings = LintRequest(manifests=(str(file),), partial=True)
        fixed = fix.fix(settings, today=TODAY, unsafe=True)
        for _, new in fixed.texts:
            assert not list(server.refusals(new)), new
