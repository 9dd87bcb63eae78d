from suphx_pipelines.cluster_runs import launch as launch
from suphx_pipelines.cluster_runs import status as status
from suphx_pipelines.cluster_runs import stop as stop
from suphx_pipelines.cluster_runs import wait as wait
from suphx_platform.cluster.cluster_error import ClusterError as ClusterError

__all__ = ["ClusterError", "launch", "status", "stop", "wait"]
