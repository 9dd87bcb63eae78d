# A role for the pods of runs and one for MLflow; each can read and write only its own folder of the bucket, but list the names in all of it.
# No other access is granted.

data "aws_eks_cluster" "suphx" {
  name = var.cluster_name
}

data "aws_iam_openid_connect_provider" "suphx" {
  url = data.aws_eks_cluster.suphx.identity[0].oidc[0].issuer
}

locals {
  issuer = replace(data.aws_eks_cluster.suphx.identity[0].oidc[0].issuer, "https://", "")

  roles = {
    runs   = { folder = "runs", accounts = ["${var.release}-head", "${var.release}-learner", "${var.release}-nightly"] }
    mlflow = { folder = "mlflow", accounts = ["${var.release}-mlflow"] }
  }
}

data "aws_iam_policy_document" "trust" {
  for_each = local.roles

  statement {
    actions = ["sts:AssumeRoleWithWebIdentity"]

    principals {
      type        = "Federated"
      identifiers = [data.aws_iam_openid_connect_provider.suphx.arn]
    }

    condition {
      test     = "StringEquals"
      variable = "${local.issuer}:aud"
      values   = ["sts.amazonaws.com"]
    }

    condition {
      test     = "StringEquals"
      variable = "${local.issuer}:sub"
      values   = [for account in each.value.accounts : "system:serviceaccount:${var.namespace}:${account}"]
    }
  }
}

data "aws_iam_policy_document" "bucket" {
  for_each = local.roles

  statement {
    actions   = ["s3:ListBucketMultipartUploads", "s3:GetBucketLocation"]
    resources = [aws_s3_bucket.suphx.arn]
  }

  statement {
    actions   = ["s3:ListBucket"]
    resources = [aws_s3_bucket.suphx.arn]

    # A request without a prefix asks whether the bucket is there, and must not be refused. So it can also list all names.
    condition {
      test     = "StringLikeIfExists"
      variable = "s3:prefix"
      values   = ["${each.value.folder}/*"]
    }
  }

  statement {
    actions = [
      "s3:GetObject",
      "s3:PutObject",
      "s3:DeleteObject",
      "s3:AbortMultipartUpload",
      "s3:ListMultipartUploadParts",
    ]
    resources = ["${aws_s3_bucket.suphx.arn}/${each.value.folder}/*"]
  }
}

resource "aws_iam_role" "pods" {
  for_each = local.roles

  name               = "${var.cluster_name}-${var.namespace}-${var.release}-${each.key}"
  assume_role_policy = data.aws_iam_policy_document.trust[each.key].json
}

resource "aws_iam_role_policy" "bucket" {
  for_each = local.roles

  name   = "bucket"
  role   = aws_iam_role.pods[each.key].id
  policy = data.aws_iam_policy_document.bucket[each.key].json
}
