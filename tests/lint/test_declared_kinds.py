"""A rule reads only kinds that it declares.

Otherwise a kind that could not be read would make it wrong, without a report.
"""

import contextlib

import pytest
from msgspec.structs import replace

from policygen.core import versions
from policygen.core.finding import At
from policygen.documents.files import Source
from policygen.kubernetes import manifests
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import CONFIG_MAP, GroupKind
from policygen.kubernetes.table import Table
from policygen.lint import kinds
from policygen.lint.registry import RULES
from policygen.lint.rule import Facts, Need
from policygen.plan.compile import compile_plan
from policygen.spec import forms
from policygen.spec.load import load
from tests.client.looks import snapshot
from tests.examples_of_rules import examples


def attributes():
    """The kind of each table, by the name of its attribute."""
    found = {}
    for group, kind in Cluster(()).tables:
        it = Object(At(0), f"{group}/v1" if group else "v1", kind, "x", "", {"metadata": {}})
        filled = vars(Cluster([it]))
        for name, value in filled.items():
            if isinstance(value, Table) and value.any:
                found[name] = GroupKind(group, kind)
    return found


ATTRIBUTES = attributes()


class Watched(Cluster):
    """Records the kinds that are read."""

    def __init__(self, *arguments, **options):
        self.noted = None
        super().__init__(*arguments, **options)
        self.noted = set()
        self.all_workloads = False

    def note(self, *found):
        if self.noted is not None:
            self.noted.update(found)

    def __getattribute__(self, name):
        if name in ATTRIBUTES:
            self.note(ATTRIBUTES[name])
        elif name in {"workloads", "workloads_of"}:
            self.all_workloads = True
        elif name == "pods":
            self.note(GroupKind("", "Pod"))
        return super().__getattribute__(name)

    def of(self, group, kind):
        self.note(GroupKind(group, kind))
        return super().of(group, kind)


def clusters(rule):
    """The examples of a rule's page, as files or as a live cluster, with their target and spec."""
    for example in examples(rule.name):
        asked = dict(word.split("=") for word in example.options if "=" in word)
        target = versions.DEFAULT | {name: versions.parse(name, it) for name, it in asked.items()}
        sources = [Source("page.yaml", example.text, None)]
        loaded = load(sources) if forms.OWN in example.text else None
        if "seen" in example.options:
            look = snapshot(example.text)
            inside = manifests.inside(look.objects, first_index=1)
            cluster = Watched((*look.objects, *inside.objects), seen=look.seen, pods=look.pods)
        else:
            cluster = Watched(manifests.read(sources).objects)
        yield cluster, target, loaded


def test_every_table_is_watched():
    assert set(ATTRIBUTES.values()) == {
        GroupKind(*it) for it in Cluster(()).tables
    } - kinds.WORKLOADS | {GroupKind("batch.volcano.sh", "Job")}


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.judges], ids=lambda it: it.name)
def test_a_rule_looks_at_what_it_declares(rule):
    declared = kinds.judged(rule) | kinds.looked_up(rule)
    looked = set()
    for cluster, target, loaded in clusters(rule):
        given = frozenset(Need) - (set() if cluster.seen else {Need.SEEN})
        with contextlib.suppress(AttributeError):  # a rule of specs, on an example without one
            facts = Facts(cluster, target, given, requested=target)
            if loaded:
                facts = replace(facts, spec=loaded.spec, plan=compile_plan(loaded.sound))
            list(rule.check(facts))
        # It may take those that it is about from among them all.
        if cluster.all_workloads and declared.isdisjoint(kinds.WORKLOADS):
            cluster.note(*kinds.WORKLOADS)
        looked |= {CONFIG_MAP if it in kinds.FILES else it for it in cluster.noted}
    assert sorted(map(str, (looked & kinds.every()) - declared)) == []
