"""Every rule of a CRD about an object that users write has a remedy."""

from policygen.api_validation.remedies import REMEDIES, advised
from policygen.api_validation.schemas import index, served


def test_every_rule_about_a_new_policy_object_has_advice():
    """Not checked: Workloads, which Kueue creates, and status, which controllers write."""
    said = set()
    for at, kinds in index().kinds.items():
        for kind in kinds:
            if at.startswith("kueue.x-k8s.io/") and kind != "Workload":
                said |= set(_messages(served(at, kind).schema["properties"]))
    assert {it.rstrip(".") for it in said} == set(REMEDIES)


def _messages(data):
    """The messages of the CEL rules below a schema, except rules about changes of a value."""
    if isinstance(data, list):
        for value in data:
            yield from _messages(value)
    if isinstance(data, dict):
        for rule in data.get("x-kubernetes-validations", ()):
            if "message" in rule and "oldSelf" not in rule["rule"]:
                yield rule["message"]
        for name, value in data.items():
            if name not in {"status", "x-kubernetes-validations"}:
                yield from _messages(value)


def test_a_message_without_a_remedy_is_shown_as_it_is():
    assert advised("must be unique", "") == "must be unique; remove the duplicate entry"
    assert advised("anything else", "") == "anything else"
