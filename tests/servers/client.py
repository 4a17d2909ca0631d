"""A small client of the Kubernetes API: JSON in and out, connections kept and shared."""

from __future__ import annotations

import base64
import http.client
import json
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import yaml

JSON = "application/json"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
TIMEOUT_S = 30.0

Object = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """The response of the server: the status, the parsed body, and its `Warning:` headers."""

    status: int
    body: Object
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.status < http.client.BAD_REQUEST

    @property
    def message(self) -> str:
        return str(self.body.get("message") or self.body)


class ApiError(Exception):
    """The server refused something that the bench itself needs."""


@dataclass(frozen=True)
class Resource:
    """Where objects of one kind live."""

    prefix: str
    plural: str
    namespaced: bool

    def path(self, namespace: str | None, name: str | None = None) -> str:
        within = f"/namespaces/{quote(namespace)}" if namespace and self.namespaced else ""
        end = f"/{quote(name)}" if name else ""
        return f"{self.prefix}{within}/{self.plural}{end}"


class Client:
    """Talks to one API server. Safe to share between threads."""

    def __init__(self, server: str, token: str, ca: str) -> None:
        parts = urlsplit(server)
        assert parts.hostname
        self.server = server
        self._host, self._port = parts.hostname, parts.port
        self._token = token
        self._context = ssl.create_default_context(cadata=ca)
        self._kept: list[http.client.HTTPSConnection] = []
        self._closed = False
        self._resources: dict[tuple[str, str], Resource] = {}

    @classmethod
    def from_kubeconfig(cls, path: Path) -> Client:
        """The current context of a kubeconfig that uses a token."""
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        contexts = {c["name"]: c["context"] for c in config["contexts"]}
        context = contexts[config["current-context"]]
        cluster = {c["name"]: c["cluster"] for c in config["clusters"]}[context["cluster"]]
        user = {u["name"]: u["user"] for u in config["users"]}[context["user"]]
        if data := cluster.get("certificate-authority-data"):
            ca = base64.b64decode(data).decode()
        else:
            ca = Path(cluster["certificate-authority"]).read_text(encoding="ascii")
        return cls(cluster["server"], user["token"], ca)

    def request(
        self,
        method: str,
        path: str,
        body: Object | str | None = None,
        *,
        content_type: str = JSON,
        accept: str = JSON,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        target = f"{path}?{urlencode(query)}" if query else path
        if body is None:
            data = None
        else:
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Accept": accept,
            "Content-Type": content_type,
        }
        response, text = self.send(method, target, data, headers)
        try:
            parsed = json.loads(text)
        except ValueError:
            parsed = {"message": text.decode(errors="replace")}
        warnings = tuple(_warning(h) for h in response.headers.get_all("Warning", []))
        return Answer(response.status, parsed, warnings)

    def send(
        self, method: str, target: str, data: bytes | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """One exchange as it is, over a connection that is kept: the answer, and its body."""
        while True:
            connection, kept = self._connection()
            try:
                connection.request(method, target, data, dict(headers))
                response = connection.getresponse()
                body = response.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                if not kept:
                    raise
                continue  # the server may have closed a kept one: once more
            self._kept.append(connection)
            if self._closed:
                self.close()
            return response, body

    def close(self) -> None:
        """Close the connections that were kept; those under way are closed when they end."""
        self._closed = True
        while self._kept:
            with suppress(IndexError):  # another thread may close the last one
                self._kept.pop().close()

    def get(self, path: str) -> Answer:
        return self.request("GET", path)

    def create(self, thing: Object) -> Object:
        """POST an object that the bench needs; raises ApiError if refused."""
        resource = self.resource(thing["apiVersion"], thing["kind"])
        path = resource.path(thing["metadata"].get("namespace"))
        answer = self.request("POST", path, thing)
        if not answer.ok:
            raise ApiError(f"{thing['kind']} {thing['metadata']['name']}: {answer.message}")
        return answer.body

    def resource(self, api_version: str, kind: str) -> Resource:
        """Discovery, remembered; raises LookupError for an unknown kind."""
        key = (api_version, kind)
        if key not in self._resources:
            prefix = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
            answer = self.get(prefix)
            if not answer.ok:
                raise LookupError(f"the server has no {api_version}: {answer.message}")
            for entry in answer.body["resources"]:
                if "/" not in entry["name"]:
                    self._resources[api_version, entry["kind"]] = Resource(
                        prefix, entry["name"], entry["namespaced"]
                    )
        if key not in self._resources:
            raise LookupError(f"the server has no kind {kind} in {api_version}")
        return self._resources[key]

    def forget_resources(self) -> None:
        """Ask discovery again from now on: CRDs are gone."""
        self._resources.clear()

    def _connection(self) -> tuple[http.client.HTTPSConnection, bool]:
        """A connection of one's own, and whether it was used before."""
        try:
            return self._kept.pop(), True
        except IndexError:
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=TIMEOUT_S, context=self._context
            ), False


def _warning(header: str) -> str:
    """The text of `299 - "text"`."""
    found = re.fullmatch(r'\d+ \S+ "(.*)"', header)
    return re.sub(r"\\(.)", r"\1", found.group(1)) if found else header
