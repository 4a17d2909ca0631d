"""`lint --fix` on the bad examples of rules, and on files with several faults."""

import io
import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
import ruamel.yaml
import yaml
from msgspec.structs import replace

from policygen.app import fix, lint
from policygen.app.requests import LintRequest, parse_targets
from policygen.documents.edit.comments import comments
from policygen.documents.files import Source
from policygen.kubernetes import manifests
from policygen.kubernetes.renames import canonical
from policygen.lint.page import page
from policygen.lint.registry import RULES
from policygen.lint.rule import Fix
from tests.examples_of_rules import examples

TODAY = date(2026, 11, 21)
HOW = {Fix.SAFE: "lint --fix", Fix.UNSAFE: "lint --fix --unsafe", None: None}
FIXABLE = [rule.name for rule in RULES if rule.fix]
KUEUE = "apiVersion: kueue.x-k8s.io/{}\nkind: {}\nmetadata:\n  name: a\nspec:\n"


def fixed(file, *, unsafe=True, options=("partial",), write=True):
    target = parse_targets(dict(word.split("=") for word in options if "=" in word))
    settings = LintRequest(manifests=(str(file),), target=target, partial="partial" in options)
    made = fix.fix(settings, today=TODAY, unsafe=unsafe)
    for _, text in made.texts if write else ():
        Path(file).write_bytes(text.encode())
    return made


def of(report):
    return Counter(finding.rule.name for finding in report.findings)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_page_has_the_fix_that_its_rule_declares(rule):
    assert page(rule.name).fixed_by == HOW[rule.fix]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_only_rules_that_declare_a_fix_give_edits(rule, tmp_path):
    file = tmp_path / "example.yaml"
    given = []
    for example in examples(rule.name):
        file.write_text(example.text)
        target = parse_targets(dict(word.split("=") for word in example.options if "=" in word))
        settings = LintRequest(
            manifests=(str(file),), target=target, partial="partial" in example.options
        )
        given += [it.edits for it in lint.lint(settings, today=TODAY).findings]
    assert any(given) == (rule.fix is not None)


@pytest.mark.parametrize("name", FIXABLE)
def test_bad_examples_are_fixed_and_nothing_else_breaks(name, tmp_path):
    file = tmp_path / "example.yaml"
    mended = 0
    for example in examples(name, good=False):
        file.write_text(example.text)
        made = fixed(file, options=example.options)
        assert made.left == ()
        if not made.done:
            continue
        mended += 1
        assert set(made.done) == {name}
        assert of(made.after) == Counter()
        assert Counter(comments(example.text)) == Counter(comments(file.read_text()))
        again = fixed(file, options=example.options)
        assert (again.texts, again.done) == ((), {})
        assert of(again.before) == Counter()
    assert mended


LAYOUTS = {
    "block": lambda them: yaml.safe_dump_all(them, sort_keys=False),
    "indented": lambda them: "---\n".join(_indented(each) for each in them),
    "flow": lambda them: yaml.safe_dump_all(them, default_flow_style=True, width=60),
    "json": lambda them: json.dumps(_list(them)),
    "pretty": lambda them: json.dumps(_list(them), indent=2),
    "list": lambda them: yaml.safe_dump(_list(them), sort_keys=False),
}


def _list(them):
    return {"apiVersion": "v1", "kind": "List", "items": them}


def _indented(thing):
    out = io.StringIO()
    writer = ruamel.yaml.YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.indent(mapping=4, sequence=6, offset=3)
    writer.dump(thing, out)
    return out.getvalue()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FIXABLE)
def test_the_layout_makes_no_difference(name, layout, tmp_path):
    """The objects of bad examples, written in other ways, become the same objects."""
    file, other = tmp_path / "example.yaml", tmp_path / "other.yaml"
    for example in examples(name, good=False):
        file.write_text(example.text)
        objects = manifests.read([Source("it", example.text, None)]).objects
        if not all(each.api_version for each in objects):
            continue  # Volcano's configuration is not an object, so a List cannot hold it
        other.write_text(LAYOUTS[layout]([each.data for each in objects]))
        made, again = fixed(file, options=example.options), fixed(other, options=example.options)
        assert (made.left, made.done) == (again.left, again.done)
        texts = (file.read_text(), other.read_text())
        old, new = (manifests.read([Source("it", text, None)]).objects for text in texts)
        assert [each.data for each in old] == [each.data for each in new]


