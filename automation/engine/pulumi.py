"""Drives the real engine: Pulumi's CLI with inline programs, through the Automation API's own parts.

It uses the API's language server (``inline``: a program is a function in this process, no language host is needed) and
the engine's event stream, but starts the CLI itself: the API's ``Stack`` would start it four times per update, merges
this process's environment into the child's, decrypts secrets to show them, drops fields of policy events and keeps no
handle to stop a run (decision 0002). Everything the engine says is read from events; its printed text is only read
when it ends without a result.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from automation.engine.arguments import nothing, only_looks, operation_options, operation_settings
from automation.engine.checkpoint import Checkpoint
from automation.engine.complaints import cancelled, complaint, is_torn
from automation.engine.disk_room import DiskRoom, disk_room
from automation.engine.events import Event, Result
from automation.engine.file_backend import FileBackend
from automation.engine.inline import INLINE_ERROR, InlineProgram, serving
from automation.engine.interruption import Interruption
from automation.engine.lease import Lease
from automation.engine.outcome import Transcript
from automation.engine.process import CommandResult, run_command
from automation.engine.run_mark import RunMarks
from automation.engine.runner import Applied, Listener, PolicyPackRef, Preview, Program
from components.errors import BerthError, DriverError, InternalError, ToolchainError, UsageError
from components.naming import StackName

_READS = 5
_READ_PAUSE = 0.1  # seconds; a file backend writes a small file beside the state, and not in one piece


@dataclass(frozen=True, slots=True)
class _Run:
    """One finished start of the CLI with a program and events."""

    result: CommandResult
    transcript: Transcript
    seconds: float


class PulumiRunner:
    """A :class:`~automation.engine.runner.Runner` on the real engine.

    ``project`` is the folder with ``Pulumi.yaml`` and the stacks' configuration files. ``environment`` is everything
    the engine and its plugins see (backend, passphrase, credentials, plugin home); it decides whether a run is
    simulated. ``timeout`` is in seconds per operation, None for no limit. ``tap`` gets the text of every event.
    ``release`` is the command shown to free a lease, with ``{stack}`` for the stack's name. ``marks`` is where starts
    are marked, so that a later run can prove that nothing of them is left.
    """

    def __init__(
        self,
        cli: Path,
        *,
        project: Path,
        environment: Mapping[str, str],
        interruption: Interruption | None = None,
        timeout: float | None = None,
        parallel: int | None = None,
        tap: Callable[[str], None] | None = None,
        release: str = 'eval "$(berth env)" && pulumi cancel --yes --stack {stack}',
        marks: RunMarks | None = None,
    ) -> None:
        self._cli = cli
        self._project = project
        self._environment = {
            **environment,
            "PULUMI_DEBUG_COMMANDS": "true",  # without it there is no --event-log
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "NO_COLOR": "1",
        }
        self.interruption = interruption or Interruption()
        self._timeout = timeout
        self._parallel = parallel
        self._tap = tap
        self._release = release
        self._marks = marks

    # Stacks, configuration and state

    def stacks(self) -> tuple[StackName, ...]:
        """Return the stacks of the project, sorted."""
        listed = self._json(StackName(""), ["stack", "ls", "--json"])
        names = (str(entry["name"]).rpartition("/")[2] for entry in listed)
        return tuple(sorted(StackName.parse(name) for name in names))

    def ensure_stack(self, stack: StackName) -> bool:
        """Create ``stack`` unless it is there; return whether it was created."""
        result = self._start(stack, ["stack", "init", str(stack), "--no-select"])
        if result.code == 0:
            return True
        if f"stack '{stack}' already exists" in result.stderr or "already exists" in result.stderr:
            return False
        raise self._complaint(stack, result)

    def remove_stack(self, stack: StackName, *, force: bool = False, keep_config: bool = True) -> None:
        """Remove an empty stack with its history; ``force`` forgets resources that still exist.

        Its configuration file stays unless it is known to be new: it is the user's, with secrets that may be nowhere
        else.
        """
        options = [*(["--force"] if force else []), *(["--preserve-config"] if keep_config else [])]
        self._command(stack, ["stack", "rm", str(stack), "--yes", *options])

    def set_config(self, stack: StackName, key: str, value: str, *, secret: bool = False) -> None:
        """Set one configuration key; the value goes through standard input, never over the command line."""
        kind = "--secret" if secret else "--plaintext"
        self._command(stack, ["config", "set", kind, key, "--stack", str(stack)], stdin=value)

    def get_config(self, stack: StackName, key: str) -> str | None:
        """Return one plain configuration value, None when it is not set."""
        entry = self._json(stack, ["config", "--json", "--stack", str(stack)]).get(key)
        return None if entry is None else entry.get("value")

    def get_secret(self, stack: StackName, key: str) -> str | None:
        """Return one configuration value, decrypted; None when it is not set."""
        entry = self._json(stack, ["config", "--json", "--show-secrets", "--stack", str(stack)]).get(key)
        return None if entry is None else entry.get("value")

    def export(self, stack: StackName, *, show_secrets: bool = False) -> Checkpoint:
        """Return the state, secrets still encrypted unless they are to be shown."""
        shown = ["--show-secrets"] if show_secrets else []
        return Checkpoint.from_json(stack, self._json(stack, ["stack", "export", "--stack", str(stack), *shown]))

    def import_state(self, checkpoint: Checkpoint) -> None:
        """Replace the state of the checkpoint's stack; pending operations in it are dropped by the engine."""
        text = json.dumps(checkpoint.raw)
        with self._room(checkpoint.stack, ["import"]):
            self._command(checkpoint.stack, ["stack", "import", "--stack", str(checkpoint.stack)], stdin=text)

    def tags(self, stack: StackName) -> Mapping[str, str]:
        """Return the notes that are kept in the backend beside the stack."""
        return dict(self._json(stack, ["stack", "tag", "ls", "--json", "--stack", str(stack)]))

    def set_tag(self, stack: StackName, key: str, value: str | None) -> None:
        """Write one note, or remove it with None."""
        change = ["rm", key] if value is None else ["set", key, value]
        self._command(stack, ["stack", "tag", *change, "--stack", str(stack)])

    def cancel(self, stack: StackName) -> None:
        """Remove the lease on ``stack``, whoever holds it; a run that still holds it is not told."""
        self._command(stack, ["cancel", "--yes", "--stack", str(stack)])

    def leases(self, stack: StackName) -> tuple[Lease, ...] | None:
        """Return who holds the lease on ``stack``; None unless the backend is a folder on this machine."""
        backend = self._folder_backend()
        return tuple(self._look(lease) for lease in backend.leases(stack)) if backend else None

    def leased(self) -> tuple[StackName, ...]:
        """Return the stacks of the project that somebody holds; none unless the backend is a folder here."""
        backend = self._folder_backend()
        return backend.leased() if backend else ()

    def free(self, stack: StackName, lease: Lease) -> None:
        """Free one holder's lease, and nobody else's; only for leases that this runner named."""
        backend = self._folder_backend()
        if backend:
            backend.free(stack, lease)
        if self._marks:
            self._marks.forget(lease)

    def _look(self, lease: Lease) -> Lease:
        return self._marks.look(lease) if self._marks else lease

    # Operations

    def preview(
        self,
        stack: StackName,
        program: Program,
        *,
        policy_pack: PolicyPackRef | None = None,
        exclude: Sequence[str] = (),
        refresh: bool = False,
        listener: Listener | None = None,
    ) -> Preview:
        """Return what ``up`` would do."""
        args = ["preview", *operation_options(policy_pack=policy_pack, exclude=exclude, refresh=refresh)]
        run = self._operate(stack, args, program, listener)
        return run.transcript.preview(stack, seconds=run.seconds)

    def up(
        self,
        stack: StackName,
        program: Program,
        *,
        policy_pack: PolicyPackRef | None = None,
        exclude: Sequence[str] = (),
        refresh: bool = False,
        continue_on_error: bool = False,
        listener: Listener | None = None,
    ) -> Applied:
        """Make the stack what ``program`` says."""
        if len(self._known(stack, exclude)) < len(exclude):  # only what is yet to be created can be missed by others
            self._require_closed(self.preview(stack, program, exclude=exclude))
        options = operation_options(policy_pack=policy_pack, exclude=exclude, refresh=refresh, go_on=continue_on_error)
        run = self._operate(stack, ["up", "--yes", "--skip-preview", *options], program, listener)
        return run.transcript.applied(stack, seconds=run.seconds)

    def preview_destroy(
        self, stack: StackName, *, exclude: Sequence[str] = (), listener: Listener | None = None
    ) -> Preview:
        """Return what ``destroy`` would delete."""
        run = self._operate(
            stack,
            ["destroy", "--preview-only", *operation_options(exclude=self._known(stack, exclude))],
            nothing,
            listener,
        )
        return run.transcript.preview(stack, seconds=run.seconds)

    def destroy(
        self,
        stack: StackName,
        *,
        exclude: Sequence[str] = (),
        continue_on_error: bool = False,
        listener: Listener | None = None,
    ) -> Applied:
        """Delete every resource of the stack; the stack itself stays."""
        options = operation_options(exclude=self._known(stack, exclude), go_on=continue_on_error)
        run = self._operate(stack, ["destroy", "--yes", "--skip-preview", *options], nothing, listener)
        return run.transcript.applied(stack, seconds=run.seconds)

    def drift(self, stack: StackName, *, exclude: Sequence[str] = (), listener: Listener | None = None) -> Preview:
        """Return how the real resources differ from the state, which stays as it is."""
        run = self._operate(
            stack,
            ["refresh", "--preview-only", *operation_options(exclude=self._known(stack, exclude))],
            nothing,
            listener,
        )
        return run.transcript.preview(stack, seconds=run.seconds)

    def refresh(
        self,
        stack: StackName,
        *,
        targets: Sequence[str] = (),
        exclude: Sequence[str] = (),
        listener: Listener | None = None,
    ) -> Applied:
        """Store in the state what the real resources are: all of them, or ``targets`` only."""
        options = [f"--target={urn}" for urn in targets] or operation_options(exclude=self._known(stack, exclude))
        run = self._operate(stack, ["refresh", "--yes", "--skip-preview", *options], nothing, listener)
        return run.transcript.applied(stack, seconds=run.seconds)

    def _known(self, stack: StackName, exclude: Sequence[str]) -> tuple[str, ...]:
        """Keep the URNs that are in the state; operations without a program refuse others."""
        if not exclude:
            return ()
        checkpoint = self.export(stack)
        return tuple(urn for urn in exclude if checkpoint.get(urn))

    @staticmethod
    def _require_closed(preview: Preview) -> None:
        """Refuse to leave out something new that something else needs: the engine would write a broken state."""
        texts = [text for failure in preview.failures for text in failure.messages]
        broken = next((text for text in texts if "refers to missing" in text), "")
        if broken:
            raise DriverError(
                f"what is skipped on stack {preview.stack} is needed elsewhere: {broken.rpartition('snapshot: ')[2]}",
                consequence="Nothing was changed.",
            )

    # The command line

    def _operate(self, stack: StackName, args: list[str], program: Program, listener: Listener | None) -> _Run:
        """Run one operation of the engine to its end; raise unless it came to a result."""
        inline = InlineProgram(program)
        transcript = Transcript()

        def take(event: Event) -> None:
            transcript.add(event)
            if listener:
                listener(event)

        began = time.monotonic()
        with serving(inline, take, tap=self._tap) as address:
            wiring = [f"--client={address}", "--exec-kind", "auto.inline", "--event-log", f"tcp://{address}"]
            shown = ["--suppress-outputs", "--suppress-progress", "--color", "never"]
            parallel = ["--parallel", str(self._parallel)] if self._parallel else []
            whole = [*args, "--stack", str(stack), *wiring, *shown, *parallel]
            with self._room(stack, args) as room:
                result = self._start(stack, whole, may_repeat=lambda: not transcript.events)
        if room and room.gave_out:
            raise room.error()
        run = _Run(result, transcript, time.monotonic() - began)
        self._require_end(stack, run, inline)
        return run

    def _require_end(self, stack: StackName, run: _Run, inline: InlineProgram) -> None:
        """Raise unless the operation came to an end of its own: done, or refused by a resource or a policy."""
        result, transcript, finished = run.result, run.transcript, run.transcript.finished
        if isinstance(inline.error, BerthError):
            raise inline.error
        if finished is None or result.timed_out:
            raise self._complaint(stack, result, also=transcript.errors) from inline.error
        if finished.result is Result.CANCELLED or (result.requests and finished.result is Result.FAILED):
            raise cancelled(stack, max(1, result.requests)) from inline.error
        if not result.code:
            return
        stopper = self._complaint(stack, result, also=transcript.errors)
        if finished.result is Result.SUCCEEDED or isinstance(stopper, ToolchainError):
            raise stopper
        if not transcript.blamed:
            broken = inline.error is not None or any(INLINE_ERROR in text for text in transcript.errors)
            said = str(inline.error) if inline.error else " ".join(transcript.errors)
            failed = InternalError(f"the program of stack {stack} failed: {said}")
            raise (failed if broken else stopper) from inline.error

    def _room(self, stack: StackName, args: Sequence[str]) -> AbstractContextManager[DiskRoom | None]:
        """Keep room for the state of a folder backend while the engine may write it."""
        backend = self._folder_backend()
        if backend is None or only_looks(args):
            return nullcontext()
        return disk_room(backend.root, name=str(stack), state=backend.size(stack), interruption=self.interruption)

    def _start(
        self,
        stack: StackName,
        args: Sequence[str],
        *,
        stdin: str = "",
        may_repeat: Callable[[], bool] = lambda: True,
    ) -> CommandResult:
        self._require_project()
        result = self._run(args, stdin)
        for _ in range(_READS):
            if not is_torn(result) or not may_repeat():
                return result
            time.sleep(_READ_PAUSE)  # another run may be writing it
            result = self._run(args, stdin)
        backend = self._folder_backend()
        return self._run(args, stdin) if backend and backend.mend(stack) else result

    def _run(self, args: Sequence[str], stdin: str) -> CommandResult:
        try:
            with self._marks.marking() if self._marks else nullcontext() as mark:
                return run_command(
                    self._cli,
                    ["--non-interactive", *args],
                    cwd=self._project,
                    env={**self._environment, **operation_settings(args)},
                    interruption=self.interruption,
                    timeout=self._timeout,
                    stdin=stdin,
                    mark=mark,
                )
        except OSError as error:
            raise ToolchainError(
                f"the Pulumi CLI cannot be started: {error}", consequence="Nothing was changed.", help="berth doctor"
            ) from error

    def _command(self, stack: StackName, args: Sequence[str], *, stdin: str = "") -> CommandResult:
        result = self._start(stack, args, stdin=stdin)
        if result.code:
            raise self._complaint(stack, result)
        return result

    def _json(self, stack: StackName, args: Sequence[str]) -> Any:
        return self._parsed(stack, self._start(stack, args))

    def _parsed(self, stack: StackName, result: CommandResult) -> Any:
        if result.code:
            raise self._complaint(stack, result)
        try:
            return json.loads(result.stdout)
        except ValueError as error:
            raise DriverError(f"the engine's answer to `pulumi {' '.join(result.args)}` is not JSON") from error

    def _complaint(self, stack: StackName, result: CommandResult, *, also: tuple[str, ...] = ()) -> BerthError:
        release = self._release.format(stack=stack)
        backend = self._folder_backend()
        restore = (lambda: backend.restore(stack)) if backend else str
        return complaint(stack, result, release=release, also=also, look=self._look, restore=restore)

    def _require_project(self) -> None:
        if not (self._project / "Pulumi.yaml").is_file():
            raise UsageError(
                f"{self._project} holds no Pulumi.yaml", consequence="Nothing was changed.", help="berth init"
            )

    def _folder_backend(self) -> FileBackend | None:
        self._require_project()
        project = yaml.safe_load((self._project / "Pulumi.yaml").read_bytes())
        return FileBackend.at(self._environment.get("PULUMI_BACKEND_URL", ""), str(project.get("name", "")))
