import os
import tempfile
from pathlib import Path

import pytest

from policygen.core.errors import UsageError
from policygen.core.versions import Version
from policygen.plan import kueue
from policygen.plan.kind import Item, Meta
from policygen.render import sandbox
from policygen.render.engine import render
from policygen.spec.types import Target

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


def test_what_is_no_template_is_left_alone(own, folder):
    own(HEAD)
    (folder / "README.md").write_text("ours")
    (folder / "kueue" / "_notes").write_bytes(b"\xff")
    (folder / "kueue" / "_link.j2").symlink_to("/dev/null")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("")
    assert render([local_queue()], templates=[folder]) == render([local_queue()])


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
    "text, line",
    [
        ('{% extends "builtin/' + PATH + '" %}\n{% block spek %}x{% endblock %}\n', 2),
        ('{% extends "_ours.j2" %}\n{% if it %}\n{% block spek %}{% endblock %}{% endif %}\n', 3),
    ],
)
def test_a_block_that_replaces_none_is_refused(own, folder, text, line):
    own('{% extends "builtin/' + PATH + '" %}\n', "_ours.j2")
    path = own(text)
    assert refused(folder) == (
        f'{path}:{line}: ResourceFlavor "h100": block "spek" does not exist in the extended template, so '
        'it is not printed; did you mean "spec"?'
    )


def test_a_block_inside_another_one_is_new_and_may_be_replaced(own, folder):
    own(
        '{% extends "builtin/' + PATH + '" %}\n'
        "{% block spec %}{{ super() }}{% block more %}{% endblock %}{% endblock %}\n",
        "_ours.j2",
    )
    own('{% extends "_ours.j2" %}\n{% block more %}  topologyName: racks\n{% endblock %}\n')
    (first,) = render([flavor()], templates=[folder])
    assert first.text == render([flavor()])[0].text + "  topologyName: racks\n"


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
        f'{path}: ResourceFlavor "h100": prints an object that an API server refuses: '
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
            "prints invalid YAML, in line 8 of its output: nested more than 100 levels deep",
        ),
    ],
)
def test_too_much_of_something_is_told_as_that(own, folder, text, message):
    path = own(f"{HEAD}{text}\n")
    said = refused(folder)
    assert said.startswith(f"{path}")
    assert 'ResourceFlavor "h100": ' in said
    assert message in said


def test_a_crash_is_told_with_the_object(own, folder, monkeypatch):
    path = own(HEAD)
    monkeypatch.setattr(sandbox, "_CHILD", "import os; os.kill(os.getpid(), 9)")
    assert refused(folder) == (
        f'{path}: ResourceFlavor "h100": rendering ended with signal 9; the template needs too many resources'
    )


def test_another_object_than_the_planned_one_is_refused(own, folder):
    path = own(HEAD.replace("{{ it.meta.name }}", "mine"))
    assert refused(folder, local_queue(), flavor()) == (
        f'{path}: ResourceFlavor "h100": prints metadata.name "mine", but the plan has "h100"'
    )


SHIPPED = "give a file in it the name of a shipped template, such as kubernetes/config_map.yaml.j2"


def test_a_misspelt_file_name_is_refused_with_the_nearest(own, folder):
    first = own(HEAD, "kueue/resource_flavour.yaml.j2")
    second = own(HEAD, "queue.yaml")
    help_ = "or begin its name with _ if your templates include it"
    assert refused(folder) == (
        f'{first} replaces no shipped template; rename it to "{PATH}", {help_}; '
        f'{second} replaces no shipped template; rename it to "volcano/queue.yaml.j2", {help_}'
    )
    first.rename(folder / "zzz")
    second.unlink()
    assert refused(folder) == (
        f"{folder}/zzz replaces no shipped template; rename it, for example to "
        f'"kubernetes/config_map.yaml.j2", {help_}'
    )
    for number in range(9):
        own(HEAD, f"x{number}")
    assert refused(folder).count("replaces no shipped template") == 5
    assert refused(folder).endswith("; more such files")


def test_a_folder_that_is_none_is_refused(folder):
    assert refused(folder / "none") == f"--templates {folder}/none is not a folder"
    (folder / "file").write_text("")
    assert refused(folder / "file") == f"--templates {folder}/file is not a folder"