def commented(text):
    """A text with a comment above each line, and one behind it."""
    lines = []
    for number, line in enumerate(text.splitlines()):
        indent = " " * (len(line) - len(line.lstrip(" ")))
        lines += [f"{indent}# above {number}", f"{line}   # behind {number}"]
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize("name", FIXABLE)
def test_comments_everywhere_survive(name, tmp_path):
    file, other = tmp_path / "example.yaml", tmp_path / "other.yaml"
    for example in examples(name, good=False):
        if "|" in example.text:
            continue
        file.write_text(example.text)
        other.write_text(commented(example.text))
        made, again = fixed(file, options=example.options), fixed(other, options=example.options)
        assert (again.left, again.done) == ((), made.done)
        texts = (file.read_text(), other.read_text())
        assert Counter(comments(commented(example.text))) == Counter(comments(texts[1]))
        old, new = (manifests.read([Source("it", text, None)]).objects for text in texts)
        assert [each.data for each in old] == [each.data for each in new]


@pytest.mark.parametrize("name", [rule.name for rule in RULES if rule.fix is Fix.UNSAFE])
def test_what_changes_behaviour_waits_for_unsafe(name, tmp_path):
    file = tmp_path / "example.yaml"
    waiting = 0
    for example in examples(name, good=False):
        file.write_text(example.text)
        made = fixed(file, options=example.options, unsafe=False)
        assert (made.texts, made.done) == ((), {})
        waiting += made.held_back
    assert waiting


def test_a_fix_of_several_objects_is_not_counted(tmp_path):
    """`--fix` refuses such a fix."""
    file = tmp_path / "it.yaml"
    text = examples("quota-not-canonical", good=False)[0].text
    file.write_text(f"{text}---\n{text}")
    report = lint.lint(LintRequest(manifests=(str(file),), partial=True), today=TODAY)
    found = [it for it in report.findings if it.rule.name == "quota-not-canonical"]
    first, *_, last = found
    assert first.edits[0].at.document != last.edits[0].at.document
    assert fix.fixable(replace(report, findings=tuple(found))) == dict.fromkeys(
        range(len(found)), Fix.SAFE
    )
    joined = first._replace(edits=(*first.edits, *last.edits))
    assert fix.fixable(replace(report, findings=(joined,))) == {}


def test_a_queue_of_the_old_version_keeps_its_meaning_comments_and_layout(tmp_path):
    file = tmp_path / "queue.yaml"
    before = (
        "# the vision team\n"
        + KUEUE.format("v1beta1", "ClusterQueue")
        + """\
  cohort: "research"   # shared
  queueingStrategy: StrictFIFO
  admissionChecks:     # in order
  # buys nodes
  - scale-up           # slow
  - 'remote'

  namespaceSelector: {}
  flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: TryNextFlavor}
"""
    )
    file.write_text(before)
    made = fixed(file)
    assert made.done == {"kueue-version-outdated": 1}
    assert file.read_text() == (
        "# the vision team\n"
        + KUEUE.format("v1beta2", "ClusterQueue")
        + """\
  cohortName: "research"   # shared
  queueingStrategy: StrictFIFO
  admissionChecksStrategy:     # in order
    admissionChecks:
    # buys nodes
    - name: scale-up           # slow
    - name: 'remote'

  namespaceSelector: {}
  flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: TryNextFlavor}
"""
    )
    old, new = (
        canonical(manifests.read([Source("q", text, None)]).objects[0])
        for text in (before, file.read_text())
    )
    assert {**old, "apiVersion": ""} == {**new, "apiVersion": ""}


