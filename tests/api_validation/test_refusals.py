"""The schema validator: which values it refuses, at which field, and with which message."""

import re

import pytest

from policygen.api_validation import cel, schemas
from policygen.api_validation.refusal import Reason
from policygen.api_validation.refusals import refusals, refusals_with_apply
from tests.api_validation.objects import FLAVOR, GPU, QUEUE, changed, every_node, refusals_of


def test_a_good_object_is_not_refused():
    assert refusals_of(QUEUE) == []


@pytest.mark.parametrize(
    "path, value, where, reason, message",
    [
        (
            ("spec", "cohort"),
            "a100",
            ("spec", "cohort"),
            Reason.UNKNOWN_FIELD,
            'field "cohort" is unknown in spec; did you mean "cohortName"?',
        ),
        (
            ("spec", "queueingStrategy"),
            "StrictFifo",
            ("spec", "queueingStrategy"),
            Reason.VALUE,
            'queueingStrategy "StrictFifo" is not supported; did you mean "StrictFIFO"?',
        ),
        (
            ("spec", "cohortName"),
            7,
            ("spec", "cohortName"),
            Reason.TYPE,
            "cohortName must be a string, not 7; put the value in quotes",
        ),
        (
            ("spec", "resourceGroups"),
            {},
            ("spec", "resourceGroups"),
            Reason.TYPE,
            "resourceGroups must be a list, not a mapping",
        ),
        (
            (*GPU, "nominalQuota"),
            ...,
            GPU,
            Reason.MISSING_FIELD,
            "required field nominalQuota is missing in resources[0]; write this field",
        ),
        (
            (*GPU, "nominalQuota"),
            1.5,
            (*GPU, "nominalQuota"),
            Reason.TYPE,
            "nominalQuota must be an integer or a string, not 1.5; put the value in quotes",
        ),
        (
            (*FLAVOR, "resources"),
            QUEUE["spec"]["resourceGroups"][0]["flavors"][0]["resources"] * 2,
            (*FLAVOR, "resources", 1),
            Reason.DUPLICATE_ENTRY,
            'resources[1] has the same name "nvidia.com/gpu" as resources[0]; remove one of the two entries',
        ),
        (
            (*FLAVOR, "resources"),
            [],
            (*FLAVOR, "resources"),
            Reason.LENGTH,
            "resources has no entries; write at least 1",
        ),
        (
            ("spec", "cohortName"),
            "a" * 254,
            ("spec", "cohortName"),
            Reason.LENGTH,
            "cohortName has 254 characters; write at most 253",
        ),
        (
            ("spec", "cohortName"),
            ...,
            ("spec",),
            Reason.CRD_RULE,
            (
                "spec breaks a validation rule of its CRD: borrowingLimit must be nil when cohort is empty; "
                "write cohortName, or remove borrowingLimit"
            ),
        ),
        (
            ("metadata", "name"),
            "NLP",
            ("metadata", "name"),
            Reason.NAME,
            (
                'name "NLP" is not valid for a ClusterQueue; write lower-case letters, digits, "-" and ".", '
                "beginning and ending with a letter or digit"
            ),
        ),
        (
            ("metadata", "labels"),
            {"team": "a b"},
            ("metadata", "labels", "team"),
            Reason.LABEL,
            (
                'team "a b" is not a valid label value; write at most 63 letters, digits, "-", "_" and ".", '
                "beginning and ending with a letter or digit"
            ),
        ),
        (
            ("metadata", "labels"),
            {"team": 1},
            ("metadata", "labels", "team"),
            Reason.TYPE,
            "team must be a string, not 1; put the value in quotes",
        ),
        (
            ("metadata", "annotations"),
            {"a": "x" * 300_000},
            ("metadata", "annotations"),
            Reason.ANNOTATION,
            "the annotations have 300001 bytes in total; shorten them to at most 262144 bytes (256 KiB)",
        ),
    ],
)
def test_place_rule_and_message(path, value, where, reason, message):
    thing = changed(path, value)
    assert [(r.path, r.reason, r.message) for r in refusals_of(thing)] == [(where, reason, message)]


def test_status_is_not_judged_where_the_server_drops_it():
    assert refusals_of({**QUEUE, "status": {"anything": 1}}) == []


def test_every_cel_rule_that_judges_an_object_is_here_and_no_other():
    told = {r["rule"] for node in every_node() for r in node.get("x-kubernetes-validations", ())}
    assert {rule for rule in told if not re.search(r"\boldSelf\b", rule)} == set(cel.RULES)


POD = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
CONTAINER = POD["spec"]["containers"][0]


def by_apply(api_version, kind, **thing):
    thing = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, **thing}
    found = [*refusals_with_apply(thing, schemas.served(api_version, kind))]
    assert [*refusals(thing, schemas.served(api_version, kind))] == []
    assert all(it.reason is Reason.SERVER_SIDE_APPLY for it in found)
    return [it.path for it in found]


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"type": None}, ("spec", "type")),
        ({"guarantee": {"resource": None}}, ("spec", "guarantee", "resource")),
        ({"weight": None, "reclaimable": None}, None),  # a default, and a webhook
    ],
)
def test_server_side_apply_refuses_a_null_in_a_custom_kind(spec, path):
    found = by_apply("scheduling.volcano.sh/v1beta1", "Queue", spec=spec)
    assert found == ([] if path is None else [path])


@pytest.mark.parametrize(
    ("field", "entries", "refused"),
    [
        ("env", [{"name": "A"}, {"name": "A", "value": "b"}], True),
        ("env", [{"name": "A"}, {"name": "B"}], False),
        ("ports", [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}], True),
        ("ports", [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}], False),
    ],
)
def test_server_side_apply_merges_entries_of_built_in_kinds_by_their_keys(field, entries, refused):
    spec = {"containers": [{**CONTAINER, field: entries}]}
    path = ("spec", "containers", 0, field, 1)
    assert by_apply("v1", "Pod", spec=spec) == ([path] if refused else [])


def test_a_list_that_servers_merge_has_keys():
    assert by_apply("v1", "ServiceAccount", secrets=[{}, {"name": "a"}]) == [("secrets", 0)]


def test_containers_with_one_name_are_for_another_rule():
    assert by_apply("v1", "Pod", spec={"containers": [CONTAINER, CONTAINER]}) == []


def test_the_status_of_a_node_has_types():
    thing = {**POD, "apiVersion": "v1", "kind": "Node", "spec": {}, "status": {"nodeInfo": []}}
    (it,) = refusals(thing, schemas.served("v1", "Node"))
    assert (it.path, it.reason) == (("status", "nodeInfo"), Reason.TYPE)
    thing["status"] = {"nodeInfo": {}, "conditions": [{"type": "Ready"}], "phase": "running"}
    assert [*refusals(thing, schemas.served("v1", "Node"))] == []
