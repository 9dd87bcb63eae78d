{{/*
A Ray pod's template, from (dict "root" . "role" ROLE "size" SIZE "run" NAME "recipe" CONFIGMAP).
recipe: name of the ConfigMap with the run's recipe; empty where there is no run.
*/}}
{{- define "suphx.rayPod" -}}
{{- $root := .root -}}
{{- $gpus := .size.gpus | default 0 -}}
{{- $isHead := eq .role "head" -}}
{{- $account := ternary .role "worker" (eq "true" (include "suphx.has" (dict "role" .role "grant" "storage"))) -}}
metadata:
  labels:
    {{- include "suphx.selector" $root | nindent 4 }}
    app.kubernetes.io/component: ray
    suphx/role: {{ .role }}
    suphx/run: {{ .run | quote }}
    {{- with include "suphx.podLabels" (dict "root" $root "role" .role) }}{{ . | nindent 4 }}{{ end }}
  {{- $stays := dict "cluster-autoscaler.kubernetes.io/safe-to-evict" "false" }}
  {{- with include "suphx.annotations" (dict "root" $root "role" .role "own" (ternary $stays dict (has .role (list "head" "learner")))) }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
spec:
  {{- include "suphx.podDefaults" $root | nindent 2 }}
  serviceAccountName: {{ include "suphx.fullname" $root }}-{{ $account }}
  automountServiceAccountToken: {{ and $isHead $root.Values.autoscaling.enabled }}
  {{- /* Process 1 of a namespace ignores a signal that it does not handle: without this, the autoscaler, and Ray while it starts,
  would end only when the grace period is over. */}}
  shareProcessNamespace: true
  {{- /* KubeRay replaces a pod that has ended; Ray then restarts its actors in the new one. */}}
  restartPolicy: Never
  {{- /* A head saves first, and what it runs for that has its own time to end. Ray itself waits 30 s for a node to drain. */}}
  terminationGracePeriodSeconds: {{ ternary (add 30 (int64 $root.Values.run.saveSeconds)) 45 $isHead }}
  {{- with include "suphx.placement" (dict "root" $root "role" .role "gpus" $gpus) | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  initContainers:
    {{- include "suphx.kernels" (dict "root" $root "gpus" $gpus) | nindent 4 }}
  containers:
    - name: ray-{{ .role }}
      image: {{ include "suphx.image" (dict "root" $root "gpus" $gpus) | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      securityContext:
        {{- include "suphx.containerSecurity" $root | nindent 8 }}
      env:
        {{- include "suphx.withExtraEnv" (dict "root" $root "role" .role "own" (include "suphx.rayEnvironment" .)) | nindent 8 }}
      {{- with include "suphx.envFrom" (dict "root" $root "role" .role) }}{{ . | nindent 6 }}{{ end }}
      {{- include "suphx.rayPorts" $isHead | nindent 6 }}
      {{- include "suphx.rayResources" (dict "size" .size "gpus" $gpus) | nindent 6 }}
      {{- include "suphx.rayMounts" . | nindent 6 }}
      {{- if and .recipe $isHead }}
      lifecycle:
        # The driver saves the run before the head terminates, whoever ends it: `suphx stop`, or a node that is drained.
        preStop:
          exec: {command: [python, -m, suphx_pipelines.runs.pre_stop, /runs, {{ $root.Values.run.saveSeconds | int64 | quote }}]}
      {{- end }}
  {{- include "suphx.rayVolumes" . | nindent 2 }}
{{- end -}}

{{/* Where a pod goes, from (dict "root" . "role" ROLE "gpus" n). */}}
{{- define "suphx.placement" -}}
{{- $values := get .root.Values.placement .role | default dict -}}
{{- range $key := list "priorityClassName" "schedulerName" }}
{{- with get $values $key }}
{{ $key }}: {{ . | quote }}
{{- end }}
{{- end }}
{{- range $key := list "nodeSelector" "affinity" "topologySpreadConstraints" }}
{{- with get $values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- if or .gpus $values.tolerations }}
tolerations:
  {{- if .gpus }}
  - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
  {{- end }}
  {{- with $values.tolerations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Annotations of a role's pods, from (dict "root" . "role" ROLE "own" DICT); the chart's own take precedence. */}}
{{- define "suphx.annotations" -}}
{{- with merge (deepCopy .own) (get .root.Values.podAnnotations .role | default dict) -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}

{{/* Labels of a role's pods that the user adds, from (dict "root" . "role" ROLE); empty without any. */}}
{{- define "suphx.podLabels" -}}
{{- with get .root.Values.podLabels .role }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/* Sources of a role's environment variables that the user adds, from (dict "root" . "role" ROLE); empty without any. */}}
{{- define "suphx.envFrom" -}}
{{- with get .root.Values.extraEnvFrom .role -}}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Environment variables of a Ray pod's container. */}}
{{- define "suphx.rayEnvironment" -}}
{{- $root := .root -}}
{{- include "suphx.environment" (dict "root" $root "role" .role "user" (ternary "nightly" .role (default false .isTournament))) | trim }}
{{- if eq .role "head" }}
{{- with .cronJob }}
{{- /* The name of the RayCluster has the number of that of its RayJob, which says for when it was scheduled. */}}
- name: SUPHX_CRON_JOB
  valueFrom:
    fieldRef: {fieldPath: "metadata.labels['ray.io/cluster']"}
- {name: SUPHX_TIME_ZONE, value: {{ $root.Values.nightly.timeZone | quote }}}
{{- end }}
{{- /* Ray's job API, by which the operator stops a RayJob that is deleted, kills a driver after 3 s by default. */}}
- {name: RAY_JOB_STOP_WAIT_TIME_S, value: {{ $root.Values.run.saveSeconds | int64 | quote }}}
{{- /* Nothing moves from a head to another node: Ray need not wait 30 s for it to drain. */}}
- {name: RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S, value: "0"}
{{- if $root.Values.podMonitor.enabled }}
{{- /* A run that was stopped must be scraped once more: else the alerts take it for lost. Ray exports every 10 s. */}}
{{- $interval := $root.Values.podMonitor.interval }}
{{- $scraped := add 30 (mul (regexFind "^[0-9]+" $interval | int64) (ternary 60 1 (hasSuffix "m" $interval))) }}
- {name: SUPHX_STOP_METRICS_SECONDS, value: {{ min $scraped (div (int64 $root.Values.run.saveSeconds) 3) | quote }}}
{{- end }}
{{- end }}
{{- end -}}

{{/*
Environment variables from (dict "root" . "role" ROLE "own" TEXT): the chart's own, and extraEnv of the role, which takes
precedence. The API server takes no RayJob with a name twice.
*/}}
{{- define "suphx.withExtraEnv" -}}
{{- $extra := get .root.Values.extraEnv .role -}}
{{- if $extra -}}
{{- $names := list -}}
{{- range $extra }}{{ $names = append $names .name }}{{ end -}}
{{- $all := list -}}
{{- range fromYamlArray .own -}}
{{- if not (has .name $names) }}{{ $all = append $all . }}{{ end -}}
{{- end -}}
{{- toYaml (concat $all $extra) -}}
{{- else -}}
{{- .own -}}
{{- end -}}
{{- end -}}

{{- define "suphx.rayPorts" -}}
ports:
  {{- if . }}
  - {name: gcs, containerPort: 6379}
  - {name: dashboard, containerPort: 8265}
  - {name: client, containerPort: 10001}
  - {name: as-metrics, containerPort: 44217}
  - {name: dash-metrics, containerPort: 44227}
  {{- end }}
  - {name: metrics, containerPort: 8080}
{{- end -}}

{{- define "suphx.rayResources" -}}
{{- $size := .size -}}
{{- $gpus := .gpus -}}
resources:
  {{- range list "requests" "limits" }}
  {{ . }}:
    cpu: {{ $size.cpu | quote }}
    memory: {{ $size.memory }}
    ephemeral-storage: {{ $size.disk }}
    {{- if $gpus }}
    nvidia.com/gpu: {{ $gpus | int64 | quote }}
    {{- end }}
  {{- end }}
{{- end -}}

{{- define "suphx.rayMounts" -}}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  - {name: cache, mountPath: /cache}
  - {name: shared-mem, mountPath: /dev/shm}
  {{- if include "suphx.has" (dict "role" .role "grant" "storage") }}
  - {name: runs, mountPath: /runs}
  {{- if .root.Values.volumes.records }}
  - {name: records, mountPath: /records, readOnly: true}
  {{- end }}
  {{- end }}
  {{- if and .recipe (eq .role "head") }}
  - {name: recipe, mountPath: /recipes, readOnly: true}
  {{- end }}
  {{- if include "suphx.hasCertificate" . }}
  - {name: mlflow-ca, mountPath: /mlflow-ca, readOnly: true}
  {{- end }}
{{- end -}}

{{- define "suphx.rayVolumes" -}}
volumes:
  - name: tmp
    emptyDir: {sizeLimit: {{ .size.disk }}}
  - name: cache
    emptyDir: {sizeLimit: 2Gi}
  - name: shared-mem
    emptyDir: {medium: Memory, sizeLimit: {{ add1 .size.objectStoreGi }}Gi}
  {{- if include "suphx.has" (dict "role" .role "grant" "storage") }}
  - name: runs
    {{- with .root.Values.volumes.runs }}
    persistentVolumeClaim: {claimName: {{ . | quote }}}
    {{- else }}
    emptyDir: {sizeLimit: {{ .size.disk }}}
    {{- end }}
  {{- with .root.Values.volumes.records }}
  - name: records
    persistentVolumeClaim: {claimName: {{ . | quote }}, readOnly: true}
  {{- end }}
  {{- end }}
  {{- if and .recipe (eq .role "head") }}
  - name: recipe
    configMap: {name: {{ .recipe }}}
  {{- end }}
  {{- if include "suphx.hasCertificate" . }}
  {{- include "suphx.certificateVolume" . | nindent 2 }}
  {{- end }}
{{- end -}}
