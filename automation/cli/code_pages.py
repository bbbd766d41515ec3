"""What the documentation says of a code: the page of errors, which comes with the installed package."""

import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from components.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECTION = re.compile(r"^### ([a-z0-9-]+)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def code_pages() -> "Mapping[str, str]":
    """Return the section of every code, as Markdown whose links are only their text: a terminal follows none."""
    return {code: _LINK.sub(r"\1", text).strip() for code, text in _SECTION.findall(_page())}


def _page() -> str:
    """Read the page: installed beside this module, and in a checkout in its place."""
    installed = files("automation.cli").joinpath("errors.md")
    if installed.is_file():
        return installed.read_text(encoding="utf-8")
    checkout = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"
    if not checkout.is_file():
        raise InternalError("the page of errors is not installed", help="install Berth again")
    return checkout.read_text(encoding="utf-8")
