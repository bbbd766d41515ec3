"""One right document of every kind that the predecessor's machinery writes, as text."""

from components.api.kinds import api_versions

HEAD = """\
apiVersion: infrastructure.modelplane.ai/v1alpha1
kind: {kind}
metadata: {{name: a, namespace: modelplane-system}}
"""
SPECS = {
    "EKSCluster": """\
spec:
  region: us-east-1
  nodePools:
  - {name: system, role: System, instanceType: m6i.xlarge, maxNodeCount: 2}
  - name: gpu
    role: GPU
    instanceType: p5.48xlarge
    gpu: {acceleratorType: h100}
    zones: [us-east-1a]
    fabric: EFA
    capacityBlock: {capacityReservationId: cr-0a1b}
""",
    "GKECluster": """\
spec:
  region: us-central1
  nodePools:
  - name: gpu
    role: GPU
    machineType: a3-highgpu-8g
    gpu: {acceleratorType: h100, acceleratorCount: 8}
    zones: [us-central1-a]
""",
    "AKSCluster": """\
spec:
  location: eastus
  nodePools:
  - {name: gpu, role: GPU, vmSize: Standard_ND96isr_H100_v5, gpu: {acceleratorType: h100}, fabric: InfiniBand}
""",
    "NebiusCluster": """\
spec:
  nodePools:
  - name: gpu
    role: GPU
    platform: gpu-h100-sxm
    preset: 8gpu-128vcpu-1600gb
    gpu: {acceleratorType: h100}
    fabric: {type: InfiniBand, infiniband: {fabric: fabric-2}}
""",
    "VultrCluster": """\
spec:
  region: ewr
  nodePools:
  - {name: gpu, role: GPU, plan: vbm-8-h100, gpu: {acceleratorType: h100}, minNodeCount: 1, maxNodeCount: 2}
""",
    "ServingStack": """\
spec:
  secrets:
  - {type: Kubeconfig, name: a, key: kubeconfig}
  - {type: NebiusServiceAccountCredentials, name: b, key: c, namespace: d}
  gateway: {listeners: [{name: http, port: 80, protocol: HTTP}]}
""",
    "ModelReplica": """\
spec:
  clusterName: east
  engines:
  - name: main
    members:
    - nodePoolName: l4
      deviceRequests:
      - {name: gpu, deviceClassName: gpu.nvidia.com, selectors: [{cel: 'true'}]}
      template: {spec: {containers: [{name: engine, image: a}]}}
""",
}


def document(kind: str, old: str = "", new: str = "") -> str:
    """Write a document of a kind, with one edit."""
    assert old in SPECS[kind]
    head = HEAD.format(kind=kind).replace("infrastructure.modelplane.ai/v1alpha1", api_versions(kind)[0])
    return head + SPECS[kind].replace(old, new, 1)
