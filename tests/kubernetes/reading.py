"""Manifests for tests."""

from policygen.core.finding import Hit
from policygen.documents.files import Source
from policygen.kubernetes import manifests
from policygen.kubernetes.locate import locate_objects
from tests.rules import rule

QUEUE = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "LocalQueue",
    "metadata": {"name": "a", "namespace": "b"},
    "spec": {"clusterQueue": "c"},
}


def read(text, name="a.yaml"):
    return manifests.read([Source(name, text, None)])


def names(found):
    return [str(it) for it in found.objects]


def place(found, at):
    (finding,) = locate_objects(found.documents, found.objects, [Hit(rule("rule"), "message", at)])
    return finding
