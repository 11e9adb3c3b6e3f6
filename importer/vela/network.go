package vela

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// CustomCode is the name of the operator that runs on the NPU.
const CustomCode = "ethos-u"

// ErrNotVela is the error of Read for a TensorFlow Lite file without ethos-u
// operators.
var ErrNotVela = errors.New("no ethos-u operator: the file was not compiled by Vela")

// Limits of a file.
const (
	MaxArena = 1 << 28 // bytes of the arena, of the fast scratch memory and of the tensors of the graph
	maxItems = 1 << 16 // tensors, operators, buffers
)

// Network is a compiled network: the steps of its main graph in order.
type Network struct {
	Tensors         []Tensor
	Inputs, Outputs []int // tensors
	Steps           []Step
}

// Tensor is a tensor of the graph.
type Tensor struct {
	Operand nn.Operand // type, dimensions, quantization and name
	// Offset is the tensor's place in the arena; -1 where it has none.
	Offset int
	// Data is the value of a constant, otherwise nil.
	Data []byte
	// Variable tensors are zero before they are written.
	Variable bool

	unusable string // why it cannot be the input or output of a step
}

// Step is one ethos-u operator, or the CPU operators up to the next one.
type Step struct {
	NPU *Operator // nil for a CPU step
	CPU *nn.Model // nil for an NPU step

	// Inputs and Outputs are tensors; those of a CPU step are in the order of
	// the model's.
	Inputs, Outputs []int
}

// Operator is an ethos-u operator. Its slices alias the file.
type Operator struct {
	Payload    []byte // driver payload: configuration and commands
	Constants  []byte // region 0: weights, scales, tables
	ArenaBytes int    // region 1
	FastBytes  int    // region 2; 0 where it shares the arena
}

// Is reports whether a file holds an ethos-u operator, without checking more of it than necessary.
func Is(data []byte) bool {
	r := newReader(data)
	return r.identifier() == nil && r.model().hasNPU()
}

// Read reads a compiled network.
func Read(data []byte) (*Network, error) {
	n, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("vela: %w", err)
	}
	return n, nil
}

func read(data []byte) (*Network, error) {
	r := newReader(data)
	if err := r.identifier(); err != nil {
		return nil, err
	}
	m := r.model()
	if r.err == nil && !m.hasNPU() {
		return nil, ErrNotVela
	}
	n, err := m.network()
	if r.err != nil {
		return nil, r.err
	}
	return n, err
}

func (r *reader) identifier() error {
	if len(r.data) < 8 || string(r.data[4:8]) != "TFL3" {
		return errors.New(`not a TensorFlow Lite file: no identifier "TFL3" at offset 4`)
	}
	if len(r.data) > math.MaxInt32 {
		return fmt.Errorf("file of %d bytes exceeds the 2 GiB of the format", len(r.data))
	}
	return nil
}

// model is the file's tables, as far as they are needed here.
type model struct {
	*reader
	codes     []table
	subgraphs []table
	buffers   []table
	metadata  []table

	graph     table // the main subgraph
	tensors   []table
	operators []table
	in, out   [][]int // tensors of each operator, -1 for an omitted one
	copied    int     // bytes of the files of CPU steps
}

func (r *reader) model() *model {
	root := table(r.target(0))
	m := &model{reader: r, codes: r.tables(root, 1), subgraphs: r.tables(root, 2), buffers: r.tables(root, 4), metadata: r.tables(root, 6)}
	if len(m.subgraphs) == 0 {
		r.fail("no subgraph")
		return m
	}
	m.graph = m.subgraphs[0]
	m.tensors, m.operators = r.tables(m.graph, 0), r.tables(m.graph, 3)
	if n := max(len(m.codes), len(m.subgraphs), len(m.buffers), len(m.tensors), len(m.operators)); n > maxItems {
		r.fail("%d tensors, operators or buffers, at most %d", n, maxItems)
	}
	return m
}

// isNPU reports whether an operator is ethos-u.
func (m *model) isNPU(op table) bool {
	i := m.int32(op, 0)
	if i < 0 || int(i) >= len(m.codes) {
		m.fail("operator code %d of %d", i, len(m.codes))
		return false
	}
	return string(m.bytes(m.codes[i], 1)) == CustomCode
}

func (m *model) hasNPU() bool {
	if slices.ContainsFunc(m.operators, m.isNPU) {
		return m.err == nil
	}
	return false
}

