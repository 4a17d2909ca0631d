"""A pod's spec with a secret in every field that can hold one."""

SECRET = "hunter2"


def container(name="main"):
    return {
        "name": name,
        "image": "train:v1",
        "env": [
            {"name": "MASTER_ADDR", "value": SECRET},
            {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": SECRET}}},
        ],
        "envFrom": [{"secretRef": {"name": SECRET}}],
        "command": ["sh", "-c", SECRET],
        "args": [SECRET],
        "lifecycle": {"postStart": {"exec": {"command": [SECRET]}}},
        "resources": {"requests": {"nvidia.com/gpu": "1"}},
    }


def pod_spec():
    return {
        "containers": [container()],
        "initContainers": [container("first")],
        "volumes": [{"name": "s", "secret": {"secretName": SECRET}}],
        "nodeSelector": {"env": "prod"},
    }
