package nnrt

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// States holds the values that a model carries from one invocation to the next.
// It serves whatever invokes: a Compilation, the reference, one after the other.
type States struct {
	model  *nn.Model
	values [][]byte // per state of the model
}

// NewStates returns the states of a first invocation.
func NewStates(m *nn.Model) *States {
	s := &States{model: m}
	s.Reset()
	return s
}

// Reset returns to the first invocation.
func (s *States) Reset() {
	s.values = make([][]byte, len(s.model.States))
	for i, st := range s.model.States {
		s.values[i] = st.Initial
		if st.Initial == nil {
			s.values[i] = make([]byte, s.model.Main.Operands[s.model.Main.Inputs[st.Input]].Bytes())
		}
	}
}

// Inputs completes a caller's inputs to those of the model: given are the inputs
// that NonStateInputs lists, in its order.
func (s *States) Inputs(given [][]byte) ([][]byte, error) {
	want := NonStateInputs(s.model)
	if len(given) != len(want) {
		return nil, hal.Errorf(hal.InvalidArgument, "runtime: %d inputs given, %d needed", len(given), len(want))
	}
	all := make([][]byte, len(s.model.Main.Inputs))
	for k, i := range want {
		all[i] = given[k]
	}
	for k, st := range s.model.States {
		all[st.Input] = s.values[k]
	}
	return all, nil
}

// Update reads the states from the outputs of an invocation. The outputs must
// not change afterwards.
func (s *States) Update(outputs [][]byte) {
	for k, st := range s.model.States {
		s.values[k] = outputs[st.Output]
	}
}

// NonStateInputs lists the inputs of a model that are no states, by position.
func NonStateInputs(m *nn.Model) []int {
	var list []int
	for i := range m.Main.Inputs {
		if !slices.ContainsFunc(m.States, func(s nn.State) bool { return s.Input == i }) {
			list = append(list, i)
		}
	}
	return list
}

// Results lists the outputs of a model that are no states, by position.
func Results(m *nn.Model) []int {
	var list []int
	for i := range m.Main.Outputs {
		if !slices.ContainsFunc(m.States, func(s nn.State) bool { return s.Output == i }) {
			list = append(list, i)
		}
	}
	return list
}
