"""The nodes of a pool: their GPU product, number of GPUs, and allocatable cpu and memory."""

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import takewhile

from policygen.core.finding import Hit
from policygen.core.quantity import MEBIBYTE
from policygen.core.quoting import counted, quoted
from policygen.core.suggest import suggest
from policygen.hardware import catalog
from policygen.hardware.catalog import Product
from policygen.plan import rules
from policygen.plan.amounts import CPU, MEMORY, amount_of, readable_bytes
from policygen.spec.rules import AVAILABLE_ABOVE_TOTAL
from policygen.spec.types import NodeResources, Pool


def _assume(pool: Pool, message: str, field: str) -> Hit:
    """A note on an assumed value, with the field that sets it."""
    advice = f"write {field}"
    if pool.guess_product:
        advice = (
            f"to use another value, write the pool as a policygen.dev ResourcePool with {field}"
        )
    return Hit(
        rules.ASSUMPTION,
        f'pool "{pool.name}": {message}; {advice}',
        pool.at / "metadata" / "name",
    )


def product(pool: Pool, hits: list[Hit]) -> Product | None:
    """The GPU product of a pool's nodes, from the spec or their labels; None if unknown."""
    name = pool.gpu.product
    if name is not None:
        match = catalog.product(name)
        if match is None:
            hits.append(
                Hit(
                    rules.UNKNOWN_PRODUCT,
                    f"unknown GPU product {quoted(name)}; {_similar(name)} replace gpu.product by "
                    "gpu.memory, gpu.perNode and capacity.nodeAllocatable",
                    pool.at / "spec" / "gpu" / "product",
                )
            )
            return None
    elif pool.guess_product:
        matches = [catalog.product(value) for _, value in pool.node_selector]
        match = next((found for found in matches if found), None)
        if match is None:
            return None
    else:
        return None
    if match.assumed and name is not None:
        found, because = _of_node_type(pool, match.product)
        hits.append(
            Hit(
                rules.ASSUMPTION,
                f'pool "{pool.name}": {quoted(name)} matches several products; policygen assumes '
                f"{found.id}{because}; write {found.id}, or the full name of another product",
                pool.at / "spec" / "gpu" / "product",
            )
        )
        return found
    if match.assumed or pool.guess_product:
        message = f"policygen assumes GPU product {match.product.id}"
        if match.assumed:
            message = f"the GPU name matches several products; {message}"
        hits.append(_assume(pool, message, "gpu.product"))
    return match.product


def _similar(name: str) -> str:
    """The advice before another remedy: the similar label with the longest common beginning.

    If no label is similar, the similar short name, such as h100.
    """
    labels = [label for product in catalog.products().values() for label in product.labels]
    for known in (labels, catalog.product_names()):
        lowered = {it.lower(): it for it in known}
        close = get_close_matches(name.lower(), lowered, n=len(lowered))
        if close:
            best = max(close, key=lambda it: _common(it, name.lower()))
            return f"{suggest(name, [lowered[best]])} If not,"
    return f"{suggest(name, labels)}; or"


