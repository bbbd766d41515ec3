"""A small valid environment as text, and edits of it: the ground of the loader's tests."""

from dataclasses import dataclass
from pathlib import Path

from components.api.load import LoadResult, load_fleet
from components.errors import Problem

ENVIRONMENT = """\
apiVersion: berth.dev/v1alpha1
kind: Environment
metadata:
  name: dev
spec:
  layout: Single
  frontDoors: [edge]
"""

CLASSES = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata:
  name: l4
spec:
  description: One NVIDIA L4.
  provisioning:
    provider: EKS
    eks:
      instanceType: g6.xlarge
      diskSizeGb: 200
      accelerator: {type: nvidia-l4, count: 1}
  devices:
  - name: gpu
    claim: DRA
    driver: gpu.nvidia.com
    deviceClassName: gpu.nvidia.com
    count: 1
    attributes:
      architecture: {string: Ada Lovelace}
      cudaComputeCapability: {version: 8.9.0}
    capacity:
      memory: {value: 23034Mi}
---
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata:
  name: h100x8
spec:
  provisioning:
    provider: EKS
    eks: {instanceType: p5.48xlarge, accelerator: {type: nvidia-h100, count: 8}}
    gke: {machineType: a3-highgpu-8g, accelerator: {type: nvidia-h100-80gb, count: 8}}
    aks: {vmSize: Standard_ND96isr_H100_v5, accelerator: {type: nvidia-h100, count: 8}}
    nebius: {platform: gpu-h100-sxm, preset: 8gpu-128vcpu-1600gb, accelerator: {type: nvidia-h100, count: 8}}
    vultr: {plan: vbm-112c-2048gb-8-h100-gpu, accelerator: {type: nvidia-h100, count: 8}}
  devices:
  - name: gpu
    driver: gpu.nvidia.com
    deviceClassName: gpu.nvidia.com
    count: 8
    capacity:
      memory: {value: 81559Mi}
  - name: nic
    claim: Synthetic
    driver: nic.nvidia.com
    attributes:
      linkType: {string: infiniband}
"""

EAST = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata:
  name: east
  labels:
    tier: prod
spec:
  cluster:
    source: EKS
    eks:
      region: us-east-1
  taints:
  - {key: reserved, value: search, effect: NoSchedule}
  nodePools:
  - name: l4
    className: l4
    nodeCount: 2
    maxNodeCount: 4
    zones: [us-east-1a]
  - name: h100
    className: h100x8
    nodeCount: 2
    zones: [us-east-1b]
    fabric: {type: EFA}
"""

EDGE = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata:
  name: edge
spec:
  cluster:
    source: Existing
    existing:
      secretRef: {name: edge-kubeconfig}
"""

GATEWAY = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceGateway
metadata:
  name: default
spec:
  backend: Traefik
  traefik:
    version: 40.2.0
"""

DEPLOYMENT = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata:
  name: qwen
spec:
  replicas: 2
  template:
    metadata:
      labels:
        model: qwen
    spec:
      clusterSelector:
        matchLabels:
          tier: prod
      modelCacheRef:
        name: weights
      serving:
        mode: Unified
      tolerations:
      - key: reserved
        operator: Exists
        effect: NoSchedule
      engines:
      - name: main
        copies: 1
        members:
        - role: Standalone
          nodeSelector:
            devices:
            - name: gpu
              count: 1
              selectors:
              - cel: device.attributes["gpu.nvidia.com"].architecture == "Ada Lovelace"
          template:
            metadata:
              labels:
                app.kubernetes.io/name: qwen
            spec:
              containers:
              - name: engine
                image: vllm/vllm-openai:v0.23.0
                args:
                - --max-model-len=8192
                env:
                - name: HF_TOKEN
                  valueFrom:
                    secretKeyRef:
                      name: hf
                      key: token
