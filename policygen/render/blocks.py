"""Finds blocks of users' templates that replace nothing; Jinja ignores them without a message."""

from collections.abc import Iterator

from jinja2 import Environment
from jinja2.nodes import Block, Const, Extends, Node

from policygen.core.suggest import suggest
from policygen.render.environment import UnreadableError


def check(env: Environment, name: str) -> set[str] | None:
    """Refuse a block that does not exist in the templates that this one extends.

    A block inside another block is allowed, since it is printed there. A template is not checked
    if it computes the name of the template that it extends.

    Returns the blocks of all these templates; None if they are not known. Raises UnreadableError
    with template and line.
    """
    if env.loader is None:
        raise TypeError("an environment without a loader has no templates")
    text, file, _ = env.loader.get_source(env, name)
    tree = env.parse(text)
    found = {block.name for block in tree.find_all(Block)}
    extends = tree.find(Extends)
    if extends is None:
        return found
    if not isinstance(extends.template, Const):
        return None
    above = check(env, str(extends.template.value))
    if above is None:
        return None
    for block in _outer(tree):
        if block.name not in above:
            raise UnreadableError(
                f"{file}:{block.lineno}",
                f'block "{block.name}" does not exist in the extended template, so the block is '
                f"not printed; {suggest(block.name, above, 'block')}",
            )
    return found | above


def _outer(node: Node) -> Iterator[Block]:
    """The blocks that are not inside another block."""
    for child in node.iter_child_nodes():
        if isinstance(child, Block):
            yield child
        else:
            yield from _outer(child)
