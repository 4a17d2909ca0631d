// Command configs reads configuration files of NVIDIA's device plugin, one JSON string a line, and prints a JSON object
// for each: `refused` is why the device plugin does not start with the file, `read` is what it read.
//
// It does what main of cmd/nvidia-device-plugin does with the file before it looks for GPUs.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	config "github.com/NVIDIA/k8s-device-plugin/api/config/v1"
	"github.com/urfave/cli/v2"
)

type answer struct {
	Refused string         `json:"refused"`
	Read    *config.Config `json:"read"`
}

func main() {
	folder, err := os.MkdirTemp("", "configs")
	check(err)
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "config.yaml")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var text string
		check(json.Unmarshal(lines.Bytes(), &text))
		check(os.WriteFile(file, []byte(text), 0o600))
		check(json.NewEncoder(os.Stdout).Encode(read(file)))
	}
	check(lines.Err())
}

func read(file string) answer {
	found := answer{}
	app := &cli.App{
		Flags: []cli.Flag{&cli.StringFlag{Name: "config-file"}},
		Action: func(c *cli.Context) (err error) {
			if found.Read, err = config.NewConfig(c, nil); err == nil {
				config.DisableResourceNamingInConfig(found.Read)
			}
			return err
		},
	}
	if err := app.Run([]string{"nvidia-device-plugin", "--config-file", file}); err != nil {
		found.Refused = err.Error()
	}
	return found
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
