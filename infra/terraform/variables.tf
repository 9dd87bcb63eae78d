variable "region" {
  description = "Of cluster and bucket."
  type        = string
}

variable "cluster_name" {
  description = "The EKS cluster that is there already, with its OIDC provider."
  type        = string
}

variable "subnet_ids" {
  description = "Where nodes go: subnets of one zone, as a run's pods send each other gigabytes a second."
  type        = list(string)
}

variable "bucket_name" {
  description = "Of the bucket for checkpoints and MLflow's artifacts; unique in the whole world."
  type        = string
}

variable "namespace" {
  description = "Of the chart's release."
  type        = string
  default     = "suphx"
}

variable "release" {
  description = "The name of the chart's release: its service accounts are called after it."
  type        = string
  default     = "suphx"

  validation {
    condition     = strcontains(var.release, "suphx") && length(var.release) <= 30
    error_message = "Use a name with suphx in it, up to 30 characters: the chart adds it to others."
  }
}

variable "system_pool" {
  description = "Nodes that stay: heads, MLflow, the launcher and the operator."
  type        = object({ instance_types = list(string), max = number })
  default     = { instance_types = ["m7i.4xlarge"], max = 3 }
}

variable "spot_pool" {
  description = "Nodes that may go at any time: simulators. Several types, so that some are to be had."
  type        = object({ instance_types = list(string), max = number })
  default     = { instance_types = ["c7i.4xlarge", "c7a.4xlarge", "c6i.4xlarge"], max = 40 }
}

variable "gpu_pool" {
  description = "Engines and learners. The preset paper asks for 4 GPUs, 48 cores and 384 GiB in one pod, and for 40 GPUs beside it."
  type        = object({ instance_types = list(string), max = number })
  default     = { instance_types = ["p4d.24xlarge"], max = 6 }
}

variable "noncurrent_days" {
  description = "How long objects that were overwritten or deleted can be brought back."
  type        = number
  default     = 30
}
