"""Edge cases of the rules for Volcano that their pages cannot show."""

import re
from datetime import date

import pytest
from msgspec.structs import replace

from policygen.app import lint as app_lint
from policygen.core.finding import At, Verdict
from policygen.kubernetes.cluster import Cluster
from policygen.lint.core.rules import priority_class_missing
from policygen.lint.volcano.rules import (
    deserved_above_capability,
    deserved_exceeds_cluster,
    gang_exceeds_queue,
    guarantee_above_deserved,
    plugin_task_missing,
    volcano_strands_gpus,
)
from tests.examples_of_rules import examples
from tests.objects import facts, objects

QUEUE = "{{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {{name: {}}}, spec: {}}}\n---\n"
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: vision}
spec:
  tasks:
  - {name: worker, dependsOn: {name: [worke]}}
"""


@pytest.mark.parametrize(
    "rule, text, advice",
    [
        ("queue-not-below-root", QUEUE.format("team-a", "{parent: team}"), "known: root"),
        ("queue-not-below-root", QUEUE.format("team-a", "{parent: rot}"), 'did you mean "root"?'),
        (
            "queue-not-below-root",
            QUEUE.format("team-a", "{parent: team}") + QUEUE.format("teams", "{}"),
            'did you mean "teams"?',
        ),
        ("job-dependency-refused", JOB, "no other task is defined"),
    ],
)
def test_no_object_is_suggested_as_its_own_parent(tmp_path, rule, text, advice):
    file = tmp_path / "in.yaml"
    file.write_text(text, "utf-8")
    request = app_lint.LintRequest(manifests=(str(file),), only=(rule,))
    (finding,) = app_lint.lint(request, today=date(2026, 11, 21)).findings
    assert finding.message.endswith(advice)


def _linted(tmp_path, text, *rules):
    file = tmp_path / "all.yaml"
    file.write_text(text, "utf-8")
    request = app_lint.LintRequest(manifests=(str(file),), only=rules)
    report = app_lint.lint(request, today=date(2026, 11, 23))
    return [it.rule.name for it in report.findings], {it.rule: it for it in report.rules}


def test_gangs_are_stranded_once_if_binpack_omits_gpus(tmp_path):
    text = examples("volcano-strands-gpus", good=False)[0].text
    rules = "volcano-strands-gpus", "binpack-without-gpu"
    assert _linted(tmp_path, text, *rules)[0] == ["volcano-strands-gpus"]
    cpu = text.replace("  - name: nodeorder\n", "  - name: nodeorder\n  - name: binpack\n", 1)
    assert _linted(tmp_path, cpu, *rules)[0] == ["binpack-without-gpu"]
    assert _linted(tmp_path, cpu, rules[0])[0] == ["volcano-strands-gpus"]


@pytest.mark.parametrize("strategy", [False, True])
def test_the_steps_that_pack_gpus_are_named_and_lead_to_a_clean_run(tmp_path, strategy):
    text = examples("volcano-strands-gpus", good=False)[0].text
    fit = "  - name: resource-strategy-fit\n" if strategy else ""
    file = tmp_path / "all.yaml"
    file.write_text(
        text.replace("  - name: nodeorder\n", f"  - name: nodeorder\n{fit}", 1), "utf-8"
    )
    request = app_lint.LintRequest(manifests=(str(file),), only=("volcano-strands-gpus",))
    [found] = app_lint.lint(request, today=date(2026, 11, 23)).findings
    remedy = found.message.rpartition("; ")[2]
    order = "set leastrequested.weight: 0, balancedresource.weight: 0, podtopologyspread.weight: 0 in the arguments of nodeorder"
    binpack = (
        "add the plugin binpack, set binpack.weight: 10, binpack.cpu: 0, binpack.memory: 0, binpack.resources: "
        "nvidia.com/gpu, binpack.resources.nvidia.com/gpu: 10 in the arguments of binpack"
    )
    last = f", {order} and remove the plugin resource-strategy-fit"
    assert remedy == binpack + (last if strategy else f" and {order}")
    plugins = "".join(
        f"  - name: {name}\n    arguments:\n"
        + "".join(f"      {it}\n" for it in re.findall(r"[\w./]+: [\w./]+", part))
        for name, part in (("nodeorder", order), ("binpack", binpack))
    )
    mended = text.replace("  - name: nodeorder\n", plugins, 1)
    assert _linted(tmp_path, mended)[0] == []


def test_only_what_packing_lacks_is_named_and_other_accelerators_are_not_added(tmp_path):
    """A binpack without weights of nodeorder that are 0; the nodes also have MIG instances."""
    text = examples("volcano-strands-gpus", good=False)[0].text
    arguments = "binpack.weight: 1, binpack.resources: nvidia.com/gpu"
    plugin = f"  - name: nodeorder\n  - {{name: binpack, arguments: {{{arguments}}}}}\n"
    text = text.replace("  - name: nodeorder\n", plugin, 1)
    text = text.replace(
        "nvidia.com/gpu: 8\n---", "nvidia.com/gpu: 8\n    nvidia.com/mig-1g.10gb: 7\n---"
    )
    file = tmp_path / "all.yaml"
    file.write_text(text, "utf-8")
    request = app_lint.LintRequest(manifests=(str(file),), only=("volcano-strands-gpus",))
    [found] = app_lint.lint(request, today=date(2026, 11, 23)).findings
    assert " although 14 GPUs are free; " in found.message
    assert "add the plugin" not in found.message
    assert "binpack.resources: " not in found.message


def test_gangs_of_one_size_or_too_many_pods_are_not_simulated(tmp_path, monkeypatch):
    text = examples("volcano-strands-gpus", good=False)[0].text
    rule = "volcano-strands-gpus"
    equal = text.replace("nvidia.com/gpu: 1\n", "nvidia.com/gpu: 8\n")
    assert equal != text
    assert rule not in _linted(tmp_path, equal, rule)[0]
    monkeypatch.setattr(volcano_strands_gpus, "_MOST_PODS", 2)
    found, rules = _linted(tmp_path, text, rule)
    assert rule not in found
    assert rules[rule].verdict is Verdict.NOT_EVALUATED
    assert rules[rule].reason == "lint simulates at most 2 pods of Volcano"


def test_a_tier_of_null_has_no_unknown_key(tmp_path):
    text = next(iter(examples("volcano-key-ignored", good=False))).text
    empty = re.sub(r"( *)tiers:\n", r"\1tiers:\n\1- null\n", text)
    assert empty != text
    file = tmp_path / "in.yaml"
    found = []
    for each in (text, empty):
        file.write_text(each, "utf-8")
        request = app_lint.LintRequest(manifests=(str(file),), only=("volcano-key-ignored",))
        report = app_lint.lint(request, today=date(2026, 11, 21))
        found.append([it.message for it in report.findings])
    assert found[0]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("cpu", "remedy"),
    [
        (16, "lower the request of a pod, which is above the capability, or"),
        (5, "lower minAvailable and the replicas of its tasks, or"),
    ],
)
def test_no_smaller_gang_is_proposed_if_one_pod_is_above_the_capability(tmp_path, cpu, remedy):
    text = f"""
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: q}}
spec: {{capability: {{cpu: 8}}}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: j, namespace: default}}
spec:
  queue: q
  minAvailable: 2
  schedulerName: volcano
  tasks:
    - name: a
      replicas: 2
      template:
        spec: {{restartPolicy: Never, containers: [{{name: a, image: "a:1", resources: {{requests: {{cpu: {cpu}}}}}}}]}}
