// Command loader reads files of Volcano's scheduler configuration, one JSON string a line, and prints
// what its scheduler does not accept: a JSON string, empty if it takes the file as it is.
//
// It reads a file and opens a session as the scheduler does, in a cluster without objects.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler"
	_ "volcano.sh/volcano/pkg/scheduler/actions"
	"volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	_ "volcano.sh/volcano/pkg/scheduler/plugins"
)

var log bytes.Buffer

func main() {
	if len(os.Args) > 1 {
		text, err := io.ReadAll(os.Stdin)
		check(err)
		print(fault(string(text)))
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var text string
		check(json.Unmarshal(lines.Bytes(), &text))
		one := exec.Command(os.Args[0], "one") // plugins keep state
		one.Stdin, one.Stdout = strings.NewReader(text), os.Stdout
		check(one.Run())
	}
	check(lines.Err())
}

func print(found string) {
	answer, err := json.Marshal(found)
	check(err)
	fmt.Println(string(answer))
}

func fault(text string) (found string) {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	check(flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL", "-one_output=true"}))
	for severity, out := range map[string]io.Writer{"FATAL": &log, "ERROR": &log, "WARNING": &log, "INFO": io.Discard} {
		klog.SetOutputBySeverity(severity, out)
	}
	klog.OsExit = func(int) { panic("the process ends") }
	defer func() {
		if crash := recover(); crash != nil {
			logged, _, _ := strings.Cut(log.String(), "\ngoroutine ")
			found = fmt.Sprint("panic: ", crash, " ", logged)
		}
	}()
	actions, tiers, configurations, _, err := scheduler.UnmarshalSchedulerConf(strings.TrimSpace(text))
	if err != nil {
		return "dropped: " + err.Error()
	}
	conf.EnabledActionMap = map[string]bool{}
	for _, action := range actions {
		conf.EnabledActionMap[action.Name()] = true
	}
	session := framework.OpenSession(cache.NewDefaultMockSchedulerCache("volcano"), tiers, configurations)
	for _, action := range actions {
		action.Execute(session)
	}
	framework.CloseSession(session)
	klog.Flush()
	for _, line := range strings.SplitAfter(log.String(), "\n") {
		if !strings.Contains(line, " util.go:") { // deviceshare reads a ConfigMap, which is not here
			found += line
		}
	}
	if found != "" {
		found = "logged: " + found
	}
	return found
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "loader:", err)
		os.Exit(2)
	}
}
