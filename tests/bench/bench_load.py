"""Measures loading: time and memory of 1,000 ordinary deployments, as a ratio to plain YAML parsing in the same run.

Run by hand or by ``make bench``; prints one JSON object. The baseline is PyYAML's C loader, which reads the same bytes
without places, duplicate keys, models or rules.
"""

import argparse
import json
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable

import yaml

from components.api.load import load_fleet

PLATFORM = b"""\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: h100}
spec:
  provisioning:
    provider: EKS
    eks:
      instanceType: p5.48xlarge
      accelerator: {type: nvidia-h100, count: 8}
  devices:
  - name: gpu
    driver: gpu.nvidia.com
    deviceClassName: gpu.nvidia.com
    count: 8
    attributes:
      architecture: {string: Hopper}
      cudaComputeCapability: {version: 9.0.0}
    capacity:
      memory: {value: 81559Mi}
---
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: east, labels: {tier: prod}}
spec:
  cluster:
    source: EKS
    eks: {region: us-east-1}
  nodePools:
  - {name: h100, className: h100, zones: [us-east-1a], nodeCount: 4, maxNodeCount: 8}
---
apiVersion: modelplane.ai/v1alpha1
kind: InferenceGateway
metadata: {name: default}
spec: {backend: Traefik, traefik: {version: 40.2.0}}
---
apiVersion: berth.dev/v1alpha1
kind: Environment
metadata: {name: bench}
spec: {frontDoors: [east]}
"""

DEPLOYMENT = """\
# An ordinary deployment: one engine, a handful of arguments, a token, a cache.
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata:
  name: model-{number}
  labels:
    team: search
spec:
  replicas: {replicas}
  template:
    metadata:
      labels:
        model: model-{number}
    spec:
      clusterSelector:
        matchLabels:
          tier: prod
      modelCacheRef:
        name: weights
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
              count: {count}
              selectors:
              - cel: device.attributes["gpu.nvidia.com"].architecture == "Hopper"
              - cel: |
                  device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{memory}Gi")) >= 0
          template:
            metadata:
              labels:
                app.kubernetes.io/name: model-{number}
              annotations:
                prometheus.io/scrape: "true"
            spec:
              containers:
              - name: engine
                image: vllm/vllm-openai:v0.23.0
                args:
                - --tensor-parallel-size={count}
                - --max-model-len=32768
                - --gpu-memory-utilization=0.92
                - --served-model-name=model-{number}
                env:
                - name: HF_HUB_OFFLINE
                  value: "1"
                - name: HF_TOKEN
                  valueFrom:
                    secretKeyRef:
                      name: hf-token
                      key: token
"""

CACHE = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelCache
metadata: {name: weights}
spec:
  source: HuggingFace
  huggingFace: {repo: Qwen/Qwen3-8B, sizeGiB: 100}
"""


def manifests(count: int) -> list[tuple[str, bytes]]:
    """Make a platform and ``count`` deployments, one file each, in ten namespaces."""
    files = [("environment.yaml", PLATFORM)]
    files += [(f"models/team-{number}/cache.yaml", CACHE.encode()) for number in range(10)]
    for number in range(count):
        values = {
            "number": number,
            "replicas": 1 + number % 10,
            "count": (1, 2, 4, 8)[number % 4],
            "memory": 20 + number % 40,
        }
        text = DEPLOYMENT
        for key, value in values.items():
            text = text.replace("{" + key + "}", str(value))
        files.append((f"models/team-{number % 10}/model-{number}.yaml", text.encode()))
    return files


def timed(work: Callable[[], None], repeat: int) -> float:
    """Return the best time of several runs, in seconds."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    files = manifests(options.count)

    def load() -> None:
        load_fleet(files, name="bench").raise_if_errors()

    def baseline() -> None:
        for _, content in files:
            for _ in yaml.load_all(content, Loader=yaml.CSafeLoader):
                pass

    load()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ours, plain = timed(load, options.repeat), timed(baseline, options.repeat)
    tracemalloc.start()
    result = load_fleet(files, name="bench")
    held, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.fleet is not None
    sys.stdout.write(
        json.dumps(
            {
                "manifests": options.count,
                "kilobytes": sum(len(content) for _, content in files) // 1024,
                "seconds": round(ours, 3),
                "baseline_seconds": round(plain, 3),
                "ratio_to_baseline": round(ours / plain, 2),
                "peak_process_mebibytes": round(peak, 1),
                "traced_peak_mebibytes": round(most / 1024 / 1024, 1),
                "traced_held_mebibytes": round(held / 1024 / 1024, 1),
            },
            indent=2,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