func (m *model) network() (_ *Network, err error) {
	defer try.Catch(&err)
	for i, g := range m.subgraphs[min(1, len(m.subgraphs)):] {
		if slices.ContainsFunc(m.tables(g, 3), m.isNPU) {
			return nil, fmt.Errorf("subgraph %d: ethos-u operators are supported in the main graph only", i+1)
		}
	}
	n := &Network{}
	offsets := try.V(m.offsets())
	total := int64(0)
	for i, t := range m.tensors {
		x, err := m.tensor(t)
		if err != nil {
			return nil, fmt.Errorf("tensor %d: %w", i, err)
		}
		x.Offset = -1
		if offsets != nil {
			x.Offset = int(offsets[i])
		}
		if x.Data == nil {
			if total += max(0, x.Operand.Bytes()); total > 4*MaxArena {
				return nil, fmt.Errorf("tensors need more than %d MiB", 4*MaxArena>>20)
			}
		}
		n.Tensors = append(n.Tensors, x)
	}
	n.Inputs = try.V(m.indexes("input", m.graph, 1))
	n.Outputs = try.V(m.indexes("output", m.graph, 2))
	for _, l := range [2][]int{n.Inputs, n.Outputs} {
		for _, x := range l {
			if x < 0 {
				return nil, errors.New("an input or output of the graph is omitted")
			}
			if t := &n.Tensors[x]; t.unusable != "" {
				return nil, fmt.Errorf("tensor %d (%s): input or output of %s", x, t.Operand.Name, t.unusable)
			}
		}
	}
	if len(n.Outputs) == 0 {
		return nil, errors.New("the graph has no outputs")
	}
	try.E(m.steps(n))
	return n, n.order()
}

// indexes reads tensor numbers; -1 is an omitted one.
func (m *model) indexes(what string, t table, field int) ([]int, error) {
	var l []int
	for i, x := range m.int32s(t, field) {
		if x < -1 || int(x) >= len(m.tensors) {
			return nil, fmt.Errorf("%s %d is tensor %d of %d", what, i, x, len(m.tensors))
		}
		l = append(l, int(x))
	}
	return l, nil
}

// offsets reads where Vela placed the tensors: version, number of subgraphs, number of tensors, then an offset each,
// those of the main graph first.
func (m *model) offsets() ([]int32, error) {
	for _, d := range m.metadata {
		if string(m.bytes(d, 0)) != "OfflineMemoryAllocation" {
			continue
		}
		v := m.words(m.buffer(uint32(m.int32(d, 1))))
		if len(v) < 3 || v[0] != 0 {
			return nil, errors.New("OfflineMemoryAllocation of an unknown version")
		}
		if int(v[2]) < len(m.tensors) || len(v) < 3+len(m.tensors) {
			return nil, fmt.Errorf("OfflineMemoryAllocation places %d tensors in %d words, the graph has %d", v[2], len(v), len(m.tensors))
		}
		return v[3 : 3+len(m.tensors)], nil
	}
	return nil, nil
}

func (m *model) words(b []byte) []int32 {
	v := make([]int32, len(b)/4)
	for i := range v {
		v[i] = int32(uint32(b[4*i]) | uint32(b[4*i+1])<<8 | uint32(b[4*i+2])<<16 | uint32(b[4*i+3])<<24)
	}
	return v
}

func (m *model) buffer(i uint32) []byte {
	if i >= uint32(len(m.buffers)) {
		m.fail("buffer %d of %d", i, len(m.buffers))
		return nil
	}
	return m.bytes(m.buffers[i], 0)
}

// operandTypes are the NNAPI types of TensorFlow Lite's, by code.
var operandTypes = map[int8]nn.OperandType{
	0: nn.TensorFloat32, 1: nn.TensorFloat16, 2: nn.TensorInt32, 3: nn.TensorQuant8Asymm,
	6: nn.TensorBool8, 7: nn.TensorQuant16Symm, 9: nn.TensorQuant8AsymmSigned,
}

func (m *model) tensor(t table) (Tensor, error) {
	code := m.int8(t, 1)
	typ, ok := operandTypes[code]
	x := Tensor{Operand: nn.Operand{Type: typ, Name: m.text(t, 3)}, Variable: m.int8(t, 5) != 0}
	if !ok {
		x.Operand.Type, x.unusable = nn.TensorQuant8Asymm, fmt.Sprintf("TensorFlow Lite type %d, which is not supported", code)
	}
	shape := m.int32s(t, 0)
	if len(shape) > 8 {
		return x, fmt.Errorf("rank %d exceeds 8", len(shape))
	}
	for _, d := range shape {
		if d <= 0 {
			x.unusable = fmt.Sprintf("shape %v", shape)
			d = 1
		}
		x.Operand.Dimensions = append(x.Operand.Dimensions, uint32(d))
	}
	if len(shape) == 0 {
		x.Operand.Dimensions = []uint32{1}
	}
	if x.Operand.Bytes() < 0 {
		return x, fmt.Errorf("shape %v is larger than the format allows", shape)
	}
	q := m.table(t, 4)
	if pos, n := m.vector(q, 2, 4); n > 0 {
		x.Operand.Scale = math.Float32frombits(m.u32(pos))
	}
	if pos, n := m.vector(q, 3, 8); n > 0 {
		x.Operand.ZeroPoint = int32(m.u32(pos))
	}
	if b := m.buffer(uint32(m.int32(t, 2))); len(b) > 0 {
		x.Data = b
	}
	return x, nil
}

