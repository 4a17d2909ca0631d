"""What each field of the files of NVIDIA's device plugin and MIG manager does."""

from policygen.explain.meaning import Field, FieldTable

_VERSION = Field("The version of the file's format.", always="the program reads no other")

DEVICE_PLUGIN = FieldTable(
    "https://github.com/NVIDIA/k8s-device-plugin#configuration-file",
    {
        "version": _VERSION,
        "flags.migStrategy": Field(
            "How nodes advertise MIG instances: mixed has one resource per profile, single uses "
            "nvidia.com/gpu. The environment variable MIG_STRATEGY of the device plugin replaces it."
        ),
        "sharing.timeSlicing.resources[].name": Field(
            "The resource of which each card is advertised several times.",
            always="the device plugin shares complete cards under this name",
        ),
        "sharing.mps.resources[].name": Field(
            "The resource of which each card is advertised several times.",
            always="the device plugin shares no other resource by MPS",
        ),
        "sharing.timeSlicing.resources[].replicas": Field(
            "How often each card is advertised. Pods share its time, and nothing limits the memory "
            "of each."
        ),
        "sharing.mps.resources[].replicas": Field(
            "How often each card is advertised. Each pod gets an equal part of its memory."
        ),
        "sharing.timeSlicing.renameByDefault": Field(
            "Whether shared cards have another resource name, with the suffix .shared."
        ),
        "sharing.mps.renameByDefault": Field(
            "Whether shared cards have another resource name, with the suffix .shared."
        ),
    },
)
MIG_MANAGER = FieldTable(
    "https://github.com/NVIDIA/mig-parted#readme",
    {
        "version": _VERSION,
        "mig-configs.*": Field(
            "A configuration that the node label nvidia.com/mig.config selects: the cards, whether MIG is "
            "on, and the number of instances of each profile on each of these cards."
        ),
    },
)
