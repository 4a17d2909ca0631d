// Command scores runs kube-scheduler's own plugins on scenarios, in one process and without a server.
//
// Each line of standard input is a scenario in JSON, and each line of standard output its result in the same order. A
// scenario holds a KubeSchedulerConfiguration, objects as the API server would store them, and steps. A step removes
// pods, or schedules one: to the node with the highest score, of equal ones to that with the first name.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	config "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
)

type scenario struct {
	Configuration json.RawMessage      `json:"configuration"`
	Nodes         []*corev1.Node       `json:"nodes"`
	Namespaces    []*corev1.Namespace  `json:"namespaces"`
	Services      []*corev1.Service    `json:"services"`
	ReplicaSets   []*appsv1.ReplicaSet `json:"replicaSets"`
	Steps         []step               `json:"steps"`
}

type step struct {
	Pod    *corev1.Pod `json:"pod"`
	Remove []string    `json:"remove"`
}

type stepResult struct {
	// Empty if no node takes the pod.
	Node string `json:"node"`
	// By node and plugin: the normalized score times the weight of the plugin.
	Scores map[string]map[string]int64 `json:"scores"`
	// Why each other node does not take the pod.
	Reasons map[string][]string `json:"reasons"`
	// By node: the pods whose eviction gives the pod room, if no node has room.
	Victims map[string][]string `json:"victims,omitempty"`
}

type result struct {
	Steps []stepResult `json:"steps"`
	Error string       `json:"error,omitempty"`
}

func main() {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	check(flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL"}))
	klog.SetOutput(io.Discard)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<28)
	out := bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		var read scenario
		check(json.Unmarshal(lines.Bytes(), &read))
		found := play(read)
		text, err := json.Marshal(found)
		check(err)
		_, err = out.Write(append(text, '\n'))
		check(err)
	}
	check(lines.Err())
	check(out.Flush())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func play(read scenario) (found result) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	steps, err := run(ctx, read)
	found.Steps = steps
	if err != nil {
		found.Error = err.Error()
	}
	return found
}

func run(ctx context.Context, read scenario) ([]stepResult, error) {
	object, _, err := scheme.Codecs.UniversalDecoder().Decode(read.Configuration, nil, nil)
	if err != nil {
		return nil, err
	}
	configuration, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("the configuration is %T", object)
	}
	// Nothing listens there: informers are filled by hand and never started.
	client, err := clientset.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	for _, it := range read.Namespaces {
		check(factory.Core().V1().Namespaces().Informer().GetIndexer().Add(it))
	}
	for _, it := range read.Services {
		check(factory.Core().V1().Services().Informer().GetIndexer().Add(it))
	}
	for _, it := range read.ReplicaSets {
		check(factory.Apps().V1().ReplicaSets().Informer().GetIndexer().Add(it))
	}
	recorder := func(string) events.EventRecorderLogger { return events.NewFakeRecorder(0) }
	sched, err := scheduler.New(ctx, client, factory, nil, recorder, scheduler.WithProfiles(configuration.Profiles...))
	if err != nil {
		return nil, err
	}
	logger := klog.FromContext(ctx)
	for _, it := range read.Nodes {
		sched.Cache.AddNode(logger, it)
	}
	bound := map[string]*corev1.Pod{}
	var found []stepResult
	for _, it := range read.Steps {
		for _, name := range it.Remove {
			if pod, ok := bound[name]; ok {
				if err := sched.Cache.RemovePod(logger, pod); err != nil {
					return found, err
				}
				delete(bound, name)
			}
		}
		if it.Pod == nil {
			continue
		}
		one, err := place(ctx, sched, it.Pod)
		if err != nil {
			return found, err
		}
		found = append(found, one)
		if one.Node == "" {
			continue
		}
		pod := it.Pod.DeepCopy()
		pod.Spec.NodeName = one.Node
		if err := sched.Cache.AddPod(logger, pod); err != nil {
			return found, err
		}
		bound[pod.Name] = pod
	}
	return found, nil
}

func place(ctx context.Context, sched *scheduler.Scheduler, pod *corev1.Pod) (stepResult, error) {
	found := stepResult{Scores: map[string]map[string]int64{}, Reasons: map[string][]string{}}
	profile, ok := sched.Profiles[pod.Spec.SchedulerName]
	if !ok {
		return found, fmt.Errorf("no profile %q", pod.Spec.SchedulerName)
	}
	snapshot := profile.SnapshotSharedLister().(*internalcache.Snapshot)
	if err := sched.Cache.UpdateSnapshot(klog.FromContext(ctx), snapshot); err != nil {
		return found, err
	}
	all, err := snapshot.NodeInfos().List()
	if err != nil {
		return found, err
	}
	state := framework.NewCycleState()
	named, status, _ := profile.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() && !status.IsRejected() {
		return found, status.AsError()
	}
	var feasible, closed []fwk.NodeInfo
	for _, node := range all {
		name := node.Node().Name
		each := status
		if each.IsSuccess() && (named.AllNodes() || named.NodeNames.Has(name)) {
			each = profile.RunFilterPlugins(ctx, state, pod, node)
		} else if each.IsSuccess() {
			continue
		}
		if each.IsSuccess() {
			feasible = append(feasible, node)
		} else {
			found.Reasons[name] = each.Reasons()
			if each.Code() == fwk.Unschedulable {
				closed = append(closed, node)
			}
		}
	}
	if len(feasible) == 0 && status.IsSuccess() && len(closed) > 0 {
		found.Victims, err = victims(ctx, profile, state, pod, closed)
	}
	if len(feasible) == 0 {
		return found, err
	}
	if status := profile.RunPreScorePlugins(ctx, state, pod, feasible); !status.IsSuccess() {
		return found, status.AsError()
	}
	scores, status := profile.RunScorePlugins(ctx, state, pod, feasible)
	if !status.IsSuccess() {
		return found, status.AsError()
	}
	var best int64 = -1
	for _, node := range scores {
		byPlugin := map[string]int64{}
		for _, it := range node.Scores {
			byPlugin[it.Name] = it.Score
		}
		found.Scores[node.Name] = byPlugin
		if node.TotalScore > best || node.TotalScore == best && node.Name < found.Node {
			best, found.Node = node.TotalScore, node.Name
		}
	}
	return found, nil
}

// victims returns for each node the pods that DefaultPreemption would evict.
func victims(ctx context.Context, profile framework.Framework, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) (map[string][]string, error) {
	args := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100, MinCandidateNodesAbsolute: 1}
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	plugin, err := defaultpreemption.New(ctx, args, profile, features)
	if err != nil {
		return nil, err
	}
	// One more than there are, so that the search does not end early.
	candidates, _, err := plugin.Evaluator.DryRunPreemption(ctx, state, pod, nodes, nil, 0, int32(len(nodes)+1))
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for _, it := range candidates {
		for _, victim := range it.Victims().Pods {
			found[it.Name()] = append(found[it.Name()], victim.Name)
		}
	}
	return found, nil
}
