"""The kinds of drift, which a lint of files names without what renders them."""

from policygen.drift.drift import GROUP_KINDS
from policygen.lint.drift.needs import KINDS

ON_REQUEST = {"ServiceAccount", "ClusterRoleBinding", "Role", "RoleBinding"}
"""What only `--with` adds is read where it is rendered."""


def test_the_kinds_that_rules_of_drift_judge_are_those_that_a_spec_renders():
    assert list(KINDS) == sorted({it.kind for it in GROUP_KINDS} - ON_REQUEST)
