"""A project of one's own to stand in."""

from pathlib import Path

import pytest

from tests.support.api_manifests import write_project

_ELSEWHERE = ("GITHUB_ACTIONS", "GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BERTH_ENVIRONMENTS", "BERTH_ENV")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the sample environment into a project, and stand in it, wherever the tests themselves run."""
    for name in _ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return write_project(tmp_path)
