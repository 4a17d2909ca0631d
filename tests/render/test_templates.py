"""Templates only lay out what the plan decided; they contain no decisions."""

import re

import pytest
from jinja2 import nodes

from policygen.core import shipped
from policygen.plan import kueue_configuration, scheduler, volcano_configuration
from policygen.plan.catalog import KINDS
from policygen.render.environment import Shipped, environment

NAMES = Shipped().list_templates()
FILES = [it.CONFIGURATION for it in (scheduler, volcano_configuration, kueue_configuration)]
"""Kinds that are files of a controller, not objects of a cluster."""

ALLOWED = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Getattr, nodes.Const),
    *(nodes.For, nodes.If, nodes.Tuple, nodes.Test, nodes.Not, nodes.Call, nodes.Keyword),
    *(nodes.Block, nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport, nodes.Macro),
)

KEY = r'(?:[A-Za-z0-9_./-]+|"[^"]*")'
SCALAR_LINE = re.compile(rf" *(?:- )*(?:{KEY}: )?\{{\{{ [^{{}}]* \}}\}}")
LONE_CALL = re.compile(r" *\{\{ [a-z_.]+\(.*\) \}\}")
KEYED_BLOCK = re.compile(rf"(?P<lead> *(?:- )*){KEY}: \{{\{{ block\([^,]*, (?P<indent>\d+)")


def faults(source):
    """The reason why a template does more than lay out."""
    tree = environment(Shipped()).parse(source)
    return [*_logic(tree), *_lines(source)]


def _logic(tree):
    macros = {"block"} | {macro.name for macro in tree.find_all(nodes.Macro)}
    for statement in tree.find_all(nodes.FromImport):
        macros |= {name if isinstance(name, str) else name[1] for name in statement.names}
    modules = {statement.target for statement in tree.find_all(nodes.Import)}
    # nodes are equal if their content is
    indents = [it for it in tree.find_all(nodes.FilterBlock) if it.filter.name == "indent"]
    allowed = {id(it) for block in indents for it in (block, block.filter)}
    for node in _all(tree):
        if id(node) in allowed:
            continue  # the pods of a workload are indented as its kind needs
        if not isinstance(node, ALLOWED):
            yield f"{type(node).__name__} in line {node.lineno}"
        if isinstance(node, nodes.Call) and not _is_macro(node.node, macros, modules):
            yield f"Call in line {node.lineno}"
        if isinstance(node, nodes.Test) and node.name != "none":
            yield f"Test {node.name} in line {node.lineno}"
        # `is not none` tests for a number that may be 0; any other Not is logic.
        if isinstance(node, nodes.Not) and not isinstance(node.node, nodes.Test):
            yield f"Not in line {node.lineno}"
        if isinstance(node, nodes.For) and (node.test or node.recursive):
            yield f"For with a condition in line {node.lineno}"


def _all(node):
    yield node
    for child in node.iter_child_nodes():
        yield from _all(child)


def _is_macro(called, macros, modules):
    if isinstance(called, nodes.Getattr):
        return isinstance(called.node, nodes.Name) and called.node.name in modules
    return isinstance(called, nodes.Name) and called.name in macros


def _lines(source):
    for number, line in enumerate(source.splitlines(), 1):
        if "{{" not in line or line.startswith("# "):
            continue  # a comment has no effect, so it may be a sentence
        keyed = re.match(rf" *(?:- )*{KEY}: |  *- |- ", line)
        if not SCALAR_LINE.fullmatch(line) or not (keyed or LONE_CALL.fullmatch(line)):
            yield f"line {number} prints more than one whole scalar"
        block = KEYED_BLOCK.match(line)
        if block and int(block["indent"]) != len(block["lead"]) + 2:
            yield f"line {number} gives block() another indent than its key's column and 2"


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_template_lays_out_and_does_not_decide(name):
    source = (shipped.root() / "templates" / name).read_text("utf-8")
    assert faults(source) == []


def test_every_shipped_template_is_looked_at():
    on_disk = {
        path.relative_to(shipped.root() / "templates").as_posix()
        for path in (shipped.root() / "templates").rglob("*")
        if path.is_file()
    }
    assert on_disk == set(NAMES) != set()
    named = {release.template for kind in (*KINDS, *FILES) for release in kind.releases}
    assert named <= set(NAMES), f"write {named - set(NAMES)} below templates/"


