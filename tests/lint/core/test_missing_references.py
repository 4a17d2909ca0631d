"""Which missing objects are reported, and which another program can create."""

import pytest

from policygen.lint.core.rules.reference_missing import check
from policygen.lint.core.rules.reference_misspelt import check as misspelt
from policygen.lint.core.rules.secret_key_missing import check as keys
from tests.objects import facts

SECRET = """
apiVersion: v1
kind: Secret
metadata: {name: wandb, namespace: vision}
---
"""
REGISTRY = (
    f"{SECRET.replace('wandb', 'quay').replace('---', 'type: kubernetes.io/dockerconfigjson')}---\n"
)
EXTERNAL = """
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: hub, namespace: vision}
spec: {target: {name: %s}}
---
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: vision}
spec:
  %s
  containers:
  - name: rank
    env: [{name: A, valueFrom: {secretKeyRef: {name: %s, key: a}}}]
"""


@pytest.mark.parametrize(
    ("objects", "name", "found"),
    [
        (SECRET, "hf-token", 1),
        (SECRET, "wandb", 0),
        ("", "hf-token", 0),
        (SECRET.replace("vision", "other"), "hf-token", 0),
        (SECRET + EXTERNAL % "hf-token", "hf-token", 0),
        (SECRET + EXTERNAL % "x", "hub-credentials", 0),
        (SECRET + EXTERNAL % "hf-tokens", "hf-token", 1),
    ],
)
def test_a_secret_that_the_manifests_do_not_have(objects, name, found):
    assert len([*check(facts(objects + POD % ("", name)))]) == found


@pytest.mark.parametrize(("objects", "found"), [(SECRET, 0), (SECRET + REGISTRY, 1)])
def test_a_pull_secret_is_missing_beside_another_one(objects, found):
    pull = "imagePullSecrets: [{name: harbor}]"
    messages = [it.message for it in check(facts(objects + POD % (pull, "wandb")))]
    assert len(messages) == found
    assert all("cannot pull private images" in it for it in messages)


def test_all_users_of_a_missing_object_are_one_finding():
    other = (POD % ("", "wand-b")).replace("name: train", "name: eval")
    [hit] = misspelt(facts(f"{SECRET}{POD % ('', 'wand-b')}---\n{other}"))
    assert "Pod vision/train and Pod vision/eval use Secret" in hit.message
    assert len(hit.related) == 2


@pytest.mark.parametrize(
    ("data", "found"),
    [("", []), ("stringData: {a: x}", []), ("data: {b: eA==}", ["known: b"])],
)
def test_a_key_that_a_secret_does_not_have(data, found):
    secret = SECRET.replace("---", f"{data}\n---")
    hits = keys(facts(secret + POD % ("", "wandb")))
    assert [it.message.rpartition("; ")[2] for it in hits] == found
