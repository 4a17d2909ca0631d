"""Every field of every object of a spec, as `explain` sees it, and checks of the answers."""

import math
import re
from fractions import Fraction

from policygen.app import explain_object
from policygen.app.requests import RenderRequest
from policygen.core import quantity
from policygen.explain import answer
from policygen.explain.fields import field
from policygen.explain.values import Values

_NAMES = {"ceil": math.ceil, "min": min, "max": max, "Fraction": Fraction}


def opened(*specs, target=None):
    return explain_object.opened(RenderRequest(tuple(map(str, specs)), target or {}))


def answers(found):
    """Each object with path, value, steps and meaning of each of its fields."""
    values = Values(found.compiled.decisions)
    for index, rendered in enumerate(found.objects):
        data = found.data[index]
        for path, value in answer.leaves(data):
            steps = values.steps(rendered.item, data, path)
            yield rendered.object, path, value, steps, field(rendered.item.kind, path)


def evaluated(formula, step=1):
    """The result of a formula, in thousandths of a core, bytes or units. `floor` is to a step."""
    plain = re.sub(r"(\d+)Mi\b", lambda it: str(int(it[1]) << 20), formula)
    plain = re.sub(r"(?<=\d)m\b", "", plain).replace("×", "*")
    plain = re.sub(r"\d+(\.\d+)?", lambda it: f"Fraction('{it[0]}')", plain)
    floor = {"floor": lambda it: math.floor(it / step) * step}
    return eval(plain, {"__builtins__": {}}, {**_NAMES, **floor})


def faults(found):
    """What is wrong with the answers: a missing origin or meaning, or arithmetic that is not right."""
    for object_, path, value, steps, meaning in answers(found):
        where = (str(object_), path)
        if meaning is None or len(meaning.does) < 15 or not meaning.source.startswith("https://"):
            yield (*where, "has no meaning")
        if not any(it.at or it.note for it in steps):
            yield (*where, "has no origin")
        if not same(steps[-1].value, value):
            yield (*where, f"is {value}, but the last step is {steps[-1].value}")
        for step in steps:
            if step.formula and not right(step):
                yield (*where, f"{step.formula} is not {step.value}")


def same(shown, value):
    if isinstance(value, bool) or value in ([], {}):
        return shown == {True: "true", False: "false"}.get(value is True, "") or shown == str(value)
    if shown == str(value):
        return True
    try:
        return quantity.parse(shown).value == quantity.parse(value).value
    except (TypeError, ValueError):
        return False


def right(step):
    """Whether the formula of a step has its value."""
    smallest = 1 << 20 if "Mi" in step.formula + step.value else 1
    return evaluated(step.formula, smallest) == evaluated(step.value)
