{{- range .Values.teams }}
---
apiVersion: v1
kind: Namespace
metadata:
  name: {{ .name }}
  labels:
    app.kubernetes.io/managed-by: policygen
    policygen.dev/set: large
  annotations:
    argocd.argoproj.io/sync-options: Prune=false
    kustomize.toolkit.fluxcd.io/prune: disabled
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
          - {{ .name }}
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
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: pool
  namespace: {{ .name }}
  labels:
    app.kubernetes.io/managed-by: policygen
    policygen.dev/set: large
spec:
  clusterQueue: {{ .name }}.pool
---
apiVersion: v1
kind: ResourceQuota
metadata:
  name: large
  namespace: {{ .name }}
  labels:
    app.kubernetes.io/managed-by: policygen
    policygen.dev/set: large
spec:
  hard:
    count/workloads.kueue.x-k8s.io: {{ .hard | quote }}
{{- end }}
