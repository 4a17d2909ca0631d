"""Connections to the clusters of a command, and an early request for the longest list."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from policygen.app.requests import ClusterRequest
from policygen.client import exec_plugin, pages
from policygen.client.access import Access
from policygen.client.requests import Deadline, ReadError, Server
from policygen.client.switch_interval import in_short_turns
from policygen.core.errors import UsageError

PODS = "/api/v1/pods"
"""The path of the longest list of a cluster, equal on every server."""


def contexts(request: ClusterRequest) -> list[str | None]:
    """The contexts of live clusters; None for the cluster of this pod."""
    return [*request.contexts, *([None] if request.in_cluster else [])]


def reach(context: str | None, request: ClusterRequest) -> Server:
    """The server of a context. Raises the errors of `reached`."""
    return Server(reached(context, request), Deadline.after(request.timeout_s))


def reached(context: str | None, request: ClusterRequest) -> Access:
    """Access to a cluster. Raises UsageError, and ReadError if an exec plugin does not end in time."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(Access, context, request.kubeconfig).result(request.timeout_s)
    except TimeoutError:
        late = "".join(f" from its exec plugin {it}" for it in exec_plugin.end())
        raise ReadError(f"no credentials{late} within {request.timeout_s:.0f} s") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Asked(NamedTuple):
    """The only cluster of a run, whose pods are already requested; or why there is no connection."""

    server: Server | None
    refusal: ReadError | UsageError | None = None

    def reached(self) -> Server:
        """The server. Raises the error if there is no connection."""
        if self.server is None:
            raise self.refusal or ReadError("there is no connection to the cluster")
        return self.server


@contextmanager
def asked(request: ClusterRequest) -> Iterator[Asked]:
    """Connect to the only cluster and request its first pods, so that they arrive while rules are imported.

    Requests that still run at the end of the block are stopped.
    """
    (context,) = contexts(request)
    try:
        server = reach(context, request)
    except (ReadError, UsageError) as error:
        yield Asked(None, error)
        return
    try:
        with in_short_turns():
            pages.begin(server.ask, PODS)
            yield Asked(server)
    finally:
        server.close()
