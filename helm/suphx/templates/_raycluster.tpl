{{/*
The spec of a RayCluster, from (dict "root" . "preset" NAME "run" NAME "recipe" CONFIGMAP): the only place that says what
a cluster of ours is. "sizes": the head and groups of another size than a preset's (nightly/_tournament.tpl). New worker groups go to the end of the list: the operator knows them by their position.
*/}}
{{- define "suphx.rayCluster" -}}
{{- $root := .root -}}
{{- $preset := .sizes | default (index $root.Values.presets .preset) -}}
{{- $recipe := .recipe -}}
{{- $pod := dict "root" $root "run" .run "recipe" .recipe "isTournament" (hasKey . "sizes") "cronJob" .cronJob -}}
rayVersion: {{ $root.Values.rayVersion | quote }}
authOptions: {mode: token}
enableInTreeAutoscaling: {{ $root.Values.autoscaling.enabled }}
{{- if $root.Values.autoscaling.enabled }}
autoscalerOptions:
  {{- include "suphx.autoscaler" $root | nindent 2 }}
{{- end }}
headGroupSpec:
  serviceType: ClusterIP
  rayStartParams:
    num-cpus: "0"
    dashboard-host: "0.0.0.0"
    object-store-memory: {{ include "suphx.bytes" $preset.head.objectStoreGi | quote }}
  template:
    {{- include "suphx.rayPod" (merge (dict "role" "head" "size" $preset.head) $pod) | nindent 4 }}
workerGroupSpecs:
  {{- range $role := list "simulator" "inference" "learner" }}
  {{- with $size := index $preset $role }}
  - groupName: {{ $role }}
    replicas: {{ $size.replicas | int64 }}
    {{- /* Ray's autoscaler scales simulators only: the numbers of engines and learners are fixed. */}}
    minReplicas: {{ hasKey $size "minReplicas" | ternary $size.minReplicas $size.replicas | int64 }}
    {{- /* A run has no work for more pods. More room would let the autoscaler replace a pod that ends while the operator does, too. */}}
    maxReplicas: {{ ternary $size.replicas ($size.maxReplicas | default $size.replicas) (ne "" $recipe) | int64 }}
    resources:
      {{ $role }}: {{ include "suphx.slots" (dict "role" $role "size" $size) | quote }}
    rayStartParams:
      object-store-memory: {{ include "suphx.bytes" $size.objectStoreGi | quote }}
    template:
      {{- include "suphx.rayPod" (merge (dict "role" $role "size" $size) $pod) | nindent 6 }}
  {{- end }}
  {{- end }}
{{- end -}}

{{- define "suphx.bytes" -}}
{{- mul . 1024 1024 1024 -}}
{{- end -}}

{{/* How many actors of its role a pod takes. A learner takes one for each GPU. */}}
{{- define "suphx.slots" -}}
{{- if eq .role "learner" }}{{ max 1 .size.gpus }}{{ else }}{{ .size.slots | int64 }}{{ end -}}
{{- end -}}

{{- define "suphx.autoscaler" -}}
version: v2
idleTimeoutSeconds: {{ .Values.autoscaling.idleTimeoutSeconds | int64 }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  {{- include "suphx.containerSecurity" . | nindent 2 }}
resources:
  requests: {cpu: 500m, memory: 1Gi, ephemeral-storage: 1Gi}
  limits: {cpu: 500m, memory: 1Gi, ephemeral-storage: 1Gi}
env:
  - {name: HOME, value: /tmp}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
{{- end -}}
