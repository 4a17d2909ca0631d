"""Standard output: writes bytes, independent of the locale. A failure is an error of one line."""

import os
import sys

from policygen.core.errors import UsageError


def out(text: str | bytes, instead: str = "write the output to a file") -> None:
    """Print the complete text. `instead` is the advice in the error if standard output is closed.

    Raises UsageError if it cannot be written, and BrokenPipeError if the reader closed the pipe.
    """
    if sys.stdout is None:
        raise UsageError(f"standard output is closed; {instead}")
    try:
        sys.stdout.buffer.write(text.encode() if isinstance(text, str) else text)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # Python must not try to write it again while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise UsageError(f"standard output cannot be written: {error.strerror}") from None
