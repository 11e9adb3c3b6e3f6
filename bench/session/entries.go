package session

import (
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// ModelReport is a network in a JSON object.
type ModelReport struct {
	Model          string `json:"model"`
	OperationCount int    `json:"operation_count"`
	MACs           int64  `json:"macs"`
}

// NewModelReport describes a network.
func NewModelReport(m *nn.Model) ModelReport {
	return ModelReport{m.Name, len(m.Main.Operations), opspec.MACs(m)}
}

// HostTime is user CPU of this process.
type HostTime struct {
	Prepare float64 `json:"prepare_user_s"` // partitioning and lowering
	Execute float64 `json:"execute_user_s"` // the simulation of one execution
}

// RunTime is the host's time of a run.
type RunTime struct {
	HostTime
	Run float64 `json:"run_user_s"` // all that followed the compilation: first use, warm-up and every invocation
}

// FallbackEntry is an operation that moved to the CPU.
type FallbackEntry struct {
	Index  int    `json:"index"`
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// FallbackEntries describes the operations of a model that moved to the CPU.
func FallbackEntries(m *nn.Model, moved []nnrt.Fallback) []FallbackEntry {
	l := []FallbackEntry{}
	for _, f := range moved {
		typ := m.Main.Operations[f.Operation].Type.String()
		l = append(l, FallbackEntry{f.Operation, typ, Refusal(typ, f.Reason)})
	}
	return l
}

// Refusal is why a device does not support an operation, without the operation's name where a driver begins with that:
// reports have it beside the reason.
func Refusal(typ, reason string) string { return strings.TrimPrefix(reason, typ+": ") }

// Counted are counters by name, nil without any.
func Counted(list []hal.Counter) map[string]int64 {
	if len(list) == 0 {
		return nil
	}
	m := map[string]int64{}
	for _, c := range list {
		m[c.Name] += c.Value
	}
	return m
}
