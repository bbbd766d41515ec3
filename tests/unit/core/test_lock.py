"""A lock is read as it was written, equal locks are equal bytes, and a newer or broken one is refused."""

from itertools import permutations

import pytest

from components.errors import LockError, NewerLock
from components.lock import (
    Backend,
    CacheEntry,
    CacheShape,
    CacheUse,
    Claim,
    ClusterEntry,
    EnginePlacement,
    EngineShape,
    ExternalEndpoint,
    Lock,
    MemberPlacement,
    MemberShape,
    NamespaceEntry,
    NamespaceLock,
    PlatformLock,
    ReplicaEntry,
    ReplicaShape,
    RequestShape,
    ServiceEntry,
    dump_lock,
    load_lock,
    shape_digest,
)
from components.naming import ReplicaId

CACHE = CacheShape(source="HuggingFace", repo="Qwen/Qwen2.5-0.5B", size_gib=10)
SHAPE = ReplicaShape(
    cache=CacheUse(name="qwen", shape=shape_digest(CACHE)),
    engines=(
        EngineShape(
            name="engine",
            members=(
                MemberShape(
                    role="Standalone",
                    requests=(RequestShape(name="gpu", count=1, selectors=("true",)),),
                    template={
                        "spec": {"containers": [{"name": "engine", "image": "a:1", "args": ["no", "1.0", "on"]}]}
                    },
                ),
            ),
        ),
    ),
)
PLACEMENT = (
    EnginePlacement(
        engine="engine", members=(MemberPlacement(pool="l4", claims=(Claim(request="gpu", device_class="g"),)),)
    ),
)
UNUSED = ReplicaShape(engines=())


def replica(cluster: str, index: int) -> ReplicaEntry:
    """Make an entry."""
    return ReplicaEntry(
        deployment="qwen",
        cluster=cluster,
        index=index,
        name=f"qwen-{cluster}-{index}",
        shape=shape_digest(SHAPE),
        labels={"tier": "gold"},
        placement=PLACEMENT,
    )


def lock(replicas: tuple[ReplicaEntry, ...], clusters: tuple[str, ...] = ("b", "a")) -> Lock:
    """Make a lock with everything in it."""
    platform = PlatformLock(
        berth="0.1.0",
        environment="dev",
        digest="sha256:0",
        clusters=tuple(ClusterEntry(name=name, source="EKS", release="default") for name in clusters),
        front_doors=("a",),
    )
    part = NamespaceLock(
        berth="0.1.0",
        namespace="ml-team",
        digest="sha256:1",
        namespaces=(NamespaceEntry(cluster="b"), NamespaceEntry(cluster="a", created=False)),
        caches=(CacheEntry(cache="qwen", cluster="a", shape=shape_digest(CACHE)),),
        replicas=replicas,
        endpoints=(ExternalEndpoint(name="together", url="https://api.example.com", rewrite_path="/"),),
        services=(ServiceEntry(name="chat", backends=(Backend(endpoint="qwen-a-0", weight=3),)),),
        shapes={shape_digest(SHAPE): SHAPE, shape_digest(CACHE): CACHE, shape_digest(UNUSED): UNUSED},
    )
    return Lock(platform, {"ml-team": part})


def test_a_lock_reads_back_as_it_was_written() -> None:
    """Writing, reading and writing again gives the same bytes and the same values."""
    files = dump_lock(lock((replica("a", 0), replica("b", 1))))
    back = load_lock(files)
    assert back is not None
    assert dump_lock(back) == files
    identities = [identity for identity, _, _ in back.replicas()]
    assert identities == [ReplicaId("ml-team", "qwen", "a", 0), ReplicaId("ml-team", "qwen", "b", 1)]
    assert next(back.replicas())[2] == SHAPE
    assert next(back.caches())[2] == CACHE


