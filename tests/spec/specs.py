"""Documents and helpers for tests of loading."""

from policygen.core.rule import Severity
from policygen.documents.files import Source
from policygen.spec.load import load

POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: p}
spec:
  nodeSelector: {pool: p}
  gpu: {perNode: 8}
  capacity: {nodes: 8, nodeAllocatable: {cpu: 96, memory: 768Gi}}
"""

PLATFORM = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: set}
spec: {target: {kueue: '0.15'}, priorities: [{name: high, value: 1}]}
"""


def team(name, quota="", more=""):
    return f"""
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {{name: {name}}}
spec:
  namespaces: [{{name: {name}}}]
  quotas: [{{pool: p{quota and ", "}{quota}}}]
{more}"""


def read(*texts, **options):
    sources = [
        Source(f"{number}.yaml", text.lstrip("\n"), None) for number, text in enumerate(texts)
    ]
    return load(sources, **options)


def errors(loaded):
    return [it.rule.name for it in loaded.findings if it.severity == Severity.ERROR]
