"""Whether a cluster has the devices that a deployment asks for, capacity aside.

A cheap question asked at load, so that a request for hardware that nobody has is seen while it is written. The
scheduler's answer is the one that counts.
"""

from components.api.inference_class import InferenceClass
from components.api.inference_cluster import InferenceCluster
from components.api.model_deployment import DeviceRequest, ModelDeployment
from components.api.reading import Reading


def device_refusal(reading: Reading, deployment: ModelDeployment, cluster: InferenceCluster) -> str:
    """Return why no pool of ``cluster`` can serve some request of the deployment; empty when each has one."""
    found = (reading.get(InferenceClass, pool.class_name) for pool in cluster.spec.node_pools)
    classes = [each for each in found if each is not None]
    for engine in deployment.spec.template.spec.engines:
        for member in engine.members:
            for request in member.node_selector.devices if member.node_selector else ():
                if not any(_has(each, request) for each in classes):
                    return f"the request `{request.name}` wants {request.count} of one kind, and no node has so many"
    return ""


def _has(found: InferenceClass, request: DeviceRequest) -> bool:
    return any(device.count >= request.count for device in found.spec.devices)
