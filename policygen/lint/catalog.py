"""RULES: every rule that judges objects, by name."""

from policygen.lint.rule import Rule
from policygen.lint.rules import local_queue_without_cluster_queue, malformed_object

RULES: tuple[Rule, ...] = (
    local_queue_without_cluster_queue.RULE,
    malformed_object.RULE,
)
