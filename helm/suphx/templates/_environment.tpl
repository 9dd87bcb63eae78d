{{/*
Environment of a container that runs `suphx`, from (dict "root" . "role" ROLE): addresses and keys, by reference, of what its
role uses.
*/}}
{{- define "suphx.environment" -}}
- {name: HOME, value: /tmp}
- {name: SUPHX_CACHE, value: /cache}
- {name: RAY_USAGE_STATS_ENABLED, value: "0"}
{{- /* Task events are not used, and they fill the head's memory. */}}
- {name: RAY_task_events_report_interval_ms, value: "0"}
{{- /* Requests are sent to engines directly instead of through the shared memory of two nodes. */}}
- {name: RAY_max_direct_call_object_size, value: "1048576"}
{{- if include "suphx.has" (dict "role" .role "grant" "storage") }}
{{- include "suphx.storageEnvironment" .root }}
{{- end }}
{{- if include "suphx.has" (dict "role" .role "grant" "tracking") }}
{{- include "suphx.trackingEnvironment" . }}
{{- end }}
{{- end -}}

{{- define "suphx.storageEnvironment" }}
- {name: AWS_DEFAULT_REGION, value: {{ .Values.storage.region | quote }}}
{{- with .Values.storage.endpointUrl }}
- {name: AWS_ENDPOINT_URL_S3, value: {{ . | quote }}}
{{- end }}
{{- with .Values.storage.secretName }}
{{- include "suphx.secretVariables" (dict "secret" . "names" (list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY")) }}
{{- end }}
{{- end -}}

{{- define "suphx.trackingEnvironment" }}
{{- with include "suphx.trackingUri" .root }}
- {name: MLFLOW_TRACKING_URI, value: {{ . | quote }}}
{{- end }}
{{- with .root.Values.tracking.secretName }}
{{- include "suphx.secretVariables" (dict "secret" . "names" (list "MLFLOW_TRACKING_USERNAME" "MLFLOW_TRACKING_PASSWORD")) }}
{{- end }}
{{- end -}}

{{/* Variables of the same names as the keys of a secret. */}}
{{- define "suphx.secretVariables" -}}
{{- $secret := .secret -}}
{{- range .names }}
- name: {{ . }}
  valueFrom:
    secretKeyRef: {name: {{ $secret }}, key: {{ . }}}
{{- end }}
{{- end -}}

{{/* An init container with the image's compiled kernels: numba wants them in a folder that can be written. */}}
{{- define "suphx.kernels" -}}
- name: kernels
  image: {{ include "suphx.image" . | quote }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: [cp, -r, /opt/suphx/cache/., /cache/]
  securityContext:
    {{- include "suphx.containerSecurity" .root | nindent 4 }}
  resources:
    requests: {cpu: 250m, memory: 256Mi, ephemeral-storage: 1Gi}
    limits: {cpu: 250m, memory: 256Mi, ephemeral-storage: 1Gi}
  volumeMounts:
    - {name: cache, mountPath: /cache}
{{- end -}}
