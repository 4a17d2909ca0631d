"""The builds of the bench: one Go module per upstream, and the other files that it copies."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

GO_MODULES = Path(__file__).parent / "go"


@dataclass(frozen=True)
class Binary:
    """One program: the name it gets in the cache, and its Go package."""

    name: str
    package: str


@dataclass(frozen=True)
class Upstream:
    """One Go module folder under `go/`, its binaries, and the upstream files that it ships."""

    name: str
    module: str
    binaries: tuple[Binary, ...]
    assets: tuple[str, ...] = ()
    stamped: bool = False
    tags: str = ""
    """Build tags of Go."""
    release: str = ""
    """Set for a release besides the default one, such as 1.34: it has a folder of its own."""

    @property
    def folder(self) -> Path:
        return GO_MODULES / (f"{self.name}-{self.release}" if self.release else self.name)

    @property
    def version(self) -> str:
        """The upstream's version as its go.mod pins it; empty for our own helper."""
        if not self.module:
            return ""
        text = (self.folder / "go.mod").read_text(encoding="utf-8")
        found = re.search(rf"^\s*(?:require )?{re.escape(self.module)} (v\S+)", text, re.MULTILINE)
        if found is None:
            raise ValueError(f"{self.folder}/go.mod does not require {self.module}")
        return found.group(1)

    @property
    def minor(self) -> str:
        """Major and minor version, such as 1.36."""
        return ".".join(self.version.removeprefix("v").split(".")[:2])

    @property
    def ldflags(self) -> str:
        flags = "-s -w"
        if self.stamped:
            major, minor = self.minor.split(".")
            at = "k8s.io/component-base/version"
            flags += (
                f" -X {at}.gitVersion={self.version}"
                f" -X {at}.gitMajor={major} -X {at}.gitMinor={minor}"
            )
        return flags


KEYS = Upstream("keys", "", (Binary("keys", "."),))
ETCD = Upstream("etcd", "go.etcd.io/etcd/server/v3", (Binary("etcd", "go.etcd.io/etcd/server/v3"),))
KUBERNETES = Upstream(
    "kubernetes",
    "k8s.io/kubernetes",
    tuple(
        Binary(name, f"k8s.io/kubernetes/cmd/{name}")
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    ),
    stamped=True,
)
KUEUE = Upstream(
    "kueue",
    "sigs.k8s.io/kueue",
    (Binary("kueue", "sigs.k8s.io/kueue/cmd/kueue"),),
    assets=(
        "config/components/crd/bases",
        "config/components/webhook/manifests.yaml",
        "config/components/manager/controller_manager_config.yaml",
    ),
)
VOLCANO = Upstream(
    "volcano",
    "volcano.sh/volcano",
    (
        Binary("volcano-webhook-manager", "volcano.sh/volcano/cmd/webhook-manager"),
        Binary("volcano-scheduler", "volcano.sh/volcano/cmd/scheduler"),
        Binary("volcano-controller-manager", "volcano.sh/volcano/cmd/controller-manager"),
    ),
    assets=(
        "config/crd/volcano/bases",
        "config/crd/jobflow/bases",
        "installer/helm/chart/volcano/config/volcano-scheduler.conf",
    ),
)
KWOK = Upstream(
    "kwok",
    "sigs.k8s.io/kwok",
    (Binary("kwok", "sigs.k8s.io/kwok/cmd/kwok"),),
    assets=("kustomize/stage/node", "kustomize/stage/pod"),
)
KARPENTER = Upstream(
    "karpenter",
    "sigs.k8s.io/karpenter",
    (),
    assets=("pkg/apis/crds/karpenter.sh_nodepools.yaml",),
)
PROVISIONING_REQUEST = Upstream(
    "provisioning-request",
    "k8s.io/autoscaler/cluster-autoscaler/apis",
    (),
    assets=("config/crd/autoscaling.x-k8s.io_provisioningrequests.yaml",),
)
"""Of Cluster Autoscaler. Kueue's check for these requests only works if their CRD is there when Kueue starts."""
AUTOSCALERS = (KARPENTER, PROVISIONING_REQUEST)
"""Their CRDs are on the bench."""
KARPENTER_KWOK = replace(
    KARPENTER,
    binaries=(Binary("karpenter", "sigs.k8s.io/karpenter/kwok"),),
    assets=(
        "kwok/apis/crds/karpenter.kwok.sh_kwoknodeclasses.yaml",
        "pkg/apis/crds/autoscaling.x-k8s.io_capacitybuffers.yaml",
        "pkg/apis/crds/karpenter.sh_nodeclaims.yaml",
        "pkg/apis/crds/karpenter.sh_nodeoverlays.yaml",
    ),
)
"""Karpenter's controller with its provider that makes nodes of KWOK, and its other CRDs."""
EVERY_KUBERNETES = (
    replace(KUBERNETES, release="1.34"),
    replace(KUBERNETES, release="1.35"),
    KUBERNETES,
)
"""What `matrix` builds and runs."""
KUEUE_SCHEDULER = Upstream(
    "kueue-scheduler", "sigs.k8s.io/kueue", (Binary("kueue-scheduler", "."),)
)
"""Kueue's scheduler in a program of our own, without an API server."""
KUBE_SCHEDULER_SCORES = replace(KUBERNETES, binaries=(Binary("scores", "./scores"),))
"""kube-scheduler's plugins in a program of our own, without an API server."""
VOLCANO_SESSIONS = replace(VOLCANO, binaries=(Binary("sessions", "./sessions"),), assets=())
"""Sessions of Volcano's scheduler in a program of our own, without an API server."""
HELM = Upstream("helm", "helm.sh/helm/v4", (Binary("helm", "helm.sh/helm/v4/cmd/helm"),))

