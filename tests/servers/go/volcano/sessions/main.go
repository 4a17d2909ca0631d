// Command sessions runs sessions of Volcano's scheduler in one process and without a server.
//
// Each line of standard input is a state of a cluster in JSON, and each line of standard output what one session
// of the scheduler does with it.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	vcv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler"
	_ "volcano.sh/volcano/pkg/scheduler/actions"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/metrics"
	_ "volcano.sh/volcano/pkg/scheduler/plugins"
	"volcano.sh/volcano/pkg/scheduler/util"
)

type state struct {
	Configuration   string                        `json:"configuration"`
	Nodes           []*corev1.Node                `json:"nodes"`
	PriorityClasses []*schedulingv1.PriorityClass `json:"priorityClasses"`
	Queues          []*vcv1beta1.Queue            `json:"queues"`
	PodGroups       []*vcv1beta1.PodGroup         `json:"podGroups"`
	Pods            []*corev1.Pod                 `json:"pods"`
	// Whether to score the nodes for each pending pod before the actions.
	Scores bool `json:"scores"`
}

type task struct {
	Status string `json:"status"`
	Node   string `json:"node,omitempty"`
}

type group struct {
	Phase      string            `json:"phase"`
	Conditions map[string]string `json:"conditions"`
}

type result struct {
	// By action, the tasks that it changed.
	Actions []map[string]task `json:"actions"`
	Groups  map[string]group  `json:"groups"`
	Events  []string          `json:"events"`
	// By pod and node that takes it: the sum of the weighted scores.
	Scores map[string]map[string]float64 `json:"scores,omitempty"`
	// By queue, from the statuses of the pods after the actions.
	Allocated map[string]string `json:"allocated"`
	Error     string            `json:"error,omitempty"`
}

type recorder struct {
	sync.Mutex
	events []string
}

func (it *recorder) Event(object runtime.Object, _, reason, message string) {
	it.Lock()
	defer it.Unlock()
	if group, ok := object.(*vcv1beta1.PodGroup); ok {
		it.events = append(it.events, fmt.Sprintf("%s/%s %s: %s", group.Namespace, group.Name, reason, message))
	}
}

func (it *recorder) Eventf(object runtime.Object, kind, reason, format string, args ...interface{}) {
	it.Event(object, kind, reason, fmt.Sprintf(format, args...))
}

func (it *recorder) AnnotatedEventf(object runtime.Object, _ map[string]string, kind, reason, format string, args ...interface{}) {
	it.Eventf(object, kind, reason, format, args...)
}

func main() {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	check(flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL"}))
	klog.SetOutput(io.Discard)
	klog.OsExit = func(int) { panic("the process ends") }
	metrics.InitKubeSchedulerRelatedMetrics()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<28)
	out := bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		var read state
		check(json.Unmarshal(lines.Bytes(), &read))
		text, err := json.Marshal(session(read))
		check(err)
		_, err = out.Write(append(text, '\n'))
		check(err)
		check(out.Flush())
	}
	check(lines.Err())
}

func session(read state) (found result) {
	defer func() {
		if crash := recover(); crash != nil {
			found = result{Error: fmt.Sprint("panic: ", crash)}
		}
	}()
	actions, tiers, configurations, _, err := scheduler.UnmarshalSchedulerConf(strings.TrimSpace(read.Configuration))
	if err != nil {
		return result{Error: err.Error()}
	}
	conf.EnabledActionMap = map[string]bool{}
	for _, action := range actions {
		conf.EnabledActionMap[action.Name()] = true
	}
	events := &recorder{}
	if read.Scores { // in a session of their own, because plugins remember the pods that they looked at
		found.Scores = scores(framework.OpenSession(filled(read, events), tiers, configurations))
	}
	open := framework.OpenSession(filled(read, events), tiers, configurations)
	jobs, queues := open.Jobs, open.Queues
	before := tasks(jobs)
	for _, action := range actions {
		action.Execute(open)
		after := tasks(jobs)
		changed := map[string]task{}
		for name, it := range after {
			if before[name] != it {
				changed[name] = it
			}
		}
		found.Actions = append(found.Actions, changed)
		before = after
	}
	found.Allocated = allocated(jobs, queues)
	framework.CloseSession(open)
	found.Groups = map[string]group{}
	for id, job := range jobs {
		conditions := map[string]string{}
		for _, it := range job.PodGroup.Status.Conditions {
			conditions[string(it.Type)] = it.Reason + ": " + it.Message
		}
		found.Groups[string(id)] = group{string(job.PodGroup.Status.Phase), conditions}
	}
	events.Lock()
	defer events.Unlock()
	sort.Strings(events.events)
	found.Events = events.events
	return found
}

func filled(read state, events *recorder) *cache.SchedulerCache {
	known := cache.NewCustomMockSchedulerCache("volcano", util.NewFakeBinder(10000), util.NewFakeEvictor(10000),
		&util.FakeStatusUpdater{}, nil, events)
	known.BindFlowChannel = make(chan *cache.BindContext, 10000)
	for _, it := range read.Nodes {
		check(known.AddOrUpdateNode(it))
	}
	for _, it := range read.PriorityClasses {
		known.AddPriorityClass(it)
	}
	for _, it := range read.Queues {
		known.AddQueueV1beta1(it)
	}
	for _, it := range read.PodGroups {
		known.AddPodGroupV1beta1(it)
	}
	for _, it := range read.Pods {
		known.AddPod(it.DeepCopy())
	}
	return known
}

func tasks(jobs map[api.JobID]*api.JobInfo) map[string]task {
	found := map[string]task{}
	for _, job := range jobs {
		for _, it := range job.Tasks {
			found[it.Namespace+"/"+it.Name] = task{it.Status.String(), it.NodeName}
		}
	}
	return found
}

func allocated(jobs map[api.JobID]*api.JobInfo, queues map[api.QueueID]*api.QueueInfo) map[string]string {
	sums := map[api.QueueID]*api.Resource{}
	for id := range queues {
		sums[id] = api.EmptyResource()
	}
	for _, job := range jobs {
		for _, it := range job.Tasks {
			if api.AllocatedStatus(it.Status) {
				sums[job.Queue].Add(it.Resreq)
			}
		}
	}
	found := map[string]string{}
	for id, sum := range sums {
		found[string(id)] = sum.String()
	}
	return found
}

func scores(open *framework.Session) map[string]map[string]float64 {
	found := map[string]map[string]float64{}
	for _, job := range open.Jobs {
		for _, it := range job.TaskStatusIndex[api.Pending] {
			name := it.Namespace + "/" + it.Name
			found[name] = map[string]float64{}
			if it.SchGated || open.PrePredicateFn(it) != nil {
				continue
			}
			var fit []*api.NodeInfo
			for _, node := range open.NodeList {
				if it.InitResreq.LessEqual(node.FutureIdle(), api.Zero) && open.PredicateForAllocateAction(it, node) == nil {
					fit = append(fit, node)
				}
			}
			for score, nodes := range util.PrioritizeNodes(it, fit, open.BatchNodeOrderFn, open.NodeOrderMapFn, open.NodeOrderReduceFn) {
				for _, node := range nodes {
					found[name][node.Name] = score
				}
			}
		}
	}
	return found
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "sessions:", err)
		os.Exit(2)
	}
}
