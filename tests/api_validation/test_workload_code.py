"""Field bounds that were learned from API servers are applied, and each field is reported once."""

import json

import pytest

from policygen.api_validation import workload_code
from policygen.api_validation.schemas import served
from policygen.api_validation.structural import below
from policygen.core import versions
from policygen.documents.files import Source
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.manifests import read
from policygen.lint.registry import RULES
from policygen.lint.rule import Facts, Family, Need
from tests.servers.probing import TEXTS, placing
from tests.servers.samples import samples

GOOD = {f"{it['apiVersion']} {it['kind']}": it for it in samples()}
INVALID = [rule for rule in RULES if rule.family is Family.INVALID]
KNOWN = [(kind, way) for kind, fields in workload_code.known().items() for way in fields]


def wrong(fact, *, is_list):
    """A value that each part of a fact refuses."""
    if fact.minimum is not None:
        yield fact.minimum - 1
    if fact.maximum is not None:
        yield fact.maximum + 1
    if fact.words:
        yield "bogus"
    if fact.form:
        yield next(it for it in TEXTS if it and not workload_code.FORMS[fact.form].takes(it))
    if fact.some_of:
        yield {}
    elif fact.filled:
        yield [] if is_list else ""


def claims(thing):
    documents = read([Source("x", json.dumps(thing), None)]).objects
    facts = Facts(Cluster(documents), dict(versions.DEFAULT), frozenset(Need))
    return [(rule.name, claim) for rule in INVALID for claim in rule.check(facts)]


@pytest.mark.parametrize("kind, way", KNOWN)
def test_each_field_is_reported_once(kind, way):
    """At its path, and not for values that another rule reports."""
    fact = workload_code.known()[kind][way]
    schema = served(*kind.split(" ")).schema
    part = schema["properties"]["spec"]
    for step in way.split("."):
        part = below(part, 0 if step == "*" else step)
    for alone in (False, True):
        for value in wrong(fact, is_list=part.get("type") == "array"):
            path = ("spec", *way.split("."))
            thing, field = placing(GOOD[kind], schema, path, value, alone=alone)
            told = [it for it in claims(thing) if shown(it[1].at) == field]
            assert [name for name, _ in told] == ["workload-field-refused"], (value, alone)


def shown(at):
    """A place as a server writes it."""
    return "".join(f"[{it}]" if isinstance(it, int) else f".{it}" for it in at.path)[1:]
