"""The command explain: objects and their fields, teams, models, pools, fields of a spec, and rules."""

import io
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from policygen.app import stdout
from policygen.cli.options import (
    CLUSTER,
    TARGET,
    TEMPLATES,
    for_people,
    form,
    say_renamed,
    stdin,
)
from policygen.cli.spec_arguments import (
    completion_request,
    names,
    render_request,
    specs_or_default,
)
from policygen.cli.stderr import refusals
from policygen.core.errors import PolicygenError

if TYPE_CHECKING:  # --help does not load the plan
    from policygen.app.explain_object import Opened

_OBJECT = re.compile(r"[A-Za-z]+/")
_NAMES = ("team", "model", "pool")


def _explain_object(name: str, given: dict[str, Any]) -> None:
    from policygen.app import delivery
    from policygen.app import explain_object as app_explain
    from policygen.report import field_answers

    _refuse_full(given)
    field, specs = _split(given["rest"])
    with refusals(quiet=True, every=False):
        found = app_explain.opened(render_request(specs, given), stdin=stdin(specs))
        answer = app_explain.explain(found, name, field)
    form = given["form"]
    write = field_answers.json if form == "json" else for_people(field_answers.text, form)
    stdout.out(delivery.page(write, answer))


def _refuse_spec_kind(what: str) -> None:
    """Raises UsageError for a name written as that of an object, such as `Model/chat`."""
    written, _, name = what.partition("/")
    kind = written.lower().removeprefix("resource")
    if kind == "platform":
        raise click.UsageError(
            "Platform is a kind of the spec, not of rendered objects; `policygen explain Platform.spec` "
            "explains its fields, and `policygen show` shows its pools and teams"
        )
    if kind in _NAMES:
        raise click.UsageError(
            f"{written} is a kind of the spec, not of rendered objects; write: "
            f"policygen explain {kind} {name or 'NAME'}"
        )


def _explain_name(kind: str, given: dict[str, Any]) -> None:
    from policygen.app import delivery, explain_name
    from policygen.report import name_answers

    _refuse_full(given)
    rest = given["rest"]
    if not rest:
        raise click.UsageError(
            f"write the name of the {kind}: policygen explain {kind} NAME [SPEC]"
        )
    specs = specs_or_default(rest[1:])
    with refusals(quiet=True, every=False):
        made = explain_name.compiled(render_request(specs, given), stdin=stdin(specs))
        answer, origins = explain_name.explain(made, kind, rest[0])
    form = given["form"]
    people = for_people(partial(name_answers.name, origins=origins), form)
    write = partial(name_answers.name_json, origins=origins) if form == "json" else people
    stdout.out(delivery.page(write, answer))


def _explain_spec_field(path: str, given: dict[str, Any]) -> None:
    from policygen.app import delivery
    from policygen.explain import spec_field
    from policygen.report import name_answers

    _refuse_full(given)
    if given["rest"]:
        raise click.UsageError(f"{path} is a field of a spec, so it needs no other argument")
    form, recursive = given["form"], given["recursive"]
    people = for_people(partial(name_answers.spec_field, recursive=recursive), form)
    as_json = partial(name_answers.spec_field_json, recursive=recursive)
    stdout.out(delivery.page(as_json if form == "json" else people, spec_field.find(path)))


def _refuse_full(given: Mapping[str, Any]) -> None:
    if given["full"]:
        raise click.UsageError("--full works only for a RULE; omit --full")


