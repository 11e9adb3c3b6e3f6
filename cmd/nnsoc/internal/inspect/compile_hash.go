package inspect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// hashReport is the JSON object of compile --hash. It has per model one hash over the programs of all parts, so that two builds can
// be compared line by line.
type hashReport struct {
	SchemaVersion int         `json:"schema_version"`
	SoC           string      `json:"soc"`
	Device        string      `json:"device"`
	Programs      []hashEntry `json:"programs"`
}

type hashEntry struct {
	Model string `json:"model"`
	// Operations counts those that the device supports.
	Operations int    `json:"supported_operations"`
	SHA256     string `json:"sha256,omitempty"`
	Error      string `json:"error,omitempty"`
}

// printHashes compiles each model for a device and prints the hash of its program.
// An argument is a network, a document of test cases or a folder of either.
func printHashes(a *cli.App, m *machine.Machine, args []string, device string) (err error) {
	defer try.Catch(&err)
	r := hashReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Device: device, Programs: []hashEntry{}}
	p := a.Progress()
	defer p.Done()
	var unreadable error // the last of the networks that could not be read
	add := func(name string, model *nn.Model) {
		p.Update("%s: compile %s", device, name)
		r.Programs = append(r.Programs, hashProgram(m, name, model, device))
	}
	if len(args) == 0 {
		add("mobilenet_v1_1.0_224_synthetic_quant", input.EmbeddedNetwork(true))
		add("mobilenet_v1_1.0_224_synthetic_float", input.EmbeddedNetwork(false))
	}
	for _, path := range args {
		info, err := os.Stat(path)
		if err == nil && (info.IsDir() || input.HasSuffix(path, input.SpecSuffixes)) {
			files := try.V(input.ReadAllSpecs([]string{path}, p))
			for _, f := range files {
				for _, c := range f.Cases {
					if c.Model != nil && !c.ExpectFailure {
						add(c.Name, c.Model)
					}
				}
			}
			continue
		}
		model, err := input.ReadModel(a, path, input.Choice{})
		if err != nil { // the others are hashed all the same
			r.Programs = append(r.Programs, hashEntry{Model: path, Error: err.Error()})
			unreadable = err
			continue
		}
		add(model.Name, model)
	}
	p.Done()
	if a.JSON {
		try.E(cli.PrintJSON(a.Out, r))
		return unreadable
	}
	for _, e := range r.Programs {
		note := e.SHA256
		if note == "" {
			note = "- " + e.Error
		}
		try.V(fmt.Fprintf(a.Out, "%s %d %s\n", e.Model, e.Operations, note))
	}
	return unreadable
}

// hashProgram compiles a model and hashes the device's programs.
func hashProgram(m *machine.Machine, name string, model *nn.Model, device string) hashEntry {
	e := hashEntry{Model: name}
	if err := nnrt.Validate(model); err != nil {
		e.Error = err.Error()
		return e
	}
	c, err := m.CompileModel(model, device, nnrt.CompileOptions{})
	if err != nil {
		e.Error = err.Error()
		return e
	}
	h := sha256.New()
	for i := range c.Steps() {
		s := c.Step(i)
		if !session.Divides(device) && s.Device != device {
			continue
		}
		fmt.Fprintln(h, s.Device, s.Operations)
		if err := s.Prepared.WriteProgram(h); err != nil {
			e.Error = err.Error()
			return e
		}
		e.Operations += len(s.Operations)
	}
	if e.Operations == 0 {
		e.Error = "no operation runs on " + device
		return e
	}
	e.SHA256 = hex.EncodeToString(h.Sum(nil))
	return e
}
