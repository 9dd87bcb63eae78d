variable "region" {
  description = "AWS region of the cluster and the bucket."
  type        = string
}

variable "cluster_name" {
  description = "Name of an existing EKS cluster with an OIDC provider."
  type        = string
}

variable "subnet_ids" {
  description = "Subnets for the nodes, all in one availability zone: pods of a run exchange gigabytes per second."
  type        = list(string)
}

variable "bucket_name" {
  description = "Globally unique name of the bucket for checkpoints and MLflow artifacts."
  type        = string
}

variable "namespace" {
  description = "Namespace of the Helm release."
  type        = string
  default     = "suphx"

  validation {
    # IAM: 64 characters for CLUSTER-NAMESPACE-RELEASE-mlflow; EKS: 63 for NAMESPACE-RELEASE-system.
    condition     = length(var.cluster_name) + length(var.namespace) + length(var.release) <= 55
    error_message = "cluster_name, namespace and release have more than 55 characters together, and names of IAM roles, which consist of them, at most 64: use a shorter namespace or release."
  }
}

variable "release" {
  description = "Name of the Helm release; service account names start with it."
  type        = string
  default     = "suphx"

  validation {
    condition     = strcontains(var.release, "suphx") && length(var.release) <= 30
    error_message = "Use a name with suphx in it, up to 30 characters: the chart adds it to others."
  }
}

variable "system_pool" {
  description = "On-demand nodes for heads, MLflow, the launcher and the operator."
  type        = object({ instance_types = list(string), max = number })
  default     = { instance_types = ["m7i.4xlarge"], max = 3 }
}

variable "spot_pool" {
  description = "Spot nodes for simulators; list several instance types for better availability."
  type        = object({ instance_types = list(string), max = number })
  default     = { instance_types = ["c7i.4xlarge", "c7a.4xlarge", "c6i.4xlarge"], max = 40 }
}

variable "gpu_pool" {
  description = "Engines and learners. The preset paper asks for 4 GPUs, 48 cores and 384 GiB in one pod, and for 40 GPUs beside it."
  type        = object({ instance_types = list(string), max = number })
  default     = { instance_types = ["p4d.24xlarge"], max = 6 }
}

variable "checkpoint_noncurrent_days" {
  description = "Days for which overwritten or deleted objects under runs/ (checkpoints, results, games) can be restored."
  type        = number
  default     = 7
}

variable "noncurrent_days" {
  description = "Days for which other overwritten or deleted objects, such as MLflow's artifacts, can be restored."
  type        = number
  default     = 30
}