def _split(rest: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """The field and the specs among the arguments. A path that exists is a spec."""
    first = rest[0] if rest else ""
    is_field = bool(first) and not (
        first == "-"
        or first.startswith("git:")
        or Path(first).exists()
        or first.endswith(("/", ".yaml", ".yml", ".json"))
    )
    return first if is_field else None, specs_or_default(rest[1:] if is_field else rest)


def _complete_what(
    context: click.Context, _: click.Parameter, incomplete: str
) -> "list[CompletionItem[str]]":
    """Rules, fields of a spec, and objects of the spec."""
    from policygen.app import explain as app_explain
    from policygen.explain import spec_field

    start = incomplete.lower()
    found = _opened(context) if "/" in start or incomplete[:1].isupper() else None
    known = [*_NAMES, *(found.names() if found else ()), *app_explain.names()]
    items = [CompletionItem(it) for it in known if it.lower().startswith(start)]
    return items + [CompletionItem(it) for it in spec_field.paths(incomplete)]


def _complete_rest(
    context: click.Context, _: click.Parameter, incomplete: str
) -> "list[CompletionItem[str]]":
    """The fields of the object, and files."""
    what = context.params.get("what") or ""
    rest = tuple(context.params.get("rest") or ())
    items = [CompletionItem(incomplete, type="file")]
    if not rest and what in _NAMES:
        texts = names(context, what)
        items = [CompletionItem(it) for it in texts if it.startswith(incomplete)]
    elif not rest and _OBJECT.match(what) and (found := _opened(context)):
        from policygen.app import explain_object as app_explain

        with suppress(PolicygenError):
            texts = app_explain.field_names(found, what)
            items = [CompletionItem(it) for it in texts if it.startswith(incomplete)] + items
    return items


def _opened(context: click.Context) -> "Opened | None":
    """The spec for completion, which prints no error."""
    from policygen.app import explain_object as app_explain

    request = completion_request(context)
    with suppress(PolicygenError):
        return app_explain.opened(request) if request else None
    return None


@click.command(
    epilog="""\b
Examples:
  policygen explain ClusterQueue/nlp.a100 spec/
  policygen explain ClusterQueue/nlp.a100 'spec..cpu.nominalQuota' spec/
  policygen explain team nlp spec/
  policygen explain model llama-70b spec/
  policygen explain ResourcePool.spec.gpu --recursive
  policygen explain local-queue-without-cluster-queue

Exit codes: 0 explained, 2 wrong usage, unknown name or invalid spec, 4 internal error.
"""
)
@click.argument(
    "what", metavar="OBJECT|team|model|pool|SPECFIELD|RULE", shell_complete=_complete_what
)
@click.argument("rest", nargs=-1, metavar="[FIELD|NAME] [SPEC]...", shell_complete=_complete_rest)
@click.option(
    "--full",
    is_flag=True,
    help="For a RULE: print the complete page, with all lines of its examples.",
)
@click.option(
    "--recursive",
    is_flag=True,
    help="For a SPECFIELD: list all fields below it.",
)
@TARGET
@CLUSTER
@TEMPLATES
@form()
def explain(**given: Any) -> None:
    """Explain where a rendered value comes from, or what a rule is about.

    OBJECT is a rendered object, such as ClusterQueue/nlp.a100 or LocalQueue/nlp/a100. Without
    FIELD, explain lists all its fields with their values and places in the spec. With FIELD, it shows the
    arithmetic, what the field does, who borrows the amount, and what else depends on it. `..` in FIELD
    matches any steps. SPEC is a file or a folder; the default is the folder `spec`.

    With team, model or pool and its NAME, explain shows quotas, borrowing and models; where a model runs and
    why, its size, and which other pools fit; or what the nodes of a pool have.

    SPECFIELD is a field that a spec can have, such as ResourcePool.spec.gpu: its type, default and fields.

    RULE is the name of a finding: explain shows why it matters, how to fix it, and an example.
    """
    from policygen.explain import spec_field

    what = given["what"]
    if given["recursive"] and not spec_field.is_kind(what):
        raise click.UsageError("--recursive works only for a SPECFIELD, such as ResourcePool.spec")
    if what in _NAMES:
        _explain_name(what, given)
        return
    if spec_field.is_kind(what):
        _explain_spec_field(what, given)
        return
    if _OBJECT.match(what):
        _refuse_spec_kind(what)
        _explain_object(what, given)
        return
    from policygen.app import explain as app_explain

    if given["rest"]:
        raise click.UsageError(
            f"{what!r} is not an object, so FIELD and SPEC have no meaning; write an object as "
            "KIND/NAME, such as ClusterQueue/nlp.a100"
        )
    say_renamed([what])
    if given["form"] == "json":
        out = io.StringIO()
        app_explain.write([app_explain.entry(what)], out)
        stdout.out(out.getvalue())
        return
    from policygen.report import tables

    # A page of a rule is Markdown.
    is_page = given["form"] == "markdown"
    wide = None if is_page else tables.columns(sys.stdout, os.environ)
    stdout.out(app_explain.explain(what, full=given["full"] or is_page, wide=wide))
