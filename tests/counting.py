"""The work of a call, measured in executed lines of Python instead of time."""

import sys


def counted(call):
    """The number of lines that run, and what the call returns."""
    count = 0

    def trace(_frame, event, _given):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        made = call()
    finally:
        sys.settrace(before)
    return count, made


def growth(few, many):
    """How many times the lines of the first call the second one runs."""
    few()  # the first call also runs code that runs only once, such as compiling patterns
    return counted(many)[0] / counted(few)[0]
