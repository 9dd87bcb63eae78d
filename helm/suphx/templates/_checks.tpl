{{/* What a schema cannot say: values that must fit each other. Each refusal says what to change. */}}
{{- define "suphx.checks" -}}
{{- $values := .Values -}}
{{- if not (hasKey $values.presets $values.preset) -}}
{{- fail (printf "preset is %q: use one of %s, or add it under presets" $values.preset (keys $values.presets | sortAlpha | join ", ")) -}}
{{- end -}}
{{- range $name, $preset := $values.presets -}}
{{- include "suphx.presetChecks" (dict "name" $name "preset" $preset) -}}
{{- end -}}
{{- if semverCompare "<2.52.0" $values.rayVersion -}}
{{- fail (printf "rayVersion is %s: the chart uses token authentication, which needs Ray 2.52.0 or later" $values.rayVersion) -}}
{{- end -}}
{{- if and $values.run.name (not $values.run.recipe) -}}
{{- fail "run.name is set without run.recipe: add --set-file run.recipe=FILE.toml, or use suphx launch" -}}
{{- end -}}
{{- if and $values.nightly.enabled (not $values.nightly.recipe) -}}
{{- fail "nightly.enabled without nightly.recipe: add --set-file nightly.recipe=pipelines/recipes/nightly.toml" -}}
{{- end -}}
{{- if and $values.nightly.enabled (not (include "suphx.trackingUri" .)) -}}
{{- fail "nightly.enabled without MLflow, which keeps the champion: set tracking.uri or mlflow.enabled" -}}
{{- end -}}
{{- if and $values.tracking.uri $values.mlflow.enabled -}}
{{- fail "tracking.uri and mlflow.enabled are both set: choose somebody's MLflow or that of this chart" -}}
{{- end -}}
{{- if and $values.mlflow.authSecretName (not $values.tracking.secretName) -}}
{{- fail "mlflow.authSecretName without tracking.secretName: runs need a user and a password too" -}}
{{- end -}}
{{- if and $values.mlflow.databaseUri (not $values.mlflow.databaseSecretName) -}}
{{- fail "mlflow.databaseUri without mlflow.databaseSecretName: name the secret with PGUSER and PGPASSWORD" -}}
{{- end -}}
{{- end -}}

{{- define "suphx.presetChecks" -}}
{{- $simulator := .preset.simulator -}}
{{- $inference := .preset.inference -}}
{{- if or (gt (int $simulator.minReplicas) (int $simulator.replicas)) (gt (int $simulator.replicas) (int $simulator.maxReplicas)) -}}
{{- fail (printf "presets.%s.simulator: minReplicas %v, replicas %v, maxReplicas %v must ascend" .name $simulator.minReplicas $simulator.replicas $simulator.maxReplicas) -}}
{{- end -}}
{{- if lt (mul $simulator.replicas $simulator.places) 1 -}}
{{- fail (printf "presets.%s.simulator has no places: use at least 1 for replicas" .name) -}}
{{- end -}}
{{- if gt (int $inference.gpus) (int $inference.places) -}}
{{- fail (printf "presets.%s.inference: %v GPUs for %v places; an engine uses one GPU at most, so raise places" .name $inference.gpus $inference.places) -}}
{{- end -}}
{{- range $role, $size := .preset -}}
{{- if and (hasSuffix "Gi" $size.memory) (ge (int $size.objectStoreGi) (int (trimSuffix "Gi" $size.memory))) -}}
{{- fail (printf "presets.%s.%s: objectStoreGi %v is part of memory %s and must be less" $.name $role $size.objectStoreGi $size.memory) -}}
{{- end -}}
{{- end -}}
{{- end -}}
