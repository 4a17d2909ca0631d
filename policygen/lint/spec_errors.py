"""SPEC_ERRORS: why a spec is refused, by name; RUN_ERRORS and RUN_RULES: what is said of a run; REMEDIES.

The faults are found in `spec/` and `plan/`, those of runs in `linting.py`,
`lint/control.py` and `cluster/manifests.py`; a test compares their names with these.
"""

from collections.abc import Mapping

SPEC_ERRORS: Mapping[str, str] = {
    "alias-bomb": "Aliases make a document much larger than its text",
    "available-above-total": "More GPUs are available than there are",
    "bad-base-file": "The base file of Kueue's Configuration cannot be merged with ours",
    "bad-date": "A date is none, or not written as YYYY-MM-DD",
    "bad-duration": "A duration is none, or longer than anybody waits",
    "bad-label": "A label's key or value is none that Kubernetes takes",
    "bad-name": "A name is none that Kubernetes takes",
    "bad-quantity": "An amount is no Kubernetes quantity, or too small to mean anything",
    "bad-taint": "A taint is none that a node could have",
    "bad-toleration": "A toleration is none that a pod could have",
    "bad-topology": "A level of a topology is no label that Kueue could use",
    "capacity-missing": "Nothing says how many GPUs a pool has",
    "composed-name-too-long": "A name that is made of several is longer than Kubernetes takes",
    "container-defaults-missing": "A quota of cpu and memory would refuse containers without requests",
    "counted-by-profile": "Numbers are by MIG profile where the pool counts one resource, or the other way",
    "duplicate-entry": "A list has two entries of one name",
    "duplicate-identity": "Two documents, or two entries, are the same thing",
    "duplicate-key": "A mapping has a key twice",
    "empty-text": "A text is empty",
    "encoding": "A file is no UTF-8 text",
    "guarantees-above-available": "Root teams are guaranteed more than the pool has",
    "guarantees-above-parent": "Child teams are guaranteed more than their parent",
    "key-not-a-string": "A key is no text",
    "limit-above-available": "A team's limit is above what the pool has",
    "limit-above-parent": "A team's limit is above its parent's",
    "limit-below-guarantee": "A team is limited to less than it is guaranteed",
    "merge-not-a-mapping": "What << merges is no mapping",
    "mig-not-possible": "A GPU product that has no MIG is to be cut by it",
    "mig-single-mixed": "MIG's strategy single has several profiles",
    "mig-without-instances": "A pool is cut by MIG, and nothing says into what",
    "mig-without-sharing": "MIG instances are given for a pool that is not cut by MIG",
    "missing-key": "A key that is needed is missing",
    "model-in-inner-team": "A model's team has no namespace of its own",
    "more-problems": "A document has more problems than are shown",
    "name-collision": "Two objects would have one name",
    "namespace-in-two-teams": "Two teams have one namespace",
    "nesting-too-deep": "A document is nested too deep",
    "no-configuration": "The file that is named as Kueue's Configuration holds none",
    "no-spec-files": "A folder has no file that is read",
    "node-shape-missing": "Nothing says how much cpu and memory a node has",
    "not-a-mapping": "A document is no mapping",
    "not-allowed": "A value is none of those that are allowed",
    "number-too-long": "A number has more digits than any reader keeps",
    "out-of-range": "A number is too small or too large",
    "output-inside-input": "The output would be read as an input",
    "overcommit-exceeded": "Limits sum to more than overcommitRatio allows",
    "pack-and-spread": "One policy asks for packing and for spreading",
    "parent-without-quota": "A team has a share of a pool of which its parent has none",
    "per-node-missing": "Nothing says how many GPUs a node has",
    "pool-in-two-queues": "A pool stands in two shared queues",
    "pools-overlap": "A node can match two pools",
    "quota-cannot-tell-pools-apart": "A team has two pools of one resource that only a ResourceQuota bounds",
    "recursive-alias": "An alias stands inside what it names",
    "replicas-reversed": "minReplicas is above maxReplicas",
    "replicas-without-sharing": "Replicas of a GPU are given for a pool that does not share them",
    "reserved-above-capacity": "What is reserved leaves nothing of a node",
    "reserved-name": "A name is taken by Kubernetes, Kueue or Volcano",
    "reserved-namespace": "A team is given a namespace of the cluster itself",
    "several-documents": "A file that must hold one document holds several",
    "shared-queue-not-kueue": "A shared queue has a pool that Kueue does not schedule",
    "shared-queue-unlike": "Pools of a shared queue differ in what they count or how they schedule",
    "shared-queue-weights": "A team's weights differ between the pools of a shared queue",
    "sharing-without-replicas": "A pool shares its GPUs, and nothing says among how many",
    "team-cycle": "Teams are each other's parents",
    "team-without-namespaces": "A team has neither namespaces nor child teams",
    "too-few-entries": "A list or mapping has fewer entries than it needs",
    "too-many-entries": "A list or mapping has more entries than are allowed",
    "too-many-flavors": "A shared queue has more pools than Kueue takes",
    "too-many-resources": "A queue would count more resources than Kueue takes",
    "total-contradicts-nodes": "totalGPUs is not what the nodes have together",
    "two-schedulers": "A node can match pools of two schedulers",
    "unknown-key": "A key is none that is known here",
    "unknown-kind": "An apiVersion has no such kind",
    "unknown-mig-profile": "A MIG profile is none that the card or the pool has",
    "unknown-node-type": "A node type is not in the data",
    "unknown-reference": "A name leads nowhere",
    "unknown-rule": "A rule is named that there is not",
    "unknown-version": "An apiVersion is none that is read",
    "unreadable-input": "A file or folder cannot be read",
    "unsupported-target": "A target version is none that is supported",
    "validators-disagree": "a document breaks its schema, but policygen cannot say where: an error in policygen",
    "volcano-pack-and-spread": "Volcano's pools disagree about packing",
    "volcano-resource-shared": "Volcano's queues cannot tell the nodes of two pools apart",
    "volcano-tree-too-deep": "A team stands deeper than Volcano's queues may",
    "wrong-type": "A value is of another type than its field",
    "yaml-surprise": "A value means one thing to some YAML readers and another to others",
    "yaml-syntax": "A text is no YAML",
    "yaml-tag": "A value has a YAML tag",
}
"""Names and faults, in the order of the names. With any of them nothing is rendered."""

