"""The documents that verbs about manifests answer with."""

from typing import Any, Literal

from automation.render.output_version import API_VERSION
from automation.render.views import View
from components.errors import Problem, Severity


class ProblemView(View):
    """One located problem; what is not known is left out."""

    code: str
    severity: Severity
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    path: str = ""
    """The place in the document: ``spec.nodePools[0].name``."""
    allowed: str = ""
    help: str = ""

    @classmethod
    def of(cls, problem: Problem) -> "ProblemView":
        """Take over a problem."""
        return cls(
            code=str(problem.code),
            severity=problem.severity,
            message=problem.message,
            file=problem.file,
            line=problem.line,
            column=problem.column,
            path=problem.path,
            allowed=problem.allowed,
            help=problem.help,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the document without the parts that are not known."""
        return {key: value for key, value in super().to_json().items() if value}


class FieldView(View):
    """One field of a kind, or the kind itself, whose path is empty."""

    path: str
    type: str
    required: bool = False
    default: str = ""
    bounds: str = ""
    portable_bounds: str = ""
    """Narrower bounds under the predecessor's apiVersion."""
    choices: tuple[str, ...] = ()
    """Every value that it takes."""
    own_choices: tuple[str, ...] = ()
    """Those that only Berth's own apiVersion has."""
    later_choices: tuple[str, ...] = ()
    """Those that are refused for now, because nothing acts on them."""
    api_versions: tuple[str, ...] = ()
    """The apiVersions that have the field; none while nothing acts on it, and writing it is an error."""
    meaning: str = ""
    example: str = ""
    """YAML that shows the field where it stands."""


class FieldHelpView(View):
    """What ``berth explain`` answers for a kind or a field."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["FieldHelp"] = "FieldHelp"
    document: str
    """The kind that has the field."""
    short_name: str
    namespaced: bool
    machine_made: bool
    field: FieldView
    fields: tuple[FieldView, ...] = ()
    """The fields inside it; with ``--recursive`` at every depth, each followed by its own."""


class ValidationView(View):
    """What ``berth validate`` answers."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["Validation"] = "Validation"
    environment: str = ""
    """The environment that was asked for by name; empty where paths were given."""
    environments: tuple[str, ...] = ()
    """Every environment that was checked as a whole."""
    files: int = 0
    """How many files were read."""
    valid: bool
    problems: tuple[ProblemView, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the document."""
        return super().to_json() | {"problems": [problem.to_json() for problem in self.problems]}


class ConversionView(View):
    """What ``berth convert`` answers."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["Conversion"] = "Conversion"
    to: str
    """The apiVersion that was asked for."""
    changed: tuple[str, ...] = ()
    """Files that are not, or were not, all under it."""
    unchanged: tuple[str, ...] = ()
    documents: int = 0
    """How many documents change their version."""
    kept: tuple[str, ...] = ()
    """Places of documents whose kind does not have that apiVersion."""
    written: bool = False
    """Whether the files were rewritten."""
