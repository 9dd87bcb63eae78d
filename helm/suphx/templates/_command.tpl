{{/*
A pod that runs one command of the CPU image, from (dict "root" . "account" NAME "command" LIST "resources" DICT
"recipe" CONFIGMAP): its spec. It goes where the nightly tournament does.
*/}}
{{- define "suphx.commandPod" -}}
{{- $root := .root -}}
{{- include "suphx.podDefaults" $root }}
serviceAccountName: {{ include "suphx.fullname" $root }}-{{ .account }}
automountServiceAccountToken: {{ has .account (list "launcher" "nightly") }}
restartPolicy: Never
{{- with include "suphx.placement" (dict "root" $root "role" "nightly" "gpus" 0) | trim }}
{{- . | nindent 0 }}
{{- end }}
initContainers:
  {{- include "suphx.kernels" (dict "root" $root "gpus" 0) | nindent 2 }}
containers:
  - name: command
    image: {{ include "suphx.image" (dict "root" $root "gpus" 0) }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    command:
      {{- toYaml .command | nindent 6 }}
    securityContext:
      {{- include "suphx.containerSecurity" $root | nindent 6 }}
    env:
      {{- include "suphx.environment" $root | trim | nindent 6 }}
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
volumes:
  - name: tmp
    emptyDir: {sizeLimit: 5Gi}
  - name: cache
    emptyDir: {sizeLimit: 2Gi}
  - name: runs
    {{- with $root.Values.volumes.runs }}
    persistentVolumeClaim: {claimName: {{ . }}}
    {{- else }}
    emptyDir: {sizeLimit: 20Gi}
    {{- end }}
  {{- with .recipe }}
  - name: recipe
    configMap: {name: {{ . }}}
  {{- end }}
{{- end -}}