@pytest.mark.parametrize(
    "source",
    [
        "a: {{ it.a }}\n- {{ it.b }}\n  - a: {{ it.c.d }}\n",
        '"a b": {{ it.a }}\nx.dev/y: {{ it.b }}\n- - {{ it.c }}\n',
        "{% for x, y in it.pairs %}\n- a: {{ x }}\n  b: {{ y }}\n{% endfor %}\n",
        "{% if it.a %}\na: {{ it.a }}\n{% elif it.b is none %}\nb: 1\n{% else %}\nc: 1\n{% endif %}\n",
        "{% if it.a is not none %}\na: {{ it.a }}\n{% endif %}\n",
        "a: {{ block(it.a, 2) }}\n  - b: {{ block(it.b, 6, 76) }}\n{{ block(it.c, 0) }}\n",
        "{% macro m(x) %}\na: {{ x }}\n{% endmacro %}\n{{ m(it) }}\n",
        '{% from "a.j2" import m as n %}{% import "b.j2" as b %}\n{{ n(it) }}\n  {{ b.m(it) }}\n',
        '{% filter indent(4, true) %}\n{% include "a.j2" %}\n{% endfilter %}\n',
        '{% extends "a.j2" %}\n{% block spec %}\n{% include "b.j2" %}\n{% endblock %}\n',
    ],
)
def test_what_lays_out_is_allowed(source):
    assert faults(source) == []


@pytest.mark.parametrize(
    "source, fault",
    [
        ("a: {{ it.a + 1 }}", "Add in line 1"),
        ("a: {{ it.a - it.b }}", "Sub in line 1"),
        ("a: {{ it.a ~ it.b }}", "Concat in line 1"),
        ("a: {{ it.a | upper }}", "Filter in line 1"),
        ("a: {{ it.a if it.b else it.c }}", "CondExpr in line 1"),
        ("a: {{ it.a and it.b }}", "And in line 1"),
        ("a: {{ it.a or it.b }}", "Or in line 1"),
        ("a: {{ -it.a }}", "Neg in line 1"),
        ("a: {{ it.a[0] }}", "Getitem in line 1"),
        ("a: {{ it.get() }}", "Call in line 1"),
        ("a: {{ range(3) }}", "Call in line 1"),
        ("a: {{ [1] }}", "List in line 1"),
        ("{% if it.a > 1 %}\n{% endif %}", "Compare in line 1"),
        ("{% if not it.a %}\n{% endif %}", "Not in line 1"),
        ("{% if it.a is defined %}\n{% endif %}", "Test defined in line 1"),
        ("{% set a = 1 %}", "Assign in line 1"),
        ("{% set a %}x{% endset %}", "AssignBlock in line 1"),
        ("{% filter upper %}a{% endfilter %}", "FilterBlock in line 1"),
        ("{% for x in it.a if x %}\n{% endfor %}", "For with a condition in line 1"),
        ("{% with a = 1 %}{% endwith %}", "With in line 1"),
        ("a: pre-{{ it.a }}", "line 1 prints more than one whole scalar"),
        ("a: {{ it.a }}-post", "line 1 prints more than one whole scalar"),
        ("a: {{ it.a }} # why", "line 1 prints more than one whole scalar"),
        ("a: {{ it.a }}{{ it.b }}", "line 1 prints more than one whole scalar"),
        ('a: "{{ it.a }}"', "line 1 prints more than one whole scalar"),
        ("{{ it.a }}: {{ it.b }}", "line 1 prints more than one whole scalar"),
        ("a: [{{ it.a }}]", "line 1 prints more than one whole scalar"),
        ("{{ it.a }}", "line 1 prints more than one whole scalar"),
        ("  a: {{ block(it.a, 2) }}", "line 1 gives block() another indent"),
        ("- a: {{ block(it.a, 2) }}", "line 1 gives block() another indent"),
    ],
)
def test_what_decides_is_refused(source, fault):
    assert any(found.startswith(fault) for found in faults(source)), faults(source)


def test_the_templates_beside_a_name():
    beside = ["pod_group.yaml.j2", "queue.yaml.j2", "scheduler_configuration.yaml.j2"]
    assert Shipped().beside("volcano/foo.j2") == beside
    assert Shipped().beside("foo.j2") == Shipped().beside("volcano/inner/foo.j2") == []
