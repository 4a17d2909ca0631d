"""What `policygen init` does: writes a starter spec."""

from pathlib import Path

from policygen.adopt.starter import StarterRequest, starter
from policygen.adopt.trees import label
from policygen.app.compile import compiled_text
from policygen.app.delivery import writing
from policygen.core import atomic
from policygen.core.errors import UsageError
from policygen.core.quoting import counted, quoted
from policygen.core.suggest import suggest
from policygen.hardware import catalog
from policygen.hardware.catalog import Product


def product_of(name: str) -> Product:
    """The GPU product of a name. Raises UsageError with a similar name if it is unknown."""
    found = catalog.product(name)
    if found is None:
        near = suggest(name, catalog.product_names())
        raise UsageError(f"--product: unknown GPU product {quoted(name)}; {near}")
    return found.product


def checked(option: str, name: str) -> str:
    """A name that a spec can have. Raises UsageError with a valid one."""
    if label(name) != name:
        is_made_up = label(name) == label("") and label("") not in name.lower()
        advice = "letters and digits" if is_made_up else quoted(label(name))
        raise UsageError(f"{option}: {quoted(name)} is not a valid name; write {advice}")
    return name


def spec(request: StarterRequest) -> str:
    """The text of the starter spec.

    Raises UsageError if no valid spec has these values, and SpecError if names are too long together.
    """
    if len(set(request.teams)) < len(request.teams):
        raise UsageError("--team: two teams have the same name; write different names")
    if not request.teams:
        raise UsageError("--team: the spec needs a team; name one")
    if request.scheduler == "volcano" and request.pool in {"root", "default"}:
        raise UsageError(
            f"--pool: Volcano reserves the name {quoted(request.pool)}; write another name"
        )
    gpus = request.nodes * request.product.per_node
    if gpus < len(request.teams):
        raise UsageError(
            f"--nodes: the pool has {counted(gpus, 'GPU')} for {len(request.teams)} teams; write more nodes"
        )
    text = starter(request)
    compiled_text(text, "the starter spec")
    return text


def save(text: str, path: Path) -> str:
    """Write the spec to a new file. Returns a message. Raises UsageError."""
    if path.exists():
        raise UsageError(f"-o {path} already exists; name a new file")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, text.encode())
    return f"{path}: edit this file, then run `policygen validate {path}`"
