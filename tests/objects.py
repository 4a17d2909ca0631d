"""The objects of a text as rules read them, for tests of shared code."""

import yaml

from policygen.core.finding import At
from policygen.core.versions import DEFAULT, Version
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.lint.rule import Facts, Need

DAEMON_SET = """
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: monitoring}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      %s
      containers:
      - name: agent
        image: example.com/agent:1
        resources: {requests: {cpu: 3, memory: 1Gi}}
"""
"""A DaemonSet; %s: fields of its pods."""


def objects(text):
    """One object for each document."""
    return [Object.read(data, At(i)) for i, data in enumerate(yaml.safe_load_all(text))]


def cluster(text):
    return Cluster(objects(text))


def facts(text, **target):
    """All that a rule may look at; `target` gives minor releases, such as `kueue=14`."""
    chosen = {name: Version(DEFAULT[name].major, minor) for name, minor in target.items()}
    return Facts(cluster(text), {**DEFAULT, **chosen}, frozenset(Need))


def workload(text):
    """The only workload of a text."""
    (found,) = cluster(text).workloads
    return found
