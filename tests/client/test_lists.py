"""Decoding a list skips only those fields of its items that the projection would drop anyway."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policygen.client import lists, projection
from policygen.kubernetes.snapshot import NODE, POD, GroupKind
from policygen.kubernetes.workloads import TEMPLATES

KINDS = sorted({*(GroupKind(*it) for it in TEMPLATES), NODE} - {POD})
TEXTS = st.dictionaries(st.sampled_from(["a", "b/c"]), st.sampled_from(["", "x"]), max_size=2)
ANY = st.recursive(
    st.booleans() | st.integers(0, 9) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)
METADATA = st.fixed_dictionaries(
    {"name": st.just("n")},
    optional={
        "namespace": st.just("s"),
        "uid": st.just("u"),
        "generateName": st.just("n-"),
        "resourceVersion": st.just("7"),
        "generation": st.integers(1, 3),
        "creationTimestamp": st.just("2026-11-21T03:00:00Z"),
        "deletionTimestamp": st.just("2026-11-21T03:00:00Z"),
        "deletionGracePeriodSeconds": st.just(30),
        "labels": TEXTS | st.just({"app.kubernetes.io/managed-by": "policygen"}),
        "annotations": TEXTS,
        "ownerReferences": st.just([{"kind": "Job", "name": "o", "controller": True}]),
        "finalizers": st.just(["f"]),
        "managedFields": st.just([{"manager": "m", "fieldsV1": {"f:spec": {}}}]),
    },
)
POD_SPEC = st.fixed_dictionaries(
    {"containers": st.just([{"name": "c", "env": [{"name": "E", "value": "v"}], "x": 1}])},
    optional={"nodeSelector": TEXTS, "volumes": st.just([]), "dnsPolicy": st.just("Default")},
)
SPEC = st.fixed_dictionaries(
    {},
    optional={
        "template": st.fixed_dictionaries({"spec": POD_SPEC}, optional={"metadata": ANY}),
        "taints": st.just([{"key": "k", "effect": "NoSchedule"}]),
        "podCIDR": st.just("10.0.0.0/24"),
        "parallelism": st.integers(0, 3),
        "env": ANY,
    },
)
STATUS = st.fixed_dictionaries(
    {},
    optional={
        "allocatable": TEXTS,
        "capacity": TEXTS,
        "images": ANY,
        "conditions": st.lists(
            st.fixed_dictionaries(
                {"type": st.sampled_from(["Ready", "DiskPressure"])},
                optional={"status": st.just("True"), "message": ANY, "reason": st.just("R")},
            ),
            max_size=2,
        ),
    },
)
ITEMS = st.fixed_dictionaries({"metadata": METADATA}, optional={"spec": SPEC, "status": STATUS})


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(item=ITEMS)
def test_what_is_kept_is_the_same_whatever_is_decoded(kind, item):
    text = json.dumps(item)
    decoded = msgspec.json.decode(text, type=lists.listed_as(kind))
    group = f"{kind.group}/v1" if kind.group else "v1"
    one, other = (
        projection.projected(kind, {**data, "apiVersion": group, "kind": kind.kind})
        for data in (lists.plain(decoded), json.loads(text))
    )
    assert one == other
