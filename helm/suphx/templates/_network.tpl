{{/* Pieces of network policies. */}}

{{/* Pods of this release, by (dict "root" . "component" NAME). */}}
{{- define "suphx.pods" -}}
matchLabels:
  {{- include "suphx.selector" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Pods of this release whose role has a grant, by (dict "root" . "grant" GRANT). */}}
{{- define "suphx.podsWith" -}}
matchLabels:
  {{- include "suphx.selector" .root | nindent 2 }}
matchExpressions:
  - key: suphx/role
    operator: In
    values: {{ (include "suphx.rolesWith" . | fromJson).roles | toJson }}
{{- end -}}

{{/* Names of hosts. */}}
{{- define "suphx.dns" -}}
- to:
    {{- toYaml .Values.networkPolicy.dns.peers | nindent 4 }}
  ports:
    {{- range .Values.networkPolicy.dns.ports }}
    - {port: {{ . | int64 }}, protocol: UDP}
    - {port: {{ . | int64 }}, protocol: TCP}
    {{- end }}
{{- end -}}

{{/* The port of an address such as http://minio.minio.svc:9000. */}}
{{- define "suphx.port" -}}
{{- $address := urlParse . -}}
{{- regexFind ":[0-9]+$" $address.host | trimPrefix ":" | default (ternary "80" "443" (eq $address.scheme "http")) -}}
{{- end -}}

{{/* Ports of services outside of this release, at any address. */}}
{{- define "suphx.outside" -}}
{{- $ports := list -}}
{{- range .Values.networkPolicy.egressPorts -}}
{{- $ports = append $ports (toString (int .)) -}}
{{- end -}}
{{- range compact (list .Values.storage.endpointUrl .Values.tracking.uri) -}}
{{- $ports = append $ports (include "suphx.port" .) -}}
{{- end -}}
{{- with uniq $ports }}
- ports:
    {{- range . }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
{{- end }}
{{- end -}}
