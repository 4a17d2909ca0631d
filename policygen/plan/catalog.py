"""KINDS: every kind that can be rendered, in apply order."""

from policygen.plan import (
    kubernetes,
    kueue,
    kueue_configuration,
    scheduler,
    volcano,
    volcano_configuration,
)
from policygen.plan.kind import Kind

KINDS: tuple[Kind, ...] = (
    kubernetes.NAMESPACE,
    kubernetes.PRIORITY_CLASS,
    kueue.WORKLOAD_PRIORITY_CLASS,
    # A flavor names its topology, a queue its flavors and its cohort: what is named goes first.
    kueue.TOPOLOGY,
    kueue.RESOURCE_FLAVOR,
    kueue.COHORT,
    kueue.CLUSTER_QUEUE,
    volcano.QUEUE,
    kueue.LOCAL_QUEUE,
    kubernetes.RESOURCE_QUOTA,
    kubernetes.LIMIT_RANGE,
    scheduler.SERVICE_ACCOUNT,
    scheduler.CLUSTER_ROLE_BINDING,
    scheduler.ROLE,
    scheduler.ROLE_BINDING,
    scheduler.CONFIG_MAP,
    scheduler.DEPLOYMENT,
    volcano.POD_GROUP,
)

FILES: tuple[Kind, ...] = (
    scheduler.CONFIGURATION,
    volcano_configuration.CONFIGURATION,
    kueue_configuration.CONFIGURATION,
)
"""Kinds that are no objects of a cluster but files of a controller."""
