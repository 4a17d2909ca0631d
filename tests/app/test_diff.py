"""`policygen diff`: the changes between two snapshots of a cluster."""

import copy
import json
from datetime import timedelta
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.client import snapshot_file as snapshots
from policygen.client.redaction import Key, redacted
from policygen.core.errors import UsageError
from policygen.core.finding import At
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Gap, GroupKind
from policygen.lint.kinds import every
from tests.client.looks import TAKEN, snapshot

ROOT = Path(__file__).parents[2]
STORY = ROOT / "examples" / "kueue-team-tree"
SPEC = [word for path in sorted(STORY.glob("*.yaml")) for word in ("--spec", str(path))]
SCHEMA = json.loads((ROOT / "schemas" / "diff.schema.json").read_text("utf-8"))
QUEUE = "ClusterQueue evaluation.a100"


@pytest.fixture
def things():
    text = (STORY / "expected" / "manifests.yaml").read_text("utf-8")
    return {str(Object.read(it, At(0))): it for it in yaml.load_all(text, Loader=yaml.CSafeLoader)}


@pytest.fixture
def diff(tmp_path):
    def run(before, after, *options, seen=({}, {})):
        paths = []
        for number, (things, more) in enumerate(zip((before, after), seen, strict=True)):
            paths.append(str(tmp_path / f"{number}.snapshot"))
            fields = {"taken": TAKEN + timedelta(hours=number), **more}
            look = snapshot(yaml.safe_dump_all(things.values()), **fields)
            snapshots.write(look, Path(paths[-1]))
        done = CliRunner().invoke(cli, ["diff", "-f", "json", *paths, *options])
        if done.exit_code == 1 and done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        found = json.loads(done.stdout)
        jsonschema.validate(found, SCHEMA)
        return found, done.exit_code

    return run


def test_nothing_changed(diff, things):
    found, code = diff(things, things, *SPEC)
    assert code == 0
    assert (found["changes"], found["notComparable"]) == ([], [])
    assert found["findings"] == {"new": [], "gone": []}
    assert [it["taken"] for it in found["looks"]] == [
        "2026-11-21T03:00:00Z",
        "2026-11-21T04:00:00Z",
    ]


def test_changes_have_field_and_author(diff, things):
    after = copy.deepcopy(things)
    after[QUEUE]["spec"]["stopPolicy"] = "Hold"
    after[QUEUE]["metadata"]["annotations"] = {"why": "later"}
    after[QUEUE]["metadata"]["managedFields"] = [
        {
            "manager": "kubectl-edit",
            "operation": "Update",
            "apiVersion": after[QUEUE]["apiVersion"],
            "time": "2026-11-21T03:30:00Z",
            "fieldsV1": {
                "f:metadata": {"f:annotations": {"f:why": {}}},
                "f:spec": {"f:stopPolicy": {}},
            },
        }
    ]
    found, code = diff(things, after, *SPEC)
    assert code == 1
    who = "written by kubectl-edit (Update), at 2026-11-21T03:30:00Z"
    assert found["changes"] == [
        {
            "what": "changed",
            "object": QUEUE,
            "path": "metadata.annotations.why",
            "message": f'the value is new: "later"; {who}',
        },
        {
            "what": "changed",
            "object": QUEUE,
            "path": "spec.stopPolicy",
            "message": f'the value was "None" and is now "Hold"; {who}',
        },
    ]
    assert {it["rule"] for it in found["findings"]["new"]} == {"field-drifted", "queue-stopped"}
    back, _ = diff(after, things, *SPEC)
    assert {it["rule"] for it in back["findings"]["gone"]} == {"field-drifted", "queue-stopped"}
    assert [it["path"] for it in back["changes"]] == ["metadata.annotations.why", "spec.stopPolicy"]


def test_objects_that_come_and_go(diff, things):
    after = copy.deepcopy(things)
    other = after.pop(QUEUE)
    other["metadata"] |= {"name": "other", "creationTimestamp": "2026-11-21T03:15:00Z"}
    after["other"] = other
    found, _ = diff(things, after)
    assert [(it["what"], it["object"], it["message"]) for it in found["changes"]] == [
        ("removed", QUEUE, "the object is gone; servers do not store who deleted it"),
        (
            "added",
            "ClusterQueue other",
            "the object is new, created at 2026-11-21T03:15:00Z",
        ),
    ]


