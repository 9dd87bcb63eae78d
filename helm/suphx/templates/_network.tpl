{{/* Pieces of network policies. */}}

{{/* Pods of this release, by (dict "root" . "component" NAME). */}}
{{- define "suphx.pods" -}}
matchLabels:
  {{- include "suphx.selector" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Names of hosts, the MLflow of this chart, and the ports of services elsewhere. */}}
{{- define "suphx.egress" -}}
- to:
    - namespaceSelector:
        matchLabels: {kubernetes.io/metadata.name: kube-system}
    - ipBlock: {cidr: 169.254.20.10/32}
  ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
{{- if .Values.mlflow.enabled }}
- to:
    - podSelector:
        {{- include "suphx.pods" (dict "root" . "component" "mlflow") | nindent 8 }}
  ports:
    - {port: 5000, protocol: TCP}
{{- end }}
{{- with .Values.networkPolicy.egressPorts }}
- ports:
    {{- range . }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
{{- end }}
{{- end -}}
