"""The command `policygen krm`."""

LIST = """\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
functionConfig:
  apiVersion: krm.policygen.dev/v1alpha1
  kind: Lint
  metadata: {name: check}
items:
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: LocalQueue
  metadata: {name: a, namespace: b}
  spec: {clusterQueue: c}
"""


def test_findings_are_results_and_on_standard_error(policygen):
    done = policygen("krm", given=LIST)
    assert done.returncode == 1
    assert "results:" in done.stdout
    assert "error: LocalQueue b/a" in done.stderr
    assert done.stderr.endswith("policygen: the pipeline stops because of these findings\n")


def test_without_a_list_it_prints_nothing(policygen):
    done = policygen("krm", given="kind: Pod\n")
    assert (done.returncode, done.stdout) == (2, "")
