"""Names of the controllers' configuration files, which are rendered only with `--with NAME`."""

KUEUE_CONFIG = "kueue-config"
SECOND_SCHEDULER = "second-scheduler"
VOLCANO_CONFIG = "volcano-config"
EXTRAS = (KUEUE_CONFIG, SECOND_SCHEDULER, VOLCANO_CONFIG)
"""Every name that `--with` accepts."""
