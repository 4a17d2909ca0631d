"""The way to the clusters that a command is given, and a first question while it gets ready."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from policygen.app.requests import ClusterSettings
from policygen.client import exec_plugin, pages
from policygen.client.access import Access
from policygen.client.requests import Deadline, ReadError, Server
from policygen.client.switch_interval import in_short_turns
from policygen.core.errors import UsageError

PODS = "/api/v1/pods"
"""The longest list of a cluster, which stands there on every server."""

Reach = Callable[[str | None, ClusterSettings], Server]


def contexts(settings: ClusterSettings) -> list[str | None]:
    """Those of live clusters; None: the one that this process is a pod of."""
    return [*settings.contexts, *([None] if settings.in_cluster else [])]


def reach(context: str | None, settings: ClusterSettings) -> Server:
    """The server of a context. Raises what `reached` raises."""
    return Server(reached(context, settings), Deadline.after(settings.timeout_s))


def reached(context: str | None, settings: ClusterSettings) -> Access:
    """The way to a cluster. Raises UsageError, and ReadError where a plugin of its kubeconfig does not end."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(Access, context, settings.kubeconfig).result(settings.timeout_s)
    except TimeoutError:
        late = "".join(f" of its exec plugin {it}" for it in exec_plugin.end())
        raise ReadError(f"no credentials{late} came in {settings.timeout_s:.0f} s") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def asked(settings: ClusterSettings) -> Iterator[Reach]:
    """The only cluster is reached now and asked for its pods; who reaches for it gets it, or why not.

    Until its first page comes there is time to import rules and to read a spec. Nothing waits for
    it any more at the end.
    """
    (context,) = contexts(settings)
    try:
        server = reach(context, settings)
    except (ReadError, UsageError) as error:
        refused = error

        def told(_: str | None, __: ClusterSettings) -> Server:
            raise refused

        yield told
        return
    try:
        with in_short_turns():
            pages.begin(server.ask, PODS)
            yield lambda _, __: server
    finally:
        server.close()
