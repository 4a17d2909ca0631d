"""The objects that pods name, and names among them that look misspelled."""

from policygen.lint.core.references import references
from policygen.lint.core.rules.reference_misspelt import check
from tests.objects import facts

OBJECTS = """
apiVersion: v1
kind: Secret
metadata: {name: hf-token, namespace: n}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: trainer, namespace: n}
---
apiVersion: v1
kind: Service
metadata: {name: ranks, namespace: n}
---
"""
PODS = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s, namespace: %s}
spec:
  serviceName: rank
  template:
    spec:
      serviceAccountName: trainr
      imagePullSecrets: [{name: registry}]
      containers:
      - name: c
        envFrom: [{secretRef: {name: hftoken}}, {configMapRef: {name: none, optional: true}}]
        env: [{name: a, valueFrom: {configMapKeyRef: {name: config, key: b}}}, {name: b, value: c}]
      volumes:
      - {name: v, secret: {secretName: %s}}
      - {name: w, projected: {sources: [{configMap: {name: more}}, {secret: {name: key, optional: true}}]}}
"""


def names(namespace="n", secret="tls"):
    read = facts(OBJECTS + PODS % (namespace, secret))
    return [str(it.message).rpartition("did you mean ")[2] for it in check(read)]


def test_references_of_a_workload():
    found = [(it.kind, it.name) for it in references(facts(PODS % ("n", "tls")).cluster, "n")]
    assert found == [
        ("ServiceAccount", "trainr"),
        ("Secret", "registry"),
        ("Secret", "tls"),
        ("ConfigMap", "more"),
        ("Secret", "hftoken"),
        ("ConfigMap", "config"),
        ("Service", "rank"),
    ]


def test_a_similar_name():
    assert names() == ['"trainer"?', '"hf-token"?', '"ranks"?']
    assert names(namespace="other") == []


def test_a_name_that_a_pod_uses_is_proposed_too():
    assert names(secret="hf-token") == ['"trainer"?', '"hf-token"?', '"ranks"?']
