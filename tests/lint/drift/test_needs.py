"""The kinds that all drift rules check, and the input that they need."""

from policygen.kubernetes import workloads
from policygen.lint.drift.needs import KINDS
from policygen.plan import catalog


def test_kinds_that_only_an_option_renders_are_judged_only_if_other_rules_read_them():
    others = {kind.name for kind in catalog.KINDS} - set(KINDS)
    assert {"ServiceAccount", "ClusterRoleBinding", "Role", "RoleBinding"} <= others
    assert all(catalog.BY_NAME[name].extra for name in others)
    assert others.isdisjoint(workloads.KINDS)
    assert list(KINDS) == sorted(KINDS)
