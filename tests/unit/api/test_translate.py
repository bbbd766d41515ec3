"""Pydantic's own words never reach a person, whatever error it gives."""

from typing import get_args

import pytest
from pydantic_core.core_schema import ErrorType

from components.api.codes import Code
from components.api.compose import compose
from components.api.kinds import KINDS
from components.api.nodes import MappingNode
from components.api.source import Source
from components.api.translate import translate

ERRORS = tuple(each for each in get_args(ErrorType) if each != "default_factory_not_called")
CONTEXT = {"ge": 1, "min_length": 1, "max_length": 1, "actual_length": 0, "expected": "'a' or 'b'", "pattern": "x"}
FOREIGN = {"input", "should", "python", "string", "integer", "tuple", "dictionary", "instance", "object", "argument"}


def source(text: str = "apiVersion: modelplane.ai/v1alpha1\nkind: ModelService\nspec: {endpoints: 7}\n") -> Source:
    """Make a document to put errors on."""
    composed = compose("f.yaml", text.encode())
    root = composed.documents[0]
    assert isinstance(root, MappingNode)
    return Source(composed, root, KINDS["ModelService"])


@pytest.mark.parametrize("kind", ERRORS)
def test_no_error_of_pydantic_speaks_for_itself(kind: str) -> None:
    """Each error type has our wording, the unknown ones a general one, and all have a place."""
    given = source()
    translate(given, [{"type": kind, "loc": ("spec", "endpoints"), "ctx": dict(CONTEXT)}])
    (problem,) = given.problems
    assert (problem.file, problem.line) == ("f.yaml", 3)
    assert not FOREIGN & set(problem.message.lower().split())
    assert problem.code in set(Code)


def test_a_default_that_needs_a_wrong_field_is_no_problem_of_its_own() -> None:
    """Pydantic reports it beside the wrong field, and never alone."""
    given = source()
    translate(given, [{"type": "default_factory_not_called", "loc": ("spec", "endpoints")}])
    assert given.problems == []


def test_what_the_composer_refused_is_not_reported_again() -> None:
    """A broken value has its problem already."""
    given = source("spec: {endpoints: !x 7}\n")
    translate(given, [{"type": "tuple_type", "loc": ("spec", "endpoints")}])
    assert given.problems == []


def test_an_item_of_a_list_is_named_by_its_position() -> None:
    """Items have no key of their own."""
    given = source("spec: {endpoints: [7]}\n")
    translate(given, [{"type": "model_type", "loc": ("spec", "endpoints", 0)}])
    assert given.problems[0].message == "item 0 of endpoints must be a mapping, and is a number"


def test_an_error_of_the_whole_document_has_a_name() -> None:
    """There is no key to name."""
    given = source()
    translate(given, [{"type": "model_type", "loc": ()}])
    assert given.problems[0].message == "the document must be a mapping, and is a mapping"
