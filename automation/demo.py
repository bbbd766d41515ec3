"""``make demo``: a whole fleet on simulated clouds, from the first plan to the teardown, through the real engine.

It runs the ``berth`` command in a project of its own under ``.berth/demo``, with a copy of the sample environment
``dev``, and edits that copy between runs as a person would. What it prints is what the commands print; it checks their
exit codes and, at the end, that the clouds are empty.
"""

import difflib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from automation.demonstration.only_run import OnlyRun
from automation.engine.toolchain.layout import Layout
from automation.rehearsal.cloud import SimulatedCloud
from automation.rehearsal.scenario import SCENARIO_VARIABLE, Backing, Failure, Fault, Scenario
from components.errors import BerthError, DriverError

ROOT: Final = Path(__file__).resolve().parents[1]
_RULE: Final = "-" * 78
_BROKEN_TAG: Final = "v9.9.9-broken"


class Demo:
    """One run of the demonstration, in a project of its own with a copy of the environment at ``source``."""

    def __init__(self, folder: Path, source: Path, *, backed: bool = False) -> None:
        self.layout = Layout(folder, backed=backed)
        self.environment = folder / "stacks" / "environments" / source.name
        self._source = source
        self._scenario = folder / "scenario.json"
        self._began = time.monotonic()
        self._only: OnlyRun | None = None

    def prepare(self) -> None:
        """Make the project: a copy of the environment, and what plain Pulumi needs.

        The folder is this run's until the process and every command of it have ended, or ``leave`` is called. Raises
        UsageError when another run has it, before anything of that is touched.
        """
        self._only = self._only or OnlyRun(self.layout.root)
        shutil.rmtree(self.layout.root, ignore_errors=True)
        shutil.copytree(self._source, self.environment, ignore=shutil.ignore_patterns("lock"))
        for name in ("Pulumi.yaml", "main.py"):
            source = ROOT / "automation" / "cli" / "templates" / "project"
            template = source / name if (source / name).exists() else source / f"{name}.template"
            shutil.copy(template, self.layout.root / name)
        self._world().write(self._scenario)

    def leave(self) -> None:
        """Let another run have the folder."""
        if self._only is not None:
            self._only.close()
            self._only = None

    @property
    def handed_down(self) -> tuple[int, ...]:
        """The descriptors for every command: with them the folder is taken for as long as one of them runs."""
        return () if self._only is None else (self._only.descriptor,)

    def _world(self) -> Scenario:
        """Return the scenario of its clouds. On a real control plane nodes know by themselves what cannot be pulled."""
        if self.layout.backed:
            return Scenario.of(backing=Backing.KUBERNETES)
        fault = Fault(type="kubernetes:apps/v1:Deployment", image=f"*:{_BROKEN_TAG}", fail=Failure.CREATED_BUT_FAILED)
        return Scenario.of(fault)

    def scene(self, title: str, words: str) -> None:
        """Print the head of a scene."""
        seconds = time.monotonic() - self._began
        sys.stdout.write(f"\n{_RULE}\n{title}  [{seconds:.0f} s]\n{words}\n{_RULE}\n")
        sys.stdout.flush()

    def run(self, *arguments: str, code: int = 0) -> None:
        """Run one command as a person would, show it and everything it prints, and check how it ends."""
        sys.stdout.write(f"\n$ berth {' '.join(arguments)}\n")
        sys.stdout.flush()
        done = subprocess.run(  # noqa: S603 (our own command)
            [sys.executable, "-m", "automation.cli", *arguments],
            cwd=self.layout.root,
            env=self.variables(),
            stdin=subprocess.DEVNULL,
            pass_fds=self.handed_down,
            check=False,
        )
        if done.returncode != code:
            raise DriverError(f"berth {arguments[0]} ended with {done.returncode}, the demo expects {code}")
        if code:
            sys.stdout.write(f"(exit code {code})\n")
            sys.stdout.flush()

    def edit(self, file: str, *changes: tuple[str, str]) -> Callable[[], None]:
        """Replace texts in a manifest, show the difference, and return what undoes it."""
        path = self.environment / file
        before = after = path.read_text(encoding="utf-8")
        for old, new in changes:
            if old not in after:
                raise DriverError(f"{file} does not hold {old!r}")
            after = after.replace(old, new, 1)
        path.write_text(after, encoding="utf-8")
        sys.stdout.write(f"\n# {file}\n")
        lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm=""))[2:]
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()

        def undo() -> None:
            sys.stdout.write(f"\n# {file}: the edit is taken back\n")
            path.write_text(before, encoding="utf-8")

        return undo

    def left_in_clouds(self) -> list[str]:
        """Return what the simulated clouds still hold."""
        cloud = SimulatedCloud(self.layout.simulated_clouds)
        return [f"{each.type} {each.id}" for each in cloud.resources() if not each.made_for]

    def variables(self) -> Mapping[str, str]:
        """Return the variables of every command."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("BERTH_")}
        here = Layout(ROOT).bin
        return {
            **kept,
            "PATH": f"{here}{os.pathsep}{kept.get('PATH', '')}",
            "BERTH_SIMULATED": "1",
            "BERTH_ENV": self._source.name,
            SCENARIO_VARIABLE: str(self._scenario),
        }


def main() -> None:
    """Run every scene; any surprise ends the demo with a failure."""
    try:
        _scenes()
    except BerthError as error:
        sys.stdout.flush()
        sys.exit(f"the demo stops: {error}")


def _scenes() -> None:
    demo = Demo(Layout(ROOT).berth / "demo", ROOT / "stacks" / "environments" / "dev")
    demo.prepare()
    _plan_and_apply(demo)
    _mistakes(demo)
    _policy(demo)
    give_back = _drain(demo)
    _broken_image(demo, give_back)
    _teardown(demo)


def _plan_and_apply(demo: Demo) -> None:
    demo.scene(
        "1. A plan",
        "Two EKS clusters, an existing one as front door, five deployments. Nothing exists yet, nothing is changed.",
    )
    demo.run("plan")
    demo.scene(
        "2. Apply it",
        "Step by step: build, then shift traffic, each previewed and gated. One deployment cannot be placed, so the\n"
        "run does not call itself a success (exit code 1); everything else goes ahead.",
    )
    demo.run("up", "--yes", code=1)
    demo.run("status")
    demo.scene("3. Plan again", "Nothing changed, so there is nothing to do.")
    demo.run("plan", "--expect-no-changes")
    demo.run("explain", "deepseek-v3")


def _mistakes(demo: Demo) -> None:
    demo.scene("4. Mistakes", "A misspelt key, and a selector that does not compile: located, and nothing is changed.")
    undo_key = demo.edit("models/ml-team/qwen3-8b.yaml", ("  replicas: 1", "  repilcas: 1"))
    undo_selector = demo.edit(
        "models/search/reranker.yaml", ("memory.compareTo(quantity('40Gi')) >= 0", "memory.compareTo('40Gi') >= 0")
    )
    demo.run("up", "--yes", code=2)
    undo_selector()
    undo_key()


def _policy(demo: Demo) -> None:
    demo.scene(
        "5. A change that breaks a policy",
        "A container would see every GPU of its node, also those that another replica claims.",
    )
    image = "                      image: vllm/vllm-openai:v0.23.0\n"
    variable = "                      env:\n                        - {name: NVIDIA_VISIBLE_DEVICES, value: all}\n"
    undo = demo.edit("models/search/embedder.yaml", (image, f"{image}{variable}"))
    demo.run("up", "--yes", code=5)
    undo()
    demo.run("plan", "--expect-no-changes")


def _drain(demo: Demo) -> Callable[[], None]:
    demo.scene(
        "6. Drain a cluster",
        "A NoExecute taint: what runs there moves. A successor serves before its predecessor goes.",
    )
    cluster = "  name: eks-euw1\n  labels:\n    region: eu-west-1\n    provider: aws\nspec:\n"
    undo = demo.edit(
        "platform/clusters.yaml",
        (cluster, f"{cluster}  taints:\n    - key: maintenance\n      effect: NoExecute\n"),
    )
    demo.run("up", "--yes", code=1)
    demo.run("status")
    return undo


def _broken_image(demo: Demo, give_back: Callable[[], None]) -> None:
    demo.scene(
        "7. An image that cannot be pulled",
        "The drained cluster is back. One team ships a broken image, another a good one. The broken successor gets no\n"
        "traffic, the old replica keeps serving, and the other team's change goes through.",
    )
    give_back()
    undo = demo.edit("models/search/embedder.yaml", ("vllm/vllm-openai:v0.23.0", f"vllm/vllm-openai:{_BROKEN_TAG}"))
    demo.edit("models/ml-team/qwen3-8b.yaml", ("vllm/vllm-openai:v0.23.0", "vllm/vllm-openai:v0.25.1"))
    demo.run("up", "--yes", code=4)
    demo.run("status")
    undo()
    demo.run("up", "--yes", code=1)


def _teardown(demo: Demo) -> None:
    demo.scene("8. Teardown", "Everything goes, but for namespaces that others may use; they are listed.")
    demo.run("destroy", "--yes")
    left = demo.left_in_clouds()
    sys.stdout.write("\nLeft in the simulated clouds:\n")
    sys.stdout.writelines(f"  {each}\n" for each in left)
    surprising = [each for each in left if not each.startswith("kubernetes:core/v1:Namespace ")]
    if surprising:
        raise DriverError(f"the teardown left {', '.join(surprising)}")
    demo.scene("Done", "Every exit code was as expected, and the clouds hold nothing but what is listed above.")


if __name__ == "__main__":
    main()
