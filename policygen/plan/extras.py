"""Names of what is rendered only with `--with NAME`: configuration files, workloads, admission policies."""

ADMISSION = "admission"
DEVICE_PLUGIN = "device-plugin"
KUEUE_CONFIG = "kueue-config"
MIG_MANAGER = "mig-manager"
MONITORING = "monitoring"
NODE_AUTOSCALER = "node-autoscaler"
SECOND_SCHEDULER = "second-scheduler"
VOLCANO_CONFIG = "volcano-config"
VPA = "vpa"
WORKLOADS = "workloads"
EXTRAS = (
    ADMISSION,
    DEVICE_PLUGIN,
    KUEUE_CONFIG,
    MIG_MANAGER,
    MONITORING,
    NODE_AUTOSCALER,
    SECOND_SCHEDULER,
    VOLCANO_CONFIG,
    VPA,
    WORKLOADS,
)
"""Every name that `--with` accepts."""
OF_MODELS = frozenset({VPA, WORKLOADS})
"""The names whose objects have the label of a model."""
