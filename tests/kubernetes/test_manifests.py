"""Reading any manifests: which data is an object, which objects contain others, which is skipped."""

import json

import pytest

from policygen.core.finding import At
from policygen.documents.files import Source
from policygen.kubernetes import manifests
from policygen.kubernetes.cluster import VOLCANO_CONFIGURATION, Cluster
from policygen.kubernetes.manifests import spec_sources
from tests.kubernetes.reading import QUEUE, names, place, read


def test_documents_lists_and_lists_of_lists_are_objects():
    inner = {"apiVersion": "v1", "kind": "List", "items": [QUEUE]}
    outer = {"apiVersion": "v1", "kind": "List", "items": [QUEUE, inner]}
    text = "\n---\n".join(map(json.dumps, [QUEUE, outer]))
    found = read(text)
    assert names(found) == ["LocalQueue b/a"] * 3
    assert found.objects[2].at == At(1, ("items", 1, "items", 0))
    finding = place(found, found.objects[2].at.to("spec", "clusterQueue"))
    assert finding.place.text[finding.place.column - 1 :].startswith('"c"')
    assert finding.path == "spec.clusterQueue"


def test_items_of_a_list_of_one_kind_are_of_that_kind():
    bare = {key: QUEUE[key] for key in ("metadata", "spec")}
    listed = {"apiVersion": QUEUE["apiVersion"], "kind": "LocalQueueList", "items": [bare]}
    found = read(json.dumps(listed))
    assert names(found) == ["LocalQueue b/a"]
    assert found.objects[0].at == At(0, ("items", 0))
    assert not found.nameless


def test_items_that_are_not_objects_are_counted():
    items = [QUEUE, None, 3, {"kind": "A"}, {"apiVersion": "v1", "kind": "List", "items": [{}]}]
    found = read(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert names(found) == ["LocalQueue b/a"]
    assert len(found.nameless) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "apiVersion: v1\nknd: Pod\nmetadata: {name: a}",
            'this object has apiVersion "v1" but no kind, so lint did not check it; write kind instead of "knd"',
        ),
        (
            "apiversion: v1\nkind: Pod\nmetadata: {name: a}",
            'this object has kind "Pod" but no apiVersion, so lint did not check it; write apiVersion instead of "apiversion"',
        ),
        (
            "apiVersion: v1\nkind:\nmetadata: {name: a}",
            'this object has apiVersion "v1" but no kind, so lint did not check it; write kind',
        ),
        (
            "apiVersion: v1\nkind: List\nitems: [{kind: Pod, metadata: {name: a}}]",
            'this object has kind "Pod" but no apiVersion, so lint did not check it; write apiVersion',
        ),
    ],
)
def test_an_object_without_kind_or_api_version_is_not_read(text, message):
    found = read(text)
    assert [(it.rule.name, it.message) for it in found.findings] == [("missing-field", message)]
    assert not found.complete
    assert not found.nameless


NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 1}}\n"


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        (NODE, True),
        (NODE.replace("apiVersion: v1\n", ""), False),
        (NODE.replace("kind: Node\n", ""), False),
        (NODE.replace("cpu: 1}", "cpu: 1"), False),
        (f"{NODE}---\na: [", True),
        (f'{NODE}---\n{{"kind": "Node", "metadata": {{,}}}}', False),
        (NODE.replace("Node", "Namespace").replace("cpu: 1}", "cpu: 1"), True),
        (f"{NODE}---\nkind: Namespace\nmetadata: {{name: a}}", True),
        (f"{NODE}---\napiVersion: v1\nmetadata: {{name: a}}", True),
    ],
)
def test_it_is_known_whether_all_nodes_could_be_read(text, complete):
    assert read(text).has_all_nodes is complete


@pytest.mark.parametrize("text", ["kind: a", "apiVersion: 1", "metadata: {name: a}", "a: b"])
def test_other_documents_are_only_counted(text):
    found = read(text)
    assert found.complete
    assert len(found.nameless) == 1


CONF = """
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  %s: |
    %s
"""