"""
    file = tmp_path / "all.yaml"
    file.write_text(text, "utf-8")
    request = app_lint.LintRequest(manifests=(str(file),), only=("gang-exceeds-queue",))
    (found,) = app_lint.lint(request, today=date(2026, 11, 23)).findings
    assert remedy in found.message


GANG = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: %s, namespace: vision}
spec:
  schedulerName: volcano
  queue: vision
  minAvailable: 4
  tasks:
  - name: worker
    replicas: 4
    template:
      spec:
        restartPolicy: Never
        containers: [{name: main, image: "a:1", resources: {limits: {nvidia.com/gpu: %d}}}]
---
"""


def test_a_capability_below_several_gangs_is_one_finding_at_the_queue():
    queue = QUEUE.format("vision", "{capability: {nvidia.com/gpu: 8}}")
    gangs = (("a", 1), ("b", 4), ("c", 8))
    text = "".join(GANG % it for it in gangs)
    given = facts((queue + text).removesuffix("---\n"))
    [hit] = gang_exceeds_queue.check(given)
    assert hit.at == At(0, ("spec", "capability", "nvidia.com/gpu"))
    assert hit.message == (
        "Queue vision has a capability of 8 nvidia.com/gpu, but each of 2 gangs needs more at once and "
        "waits forever: Job vision/b needs 16 nvidia.com/gpu and Job vision/c needs 32 nvidia.com/gpu; raise the "
        "capability, or lower the number of pods in these gangs"
    )
    assert [it.document for it in hit.related] == [2, 3]


def test_each_gang_above_the_capability_of_a_queue_outside_the_input_is_reported():
    """A spec renders the queue, so the jobs are wrong."""
    queue = QUEUE.format("vision", "{capability: {nvidia.com/gpu: 8}}")
    made = objects((queue + GANG % ("b", 4) + GANG % ("c", 8)).removesuffix("---\n"))
    given = facts(queue.removesuffix("---\n"))
    given = replace(given, cluster=Cluster(made, context=frozenset({At(0)})))
    assert [it.at.document for it in gang_exceeds_queue.check(given) if it.at] == [1, 2]


def test_an_amount_above_its_capability_is_not_reported_as_above_the_nodes_too():
    node = "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {nvidia.com/gpu: 8}}}\n---\n"

    def found(*amounts):
        text = node
        for i, (deserved, capability) in enumerate(amounts):
            spec = f"{{deserved: {{nvidia.com/gpu: {deserved}}}, capability: {{nvidia.com/gpu: {capability}}}}}"
            text += QUEUE.format(f"q{i}", spec)
        given = facts(text.removesuffix("---\n"))
        return len([*deserved_exceeds_cluster.check(replace(given, run=RUN))])

    assert found((40, 4), (4, 4)) == 0
    assert found((40, 6), (4, 4)) == 0
    assert found((40, 6), (12, 12)) == 1
    assert found((40, 40), (4, 4)) == 1


