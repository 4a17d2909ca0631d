module policygen.test/kustomize-controller

go 1.26.0

require github.com/fluxcd/kustomize-controller v1.9.6
