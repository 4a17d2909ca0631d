"""A metrics adapter on loopback: it serves one metric of pods in custom.metrics.k8s.io."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests import loopback
from tests.loopback import Loopback
from tests.servers.client import Object
from tests.servers.cluster import Cluster, holds

GROUP, VERSION = "custom.metrics.k8s.io", "v1beta2"
SERVICE = "metrics-adapter"


class Adapter(Loopback):
    """The requests in flight of a model, which its ready pods divide among each other."""

    def __init__(self, cluster: Cluster, keys: Path, metric: str) -> None:
        """Serves with the `tls.crt` and `tls.key` of a folder."""
        self.requests = 0
        """In flight, of all pods."""
        self._cluster, self._metric = cluster, metric
        server = loopback.http(self._respond)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keys / "tls.crt", keys / "tls.key")
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        super().__init__(server)

    def _respond(self, request: BaseHTTPRequestHandler) -> None:
        url = urlsplit(request.path)
        match unquote(url.path).split("/")[4:]:
            case []:
                answer = self._discovery()
            case ["namespaces", namespace, "pods", "*", self._metric]:
                selector = parse_qs(url.query).get("labelSelector", [""])[0]
                answer = self._values(namespace, dict([selector.split("=")]))
            case _:
                loopback.send(request, b"{}", 404)
                return
        loopback.send(request, json.dumps(answer).encode())

    def _discovery(self) -> Object:
        resource = {
            "name": f"pods/{self._metric}",
            "singularName": "",
            "namespaced": True,
            "kind": "MetricValueList",
            "verbs": ["get"],
        }
        return {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": f"{GROUP}/{VERSION}",
            "resources": [resource],
        }

    def _values(self, namespace: str, labels: dict[str, str]) -> Object:
        pods = [
            it["metadata"]["name"]
            for it in self._cluster.pods(namespace)
            if labels.items() <= it["metadata"]["labels"].items() and holds(it, "Ready")
        ]
        each = 1000 * self.requests // len(pods) if pods else 0
        return {
            "kind": "MetricValueList",
            "apiVersion": f"{GROUP}/{VERSION}",
            "metadata": {},
            "items": [self._value(namespace, name, f"{each}m") for name in pods],
        }

    def _value(self, namespace: str, pod: str, value: str) -> dict[str, Any]:
        return {
            "describedObject": {
                "kind": "Pod",
                "namespace": namespace,
                "name": pod,
                "apiVersion": "/v1",
            },
            "metric": {"name": self._metric},
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "value": value,
        }


@contextmanager
def adapter(cluster: Cluster, keys: Path, metric: str) -> Iterator[Adapter]:
    """An adapter that the API server forwards requests to. It names a service by its DNS name."""
    made = Adapter(cluster, keys, metric)
    registration = "apiregistration.k8s.io/v1", "APIService", f"{VERSION}.{GROUP}"
    with made.running():
        cluster.create(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": SERVICE, "namespace": "default"},
                "spec": {"type": "ExternalName", "externalName": "localhost"},
            },
            {
                "apiVersion": registration[0],
                "kind": registration[1],
                "metadata": {"name": registration[2]},
                "spec": {
                    "group": GROUP,
                    "version": VERSION,
                    "groupPriorityMinimum": 100,
                    "versionPriority": 100,
                    "insecureSkipTLSVerify": True,
                    "service": {
                        "name": SERVICE,
                        "namespace": "default",
                        "port": int(made.address.rpartition(":")[2]),
                    },
                },
            },
        )
        try:
            cluster.until(
                "the adapter is available", lambda: holds(cluster.get(*registration), "Available")
            )
            yield made
        finally:
            cluster.delete(*registration)
            cluster.delete("v1", "Service", SERVICE, "default")
