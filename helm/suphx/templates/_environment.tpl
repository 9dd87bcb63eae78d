{{/*
Environment of a container that runs `suphx`, from (dict "root" . "role" ROLE "user" ROLE): addresses and keys, by reference, of
what its role uses. "user": the role whose user of MLflow it has, if that is another one.
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
- {name: SUPHX_IMAGE, value: {{ include "suphx.image" (dict "root" .root "gpus" 0) | quote }}}
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

{{/*
The MLflow server, and the user of a role, from (dict "root" . "role" ROLE). The tournament has a user of its own, which alone
may move the champion; the administrator creates the users.
*/}}
{{- define "suphx.trackingEnvironment" }}
{{- $values := .root.Values }}
{{- with include "suphx.trackingUri" .root }}
- {name: MLFLOW_TRACKING_URI, value: {{ . | quote }}}
{{- end }}
{{- if and $values.mlflow.enabled $values.mlflow.tlsSecretName }}
- {name: MLFLOW_TRACKING_SERVER_CERT_PATH, value: /mlflow-ca/ca.crt}
{{- end }}
{{- if eq .role "mlflow-users" }}
{{- include "suphx.login" (dict "secret" $values.mlflow.authSecretName "keys" "MLFLOW_AUTH_ADMIN" "as" "MLFLOW_TRACKING") }}
{{- include "suphx.login" (dict "secret" $values.tracking.secretName "keys" "MLFLOW_TRACKING" "as" "RUNS") }}
{{- with $values.nightly.trackingSecretName }}
{{- include "suphx.login" (dict "secret" . "keys" "MLFLOW_TRACKING" "as" "TOURNAMENT") }}
{{- end }}
{{- else }}
{{- $own := ternary $values.nightly.trackingSecretName "" (eq "nightly" (.user | default .role)) }}
{{- with $own | default $values.tracking.secretName }}
{{- include "suphx.login" (dict "secret" . "keys" "MLFLOW_TRACKING" "as" "MLFLOW_TRACKING") }}
{{- end }}
{{- end }}
{{- end -}}

{{/* User and password from KEYS_USERNAME and KEYS_PASSWORD of a secret, from (dict "secret" NAME "keys" KEYS "as" PREFIX). */}}
{{- define "suphx.login" }}
{{- $login := . }}
{{- range list "USERNAME" "PASSWORD" }}
- name: {{ $login.as }}_{{ . }}
  valueFrom:
    secretKeyRef: {name: {{ $login.secret | quote }}, key: {{ $login.keys }}_{{ . }}}
{{- end }}
{{- end -}}

{{/* "true" if a role trusts the certificate of this release's MLflow server, from (dict "root" . "role" ROLE). */}}
{{- define "suphx.hasCertificate" -}}
{{- if and .root.Values.mlflow.enabled .root.Values.mlflow.tlsSecretName (include "suphx.has" (dict "role" .role "grant" "tracking")) }}true{{ end -}}
{{- end -}}

{{/* The volume with that certificate: not its key. */}}
{{- define "suphx.certificateVolume" -}}
- name: mlflow-ca
  secret:
    secretName: {{ .root.Values.mlflow.tlsSecretName | quote }}
    items: [{key: ca.crt, path: ca.crt}]
{{- end -}}

{{/* Variables of the same names as the keys of a secret. */}}
{{- define "suphx.secretVariables" -}}
{{- $secret := .secret -}}
{{- range .names }}
- name: {{ . }}
  valueFrom:
    secretKeyRef: {name: {{ $secret | quote }}, key: {{ . }}}
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
