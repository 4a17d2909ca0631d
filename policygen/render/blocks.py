"""Blocks of users' templates that replace nothing: Jinja passes them over without a word."""

from collections.abc import Iterator

from jinja2 import Environment
from jinja2.nodes import Block, Const, Extends, Node

from policygen.core.suggest import suggest
from policygen.render.environment import UnreadableError


def check(env: Environment, name: str) -> None:
    """Refuse a block that stands in no template which this one extends.

    Inside another block it would be printed there. What a template computes to extend is not
    known. Raises UnreadableError, naming template and line.
    """
    _known(env, name)


def _known(env: Environment, name: str) -> set[str] | None:
    """The blocks of a template and of those that it extends; None where these are not known."""
    text, file, _ = _source(env, name)
    tree = env.parse(text)
    found = {block.name for block in tree.find_all(Block)}
    extends = tree.find(Extends)
    if extends is None:
        return found
    if not isinstance(extends.template, Const):
        return None
    above = _known(env, str(extends.template.value))
    if above is None:
        return None
    for block in _outer(tree):
        if block.name not in above:
            raise UnreadableError(
                f"{file}:{block.lineno}",
                f'block "{block.name}" replaces none of what this extends, so nothing prints it; '
                f"{suggest(block.name, sorted(above))}",
            )
    return found | above


def _outer(node: Node) -> Iterator[Block]:
    """The blocks that are in no other block."""
    for child in node.iter_child_nodes():
        if isinstance(child, Block):
            yield child
        else:
            yield from _outer(child)


def _source(env: Environment, name: str) -> tuple[str, str | None, object]:
    if env.loader is None:
        raise TypeError("an environment without a loader has no templates")
    return env.loader.get_source(env, name)
