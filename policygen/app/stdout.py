"""Standard output: bytes as they are, whatever the locale; what cannot be written is told in a line."""

import os
import sys

from policygen.core.errors import UsageError


def out(text: str | bytes, instead: str = "write to a file") -> None:
    """Print it, all of it. `instead` is what else there is where standard output is closed.

    Raises UsageError where it cannot be written, and BrokenPipeError where the reader has gone.
    """
    if sys.stdout is None:
        raise UsageError(f"standard output is closed; {instead}")
    try:
        sys.stdout.buffer.write(text.encode() if isinstance(text, str) else text)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What could not be written must not be tried again while Python shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise UsageError(f"standard output cannot be written: {error.strerror}") from None
