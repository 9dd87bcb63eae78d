{{/* Names and labels. */}}

{{- define "suphx.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 30 | trimSuffix "-" -}}
{{- end -}}

{{- define "suphx.fullname" -}}
{{- $name := include "suphx.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $full | trunc 30 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels by which our pods are selected: these never change between versions of the chart. */}}
{{- define "suphx.selector" -}}
app.kubernetes.io/name: {{ include "suphx.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "suphx.labels" -}}
{{ include "suphx.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The image of pods with (dict "root" . "gpus" n) GPUs; one that is named by its digest has no tag. */}}
{{- define "suphx.image" -}}
{{- $image := .root.Values.image -}}
{{- $tag := $image.tag | default .root.Chart.AppVersion -}}
{{- $name := ternary $image.cuda $image.cpu (gt (int .gpus) 0) -}}
{{- if contains "@" $name }}{{ $name }}{{ else }}{{ $name }}:{{ $tag }}{{ end -}}
{{- end -}}

{{/* Where runs are tracked; empty: nowhere but on the head's own disk. */}}
{{- define "suphx.trackingUri" -}}
{{- if .Values.tracking.uri -}}
{{ .Values.tracking.uri }}
{{- else if .Values.mlflow.enabled -}}
{{ ternary "https" "http" (ne .Values.mlflow.tlsSecretName "") }}://{{ include "suphx.fullname" . }}-mlflow.{{ .Release.Namespace }}.svc:5000
{{- end -}}
{{- end -}}
