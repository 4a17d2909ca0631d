"""policygen's version of each CEL rule gives the same result as the CEL project's own runtime."""

import re

import pytest
from cel_expr_python import cel as runtime
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.api_validation import cel
from policygen.api_validation.schemas import index, served

TEXT = runtime.Type.STRING


def find(text, pattern):
    """Of Kubernetes' own library for regular expressions: the first part that matches."""
    found = re.search(pattern, text)
    return found.group() if found else ""


FIND = runtime.Overload("find", TEXT, [TEXT, TEXT], is_member=True, impl=find)
ENVIRONMENT = runtime.NewEnv(
    variables={"self": runtime.Type.DYN}, functions=[runtime.FunctionDecl("find", [FIND])]
)
WORDS = ("a", "b", "Never", "Any", "Equal", "TryNextFlavor", "NoExecute", "kubernetes.io/hostname")
NUMBERS = ("-1", "0", "+2", "3.0")
LITERAL = re.compile(r"""'([^']*)'|"([\w./-]*)\"""")


def words(text):
    """What the strings of a value can be: the literals of the rule, and others that are like them."""
    literals = {one or other for one, other in LITERAL.findall(text)}
    similar = {f"{it}/other" for it in literals if "." in it and "/" not in it}
    return sorted({*WORDS, *(NUMBERS if "int(" in text else ()), *literals, *similar})


def schemas_of_rules():
    found = {}
    for at, kinds in index().kinds.items():
        for kind in kinds:
            _collect(served(at.removeprefix("core/"), kind).schema, found)
    return found


def _collect(schema, found):
    for rule in schema.get("x-kubernetes-validations", ()):
        if rule["rule"] in cel.RULES:
            found.setdefault(rule["rule"], schema)
    for part in schema.get("properties", {}).values():
        _collect(part, found)
    for key in ("items", "additionalProperties"):
        if key in schema:
            _collect(schema[key], found)


SCHEMAS = schemas_of_rules()

_CONDITION = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["QuotaReserved", "Admitted"]),
        "status": st.sampled_from(["True", "False"]),
    }
)
STATUS = st.fixed_dictionaries(
    {},
    optional={
        "conditions": st.lists(_CONDITION, max_size=2),
        "admission": st.fixed_dictionaries(
            {"podSetAssignments": st.lists(st.just({}), max_size=2)}
        ),
    },
)
"""The status of a Workload. Its schema has no constraints on status, since users cannot write it."""


def values(schema, named, literals):
    """Values that obey the schema, of the fields that a rule names."""
    match schema.get("type"):
        case "object" if "additionalProperties" in schema:
            keys, part = st.sampled_from(literals), schema["additionalProperties"]
            return st.dictionaries(keys, values(part, named, literals), max_size=2)
        case "object":
            kept = {
                name: STATUS if name == "status" else values(part, named, literals)
                for name, part in schema.get("properties", {}).items()
                if name in named
            }
            always = {*schema.get("required", ()), *_defaulted(schema)} & set(kept)
            return st.fixed_dictionaries(
                {name: kept[name] for name in kept if name in always},
                optional={name: kept[name] for name in kept if name not in always},
            )
        case "array":
            return st.lists(
                values(schema["items"], named, literals),
                min_size=schema.get("minItems", 0),
                max_size=3,
            )
        case "integer":
            return st.integers(0, 3)
        case "string":
            return st.sampled_from(schema.get("enum", literals))
    return st.integers(0, 3) | st.sampled_from(["1", "2"])


def _defaulted(schema):
    return {name for name, part in schema.get("properties", {}).items() if "default" in part}


def verdict(text, value):
    """The verdict of the runtime."""
    answer = ENVIRONMENT.compile(text).eval(data={"self": value})
    return answer.type() == runtime.Type.BOOL and answer.value()


@pytest.mark.parametrize("text", sorted(cel.RULES))
@settings(max_examples=60)
@given(st.data())
def test_verdict(text, data):
    named = set(re.findall(r"\w+", text))
    literals = words(text)
    value = data.draw(values(SCHEMAS[text], named, literals))
    assert cel.compiled({"rule": text}).holds(value) == verdict(text, value)


@pytest.mark.parametrize(("number", "holds"), [(2**63 - 1, True), (2**63, False), (-1, False)])
def test_a_number_has_64_bits(number, holds):
    [text] = [it for it in cel.RULES if "int(" in it]
    value = [{"key": "a", "operator": "Gt", "values": [str(number)]}]
    assert cel.compiled({"rule": text}).holds(value) == verdict(text, value) == holds


@pytest.mark.parametrize("text", sorted(cel.RULES))
def test_rule_can_be_broken(text):
    """Both verdicts occur among the values that are compared."""
    named = set(re.findall(r"\w+", text))
    literals = words(text)
    seen = set()

    @settings(max_examples=150, database=None, derandomize=True)
    @given(values(SCHEMAS[text], named, literals))
    def look(value):
        seen.add(cel.compiled({"rule": text}).holds(value))

    look()
    assert seen == {True, False}
