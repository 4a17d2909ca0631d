"""A wrong kind, apiVersion, name or namespace is reported once: what refers to the object is not."""

import re
from pathlib import Path

import pytest

from tests.lint.linting import findings

MANIFESTS = Path(__file__).parent / "batch_manifests"
KINDS = {
    "kueue": ("Namespace", "ClusterQueue", "LocalQueue", "WorkloadPriorityClass"),
    "volcano": ("Namespace", "Queue", "PriorityClass", "PodGroup"),
}


def _changed(file, kind, change):
    """The set, with a change of the first object of a kind."""
    texts = (MANIFESTS / f"{file}.yaml").read_text("utf-8").split("---\n")
    i = next(i for i, it in enumerate(texts) if re.search(rf"^kind: {kind}$", it, re.MULTILINE))
    made = change(texts[i])
    assert made != texts[i]
    return "---\n".join([*texts[:i], made, *texts[i + 1 :]])


def _rules(tmp_path, text):
    return [rule for rule, _ in findings(tmp_path, text)]


def _in_capitals(text):
    return re.sub(r"(?<=\bname: )[a-z]+", lambda it: it[0].upper(), text, count=1)


def _without_name(text):
    return re.sub(r"\bname: [a-z]+(, )?", "", text, count=1)


def _of_misspelt_key(text):
    return re.sub(r"\bname: ", "nmae: ", text, count=1)


def _of_misspelt_kind(text):
    return re.sub(r"(?m)^(kind: .)(.)(.)", r"\1\3\2", text, count=1)


def _of_misspelt_metadata(text):
    return text.replace("metadata:", "metdaata:", 1)


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (_in_capitals, {"invalid-name"}),
        (_without_name, {"missing-field"}),
        (_of_misspelt_key, {"unknown-field"}),
        (_of_misspelt_metadata, {"unknown-field"}),
        (_of_misspelt_kind, {"api-version-not-served", "kind-misspelt"}),
    ],
)
@pytest.mark.parametrize(
    ("file", "kind"), [(file, kind) for file, kinds in KINDS.items() for kind in kinds]
)
def test_a_wrong_identity_is_reported_once(tmp_path, file, kind, change, rules):
    found = _rules(tmp_path, _changed(file, kind, change))
    assert len(found) == 1
    assert set(found) <= rules


@pytest.mark.parametrize(
    ("file", "old", "new", "rule"),
    [
        ("kueue", "batch/v1", "bacth/v1", "api-version-not-served"),
        ("kueue", "kueue.x-k8s.io/v1beta2\nkind: ClusterQueue", "KUEUE.X-K8S.IO/v1beta2\nkind: ClusterQueue", "api-version-not-served"),
        ("kueue", "cohortName: all", "cohortName: ALL", "invalid-value"),
        ("kueue", "- name: a100", "- name: A100", "invalid-value"),
        ("kueue", "  name: train\n  namespace: vision", "  name: train\n  namespace: Vision", "invalid-name"),
        ("kueue", "  name: train\n  namespace: vision", "  name: train\n  nmaespace: vision", "unknown-field"),
        ("kueue", "restartPolicy: Never", "restartPolicy: Nevre", "unsupported-value"),
        ("kueue", "value: 1000\n", "", "missing-field"),
    ],
)  # fmt: skip
def test_a_wrong_word_is_reported_once(tmp_path, file, old, new, rule):
    text = (MANIFESTS / f"{file}.yaml").read_text("utf-8")
    assert old in text
    assert _rules(tmp_path, text.replace(old, new, 1)) == [rule]
