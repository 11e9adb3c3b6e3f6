package crash

import (
	"slices"
	"time"
)

// Mode is a crash test.
type Mode struct {
	Name, About string
	Configs     []Config
	run         func(*test, *Config) error
	infers      bool // in its threads
	clients     bool // have the threads
}

// Config is a run of a mode: how long and with how much, as AOSP has them.
type Config struct {
	Threads   int           `json:"threads,omitempty"`
	Processes int           `json:"processes,omitempty"`
	Duration  time.Duration `json:"duration_ns"`
	// KillPercent is the probability that a client is killed.
	KillPercent int `json:"kill_percent,omitempty"`
	// Graphs random models of Size operations with dimensions up to Range.
	Graphs int `json:"graphs,omitempty"`
	Size   int `json:"size,omitempty"`
	Range  int `json:"range,omitempty"`
}

// Modes lists the crash tests.
func Modes() []Mode { return slices.Clone(modes) }

var parallel = []Config{{Threads: 8, Duration: 30 * time.Minute}, {Threads: 12, Duration: 20 * time.Minute}}

var random = []Config{
	{Graphs: 600, Size: 10, Range: 1000, Duration: 15 * time.Minute},
	{Graphs: 600, Size: 600, Range: 10, Duration: 15 * time.Minute},
}

// modes have the durations, threads and processes of AOSP; those of scoring are assumed:
// the app's loops of five models (D-981).
var modes = []Mode{
	{"scoring", "compile, warm up and infer each model as the benchmark does; outputs are judged", []Config{{Threads: 1, Duration: time.Minute}}, (*test).inference, true, false},
	{"inference-stress", "infer again and again", []Config{{Threads: 1, Duration: time.Hour}}, (*test).inference, true, false},
	{"model-loading-stress", "compile again and again", []Config{{Threads: 1, Duration: 30 * time.Minute}}, (*test).loading, false, false},
	{"parallel-inference-stress", "threads of another process compile and infer", parallel, (*test).parallelProcess, true, true},
	{"parallel-inference-stress-in-process", "threads of the test's process compile and infer", parallel, (*test).inference, true, false},
	{"client-early-termination-stress", "a client is killed while its threads compile", []Config{{Threads: 4, Duration: 70 * time.Second, Processes: 1, KillPercent: 100}}, (*test).earlyTermination, false, true},
	{"multi-process-inference-stress", "processes compile and infer, and are killed", []Config{
		{Processes: 6, Threads: 10, Duration: 30 * time.Minute}, {Processes: 6, Threads: 10, Duration: 20 * time.Minute, KillPercent: 80}}, (*test).processes, true, true},
	{"multi-process-model-load-stress", "processes compile, and are killed", []Config{
		{Processes: 6, Threads: 10, Duration: 20 * time.Minute}, {Processes: 6, Threads: 10, Duration: 20 * time.Minute, KillPercent: 50},
		{Processes: 6, Threads: 10, Duration: 10 * time.Minute, KillPercent: 100}}, (*test).loadProcesses, false, true},
	{"memory-mapped-model-load-stress", "threads compile models whose constants are mapped from a file", []Config{{Threads: 4, Duration: 70 * time.Second}}, (*test).mapped, true, false},
	{"model-load-random-stress", "compile random models", random, (*test).randomLoad, false, false},
	{"inference-random-stress", "compile random models and infer", random, (*test).randomInference, true, false},
	{"performance-degradation-stress", "infer while a thread compiles: at most half as slow again", []Config{{Threads: 1, Duration: 50 * time.Second}}, (*test).degradation, true, false},
}

// findMode returns the mode of a name.
func findMode(name string) *Mode {
	if i := slices.IndexFunc(modes, func(m Mode) bool { return m.Name == name }); i >= 0 {
		return &modes[i]
	}
	return nil
}

// Names lists the names of the modes.
func Names() (list []string) {
	for i := range modes {
		list = append(list, modes[i].Name)
	}
	return list
}
