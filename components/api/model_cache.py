"""ModelCache: weights staged once on every cluster that may serve them."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import LabelSelector, Later, Manifest, Model, Ruled, ShortMetadata
from components.api.codes import Code
from components.api.rules import Subdomain, Violation, checked


class AuthSecret(Model):
    """A token, in a secret of the cache's namespace."""

    name: Subdomain
    """Name of the secret."""

    key: Annotated[str, Field(min_length=1)] = "HF_TOKEN"
    """Key in the secret."""


class HuggingFace(Model):
    """A repository on Hugging Face."""

    repo: Annotated[str, Field(min_length=1), checked(syntax.repository, Code.VALUE_INVALID)]
    """Repository, as `owner/name`."""

    revision: Annotated[str, checked(syntax.revision, Code.VALUE_INVALID)] | None = None
    """Branch, tag or commit; the default branch without it."""

    auth_secret: AuthSecret | None = None
    """Token for a gated repository."""

    size_gib: Annotated[int, Field(alias="sizeGiB", ge=1, le=100_000)]
    """Size of the volume, in GiB."""


class ModelCacheSpec(Ruled):
    """Weights and where they are staged."""

    source: Literal["HuggingFace"]
    """Where the weights come from; the block of the same name must be there."""

    hugging_face: HuggingFace | None = None
    """A repository on Hugging Face."""

    cluster_selector: LabelSelector | None = None
    """Clusters it is staged on; every cluster without it."""

    s3: Later = None
    """A bucket on S3."""

    gcs: Later = None
    """A bucket on Google Cloud Storage."""

    oci: Later = None
    """An artefact in an OCI registry."""

    pvc: Later = None
    """A volume claim that exists."""

    ngc: Later = None
    """A model on NVIDIA NGC."""

    include: Later = None
    """Patterns of files to stage."""

    exclude: Later = None
    """Patterns of files to leave out."""

    checksum: Later = None
    """What the staged files must add up to."""

    image: Later = None
    """Image of the job that stages."""

    def rules(self) -> Iterator[Violation]:
        """Check that the source's own block is there."""
        if self.hugging_face is None:
            message = "source HuggingFace needs the block `huggingFace` beside it"
            yield Violation(Code.BLOCK_MISSING, message, ("source",))


class ModelCache(Manifest):
    """Weights staged on clusters."""

    SHORT_NAME: ClassVar[str] = "mc"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("SOURCE", "spec.huggingFace.repo"),)

    kind: Literal["ModelCache"]
    """Always `ModelCache`."""

    metadata: ShortMetadata
    """Name, namespace, labels and annotations."""

    spec: ModelCacheSpec
    """The cache."""

    @property
    def size_gib(self) -> int:
        """Size of the volume, in GiB."""
        return self.spec.hugging_face.size_gib if self.spec.hugging_face else 0