CONTROL_PLANE = (KEYS, ETCD, KUBERNETES, KUEUE, VOLCANO, KWOK, *AUTOSCALERS)
"""What `up` needs, in build order."""
KUSTOMIZE = Upstream(
    "kustomize",
    "sigs.k8s.io/kustomize/kustomize/v5",
    (Binary("kustomize", "sigs.k8s.io/kustomize/kustomize/v5"),),
)
KUBECTL = Upstream(
    "kubectl",
    "k8s.io/kubernetes",
    (Binary("kubectl", "k8s.io/kubernetes/cmd/kubectl"),),
    stamped=True,
)
ARGO_CD = Upstream(
    "argo-cd",
    "github.com/argoproj/argo-cd/v3",
    (),
    assets=(
        "manifests/crds/application-crd.yaml",
        "cmpserver/plugin/config.go",
        "reposerver/apiclient/repository.pb.go",
    ),
)
FLUX = tuple(
    Upstream(name, f"github.com/fluxcd/{name}", (), assets=("config/crd/bases",))
    for name in ("kustomize-controller", "source-controller")
)
OPENREPORTS = Upstream(
    "openreports", "github.com/openreports/reports-api", (), assets=("config/crd",)
)
PROMETHEUS = Upstream(
    "prometheus",
    "github.com/prometheus/prometheus",
    (Binary("promtool", "github.com/prometheus/prometheus/cmd/promtool"),),
    tags="remove_all_sd",
)
"""Without service discovery, whose libraries for clouds take most of the time of a build."""
PROMETHEUS_OPERATOR = Upstream(
    "prometheus-operator",
    "github.com/prometheus-operator/prometheus-operator",
    (),
    assets=("example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",),
)

