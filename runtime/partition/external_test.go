package partition

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestMain is also the program that tests of External run: what it does is in
// the environment.
func TestMain(m *testing.M) {
	switch os.Getenv("PARTITION_TEST_PROGRAM") {
	case "":
		os.Exit(m.Run())
	case "print":
		fmt.Print(os.Getenv("PARTITION_TEST_ANSWER"))
	case "last": // the last device that supports each operation
		var p ExternalProblem
		if err := json.NewDecoder(os.Stdin).Decode(&p); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		var a ExternalPlan
		for _, op := range p.Operations {
			at := 0
			for d, c := range op.Costs {
				if c != nil {
					at = d
				}
			}
			a.Devices = append(a.Devices, p.Devices[at].Name)
		}
		json.NewEncoder(os.Stdout).Encode(a)
	case "fail":
		fmt.Fprintln(os.Stderr, "first\nout of ideas")
		os.Exit(4)
	case "hang":
		time.Sleep(time.Minute)
	case "leave": // a child that holds the output open and writes its process id
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "PARTITION_TEST_PROGRAM=hang")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			os.Exit(1)
		}
		os.WriteFile(os.Getenv("PARTITION_TEST_ANSWER"), fmt.Append(nil, child.Process.Pid), 0o666)
		if len(os.Args) > 1 { // wait for it
			_ = child.Wait()
		}
	case "flood":
		for range maxPlanBytes/1024 + 10 {
			os.Stdout.Write(make([]byte, 1024))
		}
	}
}

// program is this test as an external strategy.
func program(t *testing.T, does, answer string) *External {
	t.Setenv("PARTITION_TEST_PROGRAM", does)
	t.Setenv("PARTITION_TEST_ANSWER", answer)
	path := require.V(os.Executable())(t)
	return &External{Command: []string{path}}
}

func TestExternal(t *testing.T) {
	p := randomProblem(rand.New(rand.NewPCG(1, 1)), 12, 3, false)
	p.Costs.SetSegment(Segment{Device: 1, Operations: []int{0, 1}, Cost: Cost{TimeFs: 1, EnergyPJ: 2}})
	plan := require.V(program(t, "last", "").Plan(p))(t)
	for i, d := range plan.Device {
		for k := d + 1; k < 3; k++ {
			require.Check(t, !p.supports(k, i), "operation %d on device %d, %d supports it too", i, d, k)
		}
	}
}

// TestExternalNever: what a device fails or promises nothing for has no cost.
func TestExternalNever(t *testing.T) {
	p := randomProblem(rand.New(rand.NewPCG(1, 1)), 4, 2, true)
	p.Devices[1].Support[2].OK = true
	p.Costs.Operation[1][2] = Never
	p.Costs.SetSegment(Segment{Device: 1, Operations: []int{2}, Cost: Never})
	p.Costs.SetSegment(Segment{Device: 0, Operations: []int{2}, Cost: Cost{TimeFs: 1}})
	x := p.external()
	if costs := x.Operations[2].Costs; costs[0] == nil || costs[1] != nil || len(x.Segments) != 1 {
		t.Errorf("costs %v, segments %v", costs, x.Segments)
	}
}

// TestExternalHostile: whatever a program does, the error names the fault.
func TestExternalHostile(t *testing.T) {
	p := randomProblem(rand.New(rand.NewPCG(1, 1)), 3, 2, true)
	p.Devices[1].Support[2].OK = false
	p.Devices[1].Support[2].Reason = "too odd"
	for _, c := range []struct{ does, answer, want string }{
		{"fail", "", "exit status 4: out of ideas"},
		{"flood", "", "more than 16777216 bytes"},
		{"print", "", "its answer: no plan in it"},
		{"print", "hello", "byte 0: invalid character 'h'"},
		{"print", `{"devices": ["a", "a", "a"]} {}`, "more than one JSON object"},
		{"print", `{"device": []}`, `unknown field "device"`},
		{"print", `{"devices": 3}`, "cannot unmarshal number"},
		{"print", `{"devices": ["a"]}`, "answers for 1 operations, there are 3"},
		{"print", `{"devices": ["a", "z", "a"]}`, `operation 1: no device "z"; there are a, b`},
		{"print", `{"devices": ["a", "a", "b"]}`, "operation 2 (RELU) on b, which does not support it: too odd"},
	} {
		_, err := program(t, c.does, c.answer).Plan(p)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "partition:") != 1 || !strings.HasPrefix(err.Error(), "partition: exec:") {
			t.Errorf("%s %s: error %v, want %q", c.does, c.answer, err, c.want)
		}
	}
	x := program(t, "hang", "")
	x.Limit = 50 * time.Millisecond
	require.ErrorContains(t, require.Err(x.Plan(p)), "no answer within 50ms", "a program that hangs")
	require.Fails(t, require.Err((&External{Command: []string{"/no/such/program"}}).Plan(p)), "no error for a program that does not exist")
}

