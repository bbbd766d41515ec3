"""Rules of types that installation did not foresee are derived when they are first asked for."""

import sys
from pathlib import Path

import pytest

from automation.rehearsal.provider.rules import Rules, file_name

QUEUE = "aws:sqs/queue:Queue"


def test_a_type_is_derived_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first question leaves a file; the next process reads it, and needs no interpreter for it.

    Modules of the current folder that are named like those of the standard library do not matter.
    """
    (tmp_path / "platform.py").write_text("raise ImportError")
    monkeypatch.chdir(tmp_path)
    first = Rules("aws", folder=tmp_path, interpreter=Path(sys.executable)).of(QUEUE)
    assert first is not None
    assert first["inputs"]["delaySeconds"] == ["int", False]
    assert first["outputs"]["arn"] == ["str", True]
    assert (tmp_path / file_name(QUEUE)).is_file()
    assert Rules("aws", folder=tmp_path, interpreter=Path("/nowhere/python")).of(QUEUE) == first


def test_a_type_that_the_sdk_does_not_have_is_remembered(tmp_path: Path) -> None:
    """It has no rules, and nobody looks twice."""
    rules = Rules("kubernetes", folder=tmp_path, interpreter=Path(sys.executable))
    assert rules.of("kubernetes:x.dev/v1:Thing") is None
    assert (tmp_path / file_name("kubernetes:x.dev/v1:Thing")).read_text() == "null"


def test_a_package_that_is_not_installed_is_an_error(tmp_path: Path) -> None:
    """The reason is in the error's text."""
    rules = Rules("gcp", folder=tmp_path, interpreter=Path(sys.executable))
    with pytest.raises(RuntimeError, match="pulumi_gcp is not installed"):
        rules.of("gcp:compute/network:Network")