// steps cuts the graph at its ethos-u operators.
func (m *model) steps(n *Network) error {
	for i, op := range m.operators {
		in, err := m.indexes("input", op, 1)
		if err != nil {
			return fmt.Errorf("operator %d: %w", i, err)
		}
		out, err := m.indexes("output", op, 2)
		if err != nil {
			return fmt.Errorf("operator %d: %w", i, err)
		}
		m.in, m.out = append(m.in, in), append(m.out, out)
	}
	var cpu []int
	flush := func() error {
		if len(cpu) == 0 {
			return nil
		}
		s, err := m.cpuStep(n, cpu)
		if err != nil {
			return fmt.Errorf("%s on the CPU: %w", operatorRange(cpu), err)
		}
		if len(s.Outputs) > 0 { // otherwise nothing reads what they compute
			n.Steps = append(n.Steps, s)
		}
		cpu = nil
		return nil
	}
	for i, op := range m.operators {
		if !m.isNPU(op) {
			cpu = append(cpu, i)
			continue
		}
		s, err := m.npuStep(n, m.in[i], m.out[i])
		if err != nil {
			return fmt.Errorf("operator %d (%s): %w", i, CustomCode, err)
		}
		if err := flush(); err != nil {
			return err
		}
		n.Steps = append(n.Steps, s)
	}
	return flush()
}

func operatorRange(l []int) string {
	if len(l) == 1 {
		return fmt.Sprintf("operator %d", l[0])
	}
	return fmt.Sprintf("operators %d to %d", l[0], l[len(l)-1])
}

// npuStep reads an ethos-u operator.
func (m *model) npuStep(n *Network, in, out []int) (Step, error) {
	const fixed = 4 // payload, constants, arena, fast scratch memory
	if len(in) < fixed || len(out) == 0 {
		return Step{}, fmt.Errorf("%d inputs and %d outputs, it needs at least %d and 1", len(in), len(out), fixed)
	}
	for i, x := range append(in[:len(in):len(in)], out...) {
		if x < 0 {
			return Step{}, fmt.Errorf("operand %d is omitted", i)
		}
	}
	o := &Operator{Payload: n.Tensors[in[0]].Data, Constants: n.Tensors[in[1]].Data}
	if o.Payload == nil {
		return Step{}, fmt.Errorf("tensor %d has no command stream", in[0])
	}
	arena, fast := n.Tensors[in[2]].Operand.Bytes(), n.Tensors[in[3]].Operand.Bytes()
	if max(arena, fast) > MaxArena {
		return Step{}, fmt.Errorf("working memory of %d and %d bytes, at most %d", arena, fast, MaxArena)
	}
	o.ArenaBytes = int(arena)
	if in[2] != in[3] {
		o.FastBytes = int(fast)
	}
	s := Step{NPU: o, Inputs: in[fixed:], Outputs: out}
	for _, x := range append(s.Inputs[:len(s.Inputs):len(s.Inputs)], out...) {
		t := &n.Tensors[x]
		switch size := t.Operand.Bytes(); {
		case t.unusable != "":
			return s, fmt.Errorf("tensor %d (%s) of %s", x, t.Operand.Name, t.unusable)
		case t.Offset < 0:
			return s, fmt.Errorf("tensor %d (%s) has no place in the arena", x, t.Operand.Name)
		case int64(t.Offset)+size > arena:
			return s, fmt.Errorf("tensor %d (%s) lies at [%#x,%#x) of an arena of %#x bytes", x, t.Operand.Name, t.Offset, int64(t.Offset)+size, arena)
		}
	}
	return s, nil
}

// order makes sure that every step finds its inputs.
func (n *Network) order() error {
	have := make([]bool, len(n.Tensors))
	for i := range n.Tensors {
		have[i] = n.Tensors[i].Data != nil || n.Tensors[i].Variable
	}
	for _, x := range n.Inputs {
		have[x] = true
	}
	need := func(l []int, who string) error {
		for _, x := range l {
			if !have[x] {
				return fmt.Errorf("%s needs tensor %d (%s) before any operator writes it", who, x, n.Tensors[x].Operand.Name)
			}
		}
		return nil
	}
	for i := range n.Steps {
		s := &n.Steps[i]
		if err := need(s.Inputs, fmt.Sprintf("step %d", i)); err != nil {
			return err
		}
		for _, x := range s.Outputs {
			have[x] = true
		}
	}
	return need(n.Outputs, "the graph's output list")
}

// String lists the steps: "ethos-u, 3 CPU operators, ethos-u".
func (n *Network) String() string {
	var l []string
	for i := range n.Steps {
		if s := &n.Steps[i]; s.NPU != nil {
			l = append(l, CustomCode)
		} else {
			l = append(l, fmt.Sprintf("%d CPU operators", len(s.CPU.Main.Operations)))
		}
	}
	return strings.Join(l, ", ")
}
