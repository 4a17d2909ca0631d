"""RULES: every rule that judges objects, by name."""

from policygen.lint.rule import Rule
from policygen.lint.rules import (
    admission_check_config_missing,
    admission_check_controller_unknown,
    admission_check_missing,
    admission_check_parameters_wrong,
    admission_checks_written_twice,
    check_config_name_unusable,
    cluster_queue_open_to_all,
    cluster_queue_selects_no_namespace,
    cohort_cycle,
    cohort_of_one,
    cohort_undeclared,
    flavor_missing,
    local_queue_without_cluster_queue,
    malformed_object,
    multi_kueue_check_misused,
    multi_kueue_cluster_missing,
    name_too_long_for_label,
    namespace_not_selected,
    on_flavors_unused,
    queue_held,
    queue_name_misplaced,
    topology_missing,
    workload_priority_class_missing,
    workload_without_local_queue,
)
from policygen.lint.spec_rules import SPEC_RULES

RULES: tuple[Rule, ...] = (
    admission_check_config_missing.RULE,
    admission_check_controller_unknown.RULE,
    admission_check_missing.RULE,
    admission_check_parameters_wrong.RULE,
    admission_checks_written_twice.RULE,
    check_config_name_unusable.RULE,
    cluster_queue_open_to_all.RULE,
    cluster_queue_selects_no_namespace.RULE,
    cohort_cycle.RULE,
    cohort_of_one.RULE,
    cohort_undeclared.RULE,
    flavor_missing.RULE,
    local_queue_without_cluster_queue.RULE,
    malformed_object.RULE,
    multi_kueue_check_misused.RULE,
    multi_kueue_cluster_missing.RULE,
    name_too_long_for_label.RULE,
    namespace_not_selected.RULE,
    on_flavors_unused.RULE,
    queue_held.RULE,
    queue_name_misplaced.RULE,
    topology_missing.RULE,
    workload_priority_class_missing.RULE,
    workload_without_local_queue.RULE,
)


def names() -> tuple[str, ...]:
    """The names of all rules, those that judge a spec too."""
    return tuple(sorted([*(rule.name for rule in RULES), *SPEC_RULES]))
