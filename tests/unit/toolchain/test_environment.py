"""The variables of engine calls: what a simulated run may see, and what a real one keeps."""

import os
import sys
from pathlib import Path

import pytest

from automation.engine.toolchain import credentials
from automation.engine.toolchain.environment import engine_environment, environment_changes, plain_environment
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Source, Toolchain

SECRET = "sample-token-5d1f"

LEADS_TO_A_CLOUD = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "GOOGLE_CREDENTIALS",
    "GOOGLE_OAUTH_ACCESS_TOKEN",
    "CLOUDSDK_AUTH_ACCESS_TOKEN",
    "ARM_CLIENT_SECRET",
    "AZURE_CLIENT_SECRET",
    "AZURE_FEDERATED_TOKEN_FILE",
    "IDENTITY_ENDPOINT",
    "MSI_ENDPOINT",
    "NEBIUS_IAM_TOKEN",
    "VULTR_API_KEY",
    "KUBE_TOKEN",
    "KUBERNETES_SERVICE_HOST",
    "NGC_API_KEY",
    "NVIDIA_API_KEY",
    "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "VAULT_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "PULUMI_ACCESS_TOKEN",
    "PULUMI_BACKEND_URL",
    "PULUMI_CONFIG_PASSPHRASE",
    "PULUMI_CONFIG_PASSPHRASE_FILE",
    "PULUMI_CREDENTIALS_PATH",
    "PULUMI_DEBUG_PROVIDERS",
    "PULUMI_HOME",
    "PULUMI_OPTION_CONFIG_FILE",
    "PULUMI_OPTION_CWD",
]


@pytest.mark.parametrize("name", LEADS_TO_A_CLOUD)
@pytest.mark.parametrize("environment", [engine_environment, plain_environment])
def test_nothing_that_leads_to_a_cloud_reaches_a_simulated_run(layout: Layout, environment, name: str) -> None:  # noqa: ANN001 (a fixture)
    """Credentials, profiles, token endpoints, real backends and attached providers."""
    assert SECRET not in environment(layout, simulated=True, base={name: SECRET}).values()


def test_files_with_credentials_are_looked_for_where_nothing_is(layout: Layout) -> None:
    """Without these variables a tool would read the files in the user's home."""
    variables = engine_environment(layout, simulated=True, base={"HOME": "/home/somebody"})
    for name in credentials.FILES:
        path = Path(variables[name])
        assert path.parent == layout.simulated_nowhere
        assert not path.exists()
    assert variables["AWS_EC2_METADATA_DISABLED"] == "true"


