import os
import time

import pytest

from policygen.errors import UsageError
from policygen.plan import kueue
from policygen.plan.kind import Item, Meta
from policygen.render import sandbox
from policygen.render.engine import render
from policygen.spec.types import Target
from policygen.versions import Version

PATH = "kueue/resource_flavor.yaml.j2"
HEAD = """\
apiVersion: {{ kind.api_version }}
kind: {{ kind.name }}
metadata:
  name: {{ it.meta.name }}
  labels:
    app.kubernetes.io/managed-by: policygen
    policygen.dev/set: {{ it.meta.set }}
"""


def flavor(name="h100"):
    kind = kueue.RESOURCE_FLAVOR
    it = kueue.ResourceFlavor(Meta(name, "prod"), {"gpu": "h100"}, (), (), None)
    return Item(kind, kind.releases[-1], it)


def local_queue():
    kind = kueue.LOCAL_QUEUE
    return Item(kind, kind.releases[-1], kueue.LocalQueue(Meta("q", "prod", "ns"), "cq"))


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "own"
    made.mkdir()
    return made


@pytest.fixture
def own(folder):
    def write(text, name=PATH):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    return write


def refused(folder, *items):
    with pytest.raises(UsageError) as error:
        render(items or [flavor()], templates=[folder])
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_folder_without_templates_changes_nothing(folder):
    (folder / "README.md").write_text("ours")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("")
    items = [flavor("a"), flavor("b"), local_queue()]
    assert render(items, templates=[folder]) == render(items)


def test_a_template_extends_the_shipped_one_and_replaces_a_block(own, folder):
    own(
        '{% extends "builtin/' + PATH + '" %}\n'
        '{% import "_ours.j2" as ours %}\n'
        "{% block spec %}\n{{ super() }}  nodeTaints: {{ block(ours.taints, 4) }}\n{% endblock %}\n"
    )
    own('{% set taints = [{"key": "a", "effect": "NoSchedule"}] %}\n', "_ours.j2")
    first, second = render([flavor(), local_queue()], templates=[folder])
    assert first.text == render([flavor()])[0].text + (
        "  nodeTaints:\n    - key: a\n      effect: NoSchedule\n"
    )
    assert second == render([local_queue()])[0]


@pytest.mark.parametrize(
    "target, refused_by_a_server",
    [
        (Target(), True),
        (Target(kueue=Version(0, 13)), True),  # what came later is a field that it would refuse
        (Target(kueue=Version(0, 20)), False),  # it may know a field that we don't
        (None, False),
    ],
)
def test_what_a_server_refuses_is_refused_where_servers_were_asked(
    own, folder, target, refused_by_a_server
):
    path = own(
        '{% extends "builtin/' + PATH + '" %}{% block spec %}spec: {nodeLabel: {}}{% endblock %}'
    )
    if not refused_by_a_server:
        assert "nodeLabel" in render([flavor()], templates=[folder], target=target)[0].text
        return
    with pytest.raises(UsageError) as error:
        render([flavor()], templates=[folder], target=target)
    assert str(error.value) == (
        f'{path}: ResourceFlavor "h100": prints what an API server refuses: spec.nodeLabel: the '
        'server knows no field "nodeLabel" here; did you mean "nodeLabels"?'
    )


def test_the_first_folder_wins(own, folder, tmp_path):
    own(HEAD + "mine: 1\n")
    other = tmp_path / "other"
    (other / "kueue").mkdir(parents=True)
    (other / PATH).write_text(HEAD + "mine: 2\n")
    (other / "kueue" / "local_queue.yaml.j2").write_text(
        HEAD.replace("  labels", "  namespace: {{ it.meta.namespace }}\n  labels") + "mine: 3\n"
    )
    texts = [each.text for each in render([flavor(), local_queue()], templates=[folder, other])]
    assert [text.splitlines()[-1] for text in texts] == ["mine: 1", "mine: 3"]