def test_a_folder_that_does_nothing_is_refused(own, folder, tmp_path):
    (folder / "README.md").write_text("ours")
    (folder / "kueue").mkdir()
    assert refused(folder) == f"--templates {folder} contains no template; {SHIPPED}"
    own("", "_ours.j2")
    assert refused(folder) == f"--templates {folder} replaces no shipped template; {SHIPPED}"
    other = tmp_path / "other"
    (other / "kueue").mkdir(parents=True)
    (other / PATH).write_text(f'{HEAD}{{% include "_ours.j2" %}}')
    assert len(render([flavor()], templates=[folder, other])) == 1


@pytest.mark.parametrize(
    "make, what",
    [
        (os.mkfifo, "is not a regular file; replace it by the template file"),
        (os.mkdir, "is a folder; replace it by the template file"),
        (lambda path: path.symlink_to("nowhere"), "is not a regular file; replace it by"),
        (lambda path: path.symlink_to(path), "is not a regular file; replace it by"),
        (lambda path: path.symlink_to("."), "is a folder; replace it by the template file"),
        (lambda path: path.symlink_to("/dev/null"), "is not a regular file; replace it by"),
        (lambda path: path.symlink_to(__file__), "is a link to a file outside"),
        (lambda path: path.write_bytes(b"x" * (1 << 20) + b"y"), ": is longer than 1024 KiB"),
    ],
)
def test_what_stands_in_the_place_of_a_template_is_not_passed_over(own, folder, make, what):
    own(HEAD)
    path = folder / "volcano" / "queue.yaml.j2"
    path.parent.mkdir()
    make(path)
    said = refused(folder)
    assert said.removeprefix(str(path)).lstrip().startswith(what)


def test_a_link_inside_the_folder_is_followed(own, folder):
    own(f"{HEAD}mine: 1\n", "_ours")
    (folder / "kueue").mkdir()
    (folder / PATH).symlink_to("../_ours")
    assert render([flavor()], templates=[folder])[0].text.endswith("mine: 1\n")
    (folder / "volcano").symlink_to("kueue")
    assert refused(folder) == (f"{folder}/volcano is a link to a folder; replace it by the folder")


@pytest.mark.parametrize(
    "name, data, said",
    [
        (PATH, b"a\nb\xe9\n", ':2: byte 0xe9 is not UTF-8; save the file as "UTF-8"'),
        ("_helper.j2", b"\xff", ':1: byte 0xff is not UTF-8; save the file as "UTF-8"'),
        (PATH, "ab".encode("utf-16"), ': this is UTF-16; save it as "UTF-8"'),
        (
            PATH,
            b"\xef\xbb\xbfab",
            ': this begins with a byte-order mark; save it as "UTF-8 without',
        ),
        (PATH, b"ab\0", ":1: a NUL byte; is this a text file?"),
    ],
)
def test_a_template_that_is_no_text_is_told_once_with_its_place(own, folder, name, data, said):
    own(HEAD)
    (folder / name).write_bytes(data)
    text = refused(folder, local_queue())
    assert text.startswith(f"{folder / name}{said}")
    assert "codec" not in text
    assert text.count(name) == 1


def test_an_included_file_that_is_no_text_is_told_where_it_stands(own, folder):
    own(HEAD + '{% include "_helper" %}')
    (folder / "_helper").write_bytes(b"a\n\xff")
    assert refused(folder) == (
        f'{folder}/_helper:2: ResourceFlavor "h100": byte 0xff is not UTF-8; save the file as "UTF-8"'
    )


def test_a_folder_that_may_not_be_read_is_told():
    who = os.geteuid()
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = Path(name) / "own"
        (folder / "kueue").mkdir(parents=True)
        (folder / PATH).touch(0)
        try:
            os.seteuid(65534 if who == 0 else who)
            unreadable = refused(folder)
            os.seteuid(who)
            folder.chmod(0)
            os.seteuid(65534 if who == 0 else who)
            closed = [refused(folder), refused(folder / "kueue")]
        finally:
            os.seteuid(who)
            folder.chmod(0o755)
    assert unreadable == f"{folder / PATH}: cannot be read: Permission denied"
    assert closed == [
        f"--templates {folder} cannot be read: Permission denied",
        f"--templates {folder}/kueue cannot be read: Permission denied",
    ]


def test_a_bug_of_ours_is_no_usage_error(own, folder):
    own(HEAD)
    kind = kueue.RESOURCE_FLAVOR
    broken = Item(kind, kind.releases[0], it=_Unreadable())
    with pytest.raises(RuntimeError, match="the process that renders templates ended"):
        render([broken], templates=[folder])


class _Unreadable:
    """Pickles, but cannot be read where this test module is not."""

    def __reduce__(self):
        return (os.getenv, ())
