"""Runs one Pulumi program in this process and says how it ended.

Only public functions of ``pulumi.runtime`` are used. What the program has to say is logged to the engine here, so the
answer only says whether it failed (``bail``: the message has been shown).

Limit: a program runs in a thread, so it cannot set signal handlers of its own.
"""

import asyncio
import contextvars
import logging
import os
import runpy
import sys
import traceback
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import pulumi
from pulumi.runtime.proto import language_pb2

_CALLS_PER_RESOURCE = 4
_MOST_THREADS = 1 << 16
_FRAMES_ABOVE = (
    str(Path(__file__).parent),
    str(Path(pulumi.__file__).parent),
    str(Path(asyncio.__file__).parent),
    "<frozen ",
)
"""Files whose frames stand above the first one of a program and tell its author nothing."""


def run_program(request: Any, *, engine_address: str) -> Any:
    """Run the program of a request; the answer has ``bail`` set when it failed."""
    # The runtime keeps its settings in context variables: a copy, so that this run leaves nothing behind.
    failure = contextvars.copy_context().run(_run, request, engine_address)
    return language_pb2.RunResponse(bail=failure)


def _run(request: Any, engine_address: str) -> bool:
    pulumi.runtime.reset_options(
        project=request.project,
        stack=request.stack,
        root_directory=request.info.root_directory or None,
        parallel=request.parallel,
        engine_address=engine_address,
        monitor_address=request.monitor_address,
        preview=request.dryRun,
        organization=request.organization or "organization",
    )
    pulumi.runtime.set_all_config(dict(request.config), list(request.configSecretKeys))
    # Tasks of a program that fails are never awaited; the message about that helps nobody.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        with _place(request) as main, _loop(request.parallel) as loop:
            loop.run_until_complete(pulumi.runtime.run_in_stack(lambda: _execute(main)))
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return True
    except grpc.RpcError as error:
        return _rpc_failed(error)
    except BaseException as error:  # noqa: BLE001 - whatever a program raises is its failure, not the host's
        pulumi.log.error(f"Program failed with an unhandled exception:\n{_story(error)}")
        return True
    return False


def _execute(main: str) -> None:
    try:
        runpy.run_path(main, run_name="__main__")
    except SystemExit as error:
        if error.code not in (None, 0):
            raise pulumi.RunError(f"the program ended itself with {error.code!r}") from error


def _rpc_failed(error: grpc.RpcError) -> bool:
    # An engine that is gone, or going, has said why itself.
    code = error.code() if isinstance(error, grpc.Call) else None
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
        return False
    details = error.details() if isinstance(error, grpc.Call) else str(error)
    pulumi.log.error(f"the engine refused a call of the program: {details}")
    return True


@contextmanager
def _place(request: Any) -> Generator[str]:
    """Make the process look as if the program had been started by hand in its own folder."""
    folder = Path(request.info.program_directory or request.pwd or Path.cwd())
    main = folder / (request.info.entry_point or ".")
    here, path, arguments, modules = Path.cwd(), list(sys.path), list(sys.argv), set(sys.modules)
    os.chdir(request.pwd or folder)
    if main.is_file():  # for a folder runpy does the same itself
        sys.path.insert(0, str(main.parent))
    sys.argv = [str(main), *request.args]
    try:
        yield str(main)
    finally:
        os.chdir(here)
        sys.path[:], sys.argv = path, arguments
        _forget(modules, root=str(request.info.root_directory or folder))


def _forget(before: set[str], *, root: str) -> None:
    """Unload the modules of the program, so that another run in this process starts as fresh as this one did.

    A resource kept in a module between two runs would be registered in the first one only, and the engine would then
    want to delete it.
    """
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(root + os.sep) and "site-packages" not in file:
            del sys.modules[name]


@contextmanager
def _loop(parallel: int) -> Generator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    threads = min(max(parallel, 1) * _CALLS_PER_RESOURCE, _MOST_THREADS)
    loop.set_default_executor(ThreadPoolExecutor(max_workers=threads))
    try:
        yield loop
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                loop.run_until_complete(task)
        loop.close()


def _story(error: BaseException) -> str:
    """Write the traceback without the frames of the host and the runtime that lie above the program's first one."""
    first = error.__traceback__
    while first is not None and first.tb_frame.f_code.co_filename.startswith(_FRAMES_ABOVE):
        first = first.tb_next
    if first is None and isinstance(error, SyntaxError):
        # The program was not even compiled: the error itself says where it is wrong.
        return "".join(traceback.format_exception_only(error)).rstrip()
    return "".join(traceback.format_exception(type(error), error, first or error.__traceback__)).rstrip()
