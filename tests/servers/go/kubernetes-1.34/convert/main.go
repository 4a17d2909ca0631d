// Command convert reads objects, one JSON string a line, and prints what an API server makes of each: a
// JSON string with the object in the newest version of its kind, or an empty one if it refuses a field.
//
// Kubernetes 1.34 no longer serves autoscaling/v2beta1 and policy/v1beta1, but still has the code that
// converts their objects and sets their defaults. Later releases do not have it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	autoscaling "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	policy "k8s.io/kubernetes/pkg/apis/policy/install"
)

func main() {
	scheme := runtime.NewScheme()
	autoscaling.Install(scheme)
	policy.Install(scheme)
	codecs := serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	newest := codecs.LegacyCodec(autoscalingv2.SchemeGroupVersion, policyv1.SchemeGroupVersion)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var text string
		check(json.Unmarshal(lines.Bytes(), &text))
		answer, err := json.Marshal(converted(codecs, newest, text))
		check(err)
		fmt.Println(string(answer))
	}
	check(lines.Err())
}

func converted(codecs serializer.CodecFactory, newest runtime.Encoder, text string) string {
	internal := schema.GroupVersions{
		{Group: "autoscaling", Version: runtime.APIVersionInternal},
		{Group: "policy", Version: runtime.APIVersionInternal},
	}
	object, err := runtime.Decode(codecs.UniversalDecoder(internal...), []byte(text))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ""
	}
	encoded, err := runtime.Encode(newest, object)
	check(err)
	return string(encoded)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
