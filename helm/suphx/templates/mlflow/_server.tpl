{{/* The server's command: hosts that it answers to, and artifacts that pass through it, so that only it has their keys. */}}
{{- define "suphx.mlflowCommand" -}}
{{- $name := printf "%s-mlflow" (include "suphx.fullname" .) -}}
{{- $hosts := list
  (printf "%s:5000" $name)
  (printf "%s.%s:5000" $name .Release.Namespace)
  (printf "%s.%s.svc:5000" $name .Release.Namespace)
  "localhost:5000"
-}}
- mlflow
- server
- --host=0.0.0.0
- --port=5000
- --workers=2
- {{ printf "--backend-store-uri=%s" (.Values.mlflow.databaseUri | default "sqlite:////data/mlflow.db") | quote }}
- {{ printf "--artifacts-destination=%s" (.Values.mlflow.artifactsDestination | default "/data/artifacts") | quote }}
- {{ printf "--allowed-hosts=%s" (concat $hosts .Values.mlflow.allowedHosts | join ",") | quote }}
{{- if .Values.mlflow.authSecretName }}
- --app-name=basic-auth
{{- end }}
{{- end -}}

{{- define "suphx.mlflowEnvironment" -}}
- {name: HOME, value: /tmp}
- {name: MLFLOW_DISABLE_TELEMETRY, value: "true"}
- {name: AWS_DEFAULT_REGION, value: {{ .Values.storage.region | quote }}}
{{- if .Values.mlflow.artifactsDestination }}
{{- with .Values.storage.endpointUrl }}
- {name: MLFLOW_S3_ENDPOINT_URL, value: {{ . | quote }}}
- {name: AWS_REQUEST_CHECKSUM_CALCULATION, value: when_required}
- {name: AWS_RESPONSE_CHECKSUM_VALIDATION, value: when_required}
{{- end }}
{{- with .Values.storage.secretName }}
{{- include "suphx.secretVariables" (dict "secret" . "names" (list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY")) }}
{{- end }}
{{- end }}
{{- with .Values.mlflow.databaseSecretName }}
{{- include "suphx.secretVariables" (dict "secret" . "names" (list "PGUSER" "PGPASSWORD")) }}
{{- end }}
{{- with .Values.mlflow.authSecretName }}
- {name: MLFLOW_AUTH_CONFIG_PATH, value: /auth/basic_auth.ini}
{{- $names := list "MLFLOW_AUTH_ADMIN_USERNAME" "MLFLOW_AUTH_ADMIN_PASSWORD" "MLFLOW_FLASK_SERVER_SECRET_KEY" }}
{{- include "suphx.secretVariables" (dict "secret" . "names" $names) }}
{{- end }}
{{- end -}}
