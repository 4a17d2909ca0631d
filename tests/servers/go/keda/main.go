// Command scaledobjects prints why KEDA refuses each ScaledObject of a list on standard input, or an empty line.
// It runs the checks of KEDA's webhook that need no cluster, and reads Prometheus triggers as KEDA's operator does.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	keda "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	"github.com/kedacore/keda/v2/pkg/scalers/scalersconfig"
)

// prometheus has the required fields of prometheusMetadata in pkg/scalers/prometheus_scaler.go. That package
// cannot be imported without the SDKs of all clouds.
type prometheus struct {
	triggerIndex int

	ServerAddress string  `keda:"name=serverAddress,       order=triggerMetadata"`
	Query         string  `keda:"name=query,               order=triggerMetadata"`
	Threshold     float64 `keda:"name=threshold,           order=triggerMetadata"`
}

func main() {
	var list []keda.ScaledObject
	if err := json.NewDecoder(os.Stdin).Decode(&list); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for i := range list {
		said := ""
		if err := refused(&list[i]); err != nil {
			said = strings.Join(strings.Fields(err.Error()), " ")
		}
		fmt.Println(said)
	}
}

func refused(it *keda.ScaledObject) error {
	if err := keda.CheckReplicaCountBoundsAreValid(it); err != nil {
		return err
	}
	if err := keda.ValidateTriggers(it.Spec.Triggers); err != nil {
		return err
	}
	for _, trigger := range it.Spec.Triggers {
		if trigger.Type != "prometheus" {
			continue
		}
		config := scalersconfig.ScalerConfig{TriggerType: trigger.Type, TriggerMetadata: trigger.Metadata}
		read := prometheus{}
		if err := config.TypedConfig(&read); err != nil {
			return err
		}
		// GetMetricTargetMili of pkg/scalers/scaler.go makes the target of the HorizontalPodAutoscaler, which
		// the API server refuses if it is not positive.
		if resource.NewMilliQuantity(int64(read.Threshold*1000), resource.DecimalSI).Sign() != 1 {
			return fmt.Errorf("threshold %v is not positive", read.Threshold)
		}
	}
	return nil
}
