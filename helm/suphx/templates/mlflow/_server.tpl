{{/* The server's command: hosts that it answers to, and artifacts that pass through it, so that only it has their keys. */}}
{{- define "suphx.mlflowCommand" -}}
{{- $name := printf "%s-mlflow" (include "suphx.fullname" .) -}}
{{- $hosts := list
  (printf "%s:5000" $name)
  (printf "%s.%s:5000" $name .Release.Namespace)
  (printf "%s.%s.svc:5000" $name .Release.Namespace)
  "localhost:5000"
-}}
{{- /* A browser sends the host with its port unless that is the usual one, and the origin of the page with every change. */ -}}
{{- $origins := list -}}
{{- if .Values.mlflow.route.enabled -}}
{{- range .Values.mlflow.route.hostnames -}}
{{- $hosts = concat $hosts (list . (printf "%s:443" .)) -}}
{{- $origins = append $origins (printf "https://%s" .) -}}
{{- end -}}
{{- end -}}
{{- range .Values.mlflow.allowedHosts -}}
{{- $origins = append $origins (printf "https://%s" (trimSuffix ":443" .)) -}}
{{- end -}}
- mlflow
- server
- --host=0.0.0.0
- --port=5000
- --workers=2
- --app-name=basic-auth
- {{ printf "--backend-store-uri=%s" (.Values.mlflow.databaseUri | default "sqlite:////data/mlflow.db") | quote }}
- {{ printf "--artifacts-destination=%s" (.Values.mlflow.artifactsDestination | default "/data/artifacts") | quote }}
- {{ printf "--allowed-hosts=%s" (concat $hosts .Values.mlflow.allowedHosts | uniq | join ",") | quote }}
{{- with $origins }}
- {{ printf "--cors-allowed-origins=%s" (uniq . | join ",") | quote }}
{{- end }}
{{- if .Values.mlflow.tlsSecretName }}
- --uvicorn-opts=--ssl-certfile=/tls/tls.crt --ssl-keyfile=/tls/tls.key
{{- end }}
{{- end -}}

{{/* Users without a permission of their own may read; who creates something manages it. */}}
{{- define "suphx.mlflowAuth" -}}
[mlflow]
default_permission = READ
database_uri = {{ .Values.mlflow.databaseUri | default "sqlite:////data/auth.db" }}
authorization_function = mlflow.server.auth:authenticate_request_basic_auth
grant_default_workspace_access = false
{{- end -}}

{{- define "suphx.mlflowEnvironment" -}}
- {name: HOME, value: /tmp}
- {name: MLFLOW_DISABLE_TELEMETRY, value: "true"}
{{- /* Without it the server starts more processes, for a feature that is not used. */}}
- {name: MLFLOW_SERVER_ENABLE_JOB_EXECUTION, value: "false"}
- {name: MLFLOW_AUTH_CONFIG_PATH, value: /auth/basic_auth.ini}
{{- $names := list "MLFLOW_AUTH_ADMIN_USERNAME" "MLFLOW_AUTH_ADMIN_PASSWORD" "MLFLOW_FLASK_SERVER_SECRET_KEY" }}
{{- include "suphx.secretVariables" (dict "secret" .Values.mlflow.authSecretName "names" $names) }}
{{- if .Values.mlflow.artifactsDestination }}
- {name: AWS_DEFAULT_REGION, value: {{ .Values.storage.region | quote }}}
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
{{- end -}}
