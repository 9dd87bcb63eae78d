{{/*
A RayJob that plays a tournament on nightly.workers pods, from (dict "root" . "run" NAME): `suphx launch` fills it in as it
does with that of a run. Its head is as large as that of the preset of runs. "cronJob": only its spec, for a RayCronJob.
*/}}
{{- define "suphx.tournamentJob" -}}
{{- $values := .root.Values -}}
{{- $nightly := $values.nightly -}}
{{- $head := (index $values.presets $values.preset).head -}}
{{- $workers := dict "replicas" $nightly.workers "slots" $nightly.cpu "cpu" $nightly.cpu "memory" $nightly.memory "objectStoreGi" 2 "disk" "20Gi" -}}
{{- /* KubeRay counts the deadline from the start of each attempt, so that all attempts together end before the CronJob's pod does. */ -}}
{{- $deadline := max 1 (div $nightly.activeDeadlineSeconds (add1 $nightly.backoffLimit)) -}}
{{- $job := dict "preset" "nightly" "sizes" (dict "head" $head "simulator" $workers) "entrypoint" (include "suphx.tournament" (dict "root" .root "recipe" "/recipes/recipe.toml")) -}}
{{- /* After its deadline the driver works on until the pods are deleted: it must not promote nets in the morning. */ -}}
{{- $limits := dict "backoffLimit" (int $nightly.backoffLimit) "deadline" $deadline "ttl" 60 -}}
{{- include (ternary "suphx.rayJobSpec" "suphx.rayJob" (default false .cronJob)) (merge $job $limits .) -}}
{{- end -}}

{{/* The command of a tournament, from (dict "root" . "recipe" FILE): every core of its pod, or of all workers, plays. */}}
{{- define "suphx.tournament" -}}
{{- $nightly := .root.Values.nightly -}}
{{- $words := list "suphx" "tournament" .recipe "--runs" "/runs" "--wait-hours" .root.Values.run.waitHours -}}
{{- with .root.Values.storage.address -}}
{{- $words = concat $words (list "--set" (printf "storage.address=%s" .)) -}}
{{- end -}}
{{- if $nightly.workers -}}
{{- $words = concat $words (list "--set" "on_ray=true") -}}
{{- end -}}
{{- $words = concat $words (list "--set" (printf "workers=%d" (mul (max 1 $nightly.workers) $nightly.cpu))) -}}
{{- include "suphx.commandLine" $words -}}
{{- end -}}
