"""Messages about kinds that were not read."""

from policygen.client.unread import messages
from tests.client.looks import snapshot

NAMESPACE = "{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}"
QUEUE = (
    "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: team-a}}"
)


def test_an_unknown_version_is_reported_with_its_reason():
    assert list(messages(snapshot())) == []
    (it,) = messages(snapshot(server="", no_server="403"))
    assert it == "the version of the server could not be read (403), so the target version is used"


def test_a_namespace_that_does_not_exist():
    (it,) = messages(snapshot(NAMESPACE, namespaces=("team-a", "team-b")))
    assert it.startswith('namespace "team-b" does not exist')
    assert 'did you mean "team-a"' in it


def test_a_namespace_of_which_nothing_is_known():
    (it,) = messages(snapshot(QUEUE, read=frozenset(), namespaces=("team-a", "team-b")))
    assert it == 'nothing was read in namespace "team-b"; check that the namespace exists'
