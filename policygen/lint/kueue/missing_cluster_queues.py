"""ClusterQueues that only LocalQueues name, and whose quota and cohort are therefore unknown."""

from policygen.lint.rule import Facts


def missing_cluster_queues(facts: Facts) -> frozenset[str]:
    """Their names, without misspelled ones, if local-queue-without-cluster-queue reports them; for `facts.derive`."""
    if "local-queue-without-cluster-queue" not in facts.run:
        return frozenset()
    known = facts.cluster.cluster_queues
    named = {it.fields.cluster_queue for it in facts.cluster.local_queues}
    return frozenset(
        it for it in named if it and not known.knows(it) and not known.names().meant(it)
    )
