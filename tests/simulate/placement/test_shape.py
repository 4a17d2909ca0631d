"""What kube-scheduler reads of a pod."""

from policygen.core.decoding import converted
from policygen.core.names import GPU
from policygen.kubernetes.core import LabelSelector, Requirement
from policygen.kubernetes.typed import decoded
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.placement.shape import TermKind, default_selector, shape_of, simple_shape
from tests.simulate.placement.made import GIBI, shape


def test_each_container_without_a_request_counts_with_a_default():
    spec = {
        "containers": [{"resources": {"requests": {"cpu": "1500m"}}}, {}],
        "initContainers": [{"resources": {"limits": {"memory": "1Gi"}}}],
    }
    found = shape_of(converted(spec, PodSpec, decoded), {})
    assert found.requests == (("cpu", 1500), ("memory", GIBI), ("pods", 1))
    assert dict(found.scored) == {
        "cpu": 1600,
        "memory": GIBI,
    }  # 400 MiB of both containers are less


def test_amounts_are_rounded_up():
    assert shape(cpu="100u", memory="1500m").requests[:2] == (("cpu", 1), ("memory", 2))


def test_terms():
    found = shape("""
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {}}]
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - {weight: 5, podAffinityTerm: {topologyKey: host, namespaces: [other], labelSelector: {}}}
          requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack}]
    """)
    assert [(it.kind, it.key, it.weight) for it in found.terms] == [
        (TermKind.PREFERRED, "host", -5),
        (TermKind.TOGETHER, "zone", 0),
        (TermKind.APART, "rack", 0),
    ]
    other, own, nothing = found.terms
    assert other.matches("other", {}, {})
    assert not other.matches("default", {}, {})
    assert own.matches("default", {}, {})
    assert not nothing.matches("default", {}, {})  # without a selector


def test_match_label_keys_join_the_selector():
    found = shape(
        """
        topologySpreadConstraints:
          - {topologyKey: z, maxSkew: 2, whenUnsatisfiable: ScheduleAnyway,
             labelSelector: {matchLabels: {app: a}}, matchLabelKeys: [version, missing]}
        """,
        version="1",
    )
    assert found.constraints[0].selector == LabelSelector(
        {"app": "a"}, (Requirement("version", "In", ("1",)),)
    )


def test_the_default_selector_is_that_of_the_services_and_the_controller():
    labels = {"app": "a", "hash": "1"}
    services = [{"app": "a"}, {"app": "b"}]
    assert default_selector(services, labels, None) == LabelSelector({"app": "a"})
    assert default_selector([], labels, None) is None
    found = default_selector(services, labels, LabelSelector({"hash": "1"}))
    assert found.selects(labels)
    assert not found.selects({"hash": "1"})


def test_a_simple_shape():
    found = simple_shape({"cpu": 1500, "memory": 0, GPU: 1}, {"model": ("T4", "A10")})
    assert found.requests == (("cpu", 1500), (GPU, 1), ("pods", 1))
    assert found.demand.keys == {"model"}
