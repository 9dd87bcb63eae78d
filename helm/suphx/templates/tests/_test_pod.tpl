{{/* A pod of `helm test`, from (dict "root" . "name" NAME "account" NAME "command" LIST). */}}
{{- define "suphx.testPod" -}}
{{- $resources := dict "cpu" "500m" "memory" "2Gi" "ephemeral-storage" "8Gi" -}}
apiVersion: v1
kind: Pod
metadata:
  name: {{ include "suphx.fullname" .root }}-test-{{ .name }}
  labels:
    {{- include "suphx.selector" .root | nindent 4 }}
    app.kubernetes.io/component: command
    suphx/role: test-{{ .name }}
    {{- with include "suphx.podLabels" (dict "root" .root "role" "nightly") }}{{ . | nindent 4 }}{{ end }}
  annotations:
    {{- $hook := dict "helm.sh/hook" "test" "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" }}
    {{- include "suphx.annotations" (dict "root" .root "role" "nightly" "own" $hook) | nindent 4 }}
spec:
  {{- include "suphx.commandPod" (dict "root" .root "account" .account "role" (printf "test-%s" .name) "command" .command "resources" $resources "recipe" "") | nindent 2 }}
{{- end -}}