KEY, BLOCKS = "volcano-key-ignored", "gang-plugin-blocks-preemption"
RUN = frozenset({deserved_above_capability.RULE.name})


def test_a_missing_priority_class_of_a_job_and_its_tasks_is_one_finding():
    priority = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}\n---\n"
    job = (GANG % ("a", 1)).replace(
        "  queue: vision\n", "  queue: vision\n  priorityClassName: hihg\n"
    )
    text = priority + job.replace(
        "        containers", "        priorityClassName: hihg\n        containers"
    )
    [hit] = priority_class_missing.check(facts(text.removesuffix("---\n")))
    assert hit.at == At(1, ("spec", "priorityClassName"))
    assert hit.message == (
        'Job vision/a has PriorityClass "hihg" (in 2 fields), which does not exist, so Volcano gives Job '
        'vision/a priority 0 and the API server refuses its pods; did you mean "high"?'
    )
    template = ("spec", "tasks", 0, "template", "spec", "priorityClassName")
    assert hit.related == (At(1, template),)


def test_a_gang_without_a_known_class_has_the_default_priority():
    classes = "{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: low}}, value: 5{}}}\n---\n"
    group = (
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, namespace: vision}, "
        "spec: {minMember: 1, priorityClassName: urgent}}"
    )
    for more, priority in ((", globalDefault: true", 5), ("", 0)):
        [hit] = priority_class_missing.check(facts(classes.format(more) + group))
        assert f"so Volcano gives PodGroup vision/g priority {priority};" in hit.message


def test_a_parent_needs_the_guarantees_of_all_its_children():
    """Also if it has none, so that its room for them is unknown."""
    parts = [("all", "root", 32, ""), ("a", "all", 8, 12), ("b", "all", 8, 4)]
    texts = []
    for name, parent, deserved, guaranteed in parts:
        more = f", guarantee: {{resource: {{nvidia.com/gpu: {guaranteed}}}}}" if guaranteed else ""
        spec = f"{{parent: {parent}, deserved: {{nvidia.com/gpu: {deserved}}}{more}}}"
        texts.append(QUEUE.format(name, spec))
    [hit] = guarantee_above_deserved.check(facts("".join(texts).removesuffix("---\n")))
    assert hit.message.endswith(
        "; raise deserved to at least the guarantee, and guarantee Queue all at least 16"
    )


def test_a_capability_below_deserved_and_a_gang_is_one_finding():
    queue = QUEUE.format(
        "vision", "{deserved: {nvidia.com/gpu: 8}, capability: {nvidia.com/gpu: %d}}"
    )

    def found(capability, gpus):
        text = (queue % capability + GANG % ("a", gpus)).removesuffix("---\n")
        given = replace(facts(text), run=RUN)
        rules = (deserved_above_capability, gang_exceeds_queue)
        return [it.message for rule in rules for it in rule.check(given)]

    assert found(6, 2) == [
        (
            "Queue vision deserves 8 nvidia.com/gpu, above its capability of 6; raise capability, because "
            "Job vision/a needs 8 nvidia.com/gpu at once"
        )
    ]
    assert [it.rpartition("; ")[2] for it in found(6, 1)] == ["lower deserved, or raise capability"]
    assert len(found(6, 3)) == 2
    assert len(found(8, 3)) == 1


def test_a_task_in_upper_case_is_the_master_that_is_meant():
    text = examples("plugin-task-missing", good=True)[0].text
    for name, count in (("Leader", 0), ("chief", 1)):
        renamed = facts(text.replace("- name: leader", f"- name: {name}"))
        assert len([*plugin_task_missing.check(renamed)]) == count


@pytest.mark.parametrize(
    ("key", "found"),
    [("enableReclaimable", []), ("enableReclamable", [KEY]), ("enablePreemptible", [KEY, BLOCKS])],
)
def test_a_misspelled_flag_counts_as_the_one_that_is_meant(tmp_path, key, found):
    text = examples(BLOCKS, good=True)[0].text
    assert "enableReclaimable: false" in text
    assert sorted(
        _linted(tmp_path, text.replace("enableReclaimable", key), KEY, BLOCKS)[0]
    ) == sorted(found)


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
        ("binpack-weight-not-listed", "binpack.resources:", "binpack.resource:"),
        ("queues-without-plugin", "name: capacity", "name: capcity"),
    ],
)
def test_what_follows_from_a_misspelled_name_of_volcano_is_not_reported(tmp_path, rule, old, new):
    text = examples(rule, good=True)[0].text
    assert old in text
    found = _linted(tmp_path, text.replace(old, new), rule, KEY, "volcano-plugin-unknown")[0]
    assert found in ([KEY], ["volcano-plugin-unknown"])
