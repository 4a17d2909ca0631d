"""The program: `policygen`, and `python -m policygen`."""

import gc

# Nearly all that a run makes lives until it ends, imports included: looking for cycles in it
# is wasted. Not in the package, whose importers may live longer.
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
    """Run it, and leave at once: the system takes back memory faster than Python."""
    from contextlib import suppress  # noqa: PLC0415 - where a Ctrl-C is caught

    from policygen.cli import main as cli_main  # noqa: PLC0415 - likewise

    try:
        cli_main.main()
    except SystemExit as stop:
        with suppress(OSError, ValueError):  # whatever is wrong with them, Python says as it ends
            for stream in filter(None, (sys.stdout, sys.stderr)):  # None where one is closed
                stream.flush()
            if isinstance(stop.code, int):
                os._exit(stop.code)
        raise


if __name__ == "__main__":
    main()
