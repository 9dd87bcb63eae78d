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
{{- fail "nightly.enabled needs a recipe: add --set-file nightly.recipe=pipelines/recipes/nightly.toml" -}}
{{- end -}}
{{- if and $values.nightly.enabled (not (include "suphx.trackingUri" .)) -}}
{{- fail "nightly.enabled needs an MLflow server, which stores the champion: set tracking.uri or mlflow.enabled" -}}
{{- end -}}
{{- if and $values.nightly.enabled (not (or $values.storage.address $values.volumes.runs)) -}}
{{- fail "nightly.enabled needs storage.address, from which the tournament reads the checkpoints of runs and where it stores its games: set it, or volumes.runs" -}}
{{- end -}}
{{- if and $values.nightly.enabled $values.nightly.workers (le (divf $values.nightly.activeDeadlineSeconds (add1 $values.nightly.backoffLimit)) (mulf $values.run.waitHours 3600)) -}}
{{- fail (printf "nightly.activeDeadlineSeconds is %d: each of the %d attempts (nightly.backoffLimit + 1) would end while it may still wait for MLflow or the storage (run.waitHours: %v): raise it, or lower one of the others" (int64 $values.nightly.activeDeadlineSeconds) (int64 (add1 $values.nightly.backoffLimit)) $values.run.waitHours) -}}
{{- end -}}
{{- if $values.nightly.rayCronJob -}}
{{- if not $values.nightly.workers -}}
{{- fail "nightly.rayCronJob needs nightly.workers, the number of pods of its RayJobs: set it to 1 or more" -}}
{{- end -}}
{{- if or $values.kueue.queueName $values.rayJob.labels -}}
{{- fail "nightly.rayCronJob cannot be used with kueue.queueName or rayJob.labels: KubeRay passes no labels to the RayJobs of a RayCronJob, so no queue would take them" -}}
{{- end -}}
{{- if gt (len (include "suphx.fullname" .)) 28 -}}
{{- fail (printf "nightly.rayCronJob: %q is too long, as KubeRay adds to it: set fullnameOverride to at most 28 characters" (include "suphx.fullname" .)) -}}
{{- end -}}
{{- end -}}
{{- if hasKey $values.rayJob.labels "kueue.x-k8s.io/queue-name" -}}
{{- fail "rayJob.labels has kueue.x-k8s.io/queue-name: use kueue.queueName instead, which also makes the RayJob one that Kueue takes" -}}
{{- end -}}
{{- if not (gt (int64 $values.run.saveSeconds) 0) -}}
{{- fail "run.saveSeconds is missing, which a head needs to save its run: use helm upgrade with --reset-then-reuse-values instead of --reuse-values, which drops the values that a new version of the chart adds" -}}
{{- end -}}
{{- if and $values.tracking.uri $values.mlflow.enabled -}}
{{- fail "tracking.uri and mlflow.enabled are both set: choose one: an existing MLflow server, or the one of this chart" -}}
{{- end -}}
{{- if $values.mlflow.enabled -}}
{{- include "suphx.mlflowChecks" $values -}}
{{- end -}}
{{- if and $values.mlflow.databaseUri (not $values.mlflow.databaseSecretName) -}}
{{- fail "mlflow.databaseUri is set without mlflow.databaseSecretName: set it to the secret with PGUSER and PGPASSWORD" -}}
{{- end -}}
{{- end -}}

{{/* The server of this chart has a password always, and each program has a user of its own. */}}
{{- define "suphx.mlflowChecks" -}}
{{- if not .mlflow.authSecretName -}}
{{- fail "mlflow.enabled needs mlflow.authSecretName, the secret of the administrator: helm/suphx/README.md#passwords-of-mlflow shows how to create it" -}}
{{- end -}}
{{- if not .tracking.secretName -}}
{{- fail "mlflow.enabled needs tracking.secretName, the secret with user and password of runs: helm/suphx/README.md#passwords-of-mlflow shows how to create it" -}}
{{- end -}}
{{- if and .nightly.enabled (not .nightly.trackingSecretName) -}}
{{- fail "nightly.enabled needs nightly.trackingSecretName, the secret with user and password of the tournament: helm/suphx/README.md#passwords-of-mlflow shows how to create it" -}}
{{- end -}}
{{- if eq .nightly.trackingSecretName .tracking.secretName -}}
{{- fail "nightly.trackingSecretName and tracking.secretName are the same: runs could move the champion. Create a second secret with another user" -}}
{{- end -}}
{{- if .mlflow.route.enabled -}}
{{- if not (and .mlflow.route.hostnames .mlflow.route.parentRefs) -}}
{{- fail "mlflow.route.enabled needs mlflow.route.hostnames and mlflow.route.parentRefs: the names of the server, and the Gateway that serves them" -}}
{{- end -}}
{{- if and .networkPolicy.enabled (not .networkPolicy.ingressNamespace) -}}
{{- fail "mlflow.route.enabled needs networkPolicy.ingressNamespace: the namespace of the pods of the Gateway" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "suphx.presetChecks" -}}
{{- $simulator := .preset.simulator -}}
{{- $inference := .preset.inference -}}
{{- if or (gt (int $simulator.minReplicas) (int $simulator.replicas)) (gt (int $simulator.replicas) (int $simulator.maxReplicas)) -}}
{{- fail (printf "presets.%s.simulator: minReplicas %v, replicas %v and maxReplicas %v must be in ascending order" .name $simulator.minReplicas $simulator.replicas $simulator.maxReplicas) -}}
{{- end -}}
{{- if lt (mul $simulator.replicas $simulator.slots) 1 -}}
{{- fail (printf "presets.%s.simulator has no slots: use at least 1 for replicas" .name) -}}
{{- end -}}
{{- if gt (int $inference.gpus) (int $inference.slots) -}}
{{- fail (printf "presets.%s.inference: %v GPUs for %v slots; an engine uses at most one GPU, so increase slots" .name $inference.gpus $inference.slots) -}}
{{- end -}}
{{- if gt (int $inference.slots) (mul 100 (max 1 $inference.gpus)) -}}
{{- fail (printf "presets.%s.inference: %v slots for %v GPUs; at most 100 engines share a GPU, so reduce slots" .name $inference.slots $inference.gpus) -}}
{{- end -}}
{{- range $role, $size := .preset -}}
{{- if and (hasSuffix "Gi" $size.memory) (ge (int $size.objectStoreGi) (int (trimSuffix "Gi" $size.memory))) -}}
{{- fail (printf "presets.%s.%s: objectStoreGi %v must be smaller than memory %s, which includes it" $.name $role $size.objectStoreGi $size.memory) -}}
{{- end -}}
{{- end -}}
{{- end -}}
