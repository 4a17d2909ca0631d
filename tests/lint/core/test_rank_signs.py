"""What shows that pods work only together."""

import json

import pytest

from policygen.lint.core.rank_signs import is_rank
from tests.objects import cluster


def found(env=(), plugins=(), **container):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "rank", "namespace": "vision"},
        "spec": {"containers": [{"name": "main", "env": list(env), **container}]},
    }
    [workload] = cluster(json.dumps(pod)).workloads
    return is_rank(workload, workload.templates[0], plugins)


def variable(name, value):
    return {"name": name, "value": value}


INDEX = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['volcano.sh/task-index']"}}}


@pytest.mark.parametrize(
    ("env", "rank"),
    [
        (variable("NNODES", "4"), True),
        (variable("NNODES", "1"), False),
        (variable("NNODES", "1:4"), False),
        (variable("MASTER_ADDR", "train-0.train"), True),
        (variable("MASTER_ADDR", "localhost"), False),
        ({"name": "NODE_RANK", **INDEX}, True),
        (variable("NODE_RANK", "0"), False),
        ({"name": "RANK", **INDEX}, False),
        (variable("NCCL_SOCKET_IFNAME", "eth0"), False),
    ],
)
def test_variables(env, rank):
    assert found([env]) == rank


@pytest.mark.parametrize(
    ("command", "rank"),
    [
        (["torchrun", "--nnodes=4", "train.py"], True),
        (["torchrun", "--nnodes", "4", "train.py"], True),
        (["sh", "-c", "torchrun --nnodes '4' --node_rank $VC_TASK_INDEX train.py"], True),
        (["torchrun", "--nnodes=$(NNODES)", "train.py"], True),
        (["torchrun", "--nnodes=1:4", "train.py"], False),
        (["torchrun", "--nnodes=1", "--node-rank=0", "train.py"], False),
        (["torchrun", "--standalone", "--nproc-per-node=8", "train.py"], False),
        (["accelerate", "launch", "--num_machines=2", "train.py"], True),
        (["deepspeed", "--hostfile=/etc/volcano/worker.host", "train.py"], True),
        (["sh", "-c", "train --hosts=$VC_WORKER_HOSTS"], True),
        (["mpirun", "-np", "8", "train"], False),
        (["python", "train.py", "--num_nodes=10000"], False),
        ([], False),
    ],
)
def test_command_lines(command, rank):
    assert found(command=command[:1], args=command[1:]) == rank


def test_plugins_of_volcano():
    assert found(plugins=["pytorch"])
    assert not found(plugins=["pytorch"], args=["--nnodes=1:4"])
    assert not found(plugins=["ssh", "svc", "env"])
    assert found(plugins=["ssh", "svc"], command=["mpirun", "-np", "8", "train"])
    assert not found(plugins=["ssh", "svc"], command=["nginx"])


def test_malformed_containers():
    assert not found(command={"a": 1}, args=[4])
