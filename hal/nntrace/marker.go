// Package nntrace names and reads the trace marks of an NNAPI stack: a mark is a slice
// called "[NN_<layer>_<phase>]detail", for instance "[NN_LR_PE]compute", in a trace of
// Linux's ftrace (atrace, systrace) or in a Chrome trace. Summarize adds up which layer
// spent how much time in which phase.
package nntrace

import (
	"fmt"
	"slices"
	"strings"
)

// Layer is a part of the stack.
type Layer string

// Layers, from the application down.
const (
	Application Layer = "LA"
	Runtime     Layer = "LR"
	Utility     Layer = "LU"
	IPC         Layer = "LI"
	Driver      Layer = "LD"
	CPU         Layer = "LC"
	Other       Layer = "LO"
)

// Layers lists the layers in the order of reports.
func Layers() []Layer { return []Layer{Application, Runtime, Utility, IPC, Driver, CPU, Other} }

// Phase is a stage in the life of a model.
type Phase string

// Phases. Four of them are parts of Execution.
const (
	Overall        Phase = "PO"
	WarmUp         Phase = "PWU"
	Benchmark      Phase = "PBM"
	Initialization Phase = "PI"
	Preparation    Phase = "PP"
	Compilation    Phase = "PC"
	Execution      Phase = "PE"
	InputsOutputs  Phase = "PIO"
	Transformation Phase = "PTR"
	Computation    Phase = "PCO"
	Results        Phase = "PR"
	Termination    Phase = "PT"
	Unspecified    Phase = "PU"
)

// Phases lists the phases in the order of reports.
func Phases() []Phase {
	return []Phase{Overall, WarmUp, Benchmark, Initialization, Preparation, Compilation, Execution, InputsOutputs, Transformation, Computation, Results, Termination, Unspecified}
}

// parent is the phase that a phase is part of, "" when it stands alone.
func (p Phase) parent() Phase {
	switch p {
	case InputsOutputs, Transformation, Computation, Results:
		return Execution
	}
	return ""
}

// Mark is the name of a slice.
type Mark struct {
	Layer  Layer
	Phase  Phase
	Detail string
	// Switch: the slice begins another phase inside its function, until the function or
	// the next switch ends it.
	Switch bool
	// Subtract: the slice's time does not belong to what surrounds it.
	Subtract bool
}

// String is the mark as written in a trace.
func (m Mark) String() string {
	prefix := ""
	if m.Switch {
		prefix = "[SW]"
	}
	if m.Subtract {
		prefix += "[SUB]"
	}
	return fmt.Sprintf("%s[NN_%s_%s]%s", prefix, m.Layer, m.Phase, m.Detail)
}

// ParseMark reads the name of a slice; ok is false when it is none of NNAPI. A name that
// begins like a mark but names no layer or phase is an error.
func ParseMark(name string) (m Mark, ok bool, err error) {
	rest := name
	for {
		if r, found := strings.CutPrefix(rest, "[SW]"); found {
			m.Switch, rest = true, r
		} else if r, found := strings.CutPrefix(rest, "[SUB]"); found {
			m.Subtract, rest = true, r
		} else {
			break
		}
	}
	body, found := strings.CutPrefix(rest, "[NN_")
	if !found {
		return Mark{}, false, nil
	}
	code, detail, found := strings.Cut(body, "]")
	layer, phase, found2 := strings.Cut(code, "_")
	if !found || !found2 {
		return Mark{}, false, fmt.Errorf("nntrace: %q is not [NN_<layer>_<phase>]", name)
	}
	m.Layer, m.Phase, m.Detail = Layer(layer), Phase(phase), detail
	if !slices.Contains(Layers(), m.Layer) || !slices.Contains(Phases(), m.Phase) {
		return Mark{}, false, fmt.Errorf("nntrace: %q: no layer %q or no phase %q", name, layer, phase)
	}
	return m, true, nil
}