def test_what_one_look_lacks_is_not_gone(diff, things):
    without = {key: it for key, it in things.items() if it["kind"] != "ClusterQueue"}
    lacks = {"read": every() - {GroupKind("kueue.x-k8s.io", "ClusterQueue")}}
    found, code = diff(things, without, seen=({}, lacks))
    assert code == 3
    assert found["changes"] == []
    assert "ClusterQueue.kueue.x-k8s.io: not read for the second snapshot" in found["notComparable"]
    assert any(it.startswith("queue-stopped: not evaluated") for it in found["notComparable"])


KUEUE = sorted(it for it in every() if it.group == "kueue.x-k8s.io")
WEAK = {
    "read": every() - set(KUEUE),
    "gaps": tuple(Gap(*it, "", f"{it.kind}: forbidden") for it in KUEUE),
}


@pytest.mark.parametrize(
    "seen, which", [((WEAK, {}), "first"), (({}, WEAK), "second"), ((WEAK, WEAK), None)]
)
def test_unread_kinds_are_reported_once(diff, things, seen, which):
    """Not as new or missing, and not as unchanged if both snapshots lack it."""
    without = {key: it for key, it in things.items() if "kueue" not in it["apiVersion"]}
    found, code = diff(*(without if each else things for each in seen), *SPEC, seen=seen)
    assert (code, found["changes"], found["findings"]) == (3, [], {"new": [], "gone": []})
    where = f"the {which} snapshot" if which else "both snapshots"
    kinds = [it for it in found["notComparable"] if ": not read for " in it]
    assert kinds == [f"{it}: not read for {where}: {it.kind}: forbidden" for it in KUEUE]
    rules = found["notComparable"][len(kinds) :]
    assert all(f": not evaluated for {where}: " in it for it in rules)
    assert bool(rules) == bool(which)  # else no rule that needs these kinds has reported anything


def test_text_output_has_two_lines_about_incomparable_parts(diff, things, tmp_path):
    diff(things, things, seen=({}, WEAK))
    paths = [str(tmp_path / f"{number}.snapshot") for number in (0, 1)]
    lines = CliRunner().invoke(cli, ["diff", *paths]).stdout.splitlines()
    assert len(lines) == 4
    assert lines[1].startswith(
        "not comparable, not read for the second snapshot: AdmissionCheck.kueue.x-k8s.io, "
    )
    assert lines[1].endswith(" (AdmissionCheck.kueue.x-k8s.io: AdmissionCheck: forbidden)")
    assert lines[2].startswith("not comparable, not evaluated for the second snapshot: ")
    assert " more (" in lines[2]


def test_a_finding_is_not_new_where_the_first_look_may_have_had_it(diff, things):
    """With incomplete input, a rule that fails may have missed findings."""
    held = copy.deepcopy(things)
    held[QUEUE]["spec"]["stopPolicy"] = "Hold"
    local = copy.deepcopy(next(it for it in things.values() if it["kind"] == "LocalQueue"))
    local["spec"]["stopPolicy"] = "Hold"
    both = {**held, str(Object.read(local, At(0))): local}
    kind = GroupKind("kueue.x-k8s.io", "LocalQueue")
    lacks = {"read": every() - {kind}, "gaps": (Gap(*kind, "", "forbidden"),)}
    less = {key: it for key, it in held.items() if it["kind"] != "LocalQueue"}
    found, code = diff(less, both, seen=(lacks, {}))
    assert (code, found["findings"]) == (3, {"new": [], "gone": []})
    found, code = diff(both, less, seen=({}, lacks))
    assert (code, found["findings"]) == (3, {"new": [], "gone": []})
    found, _ = diff(held, both)
    assert [it["rule"] for it in found["findings"]["new"]] == ["queue-stopped"]


