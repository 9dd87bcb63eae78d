{{/*
What the pods of each role use outside of their Ray cluster, as JSON. Secrets, accounts of the cloud and network policies
follow from it. storage: the bucket with checkpoints; tracking: the MLflow server; api: Kubernetes' API server. Roles that
are not listed, such as simulator and inference, use nothing.
*/}}
{{- define "suphx.grants" -}}
{{- dict
  "head" (list "storage" "tracking" "api")
  "learner" (list "storage")
  "nightly" (list "storage" "tracking")
  "nightly-launcher" (list "api")
  "mlflow-users" (list "tracking")
  "test-launcher" (list "api")
  "test-mlflow" (list "tracking")
| toJson -}}
{{- end -}}

{{/* "true" if a role has a grant, from (dict "role" ROLE "grant" GRANT); else empty. */}}
{{- define "suphx.has" -}}
{{- if has .grant (index (include "suphx.grants" . | fromJson) .role | default list) }}true{{ end -}}
{{- end -}}

{{/* The roles that have a grant, from (dict "grant" GRANT), as JSON {"roles": […]}. */}}
{{- define "suphx.rolesWith" -}}
{{- $roles := list -}}
{{- range $role, $grants := include "suphx.grants" . | fromJson -}}
{{- if has $.grant $grants }}{{ $roles = append $roles $role }}{{ end -}}
{{- end -}}
{{- dict "roles" $roles | toJson -}}
{{- end -}}
