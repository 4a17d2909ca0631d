"""The plan: all objects in apply order, and no plan for a refused spec."""

import yaml

from policygen.plan import kueue
from policygen.plan.catalog import BY_NAME
from policygen.plan.compile import order, released
from policygen.plan.kind import Item, Meta
from policygen.render.engine import render
from policygen.spec.types import Spec


def item(kind_name, name, namespace=None):
    kind = BY_NAME[kind_name]
    return Item(kind, kind.releases[-1], kueue.LocalQueue(Meta(name, "set", namespace), "c"))


def test_objects_are_ordered_by_kind_namespace_and_name():
    items = [
        item("LocalQueue", "b", "n"),
        item("LocalQueue", "a", "z"),
        item("LocalQueue", "a", "n"),
        item("Namespace", "z"),
        item("Cohort", "parent"),
        item("Cohort", "child"),
    ]
    assert [(it.kind.name, it.meta.namespace, it.meta.name) for it in order(items)] == [
        ("Namespace", None, "z"),
        ("Cohort", None, "parent"),
        ("Cohort", None, "child"),
        ("LocalQueue", "n", "a"),
        ("LocalQueue", "n", "b"),
        ("LocalQueue", "z", "a"),
    ]


def test_labels_and_annotations_of_its_own_are_beside_those_of_the_set():
    meta = Meta("a", "set", None, {"grafana_dashboard": "1"}, {"example.com/note": "on"})
    (manifest,) = render([released(Spec(), BY_NAME["LocalQueue"], kueue.LocalQueue(meta, "q"))])
    found = yaml.safe_load(manifest.text)["metadata"]
    labels = {"app.kubernetes.io/managed-by": "policygen", "policygen.dev/set": "set"}
    assert found["labels"] == {**labels, "grafana_dashboard": "1"}
    assert found["annotations"] == {"example.com/note": "on"}


def test_a_refused_spec_has_no_objects_and_its_pools_are_known(planned, pool, team):
    found = planned(pool(), team("a", "guarantee: 65"))
    assert found.plan is None
    assert "guarantees-above-available" in found.rules


def test_an_extra_adds_its_objects(planned, pool, team):
    texts = (
        pool(more="schedulingPolicy: {binPack: true}", scheduler="kube-scheduler"),
        team("a", "limit: 2"),
    )
    assert not planned(*texts).of("Deployment")
    it = planned(*texts, extras=frozenset({"second-scheduler"}))
    assert list(it.of("Deployment")) == ["kube-system/default-kube-scheduler"]
