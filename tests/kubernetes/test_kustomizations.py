"""Files of kustomize are not read as objects."""

import json

from policygen.documents.files import Source
from policygen.kubernetes import manifests
from tests.kubernetes.reading import QUEUE


def test_patches_of_a_kustomization_are_not_objects():
    """Only a kustomize build combines the patches with the patched objects."""
    header = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    named = "resources: [queue.yaml]\npatches: [{path: ../patch.yaml}]\n"
    patch = json.dumps({**QUEUE, "spec": {"stopPolicy": "Hold"}})
    for text in (header + named, named):
        sources = [
            Source("k/over/kustomization.yaml", text, None),
            Source("k/patch.yaml", patch, None),
            Source("k/over/queue.yaml", json.dumps(QUEUE), None),
            Source("k/over/unnamed.yaml", patch, None),
        ]
        found = manifests.read(sources)
        assert [it.data["spec"] for it in found.objects] == [QUEUE["spec"]]
        assert not found.nameless
        note, skipped = manifests.notes(found, [])
        assert skipped.rule.name == "files-not-in-kustomization"
        assert (
            "did not check 1 file beside this kustomization (k/over/unnamed.yaml)"
            in skipped.message
        )
        assert skipped.message.endswith("run policygen lint --manifests k/over/unnamed.yaml")
        assert "kustomize build k/over | policygen lint --manifests -" in note.message


def test_files_that_a_kustomization_names_anywhere_are_not_reported():
    text = """\
resources: [queue.yaml]
components: [../part]
patches: [{path: patch.yaml}]
transformers: [transformer.yaml]
configMapGenerator: [{name: c, files: [settings.yaml, key=other.yaml]}]
"""
    named = ("queue", "patch", "transformer", "settings", "other")
    files = [Source(f"{it}.yaml", json.dumps(QUEUE), None) for it in named]
    values = Source("values.yaml", "replicas: 3\n", None)
    found = manifests.read([Source("kustomization.yaml", text, None), *files, values])
    assert not found.unlisted
    more = [Source(f"{it}.yaml", json.dumps(QUEUE), None) for it in "abcd"]
    found = manifests.read([Source("kustomization.yaml", text, None), *files, values, *more])
    *_, warning = manifests.notes(found, [])
    assert (
        "4 files beside this kustomization (a.yaml, b.yaml, c.yaml and 1 other file)"
        in warning.message
    )


def _note(text: str, *names: str) -> str:
    """The first note about a kustomization beside or above these files."""
    files = [Source(it, json.dumps(QUEUE), None) for it in names]
    found = manifests.read([Source("k/kustomization.yaml", text, None), *files])
    return next((it.message for it in manifests.notes(found, [])), "")


def test_a_kustomization_that_only_lists_files_gets_no_note():
    assert not _note("resources: [a.yaml, ../base]\n", "k/a.yaml", "base/b.yaml")
    assert "did not check 1 file" in _note("resources: [a.yaml]\n", "k/a.yaml", "k/b.yaml")


def test_the_note_tells_what_was_not_built():
    note = _note("resources: [a.yaml]\nnamePrefix: x-\nimages: []\n", "k/a.yaml")
    assert "so it ignored namePrefix and images; run kustomize build k" in note
    note = _note("resources: [a.yaml, https://example.com/x]\n", "k/a.yaml")
    assert "so it did not check https://example.com/x; run" in note