def test_the_same_in_json(tmp_path):
    file = tmp_path / "queue.json"
    file.write_text("""\
{"apiVersion": "v1", "kind": "List", "items": [
  {
    "apiVersion": "kueue.x-k8s.io/v1beta1",
    "kind": "ClusterQueue",
    "metadata": {"name": "a"},
    "spec": {
      "cohort": "research",
      "admissionChecks": ["scale-up", "remote"],
      "namespaceSelector": {}
    }
  }
]}
""")
    made = fixed(file)
    assert (made.left, made.done) == ((), {"kueue-version-outdated": 1})
    assert (
        file.read_text()
        == """\
{"apiVersion": "v1", "kind": "List", "items": [
  {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ClusterQueue",
    "metadata": {"name": "a"},
    "spec": {
      "cohortName": "research",
      "admissionChecksStrategy": {"admissionChecks": [{"name": "scale-up"}, {"name": "remote"}]},
      "namespaceSelector": {}
    }
  }
]}
"""
    )


@pytest.mark.parametrize(
    "kind, spec, instead",
    [
        ("AdmissionCheck", "  controllerName: b\n  retryDelayMinutes: 5 # ?\n", "  # ?\n"),
        (
            "MultiKueueCluster",
            "  kubeConfig:\n    location: b\n",
            "  clusterSource:\n    kubeConfig:\n      location: b\n",
        ),
        ("ClusterQueue", "  admissionChecks: []\n  cohort: b\n", "spec:\n  cohortName: b\n"),
    ],
)
def test_other_kinds_of_the_old_version(kind, spec, instead, tmp_path):
    file = tmp_path / "it.yaml"
    file.write_text(KUEUE.format("v1beta1", kind) + spec)
    assert fixed(file).done == {"kueue-version-outdated": 1}
    assert file.read_text().startswith(KUEUE.format("v1beta2", kind).removesuffix("spec:\n"))
    assert file.read_text().endswith(instead)


@pytest.mark.parametrize(
    "kind, rest",
    [
        (
            "ClusterQueue",
            "  admissionChecks: [b]\n  admissionChecksStrategy: {admissionChecks: []}\n",
        ),
        ("ClusterQueue", "  admissionChecks: [b, b]\n"),
        ("ClusterQueue", "  admissionScope: {admissionMode: Any}\n"),
        ("MultiKueueCluster", "  clusterProfileRef: {name: b}\n"),
    ],
)
def test_what_the_newer_version_would_lose_or_refuse_is_left(kind, rest, tmp_path):
    file = tmp_path / "it.yaml"
    file.write_text(KUEUE.format("v1beta1", kind) + rest)
    made = fixed(file, write=False, unsafe=False)
    assert of(made.after)["kueue-version-outdated"] == 1
    assert made.texts == ()


def test_a_fix_that_makes_room_for_another_one(tmp_path):
    file = tmp_path / "it.yaml"
    strategy = "  admissionChecksStrategy:\n    admissionChecks:\n    - name: b\n"
    file.write_text(KUEUE.format("v1beta1", "ClusterQueue") + "  admissionChecks: [b]\n" + strategy)
    made = fixed(file)
    assert made.done == {"admission-checks-set-twice": 1, "kueue-version-outdated": 1}
    assert file.read_text() == KUEUE.format("v1beta2", "ClusterQueue") + strategy


@pytest.mark.parametrize(
    "old, kind, new, target",
    [
        ("apps/v1beta2", "StatefulSet", "apps/v1", ()),
        ("batch/v1beta1", "CronJob", "batch/v1", ()),
        ("scheduling.k8s.io/v1beta1", "PriorityClass", "scheduling.k8s.io/v1", ()),
        ("kueue.x-k8s.io/v1alpha1", "Topology", "kueue.x-k8s.io/v1beta2", ()),
        ("kueue.x-k8s.io/v1beta2", "LocalQueue", "kueue.x-k8s.io/v1beta1", ("kueue=0.14",)),
        ("kueue.x-k8s.io/v1beta2", "ClusterQueue", None, ("kueue=0.14",)),
        ("apps/v1beta1", "StatefulSet", None, ()),
        ("kueue.x-k8s.io/v1", "LocalQueue", None, ()),
    ],
)
def test_a_version_gives_way_to_one_with_the_same_fields_only(old, kind, new, target, tmp_path):
    file = tmp_path / "it.yaml"
    text = f"apiVersion: {old} # it\nkind: {kind}\nmetadata: {{name: a}}\n"
    file.write_text(text)
    made = fixed(file, unsafe=False, options=("partial", *target))
    assert made.done.get("api-version-not-served", 0) == (new is not None)
    assert of(made.before)["api-version-not-served"] == 1
    assert file.read_text() == text.replace(old, new or old)


