"""The comments of a YAML text."""

import re
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_COMMENT = re.compile(r"#[^\r\n]*")
_HEADER = re.compile(r"[|>][-+0-9]*[ \t]+(#[^\r\n]*)")


def comments(text: str) -> list[str]:
    """The comments in order, without blanks at their ends; of invalid YAML, those before the error.

    Comments are between tokens, and after the `|` with which the token of a block scalar begins.
    """
    found, at, loader = [], 0, _LOADER(text)
    try:
        while loader.check_token():
            token = loader.get_token()
            found += _COMMENT.findall(text, at, token.start_mark.index)
            header = _HEADER.match(text, token.start_mark.index)
            if header and getattr(token, "style", None) in {"|", ">"}:
                found.append(header[1])
            at = max(at, token.end_mark.index)
    except yaml.YAMLError:
        pass
    return [comment.rstrip() for comment in found]
