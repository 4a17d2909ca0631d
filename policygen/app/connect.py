"""Connections to the clusters of a command, and an early request for the longest list."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager

from policygen.app.requests import ClusterRequest
from policygen.client import exec_plugin, pages
from policygen.client.access import Access
from policygen.client.requests import Deadline, ReadError, Server, short_switch_interval
from policygen.core.errors import UsageError

PODS = "/api/v1/pods"
"""The path of the longest list of a cluster, equal on every server."""


def contexts(request: ClusterRequest) -> list[str | None]:
    """The contexts of live clusters; None for the cluster of this pod."""
    return [*request.contexts, *([None] if request.in_cluster else [])]


def server(context: str | None, request: ClusterRequest) -> Server:
    """The server of a context. Raises the errors of `access`."""
    return Server(access(context, request), Deadline.after(request.timeout_s))


def access(context: str | None, request: ClusterRequest) -> Access:
    """Access to a cluster. Raises UsageError, and ReadError if an exec plugin does not end in time."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(Access, context, request.kubeconfig).result(request.timeout_s)
    except TimeoutError:
        message = (
            f"the login to the cluster took longer than {request.timeout_s:.0f} s; raise --timeout"
        )
        if late := " and ".join(exec_plugin.end()):
            message = (
                f"exec plugin {late} took longer than {request.timeout_s:.0f} s; raise --timeout, "
                "or check the plugin"
            )
        raise ReadError(message) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def connected(request: ClusterRequest) -> Iterator[Future[Server]]:
    """Connect to the only cluster and request its first pods, so that they arrive while rules are imported.

    The result of the future is the server, or the error of `access`. Requests that still run at the
    end of the block are stopped.
    """
    (context,) = contexts(request)
    connection: Future[Server] = Future()
    with ExitStack() as stack:
        try:
            reached = server(context, request)
        except (ReadError, UsageError) as error:
            connection.set_exception(error)
        else:
            connection.set_result(reached)
            stack.callback(reached.close)
            stack.enter_context(short_switch_interval())
            pages.begin(reached.fetch_early, PODS)
        yield connection
