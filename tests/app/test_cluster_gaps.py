"""What simulate, why and fit answer about a cluster that was not read completely."""

import json

import pytest
from click.testing import CliRunner

from policygen.app.cluster_gaps import ClusterGaps, gaps
from policygen.cli.main import cli
from policygen.client import snapshot_file
from policygen.core.errors import UnreadError
from policygen.kubernetes.snapshot import Gap, GroupKind
from policygen.lint.kinds import every
from tests.client.looks import snapshot
from tests.simulate.scenes import NODES, QUEUES, WORKLOAD, job

KUEUE = "kueue.x-k8s.io"
QUEUE = GroupKind(KUEUE, "ClusterQueue")
FORBIDDEN = "403: clusterqueues is forbidden"
STATE = QUEUES + NODES + WORKLOAD + job("b", 8)
COMMANDS = (
    ("why", "nlp/b"),
    ("why",),
    ("simulate",),
    ("simulate", "-f", "json"),
    ("fit", "--team", "nlp", "--gpus", "1"),
)


@pytest.fixture
def run(tmp_path):
    """Runs a command with a snapshot without these kinds."""

    def run(*arguments, lacks=(), text=STATE, **seen):
        path = tmp_path / "prod.snapshot"
        found = tuple(Gap(*it, "", FORBIDDEN) for it in lacks)
        kept = "\n---\n".join(
            it for it in text.split("---\n") if not any(f"kind: {one.kind}," in it for one in lacks)
        )
        read = every() - {*lacks}
        it = snapshot(kept, **{"read": read, "gaps": found, **seen})
        snapshot_file.write(it, path)
        return CliRunner().invoke(cli, [*arguments, "--snapshot", str(path)])

    return run


def refused(done, kind):
    assert isinstance(done.exception, UnreadError), done.output
    assert done.exception.exit_code == 3
    assert list(done.exception.details) == [f"east: {kind} could not be read: {FORBIDDEN}"]
    assert str(done.exception).startswith(f"east: policygen cannot answer without {kind};")


@pytest.mark.parametrize("arguments", COMMANDS)
@pytest.mark.parametrize("kind", ["ClusterQueue", "LocalQueue", "ResourceFlavor"])
def test_without_a_kind_that_decides_nothing_is_answered(run, arguments, kind):
    done = run(*arguments, lacks=(GroupKind(KUEUE, kind),))
    refused(done, f"{kind}.{KUEUE}")
    assert not done.stdout.strip()


@pytest.mark.parametrize("arguments", COMMANDS)
def test_another_kind_is_named_first(run, arguments):
    done = run(*arguments, lacks=(GroupKind("", "Node"),))
    assert done.exit_code == 3, done.output
    message = f"Node could not be read: {FORBIDDEN}"
    if "json" in arguments:
        assert json.loads(done.stdout)["unread"] == [message]
        assert done.stderr == f"policygen: not read: {message}\n"
    else:
        assert done.stdout.startswith(f"Not read: {message}\nThe answer can be wrong, ")


@pytest.mark.parametrize("command", ["why", "fit"])
def test_the_messages_in_json(run, command):
    arguments = {"why": ("why", "nlp/b"), "fit": COMMANDS[-1]}[command]
    done = run(*arguments, "-f", "json", lacks=(GroupKind("", "LimitRange"),))
    assert json.loads(done.stdout)["unread"] == [f"LimitRange could not be read: {FORBIDDEN}"]
    assert done.exit_code == 3


def test_what_the_cluster_does_not_serve_is_no_gap(run):
    volcano = {it for it in every() if "volcano" in it.group}
    done = run("simulate", unserved=frozenset(volcano), read=every() - volcano)
    assert done.exit_code == 0, done.output
    assert "Not read" not in done.stdout


@pytest.mark.parametrize(
    "arguments, code", [(("why", "nlp/b"), 1), (("why",), 3), (("simulate",), 3)]
)
def test_a_named_job_of_kueue_does_not_depend_on_volcano(run, arguments, code):
    done = run(*arguments, lacks=(GroupKind("scheduling.volcano.sh", "Queue"),))
    assert done.exit_code == code, done.output


@pytest.mark.parametrize("arguments", [("why", "nlp/other"), ("simulate",)])
def test_a_job_of_a_kind_that_was_not_read_can_exist(run, arguments):
    done = run(*arguments, lacks=(GroupKind("batch", "Job"),), text=QUEUES + NODES)
    refused(done, "Job.batch")


def test_one_namespace_is_not_the_cluster(run):
    done = run("simulate", namespaces=("nlp",))
    assert done.exit_code == 3
    assert done.stdout.startswith("Not read: Pod was read only in namespace nlp; objects of other ")


def test_a_snapshot_without_a_kind_says_so():
    it = gaps(snapshot(read=every() - {QUEUE}))
    assert it.messages() == (f"{QUEUE} was not read",)
    assert gaps(None) == ClusterGaps()
    it.require(volcano=True)
    with pytest.raises(UnreadError, match="cannot answer without ClusterQueue"):
        it.require(kueue=True)


def test_the_second_state_of_a_comparison(run, tmp_path):
    """Its gaps count, and so do those in the jobs of the first."""
    spec = tmp_path / "state.yaml"
    spec.write_text(QUEUES + NODES, "utf-8")
    done = run("simulate", "--against", str(spec), lacks=(GroupKind("", "Node"),))
    assert done.exit_code == 3
    assert done.stdout.startswith("Not read: Node could not be read")
    path = tmp_path / "second.snapshot"
    snapshot_file.write(snapshot(QUEUES + NODES), path)
    done = run("simulate", "--against", str(path), lacks=(GroupKind("batch", "CronJob"),))
    assert done.exit_code == 3
    assert done.stdout.startswith("Not read: CronJob.batch could not be read")
