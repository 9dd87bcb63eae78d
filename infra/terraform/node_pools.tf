# Three node pools with the label suphx/pool, which k8s/queue and the values in k8s/overlays use.

data "aws_iam_policy_document" "nodes" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "nodes" {
  name               = "${var.cluster_name}-${var.namespace}-${var.release}-nodes"
  assume_role_policy = data.aws_iam_policy_document.nodes.json
}

resource "aws_iam_role_policy_attachment" "nodes" {
  for_each = toset(["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly"])

  role       = aws_iam_role.nodes.name
  policy_arn = "arn:aws:iam::aws:policy/${each.key}"
}

resource "aws_eks_node_group" "system" {
  cluster_name    = data.aws_eks_cluster.suphx.name
  node_group_name = "${var.namespace}-${var.release}-system"
  node_role_arn   = aws_iam_role.nodes.arn
  subnet_ids      = var.subnet_ids
  instance_types  = var.system_pool.instance_types
  ami_type        = "AL2023_x86_64_STANDARD"
  disk_size       = 200
  labels          = { "suphx/pool" = "system" }
  depends_on      = [aws_iam_role_policy_attachment.nodes]

  scaling_config {
    min_size     = 1
    desired_size = 1
    max_size     = var.system_pool.max
  }

  lifecycle {
    ignore_changes = [scaling_config[0].desired_size] # the cluster's autoscaler sets it
  }
}

resource "aws_eks_node_group" "spot" {
  cluster_name    = data.aws_eks_cluster.suphx.name
  node_group_name = "${var.namespace}-${var.release}-spot"
  node_role_arn   = aws_iam_role.nodes.arn
  subnet_ids      = var.subnet_ids
  instance_types  = var.spot_pool.instance_types
  capacity_type   = "SPOT"
  ami_type        = "AL2023_x86_64_STANDARD"
  disk_size       = 100
  labels          = { "suphx/pool" = "spot" }
  tags            = { (local.disk_tag) = "90Gi" }
  depends_on      = [aws_iam_role_policy_attachment.nodes]

  taint {
    key    = "suphx/spot"
    value  = "true"
    effect = "NO_SCHEDULE"
  }

  scaling_config {
    min_size     = 0
    desired_size = 0
    max_size     = var.spot_pool.max
  }

  lifecycle {
    ignore_changes = [scaling_config[0].desired_size]
  }
}

locals {
  # The autoscaler cannot see the disks of a group without nodes, and every pod of the chart asks for a part of one.
  disk_tag = "k8s.io/cluster-autoscaler/node-template/resources/ephemeral-storage"
}

resource "aws_eks_node_group" "gpu" {
  cluster_name    = data.aws_eks_cluster.suphx.name
  node_group_name = "${var.namespace}-${var.release}-gpu"
  node_role_arn   = aws_iam_role.nodes.arn
  subnet_ids      = var.subnet_ids
  instance_types  = var.gpu_pool.instance_types
  ami_type        = "AL2023_x86_64_NVIDIA"
  disk_size       = 500
  labels          = { "suphx/pool" = "gpu" }
  tags            = { (local.disk_tag) = "450Gi" }
  depends_on      = [aws_iam_role_policy_attachment.nodes]

  taint {
    key    = "nvidia.com/gpu"
    value  = "true"
    effect = "NO_SCHEDULE"
  }

  scaling_config {
    min_size     = 0
    desired_size = 0
    max_size     = var.gpu_pool.max
  }

  lifecycle {
    ignore_changes = [scaling_config[0].desired_size]
  }
}