@pytest.mark.parametrize(
    "key, text, found",
    [
        ("volcano-scheduler.conf", "action: allocate", True),
        ("volcano-scheduler-ci.conf", "{}", True),
        ("volcano-scheduler.conf", "", False),
        ("volcano-scheduler-dashboard.json", '{"rows": []}', False),
        ("any.yaml", "tiers: [{plugins: []}]", True),
        ("any.yaml", "tiers: [{name: gold}]", False),
        ("any.yaml", "actions: [checkout]", False),
        ("any.yaml", "tiers: {plugins: []}", True),
        ("any.yaml", '{"actions": "", "tiers": []}', False),
        ("any.yaml", '{"actions": "buy, sell", "tiers": [{"name": "gold"}]}', False),
        ("any.yaml", '{"actions": "read, write", "tiers": ["gold"]}', False),
        ("any.yaml", '{"actions": "enqueue, allocate", "tiers": ["gang"]}', True),
        ("any.yaml", '{"actions": ["allocate"], "tiers": []}', True),
    ],
)
def test_volcanos_configuration_is_known_by_its_key_or_by_its_tiers(key, text, found):
    objects = read(CONF % (key, text)).objects
    assert [it.kind for it in objects[1:]] == [VOLCANO_CONFIGURATION] * found


@pytest.mark.parametrize(
    "lines, found",
    [
        (["apiVersion: GROUP/v1", "kind: KIND"], True),
        (["# how", "", "---", "  kind: KIND", "  apiVersion: GROUP/v1", "  a: ["], True),
        (['{"kind":"KIND","apiVersion":"GROUP/v1","a":}'], True),
        (["apiversion: GROUP/v1", "a: ["], True),
        (["#!/bin/sh", "cat <<EOF", "apiVersion: GROUP/v1", "kind: KIND", "EOF"], False),
        (["# Title", "Write: apiVersion: GROUP/v1, kind: KIND"], False),
        (["{{- if .Values.x }}", "apiVersion: GROUP/v1", "kind: KIND", "{{- end }}"], False),
        (["text: |", "  apiVersion: GROUP/v1", "a: ["], False),
    ],
)
def test_a_text_that_only_mentions_a_controllers_file_is_not_one(lines, found):
    inner = "\n".join(f"    {line}" for line in lines)
    for group, kind in (
        ("kubescheduler.config.k8s.io", "KubeSchedulerConfiguration"),
        ("config.kueue.x-k8s.io", "Configuration"),
    ):
        text = CONF % ("any", inner.strip() if lines[0][0] != " " else inner)
        text = text.replace("any: |", "any: |4" if lines[0][0] == " " else "any: |")
        seen = read(text.replace("GROUP", group).replace("KIND", kind))
        assert bool(seen.objects[1:] or seen.findings) is found


def test_items_that_are_not_a_list_are_reported():
    found = read("apiVersion: v1\nkind: List\nitems: {a: b}\n")
    (finding,) = found.findings
    assert (finding.place.line, finding.rule.name, found.objects) == (3, "wrong-type", [])
    assert read("apiVersion: v1\nkind: List\nitems:\n").findings == []


def test_json_is_read_as_yaml_is_and_has_the_same_places():
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [QUEUE, QUEUE]}, indent=1)
    quick, close = read(text, "a.json"), read(text + "\n# a comment", "a.yaml")
    assert quick.objects[1].data == close.objects[1].data
    at = quick.objects[1].at.to("spec", "clusterQueue")
    assert place(quick, at).place[1:] == place(close, at).place[1:]


@pytest.mark.parametrize(
    "text, rule",
    [
        ('{"kind": "A", "kind": "B"}', "duplicate-key"),
        ('{"kind": "A"', "yaml-syntax"),
        ('{"kind": "\\ud800"}', "yaml-syntax"),
        ('{"a": ' * 2000 + "1" + "}" * 2000, "nesting-too-deep"),
    ],
)
def test_bad_json_is_reported_and_makes_the_set_incomplete(text, rule):
    found = read(text, "a.json")
    assert [finding.rule.name for finding in found.findings] == [rule]
    assert not found.complete


def test_deeply_nested_json_is_reported_without_a_crash():
    deep = {**QUEUE, "spec": {}}
    here = deep["spec"]
    for _ in range(300):
        here["a"] = here = {}
    found = read(json.dumps(deep), "a.json")
    assert [finding.rule.name for finding in found.findings] == ["nesting-too-deep"]
    assert not found.objects


def test_scalars_are_what_they_are_to_kubectl():
    text = "apiVersion: v1\nkind: A\nmetadata: {name: yes}\nx: [on, 0644, 1_000, 12:30, 2001-01-01, no]"
    (it,) = read(text).objects
    assert it.name == ""
    assert it.data["metadata"]["name"] is True
    assert it.data["x"] == [True, 420, 1000, "12:30", "2001-01-01", False]


def test_configurations_inside_configmaps_are_objects_with_lines_of_the_file():
    text = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: b}
data:
  volcano-scheduler.conf: |
    actions: "allocate"
    tiers:
    - plugins:
      - name: gang
  config.yaml: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    profiles: []
  other: "kind: Nothing"
