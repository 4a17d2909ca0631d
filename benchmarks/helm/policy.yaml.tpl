{{- range .Values.teams }}
{{- $team := . }}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: {{ .name }}.pool
  labels:
    app.kubernetes.io/managed-by: policygen
    policygen.dev/set: large
spec:
  cohortName: pool
  queueingStrategy: BestEffortFIFO
  namespaceSelector:
    matchExpressions:
      - key: kubernetes.io/metadata.name
        operator: In
        values:
{{- range .namespaces }}
          - {{ . }}
{{- end }}
  flavorFungibility:
    whenCanBorrow: MayStopSearch
    whenCanPreempt: TryNextFlavor
  preemption:
    reclaimWithinCohort: Any
    withinClusterQueue: LowerPriority
    borrowWithinCohort:
      policy: Never
  fairSharing:
    weight: "1"
  resourceGroups:
    - coveredResources:
{{- range .cells }}
        - {{ .name }}
{{- end }}
      flavors:
        - name: pool
          resources:
{{- range .cells }}
            - name: {{ .name }}
              nominalQuota: {{ .nominalQuota | quote }}
              borrowingLimit: {{ .borrowingLimit | quote }}
{{- end }}
{{- range .namespaces }}
---
apiVersion: v1
kind: Namespace
metadata:
  name: {{ . }}
  labels:
    app.kubernetes.io/managed-by: policygen
    policygen.dev/set: large
  annotations:
    argocd.argoproj.io/sync-options: Prune=false
    kustomize.toolkit.fluxcd.io/prune: disabled
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: pool
  namespace: {{ . }}
  labels:
    app.kubernetes.io/managed-by: policygen
    policygen.dev/set: large
spec:
  clusterQueue: {{ $team.name }}.pool
---
apiVersion: v1
kind: ResourceQuota
metadata:
  name: large
  namespace: {{ . }}
  labels:
    app.kubernetes.io/managed-by: policygen
    policygen.dev/set: large
spec:
  hard:
    count/workloads.kueue.x-k8s.io: {{ $team.hard | quote }}
{{- end }}
{{- end }}