@pytest.mark.parametrize(
    "line, message",
    [
        ('{% include "/etc/passwd" %}', 'there is no template "/etc/passwd"'),
        ('{% include "../../secret.j2" %}', 'there is no template "../../secret.j2"'),
        ('{% include "builtin/../../secret.j2" %}', "there is no template"),
        ('{% include "kueue/_link.j2" %}', "kueue/_link.j2 leads outside"),
        ('{% include "kueue/_links/secret.j2" %}', "kueue/_links/secret.j2 leads outside"),
        ('{% include "kueue/_pipe.j2" %}', "there is no template"),
        ('{% include "_latin.j2" %}', "_latin.j2 cannot be read"),
        ("x: {{ ().__class__ }}", "access to attribute '__class__' of 'tuple' object is unsafe"),
        ('x: {{ ()|attr("__class__") }}', "'__class__'"),
        ('x: {{ it["__class__"] }}', "__class__"),
        ('x: {{ "{0.__class__}".format(it) }}', "__class__"),
        ("x: {{ block.__globals__ }}", "__globals__"),
        ("x: {{ it.node_labels.clear() }}", "access to attribute 'clear'"),
        ("x: {{ it.nodes }}", 'ResourceFlavor has no "nodes"'),
        ("x: {{ it.meta.name", "unexpected end of template"),
        ("x: {{ range(10 ** 9) | list }}", "Range too big"),
        ("{% for a in range(99999) %}{% for b in range(99999) %}ab{% endfor %}{% endfor %}", "KiB"),
    ],
)
def test_what_a_template_may_not_do_is_refused_with_its_place(own, folder, line, message):
    (folder.parent / "secret.j2").write_text("secret")
    path = own(f"{HEAD}{line}\n")
    (folder / "kueue" / "_link.j2").symlink_to(folder.parent / "secret.j2")
    (folder / "kueue" / "_links").symlink_to(folder.parent)
    os.mkfifo(folder / "kueue" / "_pipe.j2")
    (folder / "_latin.j2").write_bytes(b"\xff")
    text = refused(folder)
    assert text.startswith(f'{path}:8: ResourceFlavor "h100": '), text
    assert message in text
    assert "secret\n" not in text


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "the templates took more than 1 seconds; they loop or compute too much",
        ),
        (
            "{% macro m(n) %}{{ m(n - 1) ~ m(n - 1) if n else 1 }}{% endmacro %}{{ m(99) }}",
            "the templates took more than 1 seconds; they loop or compute too much",
        ),
        (
            "{{ 9 ** (9 ** 9) }}",  # one operation: Python cannot interrupt it
            "the templates took more than 1 seconds; they loop or compute too much",
        ),
        ('{{ "x" * 10 ** 11 }}', "the template needs more memory than it may have"),
        ('{{ "%99999999999d" % 1 }}', "the template needs more memory than it may have"),
        ('{{ "x" * 10 ** 7 }}', "longer than the 1536 KiB that etcd takes"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "calls itself without end"),
    ],
)
def test_a_template_that_never_ends_is_ended(own, folder, monkeypatch, text, message):
    monkeypatch.setattr(sandbox, "LIMITS", sandbox.Limits(seconds=1, seconds_each=0, grace=0.5))
    own(f"{HEAD}\n{text}\n")
    started = time.monotonic()
    said = refused(folder)
    assert time.monotonic() - started < 10
    assert message in said
    assert PATH in said
    assert 'ResourceFlavor "h100"' in said


def test_a_document_too_deep_to_read_ends_cleanly(own, folder):
    own(
        HEAD
        + "deep: {% for _ in range(90000) %}[{% endfor %}{% for _ in range(90000) %}]{% endfor %}\n"
    )
    said = refused(folder)
    assert 'ResourceFlavor "h100": rendering ended with signal' in said


def test_another_object_than_the_planned_one_is_refused(own, folder):
    path = own(HEAD.replace("{{ it.meta.name }}", "mine"))
    assert refused(folder, local_queue(), flavor()) == (
        f'{path}: ResourceFlavor "h100": prints metadata.name "mine", planned is "h100"'
    )


def test_a_misspelt_file_name_is_refused_with_the_nearest(own, folder):
    own(HEAD, "kueue/resource_flavour.yaml.j2")
    own(HEAD, "queue.yaml")
    text = refused(folder)
    assert 'resource_flavour.yaml.j2 replaces no shipped template, did you mean "' + PATH in text
    assert "queue.yaml replaces no shipped template" in text


def test_a_folder_that_is_none_is_refused(folder):
    assert refused(folder / "none") == f"--templates {folder}/none is no folder"
    (folder / "file").write_text("")
    assert refused(folder / "file") == f"--templates {folder}/file is no folder"


def test_a_bug_of_ours_is_no_usage_error(folder):
    kind = kueue.RESOURCE_FLAVOR
    broken = Item(kind, kind.releases[0], it=_Unreadable())
    with pytest.raises(RuntimeError, match="the process that renders templates ended"):
        render([broken], templates=[folder])


class _Unreadable:
    """Pickles, but cannot be read where this test module is not."""

    def __reduce__(self):
        return (os.getenv, ())
