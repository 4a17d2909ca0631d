module policygen.test/vpa

go 1.26.0

require k8s.io/autoscaler/vertical-pod-autoscaler v1.8.1
