"""The forms of the articles: their meaning, and that no value of the example is silently ignored."""

from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from policygen.core.rule import Severity
from policygen.spec.types import SchedulingPolicy

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "articles"
FILES = {path.name: path.read_text() for path in sorted(EXAMPLE.glob("*.yaml"))}

POOL = """
apiVersion: gpu.example.com/v1
kind: ResourcePool
metadata: {name: p}
spec:
  nodeSelector: {gpu.type: a100}
  capacity: {totalGPUs: 8}
"""


def model(scheduling_class=None, name="m"):
    text = f"""
apiVersion: inference.example.com/v1
kind: ModelServingSpec
metadata: {{name: {name}}}
spec:
  modelFamily: llama
  modelSize: 7b
  resources: {{gpuMemory: 20Gi}}
"""
    return text + (f"  schedulingClass: {scheduling_class}\n" if scheduling_class else "")


def queues(*entries, more=""):
    lines = "".join(f"      - {{{entry}}}\n" for entry in entries)
    return f"""
apiVersion: v1
kind: ConfigMap
metadata: {{name: gpu-scheduler-config}}
data:
  scheduler-config.yaml: |
    queues:
{lines}    {more}
"""


def platform(spec):
    return f"""
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {{name: set}}
spec: {spec}
"""


def above(done, severity=Severity.WARNING):
    """The rules of all findings with this severity or a higher one."""
    return [finding.rule.name for finding in done.findings if finding.severity >= severity]


def gpus(queue):
    [flavor] = queue.flavors
    cell = flavor.resources[-1]
    return cell.nominal_quota, cell.borrowing_limit


def test_queues_share_each_pool_by_weight_and_the_ratio_by_weight(planned_files):
    found = planned_files(FILES).of("ClusterQueue")
    # 28 x 50, 30, 20 % are 14, 8.4 and 5.6; 28 x 1.2 is 33, whose shares are 16.5, 9.9 and 6.6.
    assert gpus(found["high-priority.general-purpose"]) == ("14", "2")
    assert gpus(found["medium-priority.general-purpose"]) == ("8", "2")
    assert gpus(found["low-priority.general-purpose"]) == ("6", "1")
    # 12 x 50, 30, 20 % are 6, 3.6 and 2.4; with the ratio 1 nothing is left to borrow.
    assert gpus(found["high-priority.high-performance"]) == ("6", "0")
    assert gpus(found["medium-priority.high-performance"]) == ("4", "0")
    assert gpus(found["low-priority.high-performance"]) == ("2", "0")


def test_queues_share_what_teams_of_our_own_kind_leave(planned):
    team = """
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: mine}
spec:
  namespaces: [{name: mine}]
  quotas: [{pool: p, guarantee: 5}]
"""
    found = planned(POOL, team, queues("name: a, weight: 2", "name: b")).of("ClusterQueue")
    assert {name: gpus(queue)[0] for name, queue in found.items()} == {
        "a.p": "2",
        "b.p": "1",
        "mine.p": "5",
    }


@pytest.mark.parametrize(
    "name, own, wider, result",
    [
        ("own word", {"topology_aware": False}, {"topology_aware": True}, {"topology_aware": False}),
        ("wider word", {}, {"gang_scheduling": False}, {"gang_scheduling": False}),
        ("both", {"bin_pack": True}, {"preemption_enabled": False},
         {"bin_pack": True, "spread": False, "preemption_enabled": False}),
        ("packing settles spreading", {"bin_pack": True}, {"spread": True},
         {"bin_pack": True, "spread": False}),
        ("spreading settles packing", {"spread": True}, {"bin_pack": True},
         {"bin_pack": False, "spread": True}),
        ("not packing settles nothing", {"bin_pack": False}, {"spread": True},
         {"bin_pack": False, "spread": True}),
    ],
)  # fmt: skip
def test_policy_over_a_wider_one(name, own, wider, result):
    merged = SchedulingPolicy(**own).over(SchedulingPolicy(**wider))
    assert merged == SchedulingPolicy(**result), name


DEFAULTS = platform(
    "{defaults: {schedulingPolicy: {spread: true, gangScheduling: false, topologyAware: true}}}"
)
POLICY = "schedulingPolicy: {binPack: true, topologyAware: false}"


