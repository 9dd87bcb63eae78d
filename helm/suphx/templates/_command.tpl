{{/*
A pod that runs one command of the CPU image, from (dict "root" . "account" NAME, or "" for the namespace's own, "role" ROLE "command" LIST "resources" DICT
"recipe" CONFIGMAP, "isScheduled": whether a CronJob creates it, "saveSeconds": what its command needs to save its state, "onlyReads": whether it may read
the volume of runs, but not write there):
its spec. It goes where the nightly tournament does.
*/}}
{{- define "suphx.commandPod" -}}
{{- $root := .root -}}
{{- include "suphx.podDefaults" $root }}
{{- with .account }}
serviceAccountName: {{ include "suphx.fullname" $root }}-{{ . }}
{{- end }}
automountServiceAccountToken: {{ eq "true" (include "suphx.has" (dict "role" .role "grant" "api")) }}
restartPolicy: Never
{{- with .saveSeconds }}
terminationGracePeriodSeconds: {{ add 30 (int64 .) }}
{{- end }}
{{- with include "suphx.placement" (dict "root" $root "role" "nightly" "gpus" 0) | trim }}
{{- . | nindent 0 }}
{{- end }}
initContainers:
  {{- include "suphx.kernels" (dict "root" $root "gpus" 0) | nindent 2 }}
containers:
  - name: command
    image: {{ include "suphx.image" (dict "root" $root "gpus" 0) | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    {{- /* As process 1 the command itself would get no signal that it does not handle. */}}
    command: [tini, --]
    args:
      {{- toYaml .command | nindent 6 }}
    securityContext:
      {{- include "suphx.containerSecurity" $root | nindent 6 }}
    env:
      {{- include "suphx.withExtraEnv" (dict "root" $root "role" "nightly" "own" (include "suphx.commandEnvironment" .)) | nindent 6 }}
    {{- with include "suphx.envFrom" (dict "root" $root "role" "nightly") }}{{ . | nindent 4 }}{{ end }}
    resources:
      requests:
        {{- toYaml .resources | nindent 8 }}
      limits:
        {{- toYaml .resources | nindent 8 }}
    volumeMounts:
      - {name: tmp, mountPath: /tmp}
      - {name: cache, mountPath: /cache}
      - {name: runs, mountPath: /runs}
      {{- if .recipe }}
      - {name: recipe, mountPath: /recipes, readOnly: true}
      {{- end }}
      {{- if include "suphx.hasCertificate" . }}
      - {name: mlflow-ca, mountPath: /mlflow-ca, readOnly: true}
      {{- end }}
volumes:
  - name: tmp
    emptyDir: {sizeLimit: 5Gi}
  - name: cache
    emptyDir: {sizeLimit: 2Gi}
  - name: runs
    {{- if and $root.Values.volumes.runs (or .onlyReads (include "suphx.has" (dict "role" .role "grant" "storage"))) }}
    persistentVolumeClaim: {claimName: {{ $root.Values.volumes.runs | quote }}{{ if .onlyReads }}, readOnly: true{{ end }}}
    {{- else }}
    emptyDir: {sizeLimit: 20Gi}
    {{- end }}
  {{- with .recipe }}
  - name: recipe
    configMap: {name: {{ . }}}
  {{- end }}
  {{- if include "suphx.hasCertificate" . }}
  {{- include "suphx.certificateVolume" . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "suphx.commandEnvironment" -}}
{{- include "suphx.environment" (dict "root" .root "role" .role) | trim }}
{{- if .isScheduled }}
{{- /* Its number says for when the Job was scheduled: the night of the tournament, in the time zone of the schedule. */}}
- name: SUPHX_CRON_JOB
  valueFrom:
    fieldRef: {fieldPath: "metadata.labels['batch.kubernetes.io/job-name']"}
- {name: SUPHX_TIME_ZONE, value: {{ .root.Values.nightly.timeZone | quote }}}
{{- end }}
{{- end -}}
