"""Whether a selector matches a namespace, as far as it is known."""

import pytest

from policygen.kubernetes.core import LabelSelector, Requirement
from policygen.kubernetes.namespaces import selects
from tests.objects import cluster

NAME = "kubernetes.io/metadata.name"
KNOWN = "{apiVersion: v1, kind: Namespace, metadata: {name: known, labels: {team: a}}}"
BY_LABEL = LabelSelector({"team": "a"})
BY_NAME = LabelSelector({NAME: "known"})
BOTH = LabelSelector({NAME: "other", "team": "a"})
NOT_KNOWN = LabelSelector({}, (Requirement(NAME, "NotIn", ("known",)),))


@pytest.mark.parametrize(
    ("selector", "name", "matches"),
    [
        (BY_LABEL, "known", True),
        (LabelSelector({"team": "b"}), "known", False),
        (BY_LABEL, "other", None),
        (BY_NAME, "known", True),
        (BY_NAME, "other", False),
        (BOTH, "other", None),
        (BOTH, "third", False),
        (NOT_KNOWN, "known", False),
        (NOT_KNOWN, "other", True),
        (LabelSelector(), "other", True),
        (BY_LABEL, "", None),
    ],
)
def test_what_is_known_of_a_namespace(selector, name, matches):
    assert selects(cluster(KNOWN), selector, name) is matches