def test_order_changes_no_byte() -> None:
    """Entries in any order make the same file."""
    entries = (replica("a", 0), replica("b", 0), replica("a", 1))
    texts = {dump_lock(lock(tuple(order)))["ml-team.yaml"] for order in permutations(entries)}
    texts_of_platform = {dump_lock(lock(entries, order))["platform.yaml"] for order in (("a", "b"), ("b", "a"))}
    assert len(texts) == 1
    assert len(texts_of_platform) == 1


def test_a_shape_that_nothing_uses_is_dropped() -> None:
    """A lock holds exactly the shapes that its entries name."""
    text = dump_lock(lock((replica("a", 0),)))["ml-team.yaml"].decode()
    assert shape_digest(UNUSED) not in text
    assert shape_digest(SHAPE) in text


def test_words_that_yaml_reads_as_values_stay_words() -> None:
    """Arguments such as ``no`` and ``1.0`` come back as the strings they were."""
    back = load_lock(dump_lock(lock((replica("a", 0),))))
    assert back is not None
    template = next(back.replicas())[2].engines[0].members[0].template
    assert template["spec"]["containers"][0]["args"] == ["no", "1.0", "on"]


def torn(*, was: str, now: str) -> dict[str, bytes]:
    """Return the files of a lock in which somebody changed a text."""
    files = dump_lock(lock((replica("a", 0), replica("b", 1))))
    text = files["ml-team.yaml"].decode()
    assert was in text
    return files | {"ml-team.yaml": text.replace(was, now).encode()}


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ("image: a:1", "image: b:1", "was edited"),
        (f"  {shape_digest(SHAPE)}:", f"  {shape_digest(UNUSED)}:", "was edited"),
        (f"0\n  shape: {shape_digest(CACHE)}", f"0\n  shape: {shape_digest(SHAPE)}", "is not there"),
        (f"  shape: {shape_digest(SHAPE)}", f"  shape: {shape_digest(UNUSED)}", "is not there"),
        ("cluster: b\n  index: 1", "cluster: a\n  index: 0", "ml-team/qwen/a/0 is there twice"),
        ("namespace: ml-team", "namespace: other", "whose file is another"),
    ],
    ids=["image edited", "digest edited", "replica's shape for a cache", "no such shape", "one twice", "other file"],
)
def test_a_lock_that_a_merge_or_an_edit_tore_is_refused(was: str, now: str, words: str) -> None:
    """What is reviewed is what runs: a shape is what its digest says, and nothing is missing or there twice."""
    with pytest.raises(LockError, match=words) as caught:
        load_lock(torn(was=was, now=now))
    assert caught.value.where == "lock/ml-team.yaml"


def test_no_files_are_no_lock() -> None:
    """A first plan has nothing to read."""
    assert load_lock({}) is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("ml-team.yaml", b"version: 99\nkind: NamespaceLock\nberth: 9.0.0\n", "Berth 9.0.0"),
        ("ml-team.yaml", b"[1, 2]", "does not hold a lock"),
        ("ml-team.yaml", b"a: [", "not readable YAML"),
        ("ml-team.yaml", b"\xff\xfe\x00", "not readable YAML"),
        ("ml-team.yaml", b"kind: NamespaceLock\nunknown: 1\n", "cannot be read"),
        ("ml-team.yaml", dump_lock(lock(()))["ml-team.yaml"], "platform.yaml is missing"),
    ],
)
def test_a_lock_that_cannot_be_trusted_is_refused(name: str, content: bytes, words: str) -> None:
    """Each refusal names the file and says what to do."""
    with pytest.raises(LockError, match=words) as caught:
        load_lock({name: content})
    assert caught.value.help


def test_a_newer_lock_is_told_from_a_broken_one() -> None:
    """A broken one may be written over by a plan; a newer one says what this Berth cannot read."""
    with pytest.raises(NewerLock):
        load_lock({"ml-team.yaml": b"version: 99\nkind: NamespaceLock\nberth: 9.0.0\n"})
