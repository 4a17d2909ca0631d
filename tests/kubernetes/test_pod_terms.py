"""The terms of pod affinity, as the API server and kube-scheduler read them."""

import yaml

from policygen.kubernetes.pod_terms import PodTerm, TermKind, required_terms, selector_of

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def term(text: str, labels: dict[str, str] | None = None) -> PodTerm:
    affinity = {"podAffinity": {REQUIRED: [yaml.safe_load(text)]}}
    [(path, found)] = required_terms(affinity, TermKind.TOGETHER, "own", labels or {})
    assert path == ("affinity", "podAffinity", REQUIRED, 0)
    return found


def test_a_term_selects_its_own_namespace_unless_it_names_others():
    assert term("labelSelector: {}").namespaces == {"own"}
    assert term("{labelSelector: {}, namespaces: [a]}").namespaces == {"a"}
    selected = term("{labelSelector: {}, namespaceSelector: {matchLabels: {team: red}}}")
    assert not selected.namespaces
    assert selected.matches("b", {"team": "red"}, {})
    assert not selected.matches("own", {}, {})


def test_a_missing_selector_selects_nothing_and_an_empty_one_everything():
    assert selector_of(None) is None
    assert not term("topologyKey: zone").matches("own", {}, {})
    assert term("labelSelector: {}").matches("own", {}, {"app": "a"})


def test_match_label_keys_take_the_values_of_the_pod():
    text = "{labelSelector: {}, matchLabelKeys: [release, other], mismatchLabelKeys: [tenant]}"
    found = term(text, {"release": "1", "tenant": "red"})
    assert found.matches("own", {}, {"release": "1", "tenant": "blue"})
    assert not found.matches("own", {}, {"release": "2", "tenant": "blue"})
    assert not found.matches("own", {}, {"release": "1", "tenant": "red"})
