"""Hundreds of drawn changes of stored objects: `refused_changes` names what real servers refuse.

The draw is the same each time; `python -m tests.servers.updates --count 3000 --seed 7` asks others.
"""

import json
from copy import deepcopy

from policygen.api_validation.updates.refused import refused_changes
from policygen.api_validation.updates.states import applied
from policygen.core.finding import at_path
from policygen.drift.kept import kept
from tests.client.looks import snapshot
from tests.servers.apply import FIELD_MANAGER
from tests.servers.client import APPLY
from tests.servers.updates import COUNT, KINDS, Judges, summary

ENOUGH = 0.98
"""Of all cases agree; the others are removals in an apply."""
NEITHER = 10
"""Percent of cases that at least are refused, and that at least are accepted."""


def test_what_servers_refuse_to_change(cluster):
    judges = Judges(cluster)
    assert {stored["kind"] for _, stored in judges.seeds} == set(KINDS)
    for sent, stored in judges.seeds:
        assert [*refused_changes(stored, applied(stored, sent))] == [], sent
        (held,) = snapshot(json.dumps(stored)).objects
        assert [*refused_changes(held.data, applied(held.data, kept(sent, held)))] == [], sent
    verdicts = judges.ask(COUNT, 0)
    print(summary(verdicts))
    unknown = [str(each) for each in verdicts if not each.agree and not each.is_known]
    assert unknown == [], "\n".join([summary(verdicts), *unknown])
    assert sum(each.agree for each in verdicts) >= ENOUGH * COUNT, summary(verdicts)
    refused = 100 * sum(bool(each.server) for each in verdicts) / COUNT
    assert NEITHER <= refused <= 100 - NEITHER


TASK = {
    "name": "worker", "replicas": 1, "maxRetry": 3,
    "template": {"spec": {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet",
                          "restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}},
}  # fmt: skip


def test_volcano_refuses_to_lose_what_it_sets_only_on_create(cluster):
    """Until the manifest has the values that the remedy names."""
    cluster.namespace("vision")
    path = cluster.client.resource("batch.volcano.sh/v1alpha1", "Job").path("vision")
    for field in (("name",), ("maxRetry",), ("template", "spec", "dnsPolicy"), ()):
        job = {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "metadata": {"name": "-".join(("without", *field)).lower(), "namespace": "vision"},
            "spec": {"schedulerName": "volcano", "minAvailable": 1, "tasks": [deepcopy(TASK)]},
        }
        (task,) = job["spec"]["tasks"]
        if field:
            del at_path(task, field[:-1])[field[-1]]
        cluster.create(job)
        stored = cluster.client.get(f"{path}/{job['metadata']['name']}").body
        again = lambda job=job: cluster.client.request(
            "PATCH", f"{path}/{job['metadata']['name']}", job, content_type=APPLY,
            query={"fieldManager": FIELD_MANAGER, "force": "true"},
        )  # fmt: skip
        assert again().ok == (not field)
        for refused in refused_changes(stored, applied(stored, job)):
            assert refused.path == ("spec", "tasks", 0, *field)
            value = at_path(stored, refused.path)
            assert refused.remedy == f"write {field[-1]}: {json.dumps(value)}"
            at_path(task, field[:-1])[field[-1]] = value
        assert again().ok
