package vela

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/nn"
)

// maxCopies bounds the memory for the files of CPU steps.
const maxCopies = 1 << 30

// cpuStep makes a model of consecutive CPU operators: a step without outputs and model where nothing reads what they
// compute.
func (m *model) cpuStep(n *Network, operators []int) (Step, error) {
	s, used := m.boundary(n, operators)
	if len(s.Outputs) == 0 {
		return s, nil
	}
	if m.copied += len(m.data); m.copied > max(maxCopies, len(m.data)) {
		return s, fmt.Errorf("too many changes between NPU and CPU for a file of %d bytes", len(m.data))
	}
	file, err := m.excerpt(n, operators, s.Inputs, s.Outputs, used)
	if err != nil {
		return s, err
	}
	s.CPU, err = tflite.Import(file, nil)
	if err != nil {
		return s, err
	}
	if len(s.CPU.Main.Inputs) != len(s.Inputs) || len(s.CPU.Main.Outputs) != len(s.Outputs) {
		return s, fmt.Errorf("%d inputs and %d outputs become %d and %d", len(s.Inputs), len(s.Outputs), len(s.CPU.Main.Inputs), len(s.CPU.Main.Outputs))
	}
	dropUnused(&s.CPU.Main)
	return s, nil
}

// boundary finds the tensors that operators read from and leave to the rest of
// the graph, and all that they use.
func (m *model) boundary(n *Network, operators []int) (s Step, used []bool) {
	inside := make([]bool, len(m.operators))
	for _, i := range operators {
		inside[i] = true
	}
	used = make([]bool, len(m.tensors))
	made, read := make([]bool, len(m.tensors)), make([]bool, len(m.tensors))
	elsewhere := make([]bool, len(m.tensors)) // read by other operators
	for _, x := range n.Outputs {
		elsewhere[x] = true
	}
	for i := range m.operators {
		if !inside[i] {
			for _, x := range m.in[i] {
				if x >= 0 {
					elsewhere[x] = true
				}
			}
			continue
		}
		for _, x := range m.in[i] {
			if x < 0 {
				continue
			}
			if t := &n.Tensors[x]; !made[x] && !read[x] && t.Data == nil && !t.Variable {
				s.Inputs = append(s.Inputs, x)
			}
			read[x], used[x] = true, true
		}
		for _, x := range m.out[i] {
			if x >= 0 {
				made[x], used[x] = true, true
			}
		}
	}
	for x := range made {
		if made[x] && elsewhere[x] {
			s.Outputs = append(s.Outputs, x)
		}
	}
	return s, used
}

// excerpt is a TensorFlow Lite file that holds only some of the operators of
// the main graph. It is a copy of the file in which the list of operators is
// shorter and the lists of inputs and outputs are new ones behind its end.
// Tensors keep their numbers; those that are not used become aliases of one
// that is, so that the importer does not meet the NPU's.
func (m *model) excerpt(n *Network, operators, inputs, outputs []int, used []bool) ([]byte, error) {
	if m.err != nil {
		return nil, m.err
	}
	data := append([]byte(nil), m.data...)
	e := &reader{data: data}
	// Elements only move towards the front of their vector: offsets, which
	// count from their own place, stay positive.
	pos, _ := m.vector(m.graph, 3, 4)
	put := func(at, target int) {
		if target <= at {
			e.fail("table at %#x precedes its reference at %#x", target, at)
			return
		}
		binary.LittleEndian.PutUint32(data[at:], uint32(target-at))
	}
	for i, op := range operators {
		put(pos+4*i, int(m.operators[op]))
	}
	binary.LittleEndian.PutUint32(data[pos-4:], uint32(len(operators)))

	alias := -1 // the smallest tensor in use
	for x, ok := range used {
		if ok && (alias < 0 || n.Tensors[x].Operand.Bytes() < n.Tensors[alias].Operand.Bytes()) {
			alias = x
		}
	}
	pos, _ = m.vector(m.graph, 0, 4)
	for x, ok := range used {
		if !ok {
			put(pos+4*x, int(m.tensors[alias]))
		}
	}
	for field, list := range [2][]int{inputs, outputs} {
		at := m.field(m.graph, 1+field, 4)
		if at == 0 {
			return nil, errors.New("the graph lacks a list of inputs or outputs")
		}
		for len(data)%4 != 0 {
			data = append(data, 0)
		}
		put(at, len(data))
		data = binary.LittleEndian.AppendUint32(data, uint32(len(list)))
		for _, x := range list {
			data = binary.LittleEndian.AppendUint32(data, uint32(x))
		}
	}
	return data, errors.Join(m.err, e.err)
}

// dropUnused removes operands that no operation and no list names.
func dropUnused(g *nn.Subgraph) {
	lists := []*[]uint32{&g.Inputs, &g.Outputs}
	for i := range g.Operations {
		lists = append(lists, &g.Operations[i].Inputs, &g.Operations[i].Outputs)
	}
	number := make([]uint32, len(g.Operands))
	for _, l := range lists {
		for _, x := range *l {
			number[x] = 1
		}
	}
	var kept []nn.Operand
	for i := range g.Operands {
		if number[i] != 0 {
			number[i] = uint32(len(kept))
			kept = append(kept, g.Operands[i])
		}
	}
	g.Operands = kept
	for _, l := range lists {
		renumbered := make([]uint32, len(*l)) // lists may share memory
		for i, x := range *l {
			renumbered[i] = number[x]
		}
		*l = renumbered
	}
}
