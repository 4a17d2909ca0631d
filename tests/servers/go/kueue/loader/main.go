// Command loader reads files of Kueue's Configuration, one JSON string a line, and prints why Kueue
// does not start with each: a JSON string, empty if it starts.
//
// It does what Kueue's main does with the file before it connects to a cluster.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/featuregate"
	configv1beta1 "sigs.k8s.io/kueue/apis/config/v1beta1"
	configv1beta2 "sigs.k8s.io/kueue/apis/config/v1beta2"
	"sigs.k8s.io/kueue/pkg/config"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs"
	"sigs.k8s.io/kueue/pkg/dra"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/util/tlsconfig"
)

var (
	scheme   = runtime.NewScheme()
	pristine = utilfeature.DefaultMutableFeatureGate.DeepCopy()
)

func main() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(configv1beta1.AddToScheme(scheme))
	utilruntime.Must(configv1beta2.AddToScheme(scheme))
	utilruntime.Must(jobframework.ForEachIntegration(func(_ string, cb jobframework.IntegrationCallbacks) error {
		if cb.AddToScheme != nil {
			return cb.AddToScheme(scheme)
		}
		return nil
	}))
	folder, err := os.MkdirTemp("", "loader")
	check(err)
	defer os.RemoveAll(folder)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var text string
		check(json.Unmarshal(lines.Bytes(), &text))
		file := filepath.Join(folder, "configuration")
		check(os.WriteFile(file, []byte(text), 0o600))
		answer, err := json.Marshal(fault(file))
		check(err)
		fmt.Println(string(answer))
	}
	check(lines.Err())
}

func fault(file string) (found string) {
	defer func() {
		if crash := recover(); crash != nil {
			found = fmt.Sprint("panic: ", crash)
		}
	}()
	if err := load(file); err != nil {
		return err.Error()
	}
	return ""
}

func load(file string) error {
	options, cfg, err := config.Load(scheme, file)
	if err != nil {
		return err
	}
	if _, err := config.Encode(scheme, &cfg); err != nil {
		return err
	}
	gates := pristine.DeepCopy().(featuregate.MutableVersionedFeatureGate)
	utilfeature.DefaultMutableFeatureGate, utilfeature.DefaultFeatureGate = gates, gates
	if err := config.LoadAndValidateFeatureGates("", cfg.FeatureGates).ToAggregate(); err != nil {
		return err
	}
	if err := config.Validate(&cfg, scheme).ToAggregate(); err != nil {
		return err
	}
	if features.Enabled(features.TLSOptions) {
		if _, err := tlsconfig.ParseTLSOptions(cfg.TLS); err != nil {
			return err
		}
	}
	if err := config.AddWebhookSettingsTo(&options, &cfg); err != nil {
		return err
	}
	_, _ = *cfg.ClientConnection.QPS, *cfg.ClientConnection.Burst
	if features.Enabled(features.KueueDRAIntegration) && cfg.Resources != nil {
		return dra.NewResourceMapper().PopulateFromConfiguration(cfg.Resources.DeviceClassMappings)
	}
	return nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "loader:", err)
		os.Exit(2)
	}
}
