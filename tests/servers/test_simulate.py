"""`policygen simulate` of a live cluster: what runs holds quota and nodes, and what it says comes true."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from policygen.cli.main import cli
from tests.servers.bench import CONTEXT
from tests.servers.cluster import KUEUE
from tests.servers.rendering import rendered

EXAMPLE = Path(__file__).parents[2] / "examples" / "forty-jobs"
SPEC = (EXAMPLE / "policy.yaml").read_text("utf-8")
TEAMS = ("language", "vision", "speech")
FIRST = {
    "language": ("pretrain-base", "chat-finetune"),
    "vision": ("segment-train",),
    "speech": ("host-heavy",),
}
"""Jobs that run with 16, 8 and 8 GPUs of 32, and one whose pod finds no node."""
THEN = {"vision": ("depth-train",), "speech": ("denoise-train",), "language": ("distill-small",)}
"""Jobs that arrive later."""


@pytest.fixture
def run(cluster):
    def of(command, *arguments):
        access = ["--context", CONTEXT, "--kubeconfig", str(cluster.bench.kubeconfig)]
        done = CliRunner().invoke(cli, [command, *access, "-f", "json", *map(str, arguments)])
        assert done.exit_code in {0, 1, 3}, (done.output, done.exception)
        return json.loads(done.stdout)

    return of


@pytest.fixture
def simulated(run):
    def of(*arguments):
        found = run("simulate", *arguments)
        assert not found["livelocks"]
        return {it["job"]: it for it in found["jobs"]}

    return of


def jobs(names):
    """These jobs of the example, which all arrive at once."""
    found = []
    for team in TEAMS:
        for it in yaml.safe_load_all((EXAMPLE / "jobs" / f"{team}.yaml").read_text("utf-8")):
            if it["metadata"]["name"] in names.get(team, ()):
                del it["metadata"]["annotations"]
                found.append(it)
    return found


def message(cluster, job):
    """Kueue's message about a job that waits."""
    (found,) = (
        condition["message"]
        for workload in cluster.objects(KUEUE, "Workload", job["metadata"]["namespace"])
        if workload["metadata"]["ownerReferences"][0]["name"] == job["metadata"]["name"]
        for condition in workload.get("status", {}).get("conditions", [])
        if condition["type"] == "QuotaReserved"
    )
    return found


@pytest.fixture
def filled(cluster):
    """The example with its nodes, and the first jobs."""
    out = rendered(SPEC)
    for team in TEAMS:
        cluster.namespace(team)
    cluster.apply(out.text)
    for pool in out.pools.values():
        cluster.add_nodes(pool)
    for job in jobs(FIRST):
        cluster.create(job)
    cluster.becomes("admitted", lambda: len(cluster.admitted()), 4)
    cluster.becomes("bound pods", cluster.bound, 32)
    return cluster


def test_running_jobs_hold_their_quota_and_nodes(filled, simulated):
    found = simulated("--until", "1s")
    pods = {
        f"{it['metadata']['namespace']}/{it['metadata']['labels']['job-name']}": it
        for it in filled.pods()
        if "nodeName" in it["spec"]
    }
    running = {name: it for name, it in found.items() if it["state"] == "running"}
    assert running.keys() >= pods.keys()
    for name, pod in pods.items():
        assert pod["spec"]["nodeName"] in running[name]["nodes"]
    assert sum(it["gpus"] for name, it in running.items() if name in pods) == 32
    waits = found["speech/host-heavy"]
    assert (waits["state"], waits["reason"]) == ("waiting", "Unschedulable")
    assert "Insufficient cpu" in waits["message"]


def test_what_it_says_of_waiting_jobs_is_what_kueue_says(filled, simulated):
    """depth-train waits, since vision has its guarantee already. Kueue says the same."""
    (job,) = jobs({"vision": THEN["vision"]})
    filled.create(job)
    filled.becomes("message", lambda: _message(filled, job)[:14], "couldn't assig")
    found = simulated("--until", "1s")["vision/depth-train"]
    assert (found["state"], found["message"]) == ("waiting", message(filled, job))


def _message(cluster, job):
    try:
        return message(cluster, job)
    except ValueError:
        return ""


def test_what_it_says_of_new_jobs_comes_true(filled, simulated, tmp_path):
    """denoise-train takes the guarantee of its team back; distill-small waits."""
    later = jobs(THEN)
    path = tmp_path / "later.yaml"
    path.write_text(yaml.safe_dump_all(later), "utf-8")
    before = simulated("--workloads", path, "--until", "5s")
    for job in later:
        filled.create(job)
    # A job whose pods find no node has its quota, too.
    names = {
        name
        for name, it in before.items()
        if it["flavors"] and (it["state"] == "running" or it["cause"] == "no-node-fits")
    }
    holding = {name.partition("/")[2] for name in names}
    filled.becomes("admitted", lambda: set(filled.admitted()), holding)
    filled.stays("admitted", lambda: set(filled.admitted()), holding)


def test_a_change_of_the_spec_that_why_proposes_admits_the_job(filled, run):
    """depth-train waits, since vision has its guarantee already. A higher one admits it."""
    (job,) = jobs({"vision": THEN["vision"]})
    filled.create(job)
    filled.becomes("message", lambda: _message(filled, job)[:14], "couldn't assig")
    (found,) = run("why", "vision/depth-train", EXAMPLE / "policy.yaml")["workloads"]
    remedy = next(it for it in found["remedies"] if it["changes"][0]["type"] == "SpecChange")
    (change,) = remedy["changes"]
    documents = list(yaml.safe_load_all(SPEC))
    for edit in change["edits"]:
        line = SPEC.splitlines()[int(edit["place"].rpartition(":")[2]) - 1]
        assert line.strip() == f"{edit['field']}: {edit['before']}"
        (team,) = (it for it in documents if it["metadata"]["name"] == edit["name"])
        (quota,) = (it for it in team["spec"]["quotas"] if it["pool"] == edit["pool"])
        quota[edit["field"]] = int(edit["after"])
    before = set(filled.admitted())
    filled.apply(rendered(yaml.safe_dump_all(documents)).text)
    gone = {it.partition("/")[2] for it in remedy["preempts"]}
    filled.becomes("admitted", lambda: set(filled.admitted()), before - gone | {"depth-train"})
