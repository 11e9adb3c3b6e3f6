package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// area is a part of the module and the packages whose tests must notice its faults.
type area struct {
	name   string
	in     []string // patterns of packages that get faults
	except []string // parts of directories that do not: generators and helpers of tests
	users  []string // patterns of further packages to test
}

var areas = []area{
	{"gpu", []string{"./gpu/..."}, []string{"asmgen", "floattest"}, []string{"./hal/driver/gpudriver/kernel/...", "./hal/driver/gpudriver"}},
	{"npu", []string{"./npu/..."}, []string{"/gen"}, []string{"./hal/driver/npudriver/..."}},
	{"dsp", []string{"./dsp/..."}, []string{"asmgen"}, []string{"./hal/driver/dspdriver/kernel/...", "./hal/driver/dspdriver"}},
	{"hal/driver", []string{"./hal/driver/..."}, []string{"kerneltest", "sample"}, []string{"./testvectors/conformance", "./hal/devices"}},
	{"sim", []string{"./sim/..."}, []string{"coretest", "memtest"}, []string{"./gpu", "./dsp", "./npu", "./hal/devices"}},
}

// areasNamed are some of the areas.
func areasNamed(names []string) ([]area, error) {
	var out []area
	for _, n := range names {
		i := slices.IndexFunc(areas, func(a area) bool { return a.name == n })
		if i < 0 {
			return nil, fmt.Errorf("mutants: no area %q; there are gpu, npu, dsp, hal/driver, sim", n)
		}
		out = append(out, areas[i])
	}
	return out, nil
}

// sample lists the faults of each area in the order in which they are tried.
func sample(picked []area, seed uint64, within string) ([][]Fault, error) {
	var out [][]Fault
	total := 0
	for i, a := range picked {
		list, err := a.faults(within)
		if err != nil {
			return nil, err
		}
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		out = append(out, list)
		total += len(list)
	}
	if total == 0 {
		return nil, errNone
	}
	return out, nil
}

// faults are all faults of the area's packages, in the order of files and lines.
func (a *area) faults(within string) ([]Fault, error) {
	args := append([]string{"list", "-json=Dir,GoFiles"}, a.in...)
	b, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("mutants: go list: %w", err)
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("mutants: go list: %w", err)
	}
	var out []Fault
	for dec := json.NewDecoder(bytes.NewReader(b)); ; {
		var p struct {
			Dir     string
			GoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		dir, err := filepath.Rel(strings.TrimSpace(string(root)), p.Dir)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(a.except, func(s string) bool { return strings.Contains(dir, s) }) {
			continue
		}
		for _, f := range p.GoFiles {
			file := filepath.Join(dir, f)
			if !strings.Contains(file, within) {
				continue
			}
			list, err := faults(file)
			if err != nil {
				return nil, err
			}
			for i := range list {
				list[i].Area, list[i].Package = a.name, dir
			}
			out = append(out, list...)
		}
	}
}
