package scenario

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestParseRefuses(t *testing.T) {
	network := "[[network]]\nmodel = \"m\"\nperiod_ms = 10\n"
	for text, want := range map[string]string{
		"": "no name", "name = \"x\"": "duration_ms = 0", "name = \"x\"\nduration_ms = nan\n" + network: "duration_ms = NaN",
		"name = \"x\"\nduration_ms = 10":                                                                      "0 networks",
		"name = \"x\"\nduration_ms = 10\nperiod = 3\n" + network:                                              "line 3, column 1: there is no key [period]",
		"name = \"x\"\nduration_ms = \"a\"\n" + network:                                                       "line 2, column 15",
		"name = \"x\"\nduration_ms = 10\n" + network + "priority = \"urgent\"":                                `priority = "urgent"; there are low, medium, high`,
		"name = \"x\"\nduration_ms = 10\n" + network + "arrivals = \"random\"":                                `arrivals = "random"; there are periodic, poisson, trace`,
		"name = \"x\"\nduration_ms = 10\n" + network + "trace_ms = [1]":                                       "trace_ms does nothing",
		"name = \"x\"\nduration_ms = 10\n" + network + "offset_ms = 1\narrivals = \"poisson\"":                "offset_ms does nothing",
		"name = \"x\"\nduration_ms = 10\n[[network]]\nmodel = \"m\"\narrivals = \"trace\"":                    "it has no trace_ms",
		"name = \"x\"\nduration_ms = 10\n" + network + "offset_ms = 10":                                       "offset_ms = 10, want less than the scenario's duration_ms = 10: it never arrives",
		"name = \"x\"\nduration_ms = 10\n[[network]]\nmodel = \"m\"\narrivals = \"trace\"\ntrace_ms = [3, 2]": "trace_ms[1] = 2",
		"name = \"x\"\nduration_ms = 10\n[[network]]\nmodel = \"m\"\narrivals = \"trace\"\ntrace_ms = [10]":   "trace_ms[0] = 10",
		"name = \"x\"\nduration_ms = 10\n[[network]]\nperiod_ms = 1":                                          "it names no model",
		"name = \"x\"\nduration_ms = 60000\n[[network]]\nmodel = \"m\"\nperiod_ms = 0.01":                     "arrivals in 60000 ms, at most 20000",
		"{\"name\": \"x\", \"duration_ms\": 10, \"networks\": [{\"model\": \"m\", \"period_ms\": 1}]} {}":     "text behind the object",
		"{\"name\": \"x\", \"durationms\": 10}":                                                               "unknown field",
		"name = \"x\"\nduration_ms = 10\n" + strings.Repeat(network, maxNetworks+1):                           "17 networks",
		"name = \"x\"\nduration_ms = 10\n[[network]]\nmodel = \"m\"\nperiod_ms = 1\ndeadline_ms = -1":         "deadline_ms = -1",
	} {
		_, err := Parse("s.toml", []byte(text))
		require.Check(t, err != nil && strings.HasPrefix(err.Error(), "scenario: s.toml: ") && strings.Contains(err.Error(), want), "%q: %v, want %s", text, err, want)
	}
}

// TestLibrary: each scenario opens under its own name, says where it is from, and survives being written.
func TestLibrary(t *testing.T) {
	names := Library()
	require.Check(t, len(names) >= 8, "only %d scenarios", len(names))
	for _, name := range names {
		s := require.V(Named(name))(t)
		require.Check(t, s.Name == name && s.Source != "" && s.Description != "", "%s: %+v", name, s)
		again := require.V(Parse(name, require.V(s.TOML())(t)))(t)
		if d := cmp.Diff(s, again); d != "" {
			t.Errorf("%s written and read: %s", name, d)
		}
	}
	_, err := Named("doorbel")
	require.Check(t, err != nil && strings.Contains(err.Error(), `did you mean "doorbell"?`), "%v", err)
}

// TestJobs: periodic arrivals are where they should be, random ones have the mean and are those of the seed.
func TestJobs(t *testing.T) {
	s := &Scenario{Name: "s", DurationMS: 100, Networks: []Network{
		{Model: "a", PeriodMS: 40, OffsetMS: 5, Priority: "high"},
		{Model: "b", Arrivals: Trace, TraceMS: []float64{5, 45}},
	}}
	require.NoError(t, s.complete())
	want := []Job{
		{Network: 0, ArrivalFs: 5e12, DeadlineFs: 45e12, Priority: 2}, {Network: 1, ArrivalFs: 5e12, Priority: 1},
		{Network: 0, Sequence: 1, ArrivalFs: 45e12, DeadlineFs: 85e12, Priority: 2}, {Network: 1, Sequence: 1, ArrivalFs: 45e12, Priority: 1},
		{Network: 0, Sequence: 2, ArrivalFs: 85e12, DeadlineFs: 125e12, Priority: 2},
	}
	if d := cmp.Diff(want, s.Jobs()); d != "" {
		t.Error(d)
	}
	s = &Scenario{Name: "s", DurationMS: 10_000, Seed: 1, Networks: []Network{{Model: "a", Arrivals: Poisson, PeriodMS: 5}}}
	require.NoError(t, s.complete())
	jobs := s.Jobs()
	require.Check(t, math.Abs(float64(len(jobs))-2000) <= 5*math.Sqrt(2000), "%d arrivals, want about 2000", len(jobs))
	require.Check(t, cmp.Equal(jobs, s.Jobs()), "the same seed gives other arrivals")
	s.Seed = 2
	require.Check(t, !cmp.Equal(jobs, s.Jobs()), "another seed gives the same arrivals")
}

func FuzzParse(f *testing.F) {
	for _, name := range Library() {
		f.Add(must(library.ReadFile("library/" + name + ".toml")))
	}
	f.Add([]byte(`{"name": "x", "duration_ms": 1e3, "networks": [{"model": "m", "arrivals": "trace", "trace_ms": [1, 2]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("f", data)
		if err != nil {
			return
		}
		last := int64(-1)
		for _, j := range s.Jobs() {
			if j.ArrivalFs < last || j.Network >= len(s.Networks) || float64(j.ArrivalFs) > s.DurationMS*femtoseconds {
				t.Fatalf("%+v behind %d fs", j, last)
			}
			last = j.ArrivalFs
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
