"""A workload has no namespace, and its LocalQueue exists only in named namespaces."""

from policygen.core.quoting import quoted, some
from policygen.kubernetes.kueue_jobs import local_queues, queued
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_DEFAULT = "default"
"""The namespace of kubectl if neither the manifest nor the context names one."""


def check(facts: Facts) -> Hits:
    """Kubectl then uses the namespace of its option -n or of its context.

    Source: k8s.io/client-go/tools/clientcmd, ClientConfig.Namespace.
    """
    for job in facts.cluster.derive(queued):
        if job.workload.namespace:
            continue
        found = local_queues(facts.cluster, job.name, "")
        names = sorted({it.namespace for it in found})
        if names and "" not in names and _DEFAULT not in names:
            where = f"namespace{'s' if names[1:] else ''} {some(names, 'namespace')}"
            advice = f": {names[0]}" if len(names) == 1 else ""
            yield Hit(
                RULE,
                f"{job.workload} has no namespace, so kubectl creates it in the namespace of its context, but "
                f"LocalQueue {quoted(job.name)} exists only in {where}; write metadata.namespace{advice}",
                job.workload.at.to("metadata", "namespace"),
                tuple(it.at for it in found[:10]),
            )


RULE = ObjectRule(
    "workload-without-namespace",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Write the namespace of the LocalQueue in metadata.namespace, or always apply with -n.",
    judges=(),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("LocalQueue", "ClusterQueue"),
)
