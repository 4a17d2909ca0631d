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
        (note,) = manifests.notes(found, [])
        assert "kustomize build k/over | policygen lint --manifests -" in note.message
