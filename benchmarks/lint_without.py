"""Runs policygen with one fast path switched off; `lint_mixed.py` starts it.

    python benchmarks/lint_without.py PATH lint --manifests FOLDER

It imports only what policygen imports, so that nothing but the fast path makes a difference.
"""

import gc
import sys
from importlib import import_module


def switch_off(path: str) -> None:
    """Switch a fast path off in this process."""
    unusual = import_module("policygen.documents.parsed").UNUSUAL
    match path:
        case "lines":
            _replace("policygen.documents.yaml_lines", "documents", lambda *_: None)
        case "fast YAML":
            switch_off("lines")
            _replace("policygen.documents.fast_yaml", "read", lambda *_: unusual)
        case "fast JSON":
            _replace("policygen.documents.fast_json", "read", lambda _: unusual)
        case "prevalidation":
            _replace("policygen.lint.core.server_refusals", "MANY", sys.maxsize)
        case "two processes":
            _replace("policygen.core.processes", "usable", lambda: False)
        case "gc.disable":
            gc.enable()
        case _:
            sys.exit(f"no path has the name {path}")


def _replace(module: str, name: str, value: object) -> None:
    setattr(import_module(module), name, value)


if __name__ == "__main__":
    from policygen import __main__ as program  # it disables garbage collection

    switch_off(sys.argv[1])
    sys.argv = ["policygen", *sys.argv[2:]]
    program.main()
