// Runs Kueue's own scheduler, caches and workload reconciler on scenarios, without an API server.
//
// Each line of standard input is a scenario in JSON, and each line of standard output its result in the same order. A
// scenario holds objects as the API server would store them (with their defaults) and steps. A step sets the clock,
// creates and finishes workloads, and then runs scheduling cycles until nothing can change.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/scheduler"
	preemptexpectations "sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/util/routine"
	"sigs.k8s.io/kueue/pkg/util/tas"
	"sigs.k8s.io/kueue/pkg/util/wait"
	"sigs.k8s.io/kueue/pkg/workload"
)

//go:linkname schedule sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).schedule
func schedule(s *scheduler.Scheduler, ctx context.Context) wait.SpeedSignal

//go:linkname setAdmissionRoutineWrapper sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).setAdmissionRoutineWrapper
func setAdmissionRoutineWrapper(s *scheduler.Scheduler, wrapper routine.Wrapper)

type atOnce struct{}

func (atOnce) Run(f func()) { f() }

type quiet struct{}

func (quiet) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

// scenario is one line of the input.
type scenario struct {
	FairSharing   *config.FairSharing    `json:"fairSharing"`
	Flavors       []kueue.ResourceFlavor `json:"flavors"`
	Cohorts       []kueue.Cohort         `json:"cohorts"`
	ClusterQueues []kueue.ClusterQueue   `json:"clusterQueues"`
	LocalQueues   []kueue.LocalQueue     `json:"localQueues"`
	Namespaces    []corev1.Namespace     `json:"namespaces"`
	LimitRanges   []corev1.LimitRange    `json:"limitRanges"`
	Topologies    []kueue.Topology       `json:"topologies"`
	Nodes         []corev1.Node          `json:"nodes"`
	Pods          []corev1.Pod           `json:"pods"`
	Checks        []kueue.AdmissionCheck `json:"admissionChecks"`
	PodsReady     *podsReady             `json:"waitForPodsReady"`
	Steps         []step                 `json:"steps"`
	MaxCycles     int                    `json:"maxCycles"`
}

// podsReady is waitForPodsReady of the Configuration, with times in seconds.
type podsReady struct {
	Timeout   int64                     `json:"timeout"`
	Base      int32                     `json:"backoffBaseSeconds"`
	Max       int64                     `json:"backoffMaxSeconds"`
	Limit     *int32                    `json:"backoffLimitCount"`
	Timestamp config.RequeuingTimestamp `json:"timestamp"`
}

// step is what happens at one time, in the order of its fields after Finish.
type step struct {
	// Seconds since the start of the scenario.
	At     int64            `json:"at"`
	Create []kueue.Workload `json:"create"`
	Finish []string         `json:"finish"`
	// Queues with another stopPolicy.
	ClusterQueues []kueue.ClusterQueue `json:"clusterQueues"`
	LocalQueues   []kueue.LocalQueue   `json:"localQueues"`
	// Workloads whose spec.active changes.
	Active map[string]bool `json:"active"`
	// Workloads whose pods are ready from now on.
	Ready  []string      `json:"ready"`
	Checks []checkChange `json:"checks"`
}

// checkChange sets the state of an admission check of a workload that waits for it.
type checkChange struct {
	Workload string           `json:"workload"`
	Check    string           `json:"check"`
	State    kueue.CheckState `json:"state"`
	// With the state Retry.
	RequeueAfter *int32 `json:"requeueAfterSeconds"`
}

// action is what one cycle did to one workload.
type action struct {
	Cycle    int    `json:"cycle"`
	Workload string `json:"workload"`
	// "admitted" or "evicted"
	What   string `json:"what"`
	Reason string `json:"reason,omitempty"`
}

type podSetResult struct {
	Name    string            `json:"name"`
	Count   int32             `json:"count"`
	Flavors map[string]string `json:"flavors"`
	// Pods by the values of the lowest levels.
	Topology map[string]int32 `json:"topology,omitempty"`
}

