// Command loader reads files of Kueue's Configuration, one JSON string a line, and prints why Kueue
// does not start with each: a JSON string, empty if it starts.
//
// It does what Kueue's main does with the file before it connects to a cluster. With the argument
// `effect`, it prints the effective Configuration of each file that Kueue takes, and else nothing.
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
	"sigs.k8s.io/kueue/pkg/util/waitforpodsready"
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
		text, found := fault(file)
		if len(os.Args) == 1 {
			text = found
		}
		answer, err := json.Marshal(text)
		check(err)
		fmt.Println(string(answer))
	}
	check(lines.Err())
}

// fault returns the effective Configuration in a file, and why Kueue does not start with it.
func fault(file string) (effect, found string) {
	defer func() {
		if crash := recover(); crash != nil {
			effect, found = "", fmt.Sprint("panic: ", crash)
		}
	}()
	var cfg configv1beta2.Configuration
	if err := load(file, &cfg); err != nil {
		return "", err.Error()
	}
	waits := waitforpodsready.Enabled(cfg.WaitForPodsReady)
	configv1beta2.SetDefaults_Configuration(&cfg) // of fields that v1beta1 does not have
	if !waits {
		cfg.WaitForPodsReady = nil
	}
	delete(cfg.FeatureGates, string(features.DisableWaitForPodsReady))
	effect, err := config.Encode(scheme, &cfg)
	check(err)
	return effect, ""
}

func load(file string, cfg *configv1beta2.Configuration) error {
	options, loaded, err := config.Load(scheme, file)
	*cfg = loaded
	if err != nil {
		return err
	}
	if _, err := config.Encode(scheme, cfg); err != nil {
		return err
	}
	gates := pristine.DeepCopy().(featuregate.MutableVersionedFeatureGate)
	utilfeature.DefaultMutableFeatureGate, utilfeature.DefaultFeatureGate = gates, gates
	if err := config.LoadAndValidateFeatureGates("", cfg.FeatureGates).ToAggregate(); err != nil {
		return err
	}
	if err := config.Validate(cfg, scheme).ToAggregate(); err != nil {
		return err
	}
	if features.Enabled(features.TLSOptions) {
		if _, err := tlsconfig.ParseTLSOptions(cfg.TLS); err != nil {
			return err
		}
	}
	if err := config.AddWebhookSettingsTo(&options, cfg); err != nil {
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
