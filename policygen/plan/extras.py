"""Names of what is rendered only with `--with NAME`: controllers' configuration files, and workloads."""

KUEUE_CONFIG = "kueue-config"
SECOND_SCHEDULER = "second-scheduler"
VOLCANO_CONFIG = "volcano-config"
WORKLOADS = "workloads"
EXTRAS = (KUEUE_CONFIG, SECOND_SCHEDULER, VOLCANO_CONFIG, WORKLOADS)
"""Every name that `--with` accepts."""
