"""KINDS: every kind that can be rendered, in apply order."""

from policygen.plan import (
    kubernetes,
    kueue,
    kueue_configuration,
    scheduler,
    second_scheduler,
    volcano,
    volcano_configuration,
)
from policygen.plan.kind import Kind

KINDS: tuple[Kind, ...] = (
    kubernetes.NAMESPACE,
    kubernetes.PRIORITY_CLASS,
    kueue.WORKLOAD_PRIORITY_CLASS,
    # A flavor names its topology, and a queue its flavors and cohort: the named objects come first.
    kueue.TOPOLOGY,
    kueue.RESOURCE_FLAVOR,
    kueue.COHORT,
    kueue.CLUSTER_QUEUE,
    volcano.QUEUE,
    kueue.LOCAL_QUEUE,
    kubernetes.RESOURCE_QUOTA,
    kubernetes.LIMIT_RANGE,
    second_scheduler.SERVICE_ACCOUNT,
    second_scheduler.CLUSTER_ROLE_BINDING,
    second_scheduler.ROLE,
    second_scheduler.ROLE_BINDING,
    kubernetes.CONFIG_MAP,
    second_scheduler.DEPLOYMENT,
    volcano.POD_GROUP,
)

FILES: tuple[Kind, ...] = (
    scheduler.CONFIGURATION,
    volcano_configuration.CONFIGURATION,
    kueue_configuration.CONFIGURATION,
)
"""Kinds that are files of a controller, not objects of a cluster."""
