"""Users' templates run in a sandbox: what they may do, and how much time and memory they may use."""

import os

import pytest

from policygen.core.errors import UsageError
from policygen.core.versions import Version
from policygen.plan.catalog import BY_NAME
from policygen.plan.kind import Item
from policygen.render import sandbox
from policygen.render.engine import render
from policygen.spec.types import Target
from tests.render.sandboxed import HEAD, PATH, flavor, local_queue, refused


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
        (Target(kueue=Version(0, 13)), True),  # it would refuse a newer field
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
        f'{path}: ResourceFlavor "h100": the template prints an object that an API server refuses: '
        'spec.nodeLabel: field "nodeLabel" is unknown in spec; did you mean "nodeLabels"?'
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
        ('{% include "/etc/passwd" %}', 'template "/etc/passwd" does not exist'),
        ('{% include "../../secret.j2" %}', 'template "../../secret.j2" does not exist'),
        ('{% include "builtin/../../secret.j2" %}', "does not exist"),
        (
            '{% include "builtin/volcano/foo.j2" %}',
            "queue.yaml.j2 or scheduler_configuration.yaml.j2 in builtin/volcano/",
        ),
        (
            '{% include "volcano/foo.j2" %}',
            'template "volcano/foo.j2" does not exist; write one of pod_group.yaml.j2, queue',
        ),
        ('{% include "kueue/_link.j2" %}', "kueue/_link.j2 is a link to a file outside"),
        (
            '{% include "kueue/_links/secret.j2" %}',
            "kueue/_links/secret.j2 is a link to a file outside",
        ),
        ('{% include "kueue/_pipe.j2" %}', "does not exist"),
        ("x: {{ ().__class__ }}", "access to attribute '__class__' of 'tuple' object is unsafe"),
        ('x: {{ ()|attr("__class__") }}', "'__class__'"),
        ('x: {{ it["__class__"] }}', "__class__"),
        ('x: {{ "{0.__class__}".format(it) }}', "__class__"),
        ("x: {{ block.__globals__ }}", "__globals__"),
        ("x: {{ it.node_labels.clear() }}", "access to attribute 'clear'"),
        ("x: {{ it.nodes }}", 'ResourceFlavor has no field "nodes"'),
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
        ('{{ "x" * 10 ** 11 }}', "the template needs more memory than is allowed"),
        ('{{ "%99999999999d" % 1 }}', "the template needs more memory than is allowed"),
    ],
)
def test_a_template_that_never_ends_is_ended(own, folder, monkeypatch, text, message):
    monkeypatch.setattr(sandbox, "LIMITS", sandbox.Limits(seconds=1, seconds_each=0, grace=0.5))
    own(f"{HEAD}\n{text}\n")
    said = refused(folder)
    assert message in said
    assert PATH in said
    assert 'ResourceFlavor "h100"' in said


@pytest.mark.parametrize(
    "text, message",
    [
        ('{{ "x" * 10 ** 7 }}', "longer than 1536 KiB, the limit of etcd"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "calls itself endlessly"),
        (
            "a: {% for _ in range(90000) %}[{% endfor %}{% for _ in range(90000) %}]{% endfor %}",
            "the template prints invalid YAML, in line 8 of its output: this document is nested more than 100 levels deep",
        ),
    ],
)
def test_exceeded_limits_are_reported_as_such(own, folder, text, message):
    path = own(f"{HEAD}{text}\n")
    said = refused(folder)
    assert said.startswith(f"{path}")
    assert 'ResourceFlavor "h100": ' in said
    assert message in said


def test_a_crash_is_reported_with_the_object(own, folder, monkeypatch):
    path = own(HEAD)
    monkeypatch.setattr(sandbox, "_CHILD", "import os; os.kill(os.getpid(), 9)")
    assert refused(folder) == (
        f'{path}: ResourceFlavor "h100": rendering ended with signal 9; the template needs too many resources'
    )


def test_another_object_than_the_planned_one_is_refused(own, folder):
    path = own(HEAD.replace("{{ it.meta.name }}", "mine"))
    assert refused(folder, local_queue(), flavor()) == (
        f'{path}: ResourceFlavor "h100": the template prints metadata.name "mine", but this object must have "h100"'
    )


def test_a_bug_of_ours_is_not_a_usage_error(own, folder):
    own(HEAD)
    kind = BY_NAME["ResourceFlavor"]
    broken = Item(kind, kind.releases[0], fields=_Unreadable())
    with pytest.raises(RuntimeError, match="the process that renders templates ended"):
        render([broken], templates=[folder])


class _Unreadable:
    """Can be pickled, but not unpickled in a process without this test module."""

    def __reduce__(self):
        return (os.getenv, ())