// TestExternalLeavesNothing: processes that a program has started end after a timeout, when they
// hold the output open after the program has ended, and when this process is to end.
func TestExternalLeavesNothing(t *testing.T) {
	p := randomProblem(rand.New(rand.NewPCG(1, 1)), 3, 2, true)
	for _, c := range []struct {
		what  string
		args  []string
		limit time.Duration
		want  string
	}{
		{"a child that stays", nil, time.Minute, "holds its output open"},
		{"a child that hangs", []string{"wait"}, 3 * time.Second, "no answer within 3s"},
		{"interrupted", []string{"wait"}, 30 * time.Second, "signal: killed"},
	} {
		file := filepath.Join(t.TempDir(), "child")
		x := program(t, "leave", file)
		x.Command, x.Limit = append(x.Command, c.args...), c.limit
		ended := 0
		x.Started = func(end func()) func() {
			if c.what == "interrupted" {
				go func() {
					for text, _ := os.ReadFile(file); len(text) == 0; text, _ = os.ReadFile(file) { // written, not only created
						time.Sleep(time.Millisecond)
					}
					end()
				}()
			}
			return func() { ended++ }
		}
		require.ErrorContains(t, require.Err(x.Plan(p)), c.want, c.what)
		require.Same(t, 1, ended, c.what, "told", "times that the program has ended")
		text := require.File(t, file)
		for began := time.Now(); running(string(text)); time.Sleep(time.Millisecond) {
			if time.Since(began) > 20*time.Second {
				t.Fatalf("%s: process %s is still there", c.what, text)
			}
		}
	}
}

// running reports whether a process is there and no zombie.
func running(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// TestExternalNames: two programs of one name are two strategies.
func TestExternalNames(t *testing.T) {
	names := map[string]bool{}
	for _, x := range []*External{{Command: []string{"a/plan.py"}}, {Command: []string{"b/plan.py"}}, {Command: []string{"b/plan.py", "2"}}} {
		names[x.Name()] = true
	}
	require.Check(t, len(names) == 3 && names["exec:b/plan.py 2"], "three programs are named %v", names)
}

// TestPythonExample runs the documented example where there is Python.
func TestPythonExample(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	p := randomProblem(rand.New(rand.NewPCG(2, 2)), 10, 2, true)
	for i := range p.Graph.Operations {
		p.Devices[1].Support[i].OK = true
		p.Costs.Operation[1][i] = Cost{1, 1, 1}
		p.Costs.Operation[0][i] = Cost{1e12, 1e12, 1e12}
	}
	plan := require.V((&External{Command: []string{python, filepath.Join("..", "..", "docs", "examples", "strategy.py")}}).Plan(p))(t)
	require.Check(t, !slices.Contains(plan.Device, 0), "operations on the slow device: %v", plan.Device)
}

func TestParse(t *testing.T) {
	devices := []Device{{Name: "cpu"}, {Name: "dsp"}}
	for _, name := range Names(devices) {
		s, err := Parse(name, devices)
		require.Check(t, err == nil && s.Name() == name, "%s: strategy %v, error %v", name, s, err)
	}
	for name, want := range map[string]string{
		"best": "there are aosp, cpu, single:dsp", "single:tpu": `no device "tpu"`, "exec:": "names no program", "": "no strategy",
	} {
		require.ErrorContains(t, require.Err(Parse(name, devices)), want, name)
	}
}
