import pytest

from policygen.plan import kueue, volcano
from policygen.plan.catalog import BY_NAME
from policygen.plan.kind import Item, Meta
from policygen.plan.volcano_configuration import CONFIGURATION as VOLCANO_CONFIGURATION
from policygen.render.engine import render
from policygen.render.identity import fault

KIND = BY_NAME["LocalQueue"]
ITEM = Item(KIND, KIND.releases[-1], kueue.LocalQueue(Meta("gpus", "prod", "team-a"), "a.gpus"))
TEXT = render([ITEM])[0].text


def test_what_is_shipped_is_sound():
    assert fault(ITEM, TEXT) is None


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            "v1beta2",
            "v1beta1",
            'the template prints apiVersion "kueue.x-k8s.io/v1beta1", but this object must have',
        ),
        (
            "kind: LocalQueue",
            "kind: Secret",
            'the template prints kind "Secret", but this object must have "LocalQueue"',
        ),
        (
            "name: gpus",
            "name: cards",
            'the template prints metadata.name "cards", but this object must have "gpus"',
        ),
        (
            "name: gpus",
            "name: 1",
            'the template prints metadata.name 1, but this object must have "gpus"',
        ),
        (
            "namespace: team-a",
            "",
            'the template prints metadata.namespace an empty value, but this object must have "team-a"',
        ),
        ("namespace: team-a", "namespace: kube-system", "the template prints metadata.namespace"),
        ("managed-by: policygen", "managed-by: me", "metadata.labels app.kubernetes.io/managed-by"),
        (
            "policygen.dev/set: prod",
            "",
            "the template prints metadata.labels policygen.dev/set an empty value",
        ),
        (
            "  labels:",
            "  name: gpus\n  labels:",
            'in line 6 of its output: key "name" is set twice, first on line 4',
        ),
        (
            "---\n",
            "---\n---\n",
            "the template prints 2 documents; print one document, without a line ---",
        ),
        ("spec:", "---\nspec:", "the template prints 2 documents"),
        ("spec:", "spec: [", "the template prints invalid YAML"),
        ("spec:", "\tspec:", "the template prints invalid YAML"),
        ("spec:", "spec: *none\nmore:", 'in line 9 of its output: alias "*none" has no anchor'),
        ("spec:", "spec: !!python/object:os.system {}\nmore:", "the template prints invalid YAML"),
        ("spec:", "? [a]\n: b\nspec:", "a key must be text"),
        (
            "name: gpus",
            "name: 1e3",
            'the template prints metadata.name 1000, but this object must have "gpus"',
        ),
        (
            "name: gpus",
            "name: yes",
            'the template prints metadata.name true, but this object must have "gpus"',
        ),
        ("spec:", "more: .inf\nspec:", "cannot contain infinite numbers"),
    ],
)
def test_differences_from_the_plan_are_reported(old, new, message):
    assert TEXT.count(old) == 1
    found = fault(ITEM, TEXT.replace(old, new))
    assert message in found
    assert "\n" not in found


@pytest.mark.parametrize("text", ["---\n", "---\n[]\n", "---\ntext\n"])
def test_something_else_than_an_object_is_refused(text):
    assert str(fault(ITEM, text)).startswith("the template prints ")


def test_a_namespace_that_was_not_planned_is_refused():
    kind = BY_NAME["Queue"]
    it = volcano.Queue(
        Meta("a", "prod"),
        parent=None,
        reclaimable=True,
        priority=None,
        deserved={},
        capability={},
        guarantee={},
        node_group=None,
    )
    item = Item(kind, kind.releases[0], it)
    text = render([item])[0].text
    assert fault(item, text) is None
    found = fault(item, text.replace("  name: a\n", "  name: a\n  namespace: b\n"))
    assert (
        found
        == 'the template prints metadata.namespace "b", but this object must have an empty value'
    )


def test_a_controllers_file_has_no_name_to_check():
    item = Item(VOLCANO_CONFIGURATION, VOLCANO_CONFIGURATION.releases[0], None)
    assert fault(item, "---\nactions: x\n") is None
    assert fault(item, "---\nactions: x\nactions: y\n") is not None


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("clusterQueue:", "clusterQueu:", 'spec.clusterQueu: field "clusterQueu" is unknown'),
        ("clusterQueue: a.gpus", "clusterQueue: 2026-01-31", None),  # a text to JSON, so to servers
        ("clusterQueue: a.gpus", "stopPolicy: Halt", "spec.stopPolicy: "),
        ("  clusterQueue", "  7: 8\n  clusterQueue", 'spec.7: field "7" is unknown in spec'),
        ("spec:", "2026-01-31: b\nspec:", '2026-01-31: field "2026-01-31" is unknown'),
        ("  labels:", "  annotations:\n    at: 12:30\n  labels:", None),  # not in base 60
        ("  labels:", "  annotations:\n    at: 0644\n  labels:", "metadata.annotations.at: "),
        ("clusterQueue: a.gpus", "clusterQueue: 0o17", "spec.clusterQueue: "),
        (
            "clusterQueue: a.gpus",
            "clusterQueu: a\n  stopPolic: b",
            'did you mean "clusterQueue"? spec.stopPolic: field "stopPolic" is unknown',
        ),
        (
            "clusterQueue: a.gpus",
            "a: 1\n  b: 2\n  c: 3\n  d: 4\n  clusterQueue: a",
            (
                'spec.c: field "c" is unknown in spec; known: clusterQueue, fairSharing, '
                "stopPolicy; and 1 more"
            ),
        ),
    ],
)
def test_refused_values_are_reported(old, new, message):
    assert TEXT.count(old) == 1
    said = fault(ITEM, TEXT.replace(old, new), judged=True)
    if message is None:
        assert said is None
    else:
        assert message in said
    assert fault(ITEM, TEXT.replace(old, new)) is None


def test_what_no_server_serves_is_not_judged():
    kind = BY_NAME["Topology"]
    item = Item(kind, kind.releases[0], kueue.Topology(Meta("t", "prod"), ("zone",)))
    assert item.release.api_version == "kueue.x-k8s.io/v1alpha1"
    assert fault(item, render([item])[0].text, judged=True) is None
