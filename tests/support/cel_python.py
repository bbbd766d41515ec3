"""What cel-python says of a selector, on the device of the laws: the other side of the comparison S7."""

import logging
import sys
from functools import cache
from typing import Any, Final

import celpy
from celpy.celtypes import BoolType, MapType

from tests.support.selector_expressions import as_plain

UNWRITABLE: Final = "cel-python cannot write its own error"

# It logs its own objects as errors, and the ``__repr__`` of some of them raises in whoever formats the record.
logging.getLogger("celpy").setLevel(logging.CRITICAL + 1)


@cache
def _environment() -> tuple[Any, dict[str, Any]]:
    limit = sys.getrecursionlimit()
    made = celpy.Environment(annotations={"device": MapType})
    sys.setrecursionlimit(limit)  # it raises the interpreter's
    return made, {"device": celpy.json_to_cel(as_plain())}


def cel_python(expression: str) -> tuple[str, str]:
    """Say what cel-python answers (match, no-match or error), and its words for an error."""
    env, activation = _environment()
    try:
        value = env.program(env.compile(expression)).evaluate(activation)
    except (celpy.CELEvalError, celpy.CELParseError, ValueError) as error:
        return "error", str(error)
    except IndexError:  # from its ``__repr__`` of an error, which it takes before it combines two of them
        return "error", UNWRITABLE
    return ("match" if value else "no-match") if isinstance(value, BoolType) else "error", ""
