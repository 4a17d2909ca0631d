"""Positions in JSON, found by walking down from the root."""

from policygen.documents.json_positions import places
from policygen.documents.outline import NodeKind

TEXT = ' {"a": [1, {"b\\"": -2.5e3 , "c": "]"}], "d" :null,"e":{},\n"f":[] }\n'


def found(*path):
    """The text of the value, of its key, and how much of the path exists."""
    it = places(TEXT)
    step, length = it.find(path)
    key = None if step.key is None else TEXT[it.start[step.key] : it.end[step.key]]
    return TEXT[it.start[step.node] : it.end[step.node]], key, length


def test_values_and_keys():
    assert found() == (TEXT.strip(), None, 0)
    assert found("a", 0) == ("1", None, 2)
    assert found("a", 1, 'b"') == ("-2.5e3", '"b\\""', 3)
    assert found("a", 1, "c") == ('"]"', '"c"', 3)
    assert found("d") == ("null", '"d"', 1)
    assert found("e") == ("{}", '"e"', 1)
    assert found("f") == ("[]", '"f"', 1)


def test_a_path_that_does_not_exist_ends_at_its_longest_part():
    assert found("a", 2)[2] == 1
    assert found("e", "x")[2] == 1
    assert found("d", "x")[2] == 1
    assert found(0)[2] == 0


def test_only_what_is_on_the_way_is_looked_at():
    it = places(TEXT)
    assert len(it.shape) == 1
    it.find(("d",))
    assert len(it.shape) == 1 + 2
    assert it.shape[0] == NodeKind.MAPPING
    assert len(it.below(0)) == 8