@pytest.mark.parametrize(
    "texts, decided",
    [
        # binPack, spread, topologyAware, gangScheduling
        ([POOL, DEFAULTS], (False, True, True, False)),
        ([POOL, queues("name: a", more=POLICY)], (True, False, False, True)),
        ([POOL, DEFAULTS, queues("name: a", more=POLICY)], (True, False, False, False)),
        ([POOL, queues("name: a", more=POLICY), DEFAULTS], (True, False, False, False)),
        (
            [
                POOL + "  schedulingPolicy: {spread: true, topologyAware: true}\n",
                DEFAULTS,
                queues("name: a", more=POLICY),
            ],
            (False, True, True, False),
        ),
    ],
)
def test_pool_wins_over_configmap_and_that_over_platform(planned, texts, decided):
    [facts] = planned(*texts).plan.pools
    policy = facts.policy
    assert decided == (
        policy.bin_pack, policy.spread, policy.topology_aware, policy.gang_scheduling,
    )  # fmt: skip


def test_platform_beside_the_articles_forms_keeps_its_name_and_priorities(planned):
    text = platform("{priorities: [{name: low, value: 1}]}")
    done = planned(text, POOL, queues("name: high, priority: 9"))
    assert done.loaded.spec.platform.name == "set"
    found = done.of("WorkloadPriorityClass")
    assert {name: it.value for name, it in found.items()} == {"low": 1, "high": 9}


def test_priority_that_platform_and_queue_agree_on_is_the_platforms(planned):
    text = platform("{priorities: [{name: high, value: 9, description: Urgent}]}")
    done = planned(text, POOL, queues("name: high, priority: 9"))
    assert {it.description for it in done.of("WorkloadPriorityClass").values()} == {"Urgent"}


def test_queue_without_a_priority_takes_models_without_one(planned):
    done = planned(POOL, queues("name: a"), model("a"))
    assert above(done, Severity.ERROR) == []
    assert done.of("WorkloadPriorityClass") == {}
    [it] = done.loaded.spec.models
    assert (it.team, it.priority) == ("a", None)


def test_queue_without_a_priority_may_have_that_of_the_platform(planned):
    text = platform("{priorities: [{name: a, value: 9}]}")
    [it] = planned(text, POOL, queues("name: a"), model("a")).loaded.spec.models
    assert (it.team, it.priority) == ("a", "a")


@pytest.mark.parametrize(
    "texts, rules",
    [
        ([POOL, model("high")], ["class-without-queue", "pool-without-teams"]),
        ([POOL, model(), queues("name: a")], ["class-missing"]),
        (
            [platform("{priorities: [{name: a, value: 1}]}"), POOL, model("a")],
            ["class-without-queue", "pool-without-teams"],
        ),
        ([queues("name: a")], ["queues-without-pools"]),
        ([POOL, queues(more="queues: []").replace("    queues:\n", "", 1)], ["pool-without-teams"]),
    ],
)
def test_missing_parts_are_warnings(planned, texts, rules):
    done = planned(*texts)
    assert sorted(above(done)) == rules
    assert done.plan is not None


def test_max_pending_of_zero_bounds_what_waits_at_what_runs(planned):
    done = planned(POOL, queues("name: a, maxPending: 0", "name: b, maxPending: 0"))
    [quota] = done.of("ResourceQuota").values()
    # Each queue may have all 8 GPUs, so 16 workloads may run and 0 may wait.
    assert quota.hard == {"count/workloads.kueue.x-k8s.io": "16"}


@pytest.mark.parametrize(
    "label, spot",
    [
        ("cloud.google.com/gke-spot: 'true'", True),
        ("cloud.google.com/gke-provisioning: spot", True),
        ("eks.amazonaws.com/capacityType: SPOT", True),
        ("karpenter.sh/capacity-type: spot", True),
        ("kubernetes.azure.com/scalesetpriority: spot", True),
        ("karpenter.sh/capacity-type: on-demand", False),
        ("team: spot", False),
    ],
)
def test_providers_labels_mark_spot_nodes(planned, label, spot):
    text = POOL.replace("{gpu.type: a100}", f"{{gpu.type: a100, {label}}}")
    [pool] = planned(text).loaded.spec.pools
    assert pool.preemptible is spot


@pytest.mark.parametrize(
    "good, bad, line",
    [
        ("name: gpu-scheduler-config", "name: gpu-scheduler", 3),
        ("kind: ConfigMap", "kind: Secret", 2),
        ("apiVersion: v1", "apiVersion: apps/v1", 1),
    ],
)
def test_queues_under_another_header_are_not_overlooked(planned, good, bad, line):
    done = planned(queues("name: a").replace(good, bad), POOL)
    [finding] = [it for it in done.findings if it.rule.name == "looks-like-queues"]
    assert finding.place.line == line
    assert good in finding.message
    assert finding.severity == Severity.WARNING


def scalars(node, path=()):
    match node:
        case yaml.MappingNode():
            for key, value in node.value:
                yield from scalars(value, (*path, key.value))
        case yaml.SequenceNode():
            for index, value in enumerate(node.value):
                yield from scalars(value, (*path, index))
        case _:
            yield path, node


