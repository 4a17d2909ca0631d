"""Whether pods match a flavor."""

import pytest

from policygen.kubernetes.core import Requirement, TaintView, TolerationView
from policygen.kubernetes.flavor_match import required_terms, selects_flavor, untolerated
from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.workloads import PodSpec

LABELS = {"gpu": "h100"}
RIGHT, WRONG = Requirement("gpu", "In", ("h100",)), Requirement("gpu", "In", ("a100",))
ELSEWHERE = Requirement("zone", "In", ("a",))


@pytest.mark.parametrize(
    ("selector", "terms", "matches"),
    [
        ({}, [], True),
        ({"gpu": "h100", "zone": "a"}, [], True),
        ({"gpu": "a100"}, [], False),
        ({}, [(RIGHT,)], True),
        ({}, [(WRONG,)], False),
        ({}, [(WRONG, ELSEWHERE)], False),
        ({}, [(WRONG,), (ELSEWHERE,)], True),
        ({}, [(WRONG,), (RIGHT,)], True),
        ({"gpu": "a100"}, [(ELSEWHERE,)], False),
    ],
)
def test_only_labels_of_the_flavor_count(selector, terms, matches):
    assert selects_flavor(selector, terms, LABELS) is matches


def test_a_taint_that_neither_tolerates():
    hard, soft = TaintView("a", "NoExecute"), TaintView("b", "PreferNoSchedule")
    flavor = ResourceFlavorView(node_taints=(soft, hard))
    assert untolerated(flavor, ()) is hard
    tolerates = TolerationView(key="a", operator="Exists")
    assert untolerated(flavor, [tolerates]) is None
    own = ResourceFlavorView(node_taints=(hard,), tolerations=(tolerates,))
    assert untolerated(own, ()) is None


def test_the_terms_of_a_pod():
    expression = {"key": "gpu", "operator": "In", "values": ["h100"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}, {}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    assert required_terms(PodSpec(affinity=affinity)) == ((RIGHT,), ())
