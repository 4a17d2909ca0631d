import pytest

from policygen.core.finding import At
from policygen.spec import labels
from policygen.spec.programs import MonitoringSettings
from policygen.spec.types import Pool, Taint, Toleration


@pytest.mark.parametrize(
    "key",
    [
        "a",
        "A-b_c.9",
        "a" * 63,
        "nvidia.com/gpu",
        "a.b-c.d/E_f",
        f"{'d' * 63}.{'e' * 63}.{'f' * 63}.{'g' * 61}/{'a' * 63}",
    ],
)
def test_good_keys(key):
    assert labels.key_fault(key) is None


@pytest.mark.parametrize(
    "key",
    [
        "",
        "-a",
        "a-",
        "a b",
        "a" * 64,
        "/a",
        "a/",
        "a/b/c",
        "Nvidia.com/gpu",
        "a..b/c",
        "-a.b/c",
        "ä",
        "a\n",
        f"{'d' * 254}/a",
        "x" * 5000,
        "a\x1b[31m",
    ],
)
def test_bad_keys(key):
    fault = labels.key_fault(key)
    assert fault is not None
    assert fault.isprintable()
    assert len(fault) < 200


@pytest.mark.parametrize("value", ["", "a", "A_b-c.9", "9", "a" * 63])
def test_good_values(value):
    assert labels.value_fault(value) is None


@pytest.mark.parametrize("value", ["-", "a/b", "a b", "a" * 64, ".a", "a\n", "ß"])
def test_bad_values(value):
    assert "is not a valid label value" in (labels.value_fault(value) or "")


def hits(**fields):
    pool = Pool("p", At(0), fields.pop("node_selector", (("a", "1"),)), **fields)
    return [(hit.rule.name, hit.at.path[1:], hit.at.key) for hit in labels.check(pool)]


def test_node_selector_is_blamed_at_key_or_value():
    assert hits(node_selector=(("a b", "c"), ("d", "e f"))) == [
        ("invalid-label", ("nodeSelector", "a b"), True),
        ("invalid-label", ("nodeSelector", "d"), False),
    ]


@pytest.mark.parametrize(
    "taints, expected",
    [
        ((Taint("a", "NoSchedule"), Taint("a", "NoExecute")), []),
        ((Taint("a", "NoSchedule", ""), Taint("b", "NoSchedule", "v")), []),
        ((Taint("a", "NoSchedule"), Taint("a", "NoSchedule", "v")), [(1, "key")]),
        ((Taint("a", "NoSchedule", "b c"),), [(0, "value")]),
        ((Taint("a/b/c", "NoSchedule"),), [(0, "key")]),
    ],
)
def test_taints(taints, expected):
    assert hits(taints=taints) == [("invalid-taint", ("taints", *at), False) for at in expected]


@pytest.mark.parametrize(
    "toleration, expected",
    [
        (Toleration("a"), []),
        (Toleration("a", "Equal", "v", "NoSchedule"), []),
        (Toleration("a", "Exists"), []),
        (Toleration(operator="Exists"), []),
        (Toleration("a", effect="NoExecute", toleration_seconds=0), []),
        (Toleration(), [()]),
        (Toleration(operator="Equal", value="v"), [()]),
        (Toleration("a b"), [("key",)]),
        (Toleration("a", value="b c"), [("value",)]),
        # Kueue refuses the field itself there, even when it is empty.
        (Toleration("a", "Exists", ""), [("value",)]),
        (Toleration("a", toleration_seconds=1), [("tolerationSeconds",)]),
        (Toleration("a", effect="NoSchedule", toleration_seconds=1), [("tolerationSeconds",)]),
    ],
)
def test_tolerations(toleration, expected):
    found = hits(tolerations=(toleration,))
    assert found == [("invalid-toleration", ("tolerations", 0, *at), False) for at in expected]


HOST = "kubernetes.io/hostname"


@pytest.mark.parametrize(
    "levels, expected",
    [
        (("zone", "example.com/rack", HOST), []),
        ((HOST,), []),
        ((HOST, "rack"), [0]),
        (("rack", "rack"), [1]),
        (("rack", "a b"), [1]),
        # A Workload names its level in a label-sized field.
        ((f"example.com/{'r' * 52}",), [0]),
        ((f"example.com/{'r' * 51}",), []),
    ],
)
def test_topology_levels(levels, expected):
    found = hits(topology_levels=levels)
    assert found == [("invalid-topology", ("topology", "levels", at), False) for at in expected]


@pytest.mark.parametrize(
    "key, value, count",
    [
        ("release", "stack", 0),
        ("a b", "stack", 1),
        ("release", "a b", 1),
        # Otherwise the object would belong to another set.
        ("policygen.dev/set", "other", 1),
        ("app.kubernetes.io/managed-by", "helm", 1),
    ],
)
def test_labels_of_rules(key, value, count):
    settings = MonitoringSettings(rule_labels=((key, value),), at=At(0, ("spec", "monitoring")))
    assert [it.rule.name for it in labels.check_rules(settings)] == ["invalid-label"] * count