KEDA = Upstream(
    "keda",
    "github.com/kedacore/keda/v2",
    (Binary("scaledobjects", "."),),
    assets=("config/crd/bases/keda.sh_scaledobjects.yaml",),
)
"""Its CRD, and its checks in a program of our own. Its operator does not run here."""
VERTICAL_AUTOSCALER = Upstream(
    "vpa",
    "k8s.io/autoscaler/vertical-pod-autoscaler",
    (),
    assets=("deploy/vpa-v1-crd-gen.yaml",),
)
VERTICAL_UPDATER = Upstream(
    "vpa-updater",
    "k8s.io/autoscaler/vertical-pod-autoscaler",
    (Binary("updater", "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/updater"),),
)
"""Its older version has the libraries of Kueue's build, so it is built in seconds."""
GRAFANA = Upstream(
    "grafana", "github.com/grafana/grafana-foundation-sdk/go", (Binary("dashboard", "."),)
)
"""Reads dashboards with the types that Grafana generates from its schema, in a program of our own."""
DEVICE_PLUGIN = Upstream(
    "device-plugin", "github.com/NVIDIA/k8s-device-plugin", (Binary("configs", "."),)
)
"""Reads configurations with the code of NVIDIA's device plugin, in a program of our own."""
JOB_SET = Upstream(
    "jobset",
    "sigs.k8s.io/jobset",
    (Binary("jobset", "sigs.k8s.io/jobset"),),
    assets=("config/components/crd/bases", "config/components/webhook/manifests.yaml"),
)
LEADER_WORKER_SET = Upstream(
    "lws",
    "sigs.k8s.io/lws",
    (Binary("lws", "sigs.k8s.io/lws/cmd"),),
    assets=("config/crd/bases", "config/webhook/manifests.yaml"),
)
"""Their go.mod have the versions of Kueue's, so that they are built in seconds after Kueue."""

KUBERAY = Upstream(
    "kuberay", "github.com/ray-project/kuberay/ray-operator", (), assets=("config/crd/bases",)
)
TRAINING_OPERATOR = Upstream(
    "training-operator",
    "github.com/kubeflow/training-operator",
    (),
    assets=("manifests/base/crds",),
)
MPI_OPERATOR = Upstream(
    "mpi-operator",
    "github.com/kubeflow/mpi-operator",
    (),
    assets=("manifests/base/kubeflow.org_mpijobs.yaml",),
)
TRAINER = Upstream("trainer", "github.com/kubeflow/trainer/v2", (), assets=("manifests/base/crds",))
APP_WRAPPER = Upstream(
    "appwrapper",
    "github.com/project-codeflare/appwrapper",
    (),
    assets=("config/crd/bases/workload.codeflare.dev_appwrappers.yaml",),
)
"""In the versions that Kueue uses. Their operators do not run here."""
OPERATORS = (
    *(JOB_SET, LEADER_WORKER_SET, KUBERAY, TRAINING_OPERATOR, MPI_OPERATOR, TRAINER, APP_WRAPPER),
)
"""The CRDs of operators whose objects contain pod templates."""

TOOLS = (
    *(KUSTOMIZE, KUBECTL, ARGO_CD, *FLUX, OPENREPORTS, PROMETHEUS, PROMETHEUS_OPERATOR, GRAFANA),
    *(*OPERATORS, KEDA, VERTICAL_AUTOSCALER, KARPENTER_KWOK),
    *(VERTICAL_UPDATER, DEVICE_PLUGIN),
)
"""What reads our output: programs, and the CRDs of what does not run here."""
ALL = (*CONTROL_PLANE, KUEUE_SCHEDULER, HELM, *TOOLS)

KUBERNETES_VARIABLE = "POLICYGEN_KUBERNETES"
"""Names the release of Kubernetes that tests run on; `matrix` sets it."""


def control_plane(kubernetes: str = "") -> tuple[Upstream, ...]:
    """CONTROL_PLANE with this release of Kubernetes, such as 1.34; empty for the default.

    Raises ValueError for a release that has no Go module here.
    """
    known = {upstream.minor: upstream for upstream in EVERY_KUBERNETES}
    chosen = known.get(kubernetes or KUBERNETES.minor)
    if chosen is None:
        raise ValueError(f"no Kubernetes {kubernetes} here, only {', '.join(known)}")
    return tuple(chosen if upstream is KUBERNETES else upstream for upstream in CONTROL_PLANE)
