"""Reading what ``berth observe`` saw from a file, for a plan that counts with it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from automation.driver.workspace import Workspace
    from automation.scheduling.observation import Observation


def observation_in(path: Path | None, workspace: "Workspace") -> "Observation":
    """Return what was seen by a file; nothing without one.

    Raises UsageError for a file that is no observation, for one of another environment, and for one from the future,
    which would count as fresh for ever.
    """
    from automation.scheduling.observation import CLOCKS, Observation

    if path is None:
        return Observation()
    import yaml
    from pydantic import ValidationError

    from automation.render.observation import ObservationView
    from components.errors import UsageError

    again = f"berth observe -e {workspace.environment} -o json > {path}"
    try:
        # YAML reads JSON too.
        view = ObservationView.model_validate(yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader))
    except OSError as error:
        raise UsageError(f"the observation {path} cannot be read: {error.strerror}", help=again) from error
    except (yaml.YAMLError, ValidationError, RecursionError) as error:
        raise UsageError(f"{path} is no observation that this Berth can read", help=again) from error
    of = (view.environment, view.simulated, view.backed)
    if of != (workspace.environment, workspace.simulated, workspace.backed):
        kind = "backed " if view.backed else "simulated " if view.simulated else ""
        raise UsageError(
            f"{path} is an observation of the {kind}environment {view.environment}, not of {workspace.environment}",
            help=again,
        )
    ahead = [(seen.at, name) for name, seen in view.seen.clusters.items() if seen.at > datetime.now(UTC) + CLOCKS]
    if ahead:
        at, name = max(ahead)
        raise UsageError(
            f"{path} says that {name} was seen at {at:%Y-%m-%d %H:%M} UTC, which is later than now",
            help=f"set the clocks of both machines, then {again}",
        )
    return view.seen
