{{/*
A RayJob that runs `suphx run`, from (dict "root" . "preset" NAME "run" NAME). Its recipe is the key recipe.toml of the
ConfigMap RUN-recipe. With the run RUN_ID this is what `suphx launch` fills in. "isKept": the copy in that ConfigMap.
"sizes", "entrypoint", "backoffLimit", "deadline" and "ttl": of a tournament (nightly/_tournament.tpl).
*/}}
{{- define "suphx.rayJob" -}}
{{- $root := .root -}}
apiVersion: ray.io/v1
kind: RayJob
metadata:
  name: {{ .run | quote }}
  labels:
    {{- include "suphx.labels" $root | nindent 4 }}
    suphx/run: {{ .run | quote }}
    suphx/preset: {{ .preset | quote }}
    {{- with include "suphx.queueLabels" . }}{{ . | nindent 4 }}{{ end }}
  {{- with include "suphx.queueNotes" . }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
spec:
  {{- include "suphx.rayJobSpec" . | nindent 2 }}
{{- end -}}

{{/* Its spec, from the same. "cronJob": that of a RayCronJob. */}}
{{- define "suphx.rayJobSpec" -}}
{{- $run := .root.Values.run -}}
{{- if .entrypoint -}}
entrypoint: {{ .entrypoint | quote }}
{{- else -}}
entrypoint: {{ include "suphx.entrypoint" . | quote }}
{{- end }}
submissionMode: K8sJobMode
{{- include "suphx.cleanup" . | nindent 0 }}
backoffLimit: {{ hasKey . "backoffLimit" | ternary .backoffLimit $run.backoffLimit | int64 }}
activeDeadlineSeconds: {{ .deadline | default $run.activeDeadlineSeconds | int64 }}
submitterConfig:
  backoffLimit: 3
submitterPodTemplate:
  {{- include "suphx.submitter" . | nindent 2 }}
rayClusterSpec:
  {{- include "suphx.rayCluster" (merge (dict "recipe" (printf "%s-recipe" .run)) .) | nindent 2 }}
{{- end -}}

{{/* Labels of a RayJob or RayCluster for batch schedulers, from (dict "root" . "run" NAME); empty without any. */}}
{{- define "suphx.queueLabels" -}}
{{- $labels := dict -}}
{{- range $key, $value := .root.Values.rayJob.labels }}{{ $_ := set $labels $key ($value | replace "RUN_ID" $.run) }}{{ end -}}
{{- with .root.Values.kueue.queueName }}{{ $_ := set $labels "kueue.x-k8s.io/queue-name" . }}{{ end -}}
{{- with $labels }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/* Their annotations, from the same and "isKept": whether it is the copy of a RayJob in the ConfigMap of its recipe. */}}
{{- define "suphx.queueNotes" -}}
{{- $notes := include "suphx.elasticNote" .root | fromYaml -}}
{{- range $key, $value := .root.Values.rayJob.annotations }}{{ $_ := set $notes $key ($value | replace "RUN_ID" $.run) }}{{ end -}}
{{- if .isKept -}}
{{- /* `suphx resume` may create it again, and Helm upgrades no object that does not name its release. */ -}}
{{- $_ := set $notes "meta.helm.sh/release-name" .root.Release.Name -}}
{{- $_ := set $notes "meta.helm.sh/release-namespace" .root.Release.Namespace -}}
{{- end -}}
{{- with $notes }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/*
When the operator deletes the pods of a RayJob that has ended. deletionRules can keep those of a failed run for longer; Kueue takes
only shutdownAfterJobFinishes. A RayCronJob deletes no RayJobs, so that these delete themselves.
*/}}
{{- define "suphx.cleanup" -}}
{{- $run := .root.Values.run -}}
{{- $ttl := .ttl | default $run.ttlSecondsAfterFinished | int64 -}}
{{- $failureTtl := .ttl | default $run.ttlSecondsAfterFailure | default $ttl | int64 -}}
{{- if .cronJob -}}
shutdownAfterJobFinishes: false
deletionStrategy:
  deletionRules:
    - {policy: DeleteSelf, condition: {jobStatus: SUCCEEDED, ttlSeconds: {{ $ttl }}}}
    - {policy: DeleteCluster, condition: {jobDeploymentStatus: Failed, ttlSeconds: {{ $ttl }}}}
    - {policy: DeleteSelf, condition: {jobDeploymentStatus: Failed, ttlSeconds: 86400}}
{{- else if or .root.Values.kueue.queueName (eq $ttl $failureTtl) -}}
shutdownAfterJobFinishes: true
ttlSecondsAfterFinished: {{ $ttl }}
{{- else -}}
shutdownAfterJobFinishes: false
deletionStrategy:
  deletionRules:
    - {policy: DeleteCluster, condition: {jobStatus: SUCCEEDED, ttlSeconds: {{ $ttl }}}}
    - {policy: DeleteCluster, condition: {jobDeploymentStatus: Failed, ttlSeconds: {{ $failureTtl }}}}
{{- end -}}
{{- end -}}

{{/* The annotation without which Kueue rejects a RayJob or RayCluster that Ray's autoscaler may resize. */}}
{{- define "suphx.elasticNote" -}}
{{- if and .Values.kueue.queueName .Values.autoscaling.enabled -}}
kueue.x-k8s.io/elastic-job: "true"
{{- end -}}
{{- end -}}

