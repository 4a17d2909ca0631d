"""Rules about the fields of pods find nothing in the pods that prevalidation accepts."""

import inspect
import json
import random

import jsonschema_rs
import pytest

from policygen.api_validation import plain_pods, workload_code
from policygen.api_validation.prevalidate import acceptor
from policygen.core.versions import DEFAULT
from policygen.lint import engine
from policygen.lint.core import server_refusals
from policygen.lint.registry import RULES
from policygen.lint.rule import Facts
from tests.api_validation.test_prevalidate import SAMPLES, name
from tests.examples_of_rules import examples
from tests.objects import cluster
from tests.servers.mutations import changes

CHECKED = (
    "container-resource-refused",
    "invalid-annotation",
    "invalid-label",
    "pod-field-refused",
    "pod-without-containers",
    "template-pods-refused",
    "workload-field-refused",
)
"""The rules that skip accepted pods."""
OF_CHECKED = [it for it in RULES if it.name in CHECKED]
PODS = [it for it in SAMPLES if f"{it['apiVersion']} {it['kind']}" in workload_code.tree()]
PER_SAMPLE = 200
PLAIN = jsonschema_rs.Draft202012Validator(plain_pods.SCHEMA)


def is_plain(spec):
    """Whether the added schema accepts the `spec` of a pod, and all lists have distinct keys."""
    return PLAIN.is_valid(spec) and acceptor("v1", "Pod")._accepts_rest({"spec": spec})  # noqa: SLF001 - without the schema


def hits(text):
    facts = Facts(cluster(text), DEFAULT, given=frozenset())
    return [(it.rule.name, hit) for it in engine.run(OF_CHECKED, facts) for hit in it.hits]


def test_all_rules_that_skip_accepted_pods_are_checked():
    skips = {server_refusals.unsure_pods, server_refusals.unsure_templates}
    using = {it.name for it in RULES if skips & uses(it.check)}
    of_tables = {"invalid-annotation", "invalid-label"}  # they call code_refusals
    assert using | of_tables == {*CHECKED}


def uses(check):
    """The functions that the module of a rule names."""
    return {it for it in check.__globals__.values() if inspect.isfunction(it)}


@pytest.mark.parametrize("rule", CHECKED)
def test_findings_do_not_depend_on_prevalidation(rule, monkeypatch):
    texts = [it.text for it in examples(rule)]
    found = [hits(it) for it in texts]
    monkeypatch.setattr(server_refusals, "MANY", 0)
    assert [hits(it) for it in texts] == found


@pytest.mark.parametrize("thing", PODS, ids=name)
def test_changed_pods_that_are_accepted_have_no_finding(thing):
    draw = random.Random(json.dumps(thing))
    accepts = acceptor(thing["apiVersion"], thing["kind"]).accepts
    of_pod = [it for it in changes(thing) if thing["kind"] == "Pod" or "template" in it.path]
    accepted = [it for it in draw.sample(of_pod, PER_SAMPLE) if accepts(it.of(thing))]
    assert accepted
    for change in accepted:
        assert not hits(json.dumps(change.of(thing))), change
