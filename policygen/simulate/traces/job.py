"""The jobs of a trace.

Times and durations are seconds. A trace does not know the queues of a cluster: `arrivals` finds them.
"""

from fractions import Fraction

from msgspec import Struct


class TraceRequest(Struct, frozen=True):
    """What a job requests. Equal requests of a trace are one object."""

    pods: int = 1
    gpus: int = 0
    """Of each pod."""
    cpu: Fraction | None = None
    """Cores of each pod; None: not known."""
    memory: Fraction | None = None
    """Bytes of each pod; None: not known."""
    priority: str = ""
    """A WorkloadPriorityClass or PriorityClass, or a number; empty: the default."""
    gang: bool = True
    """Whether its pods are admitted together."""
    selector: tuple[tuple[str, str], ...] = ()
    """The node selector of its pods."""
    models: tuple[str, ...] = ()
    """The GPU models that it may use; empty: any."""
    partial: bool = False
    """Whether it used only a part of its GPU."""


class TraceJob(Struct, frozen=True, gc=False):
    """One job of a trace."""

    name: str
    at: float
    """From the start of the trace."""
    duration: float | None
    """None: until the simulation ends."""
    team: str
    """As the trace names it; empty: the trace does not say."""
    queue: str
    """A LocalQueue, perhaps with its namespace; empty: the trace does not say."""
    request: TraceRequest