CONFIGURATION = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: volcano-scheduler-configmap
data:
  note: |
    not this: "10"
  volcano-scheduler.conf: |{indicator}
    actions: "allocate"   # only
    tiers:
    - plugins:
      - name: binpack
        arguments:
          # as many
          binpack.weight: "10"   # ten
          binpack.resources.nvidia.com/gpu: 2
"""


@pytest.mark.parametrize("indicator", ["", "-", "+"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_file_inside_a_config_map_is_fixed_in_place(indicator, line_break, tmp_path):
    file = tmp_path / "it.yaml"
    before = CONFIGURATION.format(indicator=indicator).replace("\n", line_break)
    file.write_bytes(before.encode())
    made = fixed(file)
    assert made.left == ()
    assert made.done == {"binpack-weight-not-listed": 1, "volcano-argument-mistyped": 1}
    added = f"          binpack.resources: nvidia.com/gpu{line_break}"
    assert file.read_bytes().decode() == before.replace('weight: "10"', "weight: 10") + added


SLIPS = """\
actions: "allocate"
tiers:
- plugins:
  - name: binpack
    arguments:
      binpack.weight: 10
      binpack.resources: nvidia.com/gpu
      binpack.resources.{name}: 5
"""
BOUNDED = """\
apiVersion: v1
kind: ResourceQuota
metadata: {{name: a, namespace: b}}
spec:
  hard:
    {name}: "4"
"""


@pytest.mark.parametrize("name", ["nvidia.com/gpus", "nvidia.com/gpu.product", "example.com/npu"])
@pytest.mark.parametrize("text", [SLIPS, BOUNDED])
def test_a_name_that_may_be_a_typo_is_reported_and_not_listed(text, name, tmp_path):
    file = tmp_path / "it.yaml"
    file.write_text(text.format(name=name))
    made = fixed(file)
    assert (made.texts, made.held_back) == ((), 0)
    assert {"binpack-weight-not-listed", "gpu-quota-counts-nothing"} & set(of(made.after))


def test_certain_resources_are_listed_without_possible_typos(tmp_path):
    file = tmp_path / "it.yaml"
    file.write_text(SLIPS.format(name="rdma/hca") + "      binpack.resources.rdma/hcas: 5\n")
    made = fixed(file)
    assert made.done == {"binpack-weight-not-listed": 1}
    assert 'binpack.resources: "nvidia.com/gpu,rdma/hca"\n' in file.read_text()
    assert 'did you mean "rdma/hca"?' in "".join(it.message for it in made.after.findings)


FRAMEWORKS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  conf: INDICATOR
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    waitForPodsReady: {timeout: 30m}
    integrations:
      frameworks:
      - batch/job
      - batch/job
  other: b
"""


@pytest.mark.parametrize("indicator", ["|", "|-", "|+", "|2-  # all"])
def test_the_last_line_of_a_text_inside_goes_without_a_trace(indicator, tmp_path):
    file = tmp_path / "it.yaml"
    before = FRAMEWORKS.replace("INDICATOR", indicator)
    file.write_text(before)
    assert fixed(file).done == {"framework-unknown": 1}
    assert file.read_text() == before.replace("      - batch/job\n", "", 1)


@pytest.mark.parametrize(
    "text",
    [
        r'"actions: allocate\ntiers: [{plugins: [{name: binpack, arguments: {ARGUMENT: \"1\"}}]}]"',
        '>\n    actions: allocate\n\n    tiers: [{plugins: [{name: binpack, arguments: {ARGUMENT: "1"}}]}]',
    ],
)
def test_a_quoted_or_folded_file_is_not_fixed_but_reported(text, tmp_path):
    file = tmp_path / "it.yaml"
    text = text.replace("ARGUMENT", "binpack.weight")
    file.write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  b: {text}\n")
    made = fixed(file)
    assert [reason for _, reason in made.left] == [
        "the field is inside a text; lint --fix changes only texts in a block with |"
    ]
    assert made.texts == ()


