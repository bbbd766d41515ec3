"""Documents with the fields that the other samples lack, so that together they have every field of every kind."""

EXTRA = """\
apiVersion: berth.dev/v1alpha1
kind: Environment
metadata: {name: dev, labels: {a: b}, annotations: {c: d}}
spec:
  layout: PerCluster
  frontDoors: [edge]
  release: default
  scheduling: {strategy: Compatible, accounting: Node}
  protect: true
  secrets: [ml/hf]
  owner: team
  costCentre: "42"
  providers:
    aws: {a: {region: us-east-1, profile: p, roleArn: "arn:aws:iam::1:role/x", externalId: e}}
    gcp: {a: {project: p, impersonateServiceAccount: s}}
    azure: {a: {subscriptionId: s, tenantId: t, clientId: c}}
    nebius: {a: {project: p, secret: ml/n}}
    vultr: {a: {secret: ml/v}}
---
apiVersion: berth.dev/v1alpha1
kind: Environment
metadata: {name: limited}
spec:
  scheduling:
    strategy: Cost
    repinDwell: 1h30m
    fabric: Any
    preemption: true
    surge: {maxSurge: 8, maxSurgePerCluster: 2}
  budget: {maxCostPerHour: 250.5, enforcement: Advisory}
  quotas: {ml: {devices: {nvidia-h100: 16}, nodes: 4, maxCostPerHour: 100}}
  observation: {maxAge: 10m}
---
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: a}
spec:
  devices:
  - name: gpu
    driver: d
    deviceClassName: c
    attributes: {a: {string: x}, b: {version: 1.2.3}, c: {bool: true}, d: {int: 5}}
---
apiVersion: modelplane.ai/v1alpha1
kind: InferenceGateway
metadata: {name: default}
spec:
  backend: Traefik
  traefik: {version: 1.0.0, loadBalancer: MetalLB, metallb: {addressPool: 10.0.0.1-10.0.0.9}}
---
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: a, labels: {a: b}, annotations: {c: d}}
spec:
  cluster:
    source: Existing
    existing:
      secretRef: {name: a, key: b}
      identitySecretRef: {name: a, key: b, type: AWSWebIdentityCredentials}
      cache: {storageClassName: nfs}
    gke: {region: r, kubernetesVersion: "1.35", credentials: {type: ProviderConfig, name: a}}
    eks: {region: r, kubernetesVersion: "1.35", credentials: {type: ProviderConfig, name: a}}
    aks: {location: r, kubernetesVersion: "1.35", credentials: {type: ProviderConfig, name: a}}
    nebius: {kubernetesVersion: "1.35", credentials: {type: ProviderConfig, name: a}}
    vultr: {region: r, kubernetesVersion: v1.36.1+3, credentials: {type: ProviderConfig, name: a}}
  nodePools:
  - name: p
    className: c
    nodeCount: 1
    minNodeCount: 1
    maxNodeCount: 2
    zones: [a]
    capacityBlock: {capacityReservationId: cr-0a1b}
    fabric: {type: InfiniBand, infiniband: {fabric: fabric-2}}
---
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata: {name: a}
spec:
  replicas: 1
  template:
    spec:
      serving: {mode: PrefillDecode}
      tolerations: [{key: a, value: b, effect: NoExecute}]
      engines:
      - &engine
        name: a
        phase: Prefill
        members:
        - nodeSelector: {devices: [{name: gpu, selectors: [{cel: "true"}]}]}
          template:
            metadata: {annotations: {a: b}}
            spec:
              imagePullSecrets: [{name: pull}]
              containers:
              - name: engine
                image: a
                command: [b]
                env:
                - {name: A, valueFrom: {configMapKeyRef: {name: a, key: b, optional: true}}}
                - {name: B, valueFrom: {fieldRef: {fieldPath: status.podIP, apiVersion: v1}}}
      - <<: *engine
        name: b
        phase: Decode
---
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: b, namespace: ignored}
spec:
  provisioning:
    provider: GKE
    gke: {machineType: m, diskSizeGb: 10, accelerator: {type: a, count: 1}}
    aks: {vmSize: v, diskSizeGb: 10, accelerator: {type: a, count: 1}}
    nebius: {platform: p, preset: q, diskSizeGb: 10, driversPreset: cuda13.0, accelerator: {type: a, count: 1}}
  devices: [{name: nic, claim: Synthetic, driver: d}]
---
apiVersion: berth.dev/v1alpha1
kind: InferenceCluster
metadata: {name: c, namespace: ignored}
spec:
  cluster:
    source: EKS
    eks:
      region: us-east-1
      network:
        vpcCidr: 10.0.0.0/16
        publicSubnetCidrs: [10.0.0.0/20, 10.0.16.0/20]
        privateSubnetCidrs: [10.0.48.0/20, 10.0.64.0/20]
---
apiVersion: modelplane.ai/v1alpha1
kind: ModelCache
metadata: {name: a, namespace: ml, labels: {a: b}, annotations: {c: d}}
spec:
  source: HuggingFace
  huggingFace: {repo: a/b, sizeGiB: 1, authSecret: {name: a, key: TOKEN}}
  clusterSelector: {matchLabels: {a: b}}
---
apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {name: a, namespace: ml, labels: {a: b}, annotations: {c: d}}
spec: {url: "http://a.example.com"}
---
apiVersion: modelplane.ai/v1alpha1
kind: ModelService
metadata: {name: a, namespace: ml, labels: {a: b}, annotations: {c: d}}
spec: {endpoints: [{selector: {matchLabels: {a: b}}}]}
---
apiVersion: modelplane.ai/v1alpha1
kind: ModelReplica
metadata: {name: a}
spec:
  clusterName: east
  modelCacheRef: {name: a}
  serving: {mode: PrefillDecode}
  engines:
  - name: a
    copies: 2
    phase: Prefill
    members:
    - role: Leader
      nodePoolName: p
      deviceRequests: [{name: gpu, deviceClassName: c, count: 8}]
      template: {spec: {containers: [{name: engine, image: a}]}}
    - role: Worker
      nodePoolName: p
      worker: {nodes: 1}
      template: {spec: {containers: [{name: engine, image: a}]}}
  - name: b
    phase: Decode
    members:
    - nodePoolName: p
      deviceRequests: [{name: gpu, deviceClassName: c}]
      template: {spec: {containers: [{name: engine, image: a}]}}
---
apiVersion: infrastructure.modelplane.ai/v1alpha1
kind: EKSCluster
metadata: {name: a, labels: {a: b}, annotations: {c: d}}
spec:
  region: r
  kubernetesVersion: "1.36"
  credentials: {type: ProviderConfig, name: a}
  networking: {vpcCidr: 10.0.0.0/16, subnetCidrs: [10.0.0.0/20, 10.0.16.0/20]}
  nodePools: [{name: s, role: System, instanceType: i, diskSizeGb: 10, nodeCount: 1, minNodeCount: 0, maxNodeCount: 2}]
---
apiVersion: infrastructure.modelplane.ai/v1alpha1
kind: GKECluster
metadata: {name: a}
spec:
  region: r
  kubernetesVersion: "1.36"
  credentials: {type: ProviderConfig, name: a}
  networking: {podCidr: 10.1.0.0/16, serviceCidr: 10.2.0.0/16, nodeCidr: 10.0.0.0/24}
  nodePools: [{name: s, role: System, machineType: i, diskSizeGb: 10, nodeCount: 1, minNodeCount: 0, maxNodeCount: 2}]
---
apiVersion: infrastructure.modelplane.ai/v1alpha1
kind: AKSCluster
metadata: {name: a}
spec:
  location: r
  kubernetesVersion: "1.36"
  credentials: {type: ProviderConfig, name: a}
  networking: {vnetCidr: 10.0.0.0/16, subnetCidr: 10.0.0.0/20}
  nodePools:
  - {name: s, role: System, vmSize: i, diskSizeGb: 10, nodeCount: 1, minNodeCount: 0, maxNodeCount: 2, zones: ["1"]}
---
apiVersion: infrastructure.modelplane.ai/v1alpha1
kind: NebiusCluster
metadata: {name: a}
spec:
  kubernetesVersion: "1.36"
  credentials: {type: ProviderConfig, name: a}
  nodePools:
  - {name: s, role: System, platform: i, preset: p, diskSizeGb: 10, nodeCount: 1, minNodeCount: 0, maxNodeCount: 2}
  - {name: g, role: GPU, platform: i, preset: p, gpu: {acceleratorType: a, driversPreset: cuda13.0}}
---
apiVersion: infrastructure.modelplane.ai/v1alpha1
kind: VultrCluster
metadata: {name: a}
spec:
  region: r
  kubernetesVersion: v1.36.1+3
  credentials: {type: ProviderConfig, name: a}
  nodePools: [{name: s, role: System, plan: p, nodeCount: 1}]
---
apiVersion: infrastructure.modelplane.ai/v1alpha1
kind: ServingStack
metadata: {name: a}
spec:
  secrets: [{type: Kubeconfig, name: a, key: b}]
  nvidiaDriverRoot: /
  versions:
    gatewayApi: v1
    certManager: v1
    envoyGateway: v1
    prometheus: "1"
    leaderWorkerSet: v1
    nodeFeatureDiscovery: "1"
    nvidiaDraDriver: "1"
  gateway: {className: envoy, listeners: [{name: http, port: 80, protocol: TCP}]}
"""
"""Every document is right by itself; what it refers to is not there."""
