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
"""The longest list of a cluster, which stands there on every server."""


def contexts(request: ClusterRequest) -> list[str | None]:
    """Those of live clusters; None: the one that this process is a pod of."""
    return [*request.contexts, *([None] if request.in_cluster else [])]


def reach(context: str | None, request: ClusterRequest) -> Server:
    """The server of a context. Raises what `reached` raises."""
    return Server(reached(context, request), Deadline.after(request.timeout_s))


def reached(context: str | None, request: ClusterRequest) -> Access:
    """The way to a cluster. Raises UsageError, and ReadError where a plugin of its kubeconfig does not end."""
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
    """The only cluster of a run, reached and asked for its pods; or why it could not be reached."""

    server: Server | None
    refusal: ReadError | UsageError | None = None

    def reached(self) -> Server:
        """The server. Raises why there is none."""
        if self.server is None:
            raise self.refusal or ReadError("there is no connection to the cluster")
        return self.server


@contextmanager
def asked(request: ClusterRequest) -> Iterator[Asked]:
    """Reach the only cluster and ask for its first pods, so that they come while rules are imported.

    What is still under way at the end of the block is stopped.
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
