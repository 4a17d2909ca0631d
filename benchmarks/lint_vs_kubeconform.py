"""`policygen lint` with all rules beside kubeconform, which checks schemas alone.

    python benchmarks/lint_vs_kubeconform.py [--objects 10000] [--runs 5] [--kubeconform PATH]

Needs Go unless --kubeconform names the binary; it is built from benchmarks/kubeconform/go.mod.
Both read the same objects: a flavor, a cohort, two priorities, and ClusterQueues; as YAML, and as JSON.
kubeconform gets the schemas of schemas/cluster, so it needs no network. Ratios compare the same
format; the last compares our JSON with its YAML, which it is mostly given.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import yaml
from timing import in_turn, line

FORMATS = ("YAML", "JSON")
HERE = Path(__file__).parent
SCHEMAS = HERE.parent / "schemas" / "cluster" / "kueue.x-k8s.io" / "v1beta2"

BESIDE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: a100
spec:
  nodeLabels:
    pool: a100
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata:
  name: a100
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata:
  name: high
value: 1000
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata:
  name: low
value: 10
"""

QUEUE = """\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: team-{index:05}.a100
  labels:
    app.kubernetes.io/managed-by: policygen
    policygen.dev/set: large
spec:
  cohortName: a100
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: In
      values:
      - team-{index:05}
  queueingStrategy: BestEffortFIFO
  flavorFungibility:
    whenCanBorrow: MayStopSearch
    whenCanPreempt: TryNextFlavor
  preemption:
    reclaimWithinCohort: Any
    withinClusterQueue: LowerPriority
    borrowWithinCohort:
      policy: Never
  resourceGroups:
  - coveredResources:
    - cpu
    - memory
    - nvidia.com/gpu
    flavors:
    - name: a100
      resources:
      - name: cpu
        nominalQuota: "46"
      - name: memory
        nominalQuota: 550Gi
      - name: nvidia.com/gpu
        nominalQuota: 4
        borrowingLimit: 12
"""


def build(folder: Path) -> Path:
    """Make kubeconform from its Go module; the checksums in go.sum are checked."""
    target = folder / "kubeconform"
    package = "github.com/yannh/kubeconform/cmd/kubeconform"
    command = ["go", "build", "-o", str(target), package]
    subprocess.run(command, cwd=HERE / "kubeconform", check=True)
    return target


def main() -> None:
    """Time both on YAML and on JSON."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--objects", type=int, default=10_000)
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--kubeconform", type=Path)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kubeconform = given.kubeconform or build(folder)
        for path in SCHEMAS.glob("*.json"):
            schema = json.loads(path.read_text("utf-8"))["schema"]
            (folder / f"{path.stem.lower()}.json").write_text(json.dumps(schema))
        text = BESIDE + "".join(QUEUE.format(index=index) for index in range(given.objects - 4))
        (folder / "set.yaml").write_text(text)
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        items = list(yaml.load_all(text, loader))
        listed = {"apiVersion": "v1", "kind": "List", "items": items}
        (folder / "set.json").write_text(json.dumps(listed, indent=1))
        theirs = [str(kubeconform), "-summary", "-schema-location"]
        theirs.append(f"{folder}/{{{{.ResourceKind}}}}.json")
        ours = [sys.executable, "-m", "policygen", "lint", "--manifests"]
        names = ("set.yaml", "set.json")
        commands = [[*each, str(folder / name)] for each in (theirs, ours) for name in names]
        for command in commands:
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            print(said.strip().splitlines()[-1])
        timings = in_turn(commands, given.runs)
    peer_yaml, peer_json, our_yaml, our_json = timings
    titles = [f"{tool}, {form}" for tool in ("kubeconform", "policygen") for form in FORMATS]
    for title, timing in zip(titles, timings, strict=True):
        print(line(title, timing))
    for what, timing, peer, bound in (
        ("YAML / YAML", our_yaml, peer_yaml, 1.0),
        ("JSON / JSON", our_json, peer_json, 0.25),
        ("JSON / its YAML", our_json, peer_yaml, 0.25),
    ):
        wall, cpu = timing.median / peer.median, median(timing.cpu) / median(peer.cpu)
        print(f"ratio {what}: wall {wall:.2f}, cpu {cpu:.2f}; wanted at most {bound:.2f}")


if __name__ == "__main__":
    main()