def values():
    """Every scalar of the example: file, path, line and column from 0, text."""
    for name, text in FILES.items():
        for number, document in enumerate(yaml.compose_all(text, yaml.SafeLoader)):
            for path, node in scalars(document, (number,)):
                line, column = node.start_mark.line, node.start_mark.column
                if node.style != "|":
                    yield name, path, line, column, node.value
                    continue
                block = text.splitlines()[line + 1 :]
                indent = len(block[0]) - len(block[0].lstrip())
                inner = yaml.compose(dedent("\n".join(block)), yaml.SafeLoader)
                for below, leaf in scalars(inner, path):
                    at = leaf.start_mark
                    yield name, below, line + 1 + at.line, at.column + indent, leaf.value


BAD = {
    "wrong type": "[1]",
    "mapping": "{a: 1}",
    "empty": "",
    "empty text": '""',
    "word": "maybe",
    "boolean": "true",
    "negative": "-1",
    "zero": "0",
    "huge": "99999999999999999999",
    "absurd": "1e999999",
}

VALID = {
    # any other text is another valid value, which nothing here refers to
    ("namespace", "word"),
    ("namespace", "misspelt"),
    # scales to nothing at night
    ("minReplicas", "zero"),
}
"""Keys, and ways to break them, whose new value is valid and renders the same."""


def broken(key, value):
    """Ways to break a value, by name; no way keeps its meaning."""
    boolean = value in {"true", "false"}
    for way, text in BAD.items():
        shortens = key == 1 and way == "empty"  # the list, by an entry
        if not shortens and not (boolean and way == "boolean"):
            yield way, text
    if not boolean:
        yield "misspelt", f"{value[:-2]}{value[-1:]}{value[-2:-1]}q"


@pytest.fixture(scope="module")
def good(planned_files):
    return planned_files(FILES)


@pytest.mark.parametrize(
    "name, path, line, column, value",
    [pytest.param(*it, id=f"{it[0]}:{it[2] + 1} {it[4]}") for it in values()],
)
def test_breaking_any_value_is_found_or_changes_what_is_rendered(
    planned_files, good, name, path, line, column, value
):
    lines = FILES[name].splitlines()
    before, after = lines[line][:column], lines[line][column + len(value) :]
    assert lines[line] == before + value + after
    key = next(step for step in reversed(path) if isinstance(step, str))
    near = {(name, place) for place in (line, *holders(name, path, line))}
    for way, text in broken(path[-1], value):
        changed = [*lines[:line], before + text + after, *lines[line + 1 :]]
        done = planned_files({**FILES, name: "\n".join(changed)})
        new = [
            finding
            for finding in set(done.findings) - set(good.findings)
            if finding.severity >= Severity.WARNING
        ]
        if near & {(finding.place.file, finding.place.line - 1) for finding in new}:
            continue
        if done.plan is None:
            # A name that something refers to: the reference is what dangles.
            assert key == "name", way
            assert {finding.rule.name for finding in new} == {"unknown-reference"}, way
        elif key == "name" and done.plan.items == good.plan.items:
            # A model that is not rendered: its findings name it.
            assert new, way
            assert all(f'"{text}"' in finding.message for finding in new), way
        elif (key, way) not in VALID:
            assert done.plan.items != good.plan.items, way


def holders(name, path, line):
    """Lines of the keys that contain a value, at which its error may be reported too."""
    lines = FILES[name].splitlines()
    indent = len(lines[line]) - len(lines[line].lstrip(" -"))
    for number in range(line - 1, -1, -1):
        text = lines[number]
        if text.startswith("---"):
            return
        own = len(text) - len(text.lstrip(" -"))
        if text.strip() and (own < indent or (len(path) == 2 and text.startswith("apiVersion"))):
            indent = min(own, indent)
            yield number


ORDINARY = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gpu-scheduler-config}\n"


@pytest.mark.parametrize(
    ("data", "is_error"),
    [
        ("", False),
        ("data: {profile: binpack}\n", False),
        ("data: [1]\n", False),
        ("data: {scheduler_config.yaml: a}\n", True),
        ("data:\n  config: |\n    queues: [{name: a}]\n", True),
        ("data: {scheduler-config.yaml: ''}\n", True),
        ("data:\n  scheduler-config.yaml: |\n    kind: KubeSchedulerConfiguration\n", False),
    ],
)
def test_a_config_map_without_queues_is_an_ordinary_one(planned, data, is_error):
    done = planned(ORDINARY + data, POOL)
    errors = [it.rule.name for it in done.findings if it.severity == Severity.ERROR]
    assert bool(errors) == is_error
    assert done.loaded.foreign == (not is_error)
