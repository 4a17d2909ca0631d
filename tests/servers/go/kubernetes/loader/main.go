// Command loader reads files of kube-scheduler's configuration, one JSON string a line, and prints
// why kube-scheduler does not start with each: a JSON string, empty if it starts.
//
// It does what app.Setup does, without a server, and checks the durations of the leader election.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/leaderelection"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

func main() {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	check(flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL"}))
	klog.SetOutput(io.Discard)
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
	registry := basecompatibility.NewComponentGlobalsRegistry()
	version := compatibility.DefaultBuildEffectiveVersion()
	gates := feature.DefaultMutableFeatureGate.DeepCopy()
	check(registry.Register(basecompatibility.DefaultKubeComponent, version, gates.(featuregate.MutableVersionedFeatureGate)))
	opts := options.NewOptionsWithComponentGlobalsRegistry(registry)
	given := pflag.NewFlagSet("loader", pflag.PanicOnError)
	for _, set := range opts.Flags.FlagSets {
		given.AddFlagSet(set)
	}
	check(given.Parse([]string{"--config=" + file, "--master=http://127.0.0.1:1", "--secure-port=0"}))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	completed, _, err := app.Setup(ctx, opts)
	if err != nil {
		return err
	}
	if completed.LeaderElection == nil {
		return nil
	}
	completed.LeaderElection.Callbacks = leaderelection.LeaderCallbacks{
		OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {},
	}
	_, err = leaderelection.NewLeaderElector(*completed.LeaderElection)
	return err
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "loader:", err)
		os.Exit(2)
	}
}
