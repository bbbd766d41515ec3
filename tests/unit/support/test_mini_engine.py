"""The mini engine answers as the real one does where component tests rely on it."""

import pulumi
import pytest

from tests.support.mini_engine import UNKNOWN, ProgramFailed, Secret, leaves, run_program


class Box(pulumi.ComponentResource):
    """A component with plain props, as all of ours."""

    def __init__(self, name: str) -> None:
        super().__init__("berth:index:Box", name, {"nodePools": [{"minNodes": 1}], "ratio": 0.5})


def test_parent_provider_dependencies_and_options_are_recorded() -> None:
    """Everything that a component test asserts on reaches the record."""

    def program() -> None:
        import pulumi_kubernetes as k8s  # noqa: PLC0415 (as the components do)

        provider = k8s.Provider("there", kubeconfig=pulumi.Output.secret("text"))
        box = Box("a/b")
        first = k8s.core.v1.Namespace("first", opts=pulumi.ResourceOptions(provider=provider, parent=box))
        k8s.core.v1.ConfigMap(
            "second",
            data={"k": "v"},
            opts=pulumi.ResourceOptions(
                provider=provider,
                parent=box,
                depends_on=[first],
                protect=True,
                deleted_with=first,
                ignore_changes=["data"],
                delete_before_replace=True,
            ),
        )
        box.register_outputs({"done": True})

    recorded = run_program(program)
    box, second = recorded.named("a/b"), recorded.named("second")
    assert (box.parent, box.custom, box.outputs) == (recorded.root.urn, False, {"done": True})
    assert box.inputs == {"nodePools": [{"minNodes": 1}], "ratio": 0.5}
    assert second.parent == box.urn
    assert second.provider == recorded.named("there").urn
    assert second.dependencies == (recorded.named("first").urn,)
    assert (second.options.protect, second.options.delete_before_replace) == (True, True)
    assert second.options.deleted_with == recorded.named("first").urn
    assert second.options.ignore_changes == ("data",)
    assert recorded.named("there").inputs == {"kubeconfig": Secret("text")}
    assert recorded.requires(second) >= {box.urn, recorded.named("first").urn, recorded.named("there").urn}


@pytest.mark.parametrize(("dry_run", "want"), [(True, UNKNOWN), (False, "https://main.eks.test")])
def test_computed_outputs_are_unknown_in_a_preview_only(dry_run: bool, want: object) -> None:
    """What a cloud adds is unknown before it exists, and what the program gave is known."""

    def program() -> None:
        import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

        cluster = aws.eks.Cluster("c", name="main", role_arn="arn", vpc_config={"subnet_ids": ["s-1"]})
        pulumi.export("endpoint", cluster.endpoint)
        pulumi.export("name", cluster.name)
        pulumi.export("group", cluster.vpc_config.cluster_security_group_id)

    recorded = run_program(program, dry_run=dry_run)
    assert recorded.outputs["endpoint"] == want
    assert recorded.outputs["name"] == "main"
    assert recorded.outputs["group"] == (UNKNOWN if dry_run else "sg-c")


def test_config_and_secret_config_reach_the_program() -> None:
    """Config keys carry their namespace; a secret one stays a secret on the way out."""

    def program() -> None:
        config = pulumi.Config("berth")
        pulumi.export("plain", config.require("plain"))
        pulumi.export("token", config.require_secret("token"))

    recorded = run_program(program, config={"berth:plain": "x"}, secret_config={"berth:token": "y"}, dry_run=False)
    assert recorded.outputs == {"plain": "x", "token": Secret("y")}


def test_two_resources_with_one_urn_fail_as_in_the_engine() -> None:
    """A doubled logical name is an error, not the last one wins."""

    def program() -> None:
        Box("same")
        Box("same")

    with pytest.raises(ProgramFailed, match="duplicate resource URN"):
        run_program(program)


def test_a_raising_program_fails_with_its_message() -> None:
    """The failure names the program's own error."""

    def program() -> None:
        raise ValueError("no such thing")

    with pytest.raises(ProgramFailed, match="no such thing"):
        run_program(program)
    assert "no such thing" in run_program(program, check=False).error


def test_an_invoke_is_refused_and_recorded() -> None:
    """The program must not ask a provider anything."""

    def program() -> None:
        pulumi.runtime.invoke("aws:index/getRegion:getRegion", {})

    recorded = run_program(program, check=False)
    assert recorded.invokes == ("aws:index/getRegion:getRegion",)
    assert "invokes" in recorded.error


def test_leaves_walk_every_value_with_its_path() -> None:
    """The walker that tests use to look for unknowns and secrets sees all of them."""
    value = {"a": [1, {"b": UNKNOWN}], "c": Secret("s")}
    assert dict(leaves(value)) == {"a[0]": 1, "a[1].b": UNKNOWN, "c": Secret("s")}
