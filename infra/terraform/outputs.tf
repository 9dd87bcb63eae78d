output "values" {
  description = "Values of the chart: terraform output -raw values > values.yaml"
  value = yamlencode({
    storage        = { address = "s3://${aws_s3_bucket.suphx.bucket}/runs", region = var.region }
    serviceAccount = { annotations = { "eks.amazonaws.com/role-arn" = aws_iam_role.pods["runs"].arn } }
    mlflow = {
      annotations          = { "eks.amazonaws.com/role-arn" = aws_iam_role.pods["mlflow"].arn }
      artifactsDestination = "s3://${aws_s3_bucket.suphx.bucket}/mlflow"
    }
  })
}
