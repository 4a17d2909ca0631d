"""Names of what is rendered only with `--with NAME`: controllers' configuration files, and workloads."""

DEVICE_PLUGIN = "device-plugin"
KUEUE_CONFIG = "kueue-config"
MIG_MANAGER = "mig-manager"
MONITORING = "monitoring"
SECOND_SCHEDULER = "second-scheduler"
VOLCANO_CONFIG = "volcano-config"
WORKLOADS = "workloads"
EXTRAS = (
    DEVICE_PLUGIN,
    KUEUE_CONFIG,
    MIG_MANAGER,
    MONITORING,
    SECOND_SCHEDULER,
    VOLCANO_CONFIG,
    WORKLOADS,
)
"""Every name that `--with` accepts."""
