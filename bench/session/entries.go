package session

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// ModelReport is a network in a JSON object.
type ModelReport struct {
	Model          string `json:"model"`
	OperationCount int    `json:"operation_count"`
	MACs           int64  `json:"macs"`
	// HostOperations are those that NNAPI lacks: an app's framework computes them on the CPU between the parts that it hands to
	// NNAPI.
	HostOperations []HostOperation `json:"host_operations,omitempty"`
}

// HostOperation is an operation outside NNAPI. Unpriced is one whose time the CPU model does not know: its launch and the
// traffic of its tensors alone count.
type HostOperation struct {
	Index    int    `json:"index"`
	Type     string `json:"type"`
	Node     string `json:"node,omitempty"`
	Unpriced bool   `json:"unpriced"`
}

// NewModelReport describes a network.
func NewModelReport(m *nn.Model) ModelReport {
	r := ModelReport{Model: m.Name, OperationCount: len(m.Main.Operations), MACs: opspec.MACs(m)}
	for i := range m.Main.Operations {
		if op := &m.Main.Operations[i]; op.Type.IsHost() {
			n := NamesOf(&m.Main, i)
			r.HostOperations = append(r.HostOperations, HostOperation{i, op.Type.String(), n.Name(), cpudriver.Unpriced(op.Type)})
		}
	}
	return r
}

// HostLine says in a sentence which operations run outside NNAPI; "" where all are NNAPI's.
func (r *ModelReport) HostLine() string {
	if len(r.HostOperations) == 0 {
		return ""
	}
	var types, unpriced []string
	count := map[string]int{}
	for _, o := range r.HostOperations {
		if count[o.Type]++; count[o.Type] > 1 {
			continue
		}
		if types = append(types, o.Type); o.Unpriced {
			unpriced = append(unpriced, o.Type)
		}
	}
	for i, t := range types {
		if count[t] > 1 {
			types[i] = fmt.Sprintf("%d %s", count[t], t)
		}
	}
	line := fmt.Sprintf("%d of %d operations run on the host, outside NNAPI: %s.", len(r.HostOperations), r.OperationCount, strings.Join(types, ", "))
	if len(unpriced) > 0 {
		line += fmt.Sprintf(" Unpriced, with their launch and memory traffic alone (D-2500): %s.", strings.Join(unpriced, ", "))
	}
	return line
}

// Names are what a model file calls an operation, and where it runs if that is not in NNAPI.
type Names struct {
	Node   string `json:"node,omitempty"`          // of the file, that it computes alone or with others
	Tensor string `json:"tensor,omitempty"`        // that it computes first
	Host   string `json:"outside_nnapi,omitempty"` // HostNote, "" for operations of NNAPI
}

// NamesOf are the names of operation i.
func NamesOf(g *nn.Subgraph, i int) Names {
	op := &g.Operations[i]
	n := Names{Node: op.Name, Host: HostNote(op.Type)}
	if len(op.Outputs) > 0 {
		n.Tensor = g.Operands[op.Outputs[0]].Name
	}
	return n
}

// Name is the node's name, of operations without a node the tensor's.
func (n *Names) Name() string { return cmp.Or(n.Node, n.Tensor) }

// HostNote says of an operation that NNAPI lacks where it runs and whether its time is known; "" of others.
func HostNote(t nn.OperationType) string {
	switch {
	case !t.IsHost():
		return ""
	case cpudriver.Unpriced(t):
		return outsideNNAPI + ", unpriced"
	}
	return outsideNNAPI
}

const outsideNNAPI = "on the host, outside NNAPI"

// HostTime is user CPU of this process.
type HostTime struct {
	Prepare float64 `json:"prepare_user_s"` // partitioning and lowering
	Execute float64 `json:"execute_user_s"` // the simulation of one execution
}

// RunTime is the host's time of a run.
type RunTime struct {
	HostTime
	Run float64 `json:"run_user_s"` // first use, warm-up and every invocation
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