def test_a_simulated_run_has_a_home_a_backend_and_a_passphrase_of_its_own(layout: Layout) -> None:
    """And says that it is simulated, to the program and to every plugin."""
    variables = engine_environment(layout, simulated=True, base={})
    assert variables["BERTH_SIMULATED"] == "1"
    assert variables["PULUMI_HOME"] == str(layout.simulated_home)
    assert variables["PULUMI_BACKEND_URL"] == layout.simulated_state.as_uri()
    assert "simulated" in variables["PULUMI_CONFIG_PASSPHRASE"]
    assert variables["PULUMI_IGNORE_AMBIENT_PLUGINS"] == "true"
    assert variables["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] == "true"
    assert variables["PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"].endswith(".invalid")


def test_a_folder_with_a_blank_gives_a_backend_address_that_pulumi_reads(tmp_path: Path) -> None:
    """The backend is an address, not a path."""
    variables = engine_environment(Layout(tmp_path / "my repo"), simulated=True, base={})
    assert "my%20repo" in variables["PULUMI_BACKEND_URL"]


@pytest.mark.parametrize("name", ["HOME", "LANG", "HTTPS_PROXY", "PULUMI_PARALLEL", "PULUMI_OPTION_COLOR", "TERM"])
def test_what_only_changes_how_things_work_is_kept(layout: Layout, name: str) -> None:
    """In simulated runs too."""
    assert engine_environment(layout, simulated=True, base={name: "x"})[name] == "x"


def test_a_real_run_keeps_what_its_user_has_set(layout: Layout) -> None:
    """Credentials, the backend and the passphrase are the user's business."""
    base = {name: f"{name}-value" for name in LEADS_TO_A_CLOUD if name != "PULUMI_HOME"}
    variables = engine_environment(layout, simulated=False, base=base)
    assert {name: variables[name] for name in base} == base
    assert "BERTH_SIMULATED" not in variables


def test_a_real_run_has_its_own_home_and_no_backend_of_its_own(layout: Layout) -> None:
    """Nothing is written to the user's ``~/.pulumi``, and nobody's state goes to a default place; plugins may come."""
    variables = engine_environment(layout, simulated=False, base={"PULUMI_HOME": "/home/somebody/.pulumi"})
    assert variables["PULUMI_HOME"] == str(layout.home)
    assert "PULUMI_BACKEND_URL" not in variables
    assert "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION" not in variables


@pytest.mark.parametrize("variable", ["HOME", "PULUMI_HOME"])
def test_a_login_of_the_user_is_used_where_it_is(layout: Layout, tmp_path: Path, variable: str) -> None:
    """A home of our own would hide it."""
    folder = tmp_path / ".pulumi"
    folder.mkdir()
    (folder / "credentials.json").write_text("{}")
    base = {variable: str(tmp_path if variable == "HOME" else folder)}
    assert engine_environment(layout, simulated=False, base=base)["PULUMI_CREDENTIALS_PATH"] == str(folder)
    assert "PULUMI_CREDENTIALS_PATH" not in engine_environment(layout, simulated=True, base=base)


def test_without_a_login_the_users_home_is_not_touched(layout: Layout, tmp_path: Path) -> None:
    """The CLI would create the folder that this variable names."""
    assert "PULUMI_CREDENTIALS_PATH" not in engine_environment(layout, simulated=False, base={"HOME": str(tmp_path)})


def test_a_shell_that_was_set_up_for_simulated_runs_can_run_for_real(layout: Layout) -> None:
    """Whatever ``berth env`` has set for the simulation is taken away again."""
    clean = {"PATH": "/usr/bin", "HOME": "/home/somebody"}
    shell = plain_environment(layout, simulated=True, base=clean)
    real = engine_environment(layout, simulated=False, base=shell)
    assert real == engine_environment(layout, simulated=False, base=clean)


def test_what_a_user_has_chosen_is_not_taken_for_a_left_over(layout: Layout) -> None:
    """A value that is also one of ours says nothing, in a shell that does not say it is simulated."""
    base = {"AWS_EC2_METADATA_DISABLED": "true", "PULUMI_BACKEND_URL": layout.simulated_state.as_uri()}
    variables = engine_environment(layout, simulated=False, base=base)
    assert variables["AWS_EC2_METADATA_DISABLED"] == "true"
    assert "PULUMI_BACKEND_URL" not in variables


def test_the_cli_and_our_interpreter_come_first_on_path(layout: Layout, tmp_path: Path) -> None:
    """The official language host takes the first Python; each folder stands there once."""
    venv = str(Path(sys.executable).parent)
    pulumi = tmp_path / "tools" / "pulumi"
    pulumi.parent.mkdir()
    pulumi.touch()
    base = {"PATH": os.pathsep.join(["/usr/bin", venv, "/bin"])}
    toolchain = Toolchain(pulumi=pulumi, version="3.280.0", source=Source.PATH)
    path = engine_environment(layout, simulated=True, base=base, toolchain=toolchain)["PATH"]
    assert path.split(os.pathsep) == [str(pulumi.parent), venv, "/usr/bin", "/bin"]
    assert engine_environment(layout, simulated=True, base=base)["PATH"].split(os.pathsep)[0] == venv


def test_a_relative_folder_of_environments_is_made_absolute(layout: Layout) -> None:
    """The program runs in another folder than Berth."""
    for text, want in (("envs", layout.root / "envs"), ("/srv/envs", Path("/srv/envs"))):
        variables = engine_environment(layout, simulated=False, base={"BERTH_ENVIRONMENTS": text})
        assert variables["BERTH_ENVIRONMENTS"] == str(want)


def test_a_backed_run_reaches_this_machine_and_nothing_else(layout: Layout) -> None:
    """Real providers run in it: every other address would go through a proxy that is not there."""
    backed = Layout(layout.root, backed=True)
    base = {"https_proxy": "http://proxy.corp:3128", "HTTPS_PROXY": "http://proxy.corp:3128", "ALL_PROXY": "x"}
    found = engine_environment(backed, simulated=True, base=base)
    assert found["HTTPS_PROXY"] == found["HTTP_PROXY"] == "http://127.0.0.1:9"
    assert not {"https_proxy", "ALL_PROXY"} & found.keys()
    assert (found["BERTH_BACKED"], found["BERTH_SIMULATED"]) == ("1", "1")
    assert found["PULUMI_HOME"] == str(layout.berth / "backed" / "home")
    assert found["PATH"].split(os.pathsep)[0] == str(backed.backed_programs)
    for name in LEADS_TO_A_CLOUD:
        assert SECRET not in engine_environment(backed, simulated=True, base={name: SECRET}).values()


@pytest.mark.parametrize("now", ["real", "simulated"])
def test_a_shell_that_was_set_up_for_backed_runs_can_run_otherwise(layout: Layout, now: str) -> None:
    """Nothing of the backed world is taken along, not its stand-ins for the programs of clouds either."""
    backed = Layout(layout.root, backed=True)
    base = plain_environment(backed, simulated=True, base={"PATH": "/usr/bin"})
    found = engine_environment(layout, simulated=now == "simulated", base=base)
    assert "BERTH_BACKED" not in found
    assert not [value for value in found.values() if "backed" in value.removeprefix(str(layout.root))]
    assert found.get("BERTH_SIMULATED") == ("1" if now == "simulated" else None)


def test_plain_pulumi_is_sent_to_the_project_of_the_simulated_runs(layout: Layout) -> None:
    """Its stack configuration lies there; the driver chooses the folder of its calls itself."""
    assert plain_environment(layout, simulated=True, base={})["PULUMI_OPTION_CWD"] == str(layout.simulated_project)
    assert "PULUMI_OPTION_CWD" not in engine_environment(layout, simulated=True, base={})
    assert "PULUMI_OPTION_CWD" not in plain_environment(layout, simulated=False, base={})


def test_a_shell_is_told_what_to_set_and_what_to_unset() -> None:
    """What stays as it is, is not mentioned."""
    changes = environment_changes({"A": "1", "B": "2", "C": "3"}, base={"B": "2", "C": "0", "D": "4"})
    assert list(changes.items()) == [("A", "1"), ("C", "3"), ("D", None)]