ANCHORED = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: a}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [cpu, {other}]
    flavors:
    - name: b
      resources:
      - name: cpu
        nominalQuota: &q 4000m
      - name: {other}
        nominalQuota: *q
"""


def test_a_shared_scalar_changes_if_all_its_uses_need_the_change(tmp_path):
    file = tmp_path / "it.yaml"
    file.write_text(ANCHORED.format(other="pods"))
    made = fixed(file)
    assert (made.left, made.done) == ((), {"quota-not-canonical": 2})
    assert file.read_text() == ANCHORED.format(other="pods").replace("4000m", '"4"')


def test_a_shared_scalar_is_left_where_one_who_shares_it_does_not(tmp_path):
    file = tmp_path / "it.yaml"
    text = ANCHORED.format(other="pods").replace("{name: a}", "{name: a, labels: {size: *q}}")
    head, _, rest = text.partition("metadata")
    metadata, _, rest = rest.partition("\n")
    file.write_text(f"{head}{rest}metadata{metadata}\n")
    made = fixed(file)
    assert made.texts == ()
    assert {reason for _, reason in made.left} == {
        "a YAML alias or merge uses this value in another place too, and the fix would change both"
    }


MERGED = """\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: b}
spec:
  containers:
  - &c
    name: c
    image: x
    resources:
      requests: {nvidia.com/gpu: 1}
  - <<: *c
    name: d
"""


def test_a_merged_field_is_left_with_a_plain_reason(tmp_path):
    file = tmp_path / "it.yaml"
    file.write_text(MERGED)
    made = fixed(file)
    assert made.texts == ()
    assert [reason for _, reason in made.left] == [
        "a YAML alias or merge uses this value in another place too, and the fix would change both",
        "the field comes from a YAML merge, so its place in the file is not known",
    ]


@pytest.mark.parametrize("amount, count", [("8", 0), ("4", 2)])
def test_a_quota_with_different_amounts_of_a_resource_has_no_certain_fix(amount, count, tmp_path):
    file = tmp_path / "it.yaml"
    quota = BOUNDED.format(name="nvidia.com/gpu")
    file.write_text(f'{quota}    limits.nvidia.com/gpu: "{amount}"\n')
    made = fixed(file)
    assert of(made.before)["gpu-quota-counts-nothing"] == 2
    assert sum(1 for finding in made.before.findings if finding.edits) == count
    assert made.done == ({"gpu-quota-counts-nothing": count} if count else {})


def test_a_file_that_cannot_be_read_to_its_end_is_left(tmp_path):
    file = tmp_path / "it.yaml"
    file.write_text(ANCHORED.format(other="pods") + "---\na: [\n")
    made = fixed(file)
    assert made.texts == ()
    assert {reason for _, reason in made.left} == {"the file cannot be parsed completely"}


def test_a_waived_finding_is_not_fixed(tmp_path):
    file, spec = tmp_path / "it.yaml", tmp_path / "spec.yaml"
    file.write_text(ANCHORED.format(other="pods"))
    spec.write_text(
        """\
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: a}
spec:
  lint:
    waivers:
    - {rule: quota-not-canonical, reason: as we like it}
"""
    )
    settings = LintRequest(specs=(str(spec),), manifests=(str(file),), partial=True)
    made = fix.fix(settings, today=TODAY, unsafe=True)
    assert (made.texts, made.before.waived) == ((), 2)


def test_a_skipped_rule_fixes_nothing(tmp_path):
    file = tmp_path / "it.yaml"
    file.write_text(ANCHORED.format(other="pods"))
    settings = LintRequest(manifests=(str(file),), partial=True, skip=("quota-not-canonical",))
    assert fix.fix(settings, today=TODAY, unsafe=True).texts == ()