RUN_ERRORS: Mapping[str, str] = {
    "bad-case": "A folder of `policygen test` is no case that could be run",
    "bad-expectation": "A line of a findings.txt is no finding",
    "snapshot-unreadable": "A file is no snapshot of a cluster, or cannot be read",
    "nothing-to-judge": "Manifests that were given hold no object, files given for a spec no document of one, "
    "or no rule that was asked for could be evaluated",
    "cluster-unreadable": "An API server does not answer, or does not say what it serves",
}
"""What is wrong with a run's inputs, by name."""

RUN_RULES: Mapping[str, str] = {
    "baseline-stale": "A baseline has a finding that is found no more",
    "kinds-not-judged": "Objects are of kinds that no rule judges",
    "kustomization-not-built": "A folder is built by kustomize, and was given as it is",
    "no-object": "Documents have no apiVersion and kind",
    "versions-differ": "Clusters of one run have different releases of Kubernetes, Kueue or Volcano",
    "not-read": "Objects, or all of a kind, could not be read from a cluster",
    "waiver-expired": "A waiver is past its date",
    "waiver-not-allowed": "An annotation waives a rule of which the spec does not allow it",
    "waiver-unreadable": "An annotation that is to waive something gives no reason, or a date that is none",
    "waiver-unused": "A waiver waives nothing",
}
"""What is said of a run's inputs and settings, by name."""

REMEDIES: Mapping[str, str] = {
    "encoding": "Save the file as UTF-8, or take it out of the folder.",
    "unknown-key": "Write the key that the message names, or remove it; `policygen schema KIND` prints "
    "all of them with what they do. A key of a newer policygen needs that version.",
    "yaml-syntax": "Mend the text at the place that is shown; often the cause stands in the line above it.",
    "snapshot-unreadable": "Take the snapshot again with `policygen snapshot`, of this version or an older one.",
    "cluster-unreadable": "See whether `kubectl --context CONTEXT version` reaches the cluster; "
    "`policygen rbac --preflight` says what the identity lacks.",
    "nothing-to-judge": "See whether the command before the pipe failed (`set -o pipefail`), and whether the "
    "path is right. Manifests are judged with `policygen lint --manifests PATH`.",
    "baseline-stale": "Run `policygen baseline update` with the same inputs.",
    "kinds-not-judged": "Nothing need be done: the rules that look at every object have judged them.",
    "kustomization-not-built": "Pipe what `kustomize build` prints into `policygen lint --manifests -`.",
    "no-object": "Give what is no manifest, such as the values of a chart, to no `--manifests`.",
    "versions-differ": "Upgrade the clusters that are behind, or lint them in a run of their own.",
    "not-read": "Give the identity the rights that `policygen rbac` prints; `--preflight` says which it lacks. "
    "Where the server did not answer, run it again; of a snapshot, take it anew with the spec beside it.",
    "waiver-expired": "Mend what the waiver accepts, or renew `expires`.",
    "waiver-not-allowed": "Write the rule into `spec.lint.annotations` of the Platform, if whoever may write such "
    "objects may accept its findings; else remove the annotation, and waive it in the spec.",
    "waiver-unreadable": 'Write "until YYYY-MM-DD: REASON", or the reason alone.',
    "waiver-unused": "Remove the waiver, or mend its `rule` and `object` if they name something else than was meant.",
}
"""What to do about some of them, where the finding alone does not say it."""


def is_said_of_inputs(name: str) -> bool:
    """Whether findings have this name without a rule that could be chosen or switched off."""
    return name in SPEC_ERRORS or name in RUN_ERRORS or name in RUN_RULES