{{/* The command of a run, the same as on a laptop, and the numbers of actors for which the preset has slots. */}}
{{- define "suphx.entrypoint" -}}
{{- $values := .root.Values -}}
{{- $size := index $values.presets .preset -}}
{{- $inference := $size.inference -}}
{{- /* Only learner pods have the keys of the storage, to which the workers of a data-parallel training write. */ -}}
{{- $settings := list
  "data_parallel.node_resource=learner"
  "reinforcement.cluster.on_ray=true"
  (printf "reinforcement.cluster.num_simulators=%d" (mul $size.simulator.replicas $size.simulator.slots))
  (printf "reinforcement.cluster.num_engines=%d" (mul $inference.replicas $inference.slots))
  (printf "reinforcement.cluster.num_buffers=%d" (int $size.learner.buffers))
  (printf "reinforcement.cluster.gpus_per_learner=%d" (ternary 1 0 (gt (int $size.learner.gpus) 0)))
  (printf "reinforcement.learner.num_learners=%d" (mul $size.learner.replicas (max 1 $size.learner.gpus)))
-}}
{{- if $inference.gpus -}}
{{- /* Ray takes a share from one GPU only. Rounded down, so that the shares of all engines of a GPU fit. */ -}}
{{- $enginesPerGpu := div (add $inference.slots $inference.gpus -1) $inference.gpus -}}
{{- $settings = append $settings (printf "reinforcement.cluster.gpus_per_engine=%.2f" (divf (div 100 $enginesPerGpu) 100)) -}}
{{- end -}}
{{- with $values.storage.address -}}
{{- $settings = prepend $settings (printf "storage.address=%s" .) -}}
{{- end -}}
{{- $words := list "suphx" "run" "/recipes/recipe.toml" "--runs" "/runs" "--wait-hours" $values.run.waitHours -}}
{{- if $values.volumes.records -}}
{{- $words = concat $words (list "--records" "/records") -}}
{{- end -}}
{{- range $settings -}}
{{- $words = concat $words (list "--set" .) -}}
{{- end -}}
{{- $words = concat $words $values.run.arguments -}}
{{- /* What the launcher adds to its runs. */ -}}
{{- if ne .run "RUN_ID" -}}
{{- $words = concat $words (list "--run-id" .run) -}}
{{- end -}}
{{- include "suphx.commandLine" $words -}}
{{- end -}}

{{/*
A command line of words. Two shells read it, the submitter's and then the head's, and Ray quotes in between in a way that keeps
$(…): no quoting survives both, so that a word with other characters is refused, here and by the schema.
*/}}
{{- define "suphx.commandLine" -}}
{{- range $index, $word := . -}}
{{- if not (regexMatch "^[A-Za-z0-9_@%+=:,./-]+$" (toString $word)) -}}
{{- fail (printf "%q cannot be part of the command of a run, which two shells read: use only letters, digits and _@%%+=:,./-" (toString $word)) -}}
{{- end -}}
{{- if $index }} {{ end }}{{ $word -}}
{{- end -}}
{{- end -}}

{{/* The pod that hands the run to Ray and follows its log. Its exit code says nothing: ask the RayJob's status. */}}
{{- define "suphx.submitter" -}}
metadata:
  labels:
    {{- include "suphx.selector" .root | nindent 4 }}
    app.kubernetes.io/component: submitter
    suphx/role: submitter
    suphx/run: {{ .run | quote }}
    {{- with include "suphx.podLabels" (dict "root" .root "role" "head") }}{{ . | nindent 4 }}{{ end }}
  {{- /* A lost submitter uses up one of its few retries. */}}
  {{- $stays := dict "cluster-autoscaler.kubernetes.io/safe-to-evict" "false" }}
  {{- with include "suphx.annotations" (dict "root" .root "role" "head" "own" $stays) }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
spec:
  {{- include "suphx.podDefaults" .root | nindent 2 }}
  serviceAccountName: {{ include "suphx.fullname" .root }}-submitter
  automountServiceAccountToken: false
  {{- /* The operator's script would ignore SIGTERM as process 1. */}}
  shareProcessNamespace: true
  restartPolicy: Never
  {{- with include "suphx.placement" (dict "root" .root "role" "head" "gpus" 0) | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  containers:
    - name: submitter
      image: {{ include "suphx.image" (dict "root" .root "gpus" 0) | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      securityContext:
        {{- include "suphx.containerSecurity" .root | nindent 8 }}
      env:
        {{- include "suphx.withExtraEnv" (dict "root" .root "role" "head" "own" "- {name: HOME, value: /tmp}") | nindent 8 }}
      {{- with include "suphx.envFrom" (dict "root" .root "role" "head") }}{{ . | nindent 6 }}{{ end }}
      resources:
        requests: {cpu: 250m, memory: 1Gi, ephemeral-storage: 1Gi}
        limits: {cpu: "1", memory: 1Gi, ephemeral-storage: 1Gi}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
  volumes:
    - name: tmp
      emptyDir: {sizeLimit: 1Gi}
{{- end -}}