@pytest.mark.parametrize("bad", ["not there", "cut off", "no snapshot"])
def test_a_snapshot_that_cannot_be_read_ends_as_in_lint(diff, things, tmp_path, bad):
    diff(things, things)
    good, other = (tmp_path / f"{number}.snapshot" for number in (0, 1))
    if bad == "not there":
        other.unlink()
    else:
        whole = other.read_bytes()
        other.write_bytes(whole[: len(whole) // 2] if bad == "cut off" else b"{}")
    compared = CliRunner().invoke(cli, ["diff", str(good), str(other)])
    linted = CliRunner().invoke(cli, ["lint", "--snapshot", str(other)])
    assert compared.exception.exit_code == linted.exit_code == 3
    where, _, reason = str(compared.exception).partition(": ")
    assert where == str(other)
    assert linted.stdout.startswith(f"{other}: error: {reason} [snapshot-unreadable]\n")
    assert linted.stdout.count(str(other)) == 1


def test_running_workloads_are_not_policy(diff, things):
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "b"}}
    found, _ = diff(things, {**things, "job": job})
    assert found["changes"] == []


@pytest.mark.parametrize(
    "arguments, why",
    [
        (["a.snapshot"], "name OLD and NEW"),
        (["a.snapshot", "b.snapshot", "--context", "c"], "OLD or NEW is a cluster already"),
        (["a.snapshot", "--context", "c", "--context", "d"], "name one cluster"),
    ],
)
def test_two_looks_are_named(arguments, why):
    done = CliRunner().invoke(cli, ["diff", *arguments])
    assert done.exit_code == 2
    assert why in done.output


@pytest.mark.parametrize(
    "seen, why",
    [
        (({}, {"redacted": True, "key": "a"}), r"only \S+/1\.snapshot has redacted names"),
        (({"redacted": True, "key": "a"}, {}), r"only \S+/0\.snapshot has redacted names"),
        (
            ({"redacted": True, "key": "a"}, {"redacted": True, "key": "b"}),
            "both have redacted names, and their hash keys differ or are unknown",
        ),
        (
            ({"redacted": True}, {"redacted": True}),
            "both have redacted names, and their hash keys differ or are unknown",
        ),
    ],
)
def test_names_of_different_keys_do_not_compare(diff, things, seen, why):
    with pytest.raises(UsageError, match=f"because {why}; take .* and the same --key-file"):
        diff(things, things, seen=seen)


def test_redacted_snapshots_of_one_key_compare(diff, things):
    after = copy.deepcopy(things)
    after[QUEUE]["spec"]["stopPolicy"] = "Hold"
    key = Key.new()
    hidden = [
        {
            str(n): it.data
            for n, it in enumerate(
                redacted(snapshot(yaml.safe_dump_all(one.values())), key).objects
            )
        }
        for one in (things, after)
    ]
    found, code = diff(*hidden, seen=({"redacted": True, "key": key.name},) * 2)
    assert code == 1
    (changed,) = found["changes"]
    assert changed["object"] == f"ClusterQueue {key.hide('evaluation.a100')}"
    assert changed["path"] == "spec.stopPolicy"
    assert [it["rule"] for it in found["findings"]["new"]] == ["queue-stopped"]


def test_a_config_map_that_one_snapshot_did_not_request_is_not_missing(diff, things):
    """ConfigMaps are read by name, so a snapshot without the spec lacks those of the spec."""
    (name,) = (key for key, it in things.items() if it["kind"] == "ConfigMap")
    without = {key: it for key, it in things.items() if key != name}
    asked = {"config_maps": frozenset({things[name]["metadata"]["name"]})}
    found, code = diff(things, without, seen=(asked, {}))
    assert (found["changes"], code) == ([], 3)
    assert found["notComparable"] == [
        f"{name}: not requested for the second snapshot; take both snapshots with the same spec"
    ]
    found, code = diff(without, things, seen=({}, asked))
    assert (found["changes"], code) == ([], 3)
    assert "not requested for the first snapshot" in found["notComparable"][0]
    found, _ = diff(things, without, seen=(asked, asked))
    assert [(it["what"], it["object"]) for it in found["changes"]] == [("removed", name)]
    found, code = diff(things, things, seen=(asked, {}))
    assert (found["changes"], found["notComparable"], code) == ([], [], 0)
