"""Kinds without a namespace."""

import json

from policygen.api_validation import schemas
from policygen.kubernetes.scopes import OF_THE_CLUSTER, WITHOUT_SCHEMA
from tests.kubernetes.reading import QUEUE, names, read


def test_what_is_of_the_cluster_is_in_no_namespace_whatever_is_written():
    queue = {**QUEUE, "kind": "ClusterQueue"}
    assert names(read(json.dumps(queue))) == ["ClusterQueue a"]
    assert names(read(json.dumps({**queue, "apiVersion": "example.com/v1"}))) == [
        "ClusterQueue b/a"
    ]


def test_cluster_scoped_kinds_equal_those_of_the_servers():
    served = [
        schemas.served(at.removeprefix(f"{schemas.CORE}/"), kind)
        for at, kinds in schemas.index().kinds.items()
        for kind in kinds
    ]
    found = {(it.group, it.kind) for it in served if not it.namespaced}
    assert found.isdisjoint(WITHOUT_SCHEMA)
    assert found | WITHOUT_SCHEMA == OF_THE_CLUSTER, (
        "correct OF_THE_CLUSTER in policygen/kubernetes/scopes.py"
    )
