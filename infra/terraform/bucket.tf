# Checkpoints under runs/, MLflow's artifacts under mlflow/.

resource "aws_s3_bucket" "suphx" {
  bucket = var.bucket_name

  # Another name or region would replace the bucket, and with it all checkpoints and results.
  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_s3_bucket_versioning" "suphx" {
  bucket = aws_s3_bucket.suphx.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "suphx" {
  bucket = aws_s3_bucket.suphx.id

  rule {
    bucket_key_enabled = true

    apply_server_side_encryption_by_default {
      sse_algorithm = "aws:kms"
    }
  }
}

resource "aws_s3_bucket_public_access_block" "suphx" {
  bucket                  = aws_s3_bucket.suphx.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

# Deleted objects are removed permanently after some days, and so are incomplete uploads of killed pods. Runs replace
# their checkpoints all the time, and each has the size of all nets: what is under runs/ is removed sooner, finished
# results and tournaments' games too. If two rules apply to an object, S3 uses the shorter time.
resource "aws_s3_bucket_lifecycle_configuration" "suphx" {
  bucket     = aws_s3_bucket.suphx.id
  depends_on = [aws_s3_bucket_versioning.suphx]

  rule {
    id     = "deleted-checkpoints"
    status = "Enabled"

    filter {
      prefix = "runs/"
    }

    noncurrent_version_expiration {
      noncurrent_days = var.checkpoint_noncurrent_days
    }
  }

  rule {
    id     = "deleted"
    status = "Enabled"

    filter {}

    noncurrent_version_expiration {
      noncurrent_days = var.noncurrent_days
    }

    expiration {
      expired_object_delete_marker = true
    }

    abort_incomplete_multipart_upload {
      days_after_initiation = 7
    }
  }
}

data "aws_iam_policy_document" "encrypted_connections" {
  statement {
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.suphx.arn, "${aws_s3_bucket.suphx.arn}/*"]

    principals {
      type        = "*"
      identifiers = ["*"]
    }

    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
  }
}

resource "aws_s3_bucket_policy" "suphx" {
  bucket     = aws_s3_bucket.suphx.id
  policy     = data.aws_iam_policy_document.encrypted_connections.json
  depends_on = [aws_s3_bucket_public_access_block.suphx]
}
