"""A name that is used twice, while another name is missing."""

from tests.spec.specs import errors, read


def pool(name):
    return f"""
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {{name: {name}}}
spec:
  nodeSelector: {{pool: {name}}}
  gpu: {{product: NVIDIA-H100-80GB-HBM3, perNode: 8}}
  capacity: {{nodes: 2}}
"""


def team(name, *pools):
    quotas = ", ".join(f"{{pool: {it}, guarantee: 1}}" for it in pools)
    return f"""
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {{name: {name}}}
spec:
  namespaces: [{{name: {name}}}]
  quotas: [{quotas}]
"""


def test_the_missing_name_is_proposed_for_the_second_pool():
    loaded = read(pool("a"), pool("a"), team("x", "a", "b"), team("z", "b"))
    assert errors(loaded) == ["object-declared-twice"]
    (message,) = [it.message for it in loaded.findings]
    assert 'ResourcePool "b" does not exist' in message
    assert message.endswith('rename one of the two to "b"')
    assert errors(read(pool("a"), pool("b"), team("x", "a", "b"), team("z", "b"))) == []


def test_two_missing_names_are_reported():
    loaded = read(pool("a"), pool("a"), team("x", "a", "b", "c"))
    assert errors(loaded) == ["object-declared-twice", "unknown-reference", "unknown-reference"]


def test_a_missing_name_of_another_kind_is_reported():
    loaded = read(pool("a"), team("x", "a"), team("x", "a"), team("z", "b"))
    assert errors(loaded) == ["object-declared-twice", "unknown-reference"]
