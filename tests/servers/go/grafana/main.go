// Command dashboard reads a dashboard of Grafana from standard input as Grafana's own types do, strictly:
// unknown fields and values that the schema does not allow are errors.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins()
	raw, err := io.ReadAll(os.Stdin)
	if err == nil {
		var read dashboard.Dashboard
		if err = read.UnmarshalJSONStrict(raw); none(err) {
			err = read.Validate()
		}
	}
	if !none(err) {
		fmt.Println(err)
		os.Exit(1)
	}
}

// none tells whether there is no error. The strict decoder returns a list without errors.
func none(err error) bool {
	var list cog.BuildErrors
	return err == nil || errors.As(err, &list) && len(list) == 0
}