def _common(one: str, other: str) -> int:
    """The length of the common beginning of two words."""
    pairs = zip(one, other, strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _of_node_type(pool: Pool, assumed: Product) -> tuple[Product, str]:
    """Of the products that differ only in memory, the one of the pool's nodeType, and the reason."""
    node_type = pool.capacity.node_type
    shape = catalog.shape(node_type) if node_type else None
    if shape is None or shape.product.rpartition("-")[0] != assumed.id.rpartition("-")[0]:
        return assumed, ""
    return catalog.products()[shape.product], f", the product of nodeType {node_type}"


def _because(pool: Pool) -> tuple[str, str]:
    """Why a number of a node is unknown, and what to write as the product."""
    name = pool.gpu.product
    if name is None:
        return "", "gpu.product"
    return f", because gpu.product {quoted(name)} is unknown", "a known gpu.product"


def unguessed(pool: Pool) -> Hit:
    """The error of an article's pool whose labels name no product: it has no other field for it."""
    labels = pool.node_selector
    at = pool.at / "spec" / "nodeSelector"
    advice = "write a known product, such as a10g or a100, as the value of a label in nodeSelector"
    if len(labels) == 1:
        at /= labels[0][0]
        advice = suggest(labels[0][1], catalog.product_names())
    return Hit(
        rules.GPU_PRODUCT_MISSING,
        f'no label in the nodeSelector of pool "{pool.name}" names a known GPU product; {advice} '
        "(or write the pool as a policygen.dev ResourcePool with gpu.perNode and "
        "capacity.nodeAllocatable)",
        at if len(labels) == 1 else at.on_key(),
    )


def cards(pool: Pool, product: Product | None, hits: list[Hit]) -> tuple[int, int] | None:
    """The available physical GPUs of a pool and the GPUs of a node; None if not known."""
    capacity = pool.capacity
    shape = catalog.shape(capacity.node_type) if capacity.node_type else None
    per_node = pool.gpu.per_node or (shape.gpus if shape else None)
    total = capacity.total_gpus
    if per_node is None and total and capacity.nodes and total % capacity.nodes == 0:
        per_node = total // capacity.nodes
    if per_node is None and product is not None:
        per_node = product.per_node
        hits.append(
            _assume(pool, f"policygen assumes {counted(per_node, 'GPU')} on a node", "gpu.perNode")
        )
    if per_node is None:
        because, known = _because(pool)
        hits.append(
            Hit(
                rules.PER_NODE_MISSING,
                f'pool "{pool.name}": the number of GPUs on a node is unknown{because}; write '
                f"gpu.perNode or {known}",
                (pool.at / "spec" / "gpu").on_key(),
            )
        )
        return None
    if total is None and capacity.nodes is not None:
        total = capacity.nodes * per_node
    available = capacity.available_gpus if capacity.available_gpus is not None else total
    if available is None:
        return None  # reported by spec.pools
    if total is not None and available > total:
        hits.append(
            Hit(
                AVAILABLE_ABOVE_TOTAL,
                f"availableGPUs is {available}, but nodes times GPUs per node is only {capacity.nodes} × "
                f"{per_node} = {total}; correct one of these numbers, or write gpu.perNode",
                pool.capacity_at("availableGPUs"),
            )
        )
        return None
    return available, per_node


def node(pool: Pool, product: Product | None, hits: list[Hit]) -> NodeResources | None:
    """Allocatable cpu and memory of one node of the pool; None if not known."""
    capacity = pool.capacity
    if capacity.node_allocatable is not None:
        return capacity.node_allocatable
    name, assumed = capacity.node_type, False
    if name is None and product is not None:
        name, assumed = product.shape, True
    if name is None:
        because, known = _because(pool)
        hits.append(
            Hit(
                rules.NODE_SHAPE_MISSING,
                f'pool "{pool.name}": the cpu and memory of a node are unknown{because}, and a queue '
                "needs a quota of both; write capacity.nodeAllocatable {cpu, memory}, capacity.nodeType "
                f"or {known}",
                (pool.at / "spec" / "capacity").on_key(),
            )
        )
        return None
    shape = catalog.shape(name)
    if shape is None:
        hits.append(
            Hit(
                rules.UNKNOWN_NODE_TYPE,
                f"unknown node type {quoted(name)}; {suggest(name, catalog.shapes())} "
                "(or write capacity.nodeAllocatable {cpu, memory} instead)",
                pool.capacity_at("nodeType"),
            )
        )
        return None
    per_node = pool.gpu.per_node
    if per_node is not None and shape.gpus != per_node:
        hits.append(
            Hit(
                rules.PER_NODE_CONTRADICTS_NODE_TYPE,
                f"gpu.perNode is {per_node}, but node type {name} has {counted(shape.gpus, 'GPU')}, so the cpu and "
                "memory of each GPU are wrong; correct gpu.perNode or capacity.nodeType, or write "
                "capacity.nodeAllocatable",
                pool.capacity_at("nodeType")
                if "nodeType" in dict(capacity.elsewhere)
                else pool.at / "spec" / "gpu" / "perNode",
            )
        )
    if assumed:
        hits.append(
            _assume(pool, f"policygen assumes nodes of type {name}", "capacity.nodeAllocatable")
        )
    elif product is not None and shape.product != product.id:
        hits.append(
            Hit(
                rules.NODE_TYPE_CONTRADICTS_PRODUCT,
                f"nodeType {name} has {shape.product} GPUs, but gpu.product is {product.id}; "
                "correct nodeType or gpu.product",
                pool.capacity_at("nodeType"),
            )
        )
    if capacity.system_reserved is not None:
        reserved = (capacity.system_reserved.cpu_milli, capacity.system_reserved.memory_bytes)
    else:
        reserved = catalog.system_reserved(shape.cpu_milli, shape.memory_bytes)
    left = NodeResources(shape.cpu_milli - reserved[0], shape.memory_bytes - reserved[1])
    if left.cpu_milli <= 0 or left.memory_bytes <= 0:
        hits.append(
            Hit(
                rules.RESERVED_ABOVE_CAPACITY,
                f"systemReserved takes all cpu or all memory of a {name} node, so nothing is left "
                "for pods; lower systemReserved",
                pool.capacity_at("systemReserved"),
            )
        )
        return None
    return left


_FACTOR = 2
"""How far a written size may be from the known ones."""


def contradictions(pool: Pool, product: Product | None, per_node: int) -> Iterator[Hit]:
    """Warnings about sizes that are far from those of the known hardware, such as wrong units."""
    at = pool.at / "spec"
    written = pool.capacity.node_allocatable
    if written is not None:
        whose, known = catalog.known_shapes(pool.capacity.node_type, product)
        for resource, has, sizes in (
            (CPU, written.cpu_milli, [it.cpu_milli // it.gpus for it in known]),
            (MEMORY, written.memory_bytes, [it.memory_bytes // it.gpus for it in known]),
        ):
            low, high = min(sizes) * per_node, max(sizes) * per_node
            if low <= has * _FACTOR and has <= high * _FACTOR:
                continue
            if resource == MEMORY and has < MEBIBYTE:
                continue  # its unit is missing, which is already reported
            usual = amount_of(resource, high, has)
            if low < high:
                least = (
                    amount_of(resource, low, has).removesuffix(" of memory").removesuffix(" cores")
                )
                usual = f"between {least} and {usual}"
            yield Hit(
                rules.NODE_ALLOCATABLE_IMPLAUSIBLE,
                f"nodeAllocatable has {amount_of(resource, has, high)} for {counted(per_node, 'GPU')}, "
                f"but {whose} have {usual}; correct the number or its unit",
                pool.capacity_at("nodeAllocatable") / resource,
            )
    memory = pool.gpu.memory_bytes
    usable = product.memory_mib * MEBIBYTE if product else 0
    if (
        product
        and memory
        and memory >= MEBIBYTE
        and not usable <= memory * _FACTOR <= usable * _FACTOR**2
    ):
        yield Hit(
            rules.GPU_MEMORY_CONTRADICTS_PRODUCT,
            f"gpu.memory is {readable_bytes(memory, usable)}, but one {product.id} has "
            f"{readable_bytes(usable, memory)}; write the usable memory of a complete GPU, or correct "
            "gpu.product",
            at / "gpu" / "memory",
        )
