"""The effective settings of the Configurations of Kueue that rules check."""

from collections.abc import Iterator

from policygen.kubernetes.configurations import KueueConfigurationView
from policygen.kubernetes.kueue_settings import Settings, first, of
from policygen.kubernetes.table import Entry
from policygen.lint.rule import Facts


def settings(facts: Facts) -> Settings:
    """The settings of the first Configuration in the input; the defaults without one."""
    return facts.derive(_first)


def _first(facts: Facts) -> Settings:
    return first(facts.cluster, facts.target["kueue"])


def all_settings(facts: Facts) -> Iterator[tuple[Entry[KueueConfigurationView], Settings]]:
    """Every Configuration with its effective settings."""
    for entry in facts.cluster.kueue_configurations:
        yield entry, of(entry, facts.target["kueue"], facts.cluster)