"""
    found = read(text)
    assert [it.kind for it in found.objects] == [
        "ConfigMap",
        VOLCANO_CONFIGURATION,
        "KubeSchedulerConfiguration",
    ]
    finding = place(found, found.objects[1].at.to("tiers", 0, "plugins", 0, "name"))
    assert (finding.place.line, finding.place.column) == (9, 15)
    cluster = Cluster(found.objects)
    assert cluster.volcano_configurations[0].fields.action_names == ("allocate",)


def test_a_raw_volcano_configuration_is_an_object():
    found = read('actions: "allocate"\ntiers: []\n')
    assert [it.kind for it in found.objects] == [VOLCANO_CONFIGURATION]
    found = read("tier: []\n", "a/volcano-scheduler.conf")
    assert [it.kind for it in found.objects] == [VOLCANO_CONFIGURATION]
    assert read('actions: "read, write"\ntiers: [gold]\n').nameless == [At(0)]


def test_volcano_does_not_take_a_float_for_an_integer():
    text = "tiers:\n- plugins:\n  - {name: binpack, arguments: {binpack.weight: 1.0, a: 08, b: 0x1F, c: 2}}\n"
    (it,) = read(text).objects
    arguments = it.data["tiers"][0]["plugins"][0]["arguments"]
    assert [repr(value) for value in arguments.values()] == ["1.0", "8.0", "31", "2"]


@pytest.mark.parametrize(
    "head",
    [
        "kind: KubeSchedulerConfiguration",
        "apiVersion: ''\nkind: KubeSchedulerConfiguration",
        "apiVersion: v1\nkind: KubeSchedulerConfiguration",
        "apiVersion: kubescheduler.config.k8s.io/v1",
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind:",
    ],
)
def test_a_schedulers_file_is_known_by_its_kind_or_its_group(head):
    found = read(f"{head}\nprofiles: []\n")
    assert not found.nameless
    (entry,) = Cluster(found.objects).scheduler_configurations
    assert entry.object.version == "v1"


def test_kueues_file_is_known_by_its_group():
    (it,) = read("apiVersion: config.kueue.x-k8s.io/v1beta2\nnamespace: a\n").objects
    assert it.kind == "Configuration"


def test_documents_without_a_kind_are_counted_and_spec_documents_are_skipped():
    spec = "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: a}\n"
    found = read(f"a: 1\n---\n{spec}---\n{json.dumps(QUEUE)}\n")
    assert (found.nameless, names(found)) == ([At(0)], ["LocalQueue b/a"])


def test_the_note_on_a_skipped_document_is_true_if_only_one_field_is_missing():
    (note,) = manifests.notes(read("kind: Team\n"), [])
    assert note.message == "policygen skipped 1 document without apiVersion or kind"


def test_the_note_on_skipped_documents_is_at_the_first():
    listed = "apiVersion: v1\nkind: List\nitems:\n- a: 2\n- b: 3\n"
    (note,) = manifests.notes(read(f"{json.dumps(QUEUE)}\n---\n{listed}"), [])
    assert note.message.startswith("policygen skipped 2 documents ")
    assert (note.place.file, note.place.line) == ("a.yaml", 6)


def test_invalid_yaml_is_reported_and_the_rest_is_read():
    found = read(f"a: [\n---\n{json.dumps(QUEUE)}\n")
    assert [finding.rule.name for finding in found.findings] == ["yaml-syntax"]
    assert names(found) == ["LocalQueue b/a"]
    assert not found.complete


@pytest.mark.parametrize(
    "text, may_be_spec",
    [
        ("apiVersion: policygen.dev/v1alpha1\nkind: Team\n", True),
        ('{"apiVersion": "policygen.dev/v1alpha1"}', True),
        ("apiVersion: policygen.dev\n", True),
        ("{apiVersion: policygen.dev/v2, kind: Team}", True),
        ("metadata: {name: gpu-scheduler-config}\n", True),
        ("metadata:\n  labels:\n    policygen.dev/set: a\n", False),
        ('{"metadata": {"labels": {"policygen.dev/set" : "a"}}}', False),
        ("kind: Team\n", False),
    ],
)
def test_a_label_of_ours_makes_no_spec(text, may_be_spec):
    source = Source("a.yaml", text, None)
    assert spec_sources([source]) == [source] * may_be_spec


@pytest.mark.parametrize(
    ("key", "is_object"), [("profile", True), ("scheduler-config.yaml", False)]
)
def test_a_config_map_needs_the_key_of_the_queues_to_be_a_spec(key, is_object):
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gpu-scheduler-config}\n"
    found = read(f"{text}data: {{{key}: a}}\n")
    assert names(found) == ["ConfigMap gpu-scheduler-config"] * is_object
