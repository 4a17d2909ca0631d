"""The program: `policygen`, and `python -m policygen`."""

import gc

# Nearly all objects of a run, imports included, live until it ends, so a search for cycles finds
# nothing. Without it, linting 10,000 mixed manifests takes a sixth of the processor time less, and a
# snapshot with 50,000 pods a quarter less, in as much memory (benchmarks/lint_mixed.py, lint_snapshot.py).
# Not in the package, whose importers may live longer.
gc.disable()

import os  # noqa: E402 - after what must come first
import sys  # noqa: E402 - likewise

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; a Ctrl-C ends it quietly, also while most of it is still imported."""
    try:
        _run()
    except KeyboardInterrupt:
        os._exit(_INTERRUPTED)


def _run() -> None:
    """Run it, and leave at once: to free each object would take 4 % of a large lint."""
    from contextlib import suppress  # noqa: PLC0415 - where a Ctrl-C is caught

    from policygen.cli import main as cli_main  # noqa: PLC0415 - likewise

    try:
        cli_main.main()
    except SystemExit as stop:
        with suppress(OSError, ValueError):  # Python reports their errors when it exits
            for stream in filter(None, (sys.stdout, sys.stderr)):  # None where one is closed
                stream.flush()
            if isinstance(stop.code, int):
                os._exit(stop.code)
        raise


if __name__ == "__main__":
    main()