type workloadResult struct {
	Name     string `json:"name"`
	Admitted bool   `json:"admitted"`
	// It has quota, but waits for admission checks.
	Checked bool           `json:"checked,omitempty"`
	PodSets []podSetResult `json:"podSets,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Message string         `json:"message,omitempty"`
	// "heap", "inadmissible" or "" if the workload is in no queue
	Where string `json:"where,omitempty"`
}

type stepResult struct {
	Cycles int `json:"cycles"`
	// The cycles did not end: the same states repeat with actions between them.
	Livelock  bool             `json:"livelock,omitempty"`
	Actions   []action         `json:"actions"`
	Workloads []workloadResult `json:"workloads"`
}

type result struct {
	Steps []stepResult `json:"steps"`
	Error string       `json:"error,omitempty"`
}

// store is the API server of a scenario: objects by kind and name, and the workloads that changed.
type store struct {
	client.Client
	workloads     map[types.NamespacedName]*kueue.Workload
	namespaces    map[string]*corev1.Namespace
	limitRanges   []corev1.LimitRange
	clusterQueues map[string]*kueue.ClusterQueue
	localQueues   map[types.NamespacedName]*kueue.LocalQueue
	before        map[types.NamespacedName]*kueue.Workload
	scheme        *runtime.Scheme
	// The preemptor evicts its victims at the same time.
	mutex sync.Mutex
}

func notFound(key types.NamespacedName) error {
	return apierrors.NewNotFound(schema.GroupResource{}, key.String())
}

func (s *store) Scheme() *runtime.Scheme { return s.scheme }

func (s *store) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch target := object.(type) {
	case *kueue.Workload:
		if found := s.workloads[key]; found != nil {
			found.DeepCopyInto(target)
			return nil
		}
	case *corev1.Namespace:
		if found := s.namespaces[key.Name]; found != nil {
			found.DeepCopyInto(target)
			return nil
		}
	case *kueue.ClusterQueue:
		if found := s.clusterQueues[key.Name]; found != nil {
			found.DeepCopyInto(target)
			return nil
		}
	case *kueue.LocalQueue:
		if found := s.localQueues[key]; found != nil {
			found.DeepCopyInto(target)
			return nil
		}
	case *nodev1.RuntimeClass:
	default:
		panic(fmt.Sprintf("Get of %T", object))
	}
	return notFound(key)
}

func (s *store) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := client.ListOptions{}
	asked.ApplyOptions(options)
	field := func(name string) (string, bool) {
		if asked.FieldSelector == nil {
			return "", false
		}
		return asked.FieldSelector.RequiresExactMatch(name)
	}
	switch target := list.(type) {
	case *kueue.LocalQueueList:
		wanted, limited := field("spec.clusterQueue")
		for _, queue := range s.localQueues {
			if !limited || string(queue.Spec.ClusterQueue) == wanted {
				target.Items = append(target.Items, *queue.DeepCopy())
			}
		}
	case *kueue.WorkloadList:
		queueName, byQueue := field("spec.queueName")
		clusterQueue, byClusterQueue := field("status.admission.clusterQueue")
		for _, wl := range s.workloads {
			if asked.Namespace != "" && wl.Namespace != asked.Namespace {
				continue
			}
			if byQueue && string(wl.Spec.QueueName) != queueName {
				continue
			}
			if byClusterQueue && (wl.Status.Admission == nil || string(wl.Status.Admission.ClusterQueue) != clusterQueue) {
				continue
			}
			target.Items = append(target.Items, *wl.DeepCopy())
		}
	case *corev1.LimitRangeList:
		for _, limits := range s.limitRanges {
			if asked.Namespace == "" || limits.Namespace == asked.Namespace {
				target.Items = append(target.Items, *limits.DeepCopy())
			}
		}
	default:
		panic(fmt.Sprintf("List of %T", list))
	}
	return nil
}

func (s *store) write(wl *kueue.Workload) {
	key := client.ObjectKeyFromObject(wl)
	old := s.workloads[key]
	if _, kept := s.before[key]; !kept {
		s.before[key] = old
	}
	s.workloads[key] = wl.DeepCopy()
}

func (s *store) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.write(object.(*kueue.Workload))
	return nil
}

func (s *store) Status() client.SubResourceWriter { return statusWriter{store: s} }

type statusWriter struct {
	client.SubResourceWriter
	store *store
}

// Patch applies a status: the fields that Kueue owns are all the fields there are, so the status is replaced.
func (w statusWriter) Patch(_ context.Context, object client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	w.store.mutex.Lock()
	defer w.store.mutex.Unlock()
	patch := object.(*kueue.Workload)
	key := client.ObjectKeyFromObject(patch)
	current := w.store.workloads[key]
	if current == nil {
		return notFound(key)
	}
	fresh := current.DeepCopy()
	patch.Status.DeepCopyInto(&fresh.Status)
	if !reflect.DeepEqual(fresh.Status, current.Status) {
		w.store.write(fresh)
	}
	fresh.DeepCopyInto(patch)
	return nil
}

// Update replaces a status.
func (w statusWriter) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	w.store.mutex.Lock()
	defer w.store.mutex.Unlock()
	w.store.write(object.(*kueue.Workload))
	return nil
}

// world is a running scheduler with its store.
type world struct {
	store      *store
	clock      *testingclock.FakeClock
	cache      *schdcache.Cache
	queues     *qcache.Manager
	requeue    func(context.Context) int
	scheduler  *scheduler.Scheduler
	reconciler *core.WorkloadReconciler
	actions    []action
	cycle      int
}

func newWorld(s *scenario) (*world, error) {
	ctx := context.Background()
	scheme := runtime.NewScheme()
	if err := kueue.AddToScheme(scheme); err != nil {
		return nil, err
	}
	st := &store{
		workloads:     map[types.NamespacedName]*kueue.Workload{},
		namespaces:    map[string]*corev1.Namespace{},
		limitRanges:   s.LimitRanges,
		clusterQueues: map[string]*kueue.ClusterQueue{},
		localQueues:   map[types.NamespacedName]*kueue.LocalQueue{},
		before:        map[types.NamespacedName]*kueue.Workload{},
		scheme:        scheme,
	}
	for i := range s.Namespaces {
		st.namespaces[s.Namespaces[i].Name] = &s.Namespaces[i]
	}
	for i := range s.ClusterQueues {
		st.clusterQueues[s.ClusterQueues[i].Name] = &s.ClusterQueues[i]
	}
	for i := range s.Checks {
		apimeta.SetStatusCondition(&s.Checks[i].Status.Conditions, metav1.Condition{
			Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active"})
	}
	timestamp := config.EvictionTimestamp
	if s.PodsReady != nil {
		timestamp = s.PodsReady.Timestamp
	}
	clk := testingclock.NewFakeClock(time.Unix(0, 0).UTC())
	expectations := preemptexpectations.New()
	cache := schdcache.New(st, schdcache.WithFairSharing(s.FairSharing != nil))
	queues, requeuer := qcache.NewManagerForUnitTestsWithRequeuer(
		st, cache, qcache.WithClock(clk), qcache.WithPreemptionExpectations(expectations),
		qcache.WithPodsReadyRequeuingTimestamp(timestamp))
	sch := scheduler.New(queues, cache, st, quiet{}, scheduler.WithClock(nil, clk),
		scheduler.WithFairSharing(s.FairSharing), scheduler.WithPreemptionExpectations(expectations),
		scheduler.WithPodsReadyRequeuingTimestamp(timestamp))
	setAdmissionRoutineWrapper(sch, atOnce{})
	reconciler := core.NewWorkloadReconciler(st, queues, cache, quiet{}, core.WithPreemptionExpectations(expectations))
	set(reconciler, "clock", clk)
	if s.PodsReady != nil {
		setPodsReady(reconciler, s.PodsReady)
	}
	w := &world{store: st, clock: clk, cache: cache, queues: queues, requeue: requeuer.ProcessRequeues, scheduler: sch, reconciler: reconciler}

	for i := range s.Checks {
		cache.AddOrUpdateAdmissionCheck(logr.Discard(), &s.Checks[i])
	}
	for i := range s.Topologies {
		cache.AddOrUpdateTopology(logr.Discard(), &s.Topologies[i])
	}
	flavors := core.NewResourceFlavorReconciler(st, queues, cache, nil)
	for i := range s.Flavors {
		flavors.Create(event.TypedCreateEvent[*kueue.ResourceFlavor]{Object: &s.Flavors[i]})
	}
	for i := range s.Nodes {
		cache.TASCache().SyncNode(&s.Nodes[i])
	}
	for i := range s.Pods {
		cache.TASCache().Update(&s.Pods[i], logr.Discard())
	}
	for i := range s.Cohorts {
		if err := cache.AddOrUpdateCohort(&s.Cohorts[i]); err != nil {
			return nil, err
		}
		queues.AddOrUpdateCohort(ctx, &s.Cohorts[i])
	}
	for i := range s.ClusterQueues {
		if err := cache.AddClusterQueue(ctx, &s.ClusterQueues[i]); err != nil {
			return nil, err
		}
		if err := queues.AddClusterQueue(ctx, &s.ClusterQueues[i]); err != nil {
			return nil, err
		}
	}
	for i := range s.LocalQueues {
		queue := &s.LocalQueues[i]
		st.localQueues[client.ObjectKeyFromObject(queue)] = queue // now: AddClusterQueue adds those that exist
		if queue.Spec.StopPolicy == nil || *queue.Spec.StopPolicy == kueue.None {
			if err := queues.AddLocalQueue(ctx, queue); err != nil {
				return nil, err
			}
		}
		if err := cache.AddLocalQueue(queue); err != nil {
			return nil, err
		}
	}
	w.requeue(ctx) // the creation of queues asks for a retry
	return w, nil
}

// set replaces a field of the reconciler that it offers no option for.
func set(reconciler *core.WorkloadReconciler, name string, value any) {
	field := reflect.ValueOf(reconciler).Elem().FieldByName(name)
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(value))
}

// setPodsReady fills the settings, whose type is not exported.
func setPodsReady(reconciler *core.WorkloadReconciler, s *podsReady) {
	field := reflect.ValueOf(reconciler).Elem().FieldByName("waitForPodsReady")
	settings := reflect.New(field.Type().Elem())
	values := map[string]any{
		"timeout":                     time.Duration(s.Timeout) * time.Second,
		"requeuingBackoffLimitCount":  s.Limit,
		"requeuingBackoffBaseSeconds": s.Base,
		"requeuingBackoffMaxDuration": time.Duration(s.Max) * time.Second,
	}
	for name, value := range values {
		part := settings.Elem().FieldByName(name)
		reflect.NewAt(part.Type(), unsafe.Pointer(part.UnsafeAddr())).Elem().Set(reflect.ValueOf(value))
	}
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(settings)
}

// deliver hands every change of a workload to the reconciler until nothing changes.
func (w *world) deliver(ctx context.Context) error {
	for len(w.store.before) > 0 {
		before := w.store.before
		w.store.before = map[types.NamespacedName]*kueue.Workload{}
		keys := make([]types.NamespacedName, 0, len(before))
		for key := range before {
			keys = append(keys, key)
		}
		sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
		for _, key := range keys {
			now := w.store.workloads[key].DeepCopy()
			if old := before[key]; old == nil {
				w.reconciler.Create(event.TypedCreateEvent[*kueue.Workload]{Object: now})
			} else {
				w.reconciler.Update(event.TypedUpdateEvent[*kueue.Workload]{ObjectOld: old, ObjectNew: now})
				w.note(old, now)
			}
			if err := w.reconcileOne(ctx, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// reconcileOne calls the reconciler. A workload of a queue that is gone stays as it is.
func (w *world) reconcileOne(ctx context.Context, key types.NamespacedName) error {
	_, err := w.reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: key})
	if errors.Is(err, qcache.ErrLocalQueueDoesNotExistOrInactive) || errors.Is(err, qcache.ErrClusterQueueDoesNotExist) {
		return nil
	}
	return err
}

func (w *world) note(old, now *kueue.Workload) {
	name := client.ObjectKeyFromObject(now).String()
	if !workload.HasQuotaReservation(old) && workload.HasQuotaReservation(now) {
		w.actions = append(w.actions, action{Cycle: w.cycle, Workload: name, What: "admitted"})
	}
	if !evicted(old) && evicted(now) && workload.HasQuotaReservation(old) {
		reason := apimeta.FindStatusCondition(now.Status.Conditions, kueue.WorkloadEvicted).Reason
		if reason == kueue.WorkloadEvictedByPreemption {
			reason = apimeta.FindStatusCondition(now.Status.Conditions, kueue.WorkloadPreempted).Reason
		}
		w.actions = append(w.actions, action{Cycle: w.cycle, Workload: name, What: "evicted", Reason: reason})
	}
}

func evicted(wl *kueue.Workload) bool {
	return apimeta.IsStatusConditionTrue(wl.Status.Conditions, kueue.WorkloadEvicted)
}

// release does what the job reconciler does once the pods of an evicted workload are gone.
func (w *world) release(ctx context.Context) error {
	keys := []types.NamespacedName{}
	for key, wl := range w.store.workloads {
		if evicted(wl) && workload.HasQuotaReservation(wl) {
			keys = append(keys, key)
		}
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	for _, key := range keys {
		wl := w.store.workloads[key].DeepCopy()
		cond := apimeta.FindStatusCondition(wl.Status.Conditions, kueue.WorkloadEvicted)
		reason, message := cond.Reason, cond.Message
		again := reason == kueue.WorkloadEvictedByPreemption || reason == kueue.WorkloadEvictedDueToNodeFailures
		workload.SetRequeuedCondition(wl, reason, message, again)
		workload.UnsetQuotaReservationWithCondition(wl, "Pending", message, w.clock.Now())
		apimeta.RemoveStatusCondition(&wl.Status.Conditions, kueue.WorkloadPodsReady)
		w.store.write(wl)
	}
	return w.deliver(ctx)
}

func (w *world) anyHead() bool {
	for name, keys := range w.queues.Dump() {
		if len(keys) > 0 && w.cache.ClusterQueueActive(name) {
			return true
		}
	}
	return false
}

// state describes everything that a next cycle can depend on, to notice repetition.
func (w *world) state() string {
	lines := []string{}
	for key, wl := range w.store.workloads {
		line := key.String()
		for _, cond := range wl.Status.Conditions {
			if cond.Type == kueue.WorkloadQuotaReserved {
				line += "|" + string(cond.Status) + cond.Message
			}
		}
		if wl.Status.Admission != nil {
			text, _ := json.Marshal(wl.Status.Admission)
			line += string(text)
		}
		lines = append(lines, line)
	}
	for name, keys := range w.queues.Dump() {
		sorted := []string{}
		for _, key := range keys {
			sorted = append(sorted, string(key))
		}
		sort.Strings(sorted)
		lines = append(lines, fmt.Sprint(name, sorted))
	}
	sort.Strings(lines)
	text, _ := json.Marshal(lines)
	return string(text)
}

func (w *world) run(ctx context.Context, maxCycles int) (cycles int, livelock bool, err error) {
	for {
		seen := map[string]bool{}
		quietCycles := 0
		for w.anyHead() {
			if cycles >= maxCycles {
				return cycles, true, nil
			}
			done := len(w.actions)
			w.cycle++
			cycles++
			schedule(w.scheduler, ctx)
			if err = w.deliver(ctx); err != nil {
				return cycles, false, err
			}
			if err = w.release(ctx); err != nil {
				return cycles, false, err
			}
			if len(w.actions) > done {
				seen, quietCycles = map[string]bool{}, 0
				continue
			}
			quietCycles++
			now := w.state()
			// A scan of flavors goes on behind the last one tried, so a repeated state counts only after some cycles.
			if seen[now] && quietCycles > 16 {
				break
			}
			seen[now] = true
		}
		if w.requeue(ctx) == 0 {
			return cycles, false, nil
		}
	}
}

func (w *world) results() []workloadResult {
	where := map[string]string{}
	for _, keys := range w.queues.Dump() {
		for _, key := range keys {
			where[string(key)] = "heap"
		}
	}
	for _, keys := range w.queues.DumpInadmissible() {
		for _, key := range keys {
			where[string(key)] = "inadmissible"
		}
	}
	all := []workloadResult{}
	for key, wl := range w.store.workloads {
		if apimeta.IsStatusConditionTrue(wl.Status.Conditions, kueue.WorkloadFinished) {
			continue
		}
		one := workloadResult{Name: key.String(), Admitted: workload.HasQuotaReservation(wl),
			Checked: workload.HasQuotaReservation(wl) && !workload.IsAdmitted(wl), Where: where[key.String()]}
		if wl.Status.Admission != nil {
			for _, ps := range wl.Status.Admission.PodSetAssignments {
				flavors := map[string]string{}
				for resource, flavor := range ps.Flavors {
					flavors[string(resource)] = string(flavor)
				}
				domains := map[string]int32{}
				if ps.TopologyAssignment != nil {
					for _, domain := range tas.InternalFrom(ps.TopologyAssignment).Domains {
						domains[strings.Join(domain.Values, ",")] = domain.Count
					}
				}
				one.PodSets = append(one.PodSets, podSetResult{Name: string(ps.Name), Count: *ps.Count, Flavors: flavors, Topology: domains})
			}
		} else if cond := apimeta.FindStatusCondition(wl.Status.Conditions, kueue.WorkloadQuotaReserved); cond != nil {
			one.Reason, one.Message = cond.Reason, cond.Message
		}
		all = append(all, one)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

func (w *world) step(ctx context.Context, s *step, maxCycles int) (stepResult, error) {
	w.clock.SetTime(time.Unix(s.At, 0).UTC())
	w.actions = nil
	for _, name := range s.Finish {
		for key, wl := range w.store.workloads {
			if key.String() != name {
				continue
			}
			fresh := wl.DeepCopy()
			apimeta.SetStatusCondition(&fresh.Status.Conditions, metav1.Condition{
				Type: kueue.WorkloadFinished, Status: metav1.ConditionTrue, Reason: "Succeeded", LastTransitionTime: metav1.NewTime(w.clock.Now())})
			w.store.write(fresh)
		}
	}
	if err := w.deliver(ctx); err != nil {
		return stepResult{}, err
	}
	if err := w.change(ctx, s); err != nil {
		return stepResult{}, err
	}
	for i := range s.Create {
		wl := s.Create[i].DeepCopy()
		wl.Generation = 1
		if wl.CreationTimestamp.IsZero() {
			wl.CreationTimestamp = metav1.NewTime(w.clock.Now())
		}
		w.store.write(wl)
		if err := w.deliver(ctx); err != nil {
			return stepResult{}, err
		}
	}
	cycles, livelock, err := w.run(ctx, maxCycles)
	if err != nil {
		return stepResult{}, err
	}
	return stepResult{Cycles: cycles, Livelock: livelock, Actions: w.actions, Workloads: w.results()}, nil
}

// keys are those of all workloads that a test takes, in order.
func (w *world) keys(wanted func(*kueue.Workload) bool) []types.NamespacedName {
	found := []types.NamespacedName{}
	for key, wl := range w.store.workloads {
		if wanted(wl) {
			found = append(found, key)
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].String() < found[j].String() })
	return found
}

// reconcile does what is due for some workloads, then what follows from it.
func (w *world) reconcile(ctx context.Context, wanted func(*kueue.Workload) bool) error {
	for _, key := range w.keys(wanted) {
		if err := w.reconcileOne(ctx, key); err != nil {
			return err
		}
		if err := w.deliver(ctx); err != nil {
			return err
		}
	}
	return w.release(ctx)
}

// change does what a step changes apart from arrivals and ends, and what the time brings.
func (w *world) change(ctx context.Context, s *step) error {
	if err := w.reconcile(ctx, func(*kueue.Workload) bool { return true }); err != nil {
		return err
	}
	for i := range s.ClusterQueues {
		queue := &s.ClusterQueues[i]
		w.store.clusterQueues[queue.Name] = queue
		if err := w.cache.UpdateClusterQueue(logr.Discard(), queue); err != nil {
			return err
		}
		if err := w.queues.UpdateClusterQueue(ctx, queue, true); err != nil {
			return err
		}
		local := map[kueue.LocalQueueName]bool{}
		for _, it := range w.store.localQueues {
			if string(it.Spec.ClusterQueue) == queue.Name {
				local[kueue.LocalQueueName(it.Name)] = true
			}
		}
		if err := w.reconcile(ctx, func(wl *kueue.Workload) bool { return local[wl.Spec.QueueName] }); err != nil {
			return err
		}
	}
	for i := range s.LocalQueues {
		queue := &s.LocalQueues[i]
		key := client.ObjectKeyFromObject(queue)
		old := *w.store.localQueues[key].Spec.StopPolicy
		w.store.localQueues[key] = queue
		if old == *queue.Spec.StopPolicy {
			continue
		}
		if *queue.Spec.StopPolicy == kueue.None {
			if err := w.queues.AddLocalQueue(ctx, queue); err != nil {
				return err
			}
		} else {
			w.queues.DeleteLocalQueue(logr.Discard(), queue)
		}
		name := kueue.LocalQueueName(queue.Name)
		if err := w.reconcile(ctx, func(wl *kueue.Workload) bool { return wl.Spec.QueueName == name }); err != nil {
			return err
		}
	}
	for key, wl := range w.store.workloads {
		if active, changed := s.Active[key.String()]; changed && *wl.Spec.Active != active {
			fresh := wl.DeepCopy()
			fresh.Spec.Active = &active
			fresh.Generation++
			w.store.write(fresh)
		}
	}
	for _, name := range s.Ready {
		for key, wl := range w.store.workloads {
			if key.String() == name && workload.IsAdmitted(wl) {
				fresh := wl.DeepCopy()
				apimeta.SetStatusCondition(&fresh.Status.Conditions, metav1.Condition{
					Type: kueue.WorkloadPodsReady, Status: metav1.ConditionTrue, Reason: kueue.WorkloadStarted, LastTransitionTime: metav1.NewTime(w.clock.Now())})
				w.store.write(fresh)
			}
		}
	}
	for _, change := range s.Checks {
		for key, wl := range w.store.workloads {
			if key.String() != change.Workload || !workload.HasQuotaReservation(wl) {
				continue
			}
			fresh := wl.DeepCopy()
			for i := range fresh.Status.AdmissionChecks {
				if state := &fresh.Status.AdmissionChecks[i]; string(state.Name) == change.Check && state.State == kueue.CheckStatePending {
					state.State, state.RequeueAfterSeconds, state.Message = change.State, change.RequeueAfter, ""
					state.LastTransitionTime = metav1.NewTime(w.clock.Now())
				}
			}
			w.store.write(fresh)
		}
	}
	if err := w.deliver(ctx); err != nil {
		return err
	}
	return w.release(ctx)
}

func play(s *scenario) (out result) {
	defer func() {
		if broken := recover(); broken != nil {
			out.Error = fmt.Sprint(broken)
		}
	}()
	ctx := context.Background()
	w, err := newWorld(s)
	if err != nil {
		return result{Error: err.Error()}
	}
	if s.MaxCycles == 0 {
		s.MaxCycles = 1000
	}
	for i := range s.Steps {
		done, err := w.step(ctx, &s.Steps[i], s.MaxCycles)
		if err != nil {
			return result{Error: err.Error()}
		}
		out.Steps = append(out.Steps, done)
		if done.Livelock {
			break
		}
	}
	return out
}

var _ events.EventRecorder = quiet{}

func main() {
	ctrl.SetLogger(logr.Discard())
	reader := bufio.NewReaderSize(os.Stdin, 1<<20)
	writer := bufio.NewWriter(os.Stdout)
	defer writer.Flush()
	decoder := json.NewDecoder(reader)
	encoder := json.NewEncoder(writer)
	for decoder.More() {
		s := &scenario{}
		out := result{}
		if err := decoder.Decode(s); err != nil {
			fmt.Fprintln(os.Stderr, "the scenario cannot be read:", err)
			os.Exit(2)
		}
		out = play(s)
		if err := encoder.Encode(out); err != nil {
			os.Exit(1)
		}
		writer.Flush()
	}
}