"""

GANG = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata:
  name: coder
spec:
  replicas: 1
  template:
    spec:
      tolerations: [{key: reserved, value: search}]
      engines:
      - name: main
        members:
        - role: Leader
          nodeSelector:
            devices:
            - {name: gpu, count: 8, selectors: [{cel: 'device.driver == "gpu.nvidia.com"'}]}
          template:
            spec:
              containers: [{name: engine, image: "vllm/vllm-openai:v0.23.0"}]
        - role: Worker
          worker: {nodes: 1}
          nodeSelector:
            devices:
            - {name: gpu, count: 8, selectors: [{cel: 'device.driver == "gpu.nvidia.com"'}]}
          template:
            spec:
              containers: [{name: engine, image: "vllm/vllm-openai:v0.23.0"}]
"""

CACHE = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelCache
metadata:
  name: weights
spec:
  source: HuggingFace
  huggingFace:
    repo: Qwen/Qwen3-8B
    revision: main
    authSecret: {name: hf}
    sizeGiB: 40
"""

SERVICE = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelService
metadata:
  name: chat
spec:
  endpoints:
  - weight: 95
    selector:
      matchLabels:
        model: qwen
  - weight: 5
    selector:
      matchLabels:
        provider: together
"""

ENDPOINT = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata:
  name: together
  labels:
    provider: together
spec:
  url: https://api.together.xyz/
  rewritePath: /
"""

FILES: dict[str, str] = {
    "environment.yaml": ENVIRONMENT,
    "platform/classes.yaml": CLASSES,
    "platform/east.yaml": EAST,
    "platform/edge.yaml": EDGE,
    "platform/gateway.yaml": GATEWAY,
    "models/ml/qwen.yaml": DEPLOYMENT,
    "models/ml/coder.yaml": GANG,
    "models/ml/cache.yaml": CACHE,
    "models/ml/service.yaml": SERVICE,
    "models/ml/endpoint.yaml": ENDPOINT,
}
"""Every kind, valid, without a warning."""

NAMES = {
    "environment": "environment.yaml",
    "classes": "platform/classes.yaml",
    "east": "platform/east.yaml",
    "edge": "platform/edge.yaml",
    "gateway": "platform/gateway.yaml",
    "qwen": "models/ml/qwen.yaml",
    "coder": "models/ml/coder.yaml",
    "cache": "models/ml/cache.yaml",
    "service": "models/ml/service.yaml",
    "endpoint": "models/ml/endpoint.yaml",
}
"""Short names of the files, for tables."""

OWN = ("modelplane.ai/v1alpha1", "berth.dev/v1alpha1")
"""The edit that puts a document under Berth's own apiVersion."""


@dataclass(frozen=True)
class Edit:
    """One replacement in one file; the old text must be there, and its first occurrence is replaced."""

    file: str
    old: str
    new: str


def files(*edits: Edit, without: tuple[str, ...] = (), **more: str) -> dict[str, bytes]:
    """Return the environment's files after edits; ``more`` adds or replaces files by their short name or path."""
    found = dict(FILES)
    for edit in edits:
        path = NAMES[edit.file]
        assert edit.old in found[path], f"{edit.old!r} is not in {path}"
        found[path] = found[path].replace(edit.old, edit.new, 1)
    for name in without:
        del found[NAMES[name]]
    for name, text in more.items():
        found[NAMES.get(name, name)] = text
    return {path: text.encode() for path, text in found.items()}


def write_project(root: Path) -> Path:
    """Write the sample environment into a project of its own; gives its root."""
    (root / "Pulumi.yaml").write_text("name: berth\n")
    for path, content in files().items():
        file = root / "stacks/environments/dev" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return root


def load(*edits: Edit, without: tuple[str, ...] = (), **more: str) -> LoadResult:
    """Load the environment after edits."""
    return load_fleet(files(*edits, without=without, **more).items(), name="dev")


def pointed(problem: Problem) -> str:
    """Return what stands under a problem's caret, to the end of its line."""
    return problem.text[problem.column - 1 :] if problem.column else ""
