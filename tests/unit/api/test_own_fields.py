"""Berth's own fields: refused under the predecessor's apiVersion, and while they are not built, never ignored."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from components.api.base import BERTH_VERSION, MODELPLANE, Model
from components.api.codes import Code
from components.api.kinds import KINDS
from components.api.load import LoadResult, load_fleet
from components.api.nodes import written
from components.api.shape import FieldShape, shape
from tests.support.api_manifests import NAMES, files
from tests.support.own_fields import LATER_FIELDS, OWN_FIELDS, OwnField

PORTABLE = [row for row in (*LATER_FIELDS, *OWN_FIELDS) if row.file != "environment"]


def loaded(row: OwnField, document: Any) -> LoadResult:
    """Load the sample environment with one document in the place of another; others of its file stay."""
    contents = files()
    text = contents[NAMES[row.file]].decode()
    rest = list(yaml.safe_load_all(text))[1:]
    contents[NAMES[row.file]] = yaml.safe_dump_all([document, *rest], sort_keys=False).encode()
    return load_fleet(contents.items(), name="dev")


def own_fields(model: type[Model], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], FieldShape]]:
    """Yield the outermost fields of Berth's own inside a model, with their path without list positions."""
    for name, field in shape(model).items():
        if field.own is not None:
            yield (*path, name), field
        if field.model is not None:
            yield from own_fields(field.model, (*path, name))


def named(row: OwnField) -> set[tuple[str, tuple[str, ...]]]:
    """Return kind and path, without list positions, of a row's own fields."""
    kind = row.document("")["kind"]
    return {(kind, tuple(part for part in path if isinstance(part, str))) for path in row.paths}


def test_every_own_field_is_tried() -> None:
    """The tables miss no field of any kind, and name none that is not there."""
    for rows, supported in ((LATER_FIELDS, False), (OWN_FIELDS, True)):
        tried = set().union(*(named(row) for row in rows))
        found = {
            (kind, path)
            for kind, model in KINDS.items()
            for path, field in own_fields(model)
            if field.own is not None and field.own.supported is supported
        }
        assert tried == found


@pytest.mark.parametrize("row", LATER_FIELDS, ids=str)
def test_a_field_that_is_not_built_is_refused_where_it_stands(row: OwnField) -> None:
    """A right value gives one problem, at the field."""
    result = loaded(row, row.document(BERTH_VERSION))
    assert {(problem.code, problem.path) for problem in result.problems} == {
        (Code.NOT_SUPPORTED_YET, written(path)) for path in row.paths
    }
    assert len(result.problems) == len(row.paths)
    for problem, path in zip(sorted(result.problems, key=lambda each: each.path), sorted(row.paths), strict=True):
        assert problem.text[problem.column - 1 :].startswith(f"{path[-1]}:")
        assert problem.message == f"`{path[-1]}` is not supported yet"


@pytest.mark.parametrize("row", OWN_FIELDS, ids=str)
def test_a_field_that_is_built_loads(row: OwnField) -> None:
    """Under Berth's own apiVersion."""
    assert loaded(row, row.document(BERTH_VERSION)).errors == ()


@pytest.mark.parametrize("row", PORTABLE, ids=str)
def test_the_predecessor_s_apiversion_has_none_of_them(row: OwnField) -> None:
    """Each is refused once, with the line to change, and whatever it holds."""
    document = row.document(MODELPLANE)
    outer = "spec.surge" if row.paths[0][:2] == ("spec", "surge") else ""
    expected = {(Code.BERTH_FIELD, outer or written(path)) for path in row.paths}
    if document["kind"] == "ModelCache" and document["spec"]["source"] != "HuggingFace":
        expected.add((Code.BERTH_FIELD, "spec.source"))
    found = loaded(row, document).problems
    assert {(problem.code, problem.path) for problem in found} == expected
    assert len(found) == len(expected)
    assert {problem.help for problem in found} == {"write `apiVersion: berth.dev/v1alpha1` on line 1"}
    later = row in LATER_FIELDS and not outer
    assert all(problem.message.endswith("it is not supported yet") is later for problem in found)
    for path in row.paths:
        holder = document
        for part in path[:-1]:
            holder = holder[part]
        holder[path[-1]] = {"zzzz": [1]}
    again = loaded(row, document).problems
    assert {(problem.code, problem.path) for problem in again} == expected
