"""The kinds without a namespace."""

from policygen.kubernetes.kueue import POLICY_KINDS

WITHOUT_SCHEMA = frozenset(
    {
        ("", "PersistentVolume"),
        ("node.k8s.io", "RuntimeClass"),
        ("storage.k8s.io", "StorageClass"),
    }
)
"""Cluster-scoped kinds that rules read, and of which policygen has no schema."""
OF_THE_CLUSTER = WITHOUT_SCHEMA | frozenset(
    {
        ("", "Namespace"),
        ("", "Node"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        ("karpenter.sh", "NodePool"),
        ("nodeinfo.volcano.sh", "Numatopology"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("scheduling.volcano.sh", "Queue"),
        ("shard.volcano.sh", "NodeShard"),
        ("topology.volcano.sh", "HyperNode"),
        ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
        *(("kueue.x-k8s.io", kind) for kind in POLICY_KINDS if kind != "LocalQueue"),
    }
)
"""Cluster-scoped kinds, by group and kind: the API server clears their `metadata.namespace`.

Source: k8s.io/apiserver pkg/registry/rest/meta.go, EnsureObjectNamespaceMatchesRequestNamespace.
"""
