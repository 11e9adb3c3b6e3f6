package wire

import (
	"math"
	"unsafe"

	"google.golang.org/protobuf/proto"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/nn"
)

// constantAlign is what the place of a constant is a multiple of, in bytes: a vector of HVX.
const constantAlign = 128

// constants collects the values of a model, each once however often it is used.
type constants struct {
	data []byte
	seen map[span]uint64
}

// span is the location of a value in the client.
type span struct {
	first *byte
	bytes int
}

func (c *constants) add(b []byte) *pb.Constant {
	if len(b) == 0 {
		return &pb.Constant{}
	}
	key := span{unsafe.SliceData(b), len(b)}
	at, ok := c.seen[key]
	if !ok {
		c.data = append(c.data, make([]byte, -len(c.data)&(constantAlign-1))...)
		at = uint64(len(c.data))
		c.data = append(c.data, b...)
		c.seen[key] = at
	}
	return &pb.Constant{Offset: at, Bytes: uint64(len(b))}
}

// ToModel is the two parts of a model in memory.
func ToModel(m *nn.Model) (head, values []byte, err error) {
	c := &constants{seen: map[span]uint64{}}
	h := &pb.ModelHead{Name: []byte(m.Name), Relaxed: m.Relaxed, Main: c.subgraph(&m.Main)}
	for _, e := range m.Extensions {
		h.Extensions = append(h.Extensions, &pb.ExtensionPrefix{Name: []byte(e.Name), Prefix: uint32(e.Prefix)})
	}
	for i := range m.Referenced {
		h.Referenced = append(h.Referenced, c.subgraph(&m.Referenced[i]))
	}
	for _, s := range m.States {
		if s.Input < 0 || s.Output < 0 || int64(max(s.Input, s.Output)) > math.MaxUint32 {
			return nil, nil, hal.Errorf(hal.InvalidArgument, "service: a state of input %d and output %d", s.Input, s.Output)
		}
		x := &pb.State{Input: uint32(s.Input), Output: uint32(s.Output)}
		if s.Initial != nil {
			x.Initial = c.add(s.Initial)
		}
		h.States = append(h.States, x)
	}
	if head, err = proto.Marshal(h); err != nil {
		return nil, nil, hal.Errorf(hal.InvalidArgument, "service: the model: %w", err)
	}
	return head, c.data, nil
}

func (c *constants) subgraph(g *nn.Subgraph) *pb.Subgraph {
	s := &pb.Subgraph{Name: []byte(g.Name), Inputs: g.Inputs, Outputs: g.Outputs, Consumers: g.Consumers}
	for i := range g.Operands {
		o := &g.Operands[i]
		x := &pb.Operand{
			Type: int32(o.Type), Lifetime: o.Lifetime.HAL(), Dimensions: o.Dimensions, Scale: o.Scale, ZeroPoint: o.ZeroPoint,
			ExtensionData: o.Extension, Name: []byte(o.Name),
		}
		if o.Channel != nil {
			x.Channel = &pb.ChannelQuant{Dimension: o.Channel.Dim, Scales: o.Channel.Scales}
		}
		if len(o.Data) > 0 {
			x.Constant = c.add(o.Data)
		}
		s.Operands = append(s.Operands, x)
	}
	for _, op := range g.Operations {
		s.Operations = append(s.Operations, &pb.Operation{Type: int32(op.Type), Inputs: op.Inputs, Outputs: op.Outputs})
	}
	return s
}

// FromModel reads the two parts of a model, which may break every rule of one. The model
// refers to values.
func FromModel(head, values []byte) (*nn.Model, error) {
	h := &pb.ModelHead{}
	if err := proto.Unmarshal(head, h); err != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "service: the model: %w", err)
	}
	r := &modelReader{values: values}
	m := &nn.Model{Name: string(h.Name), Relaxed: h.Relaxed, Main: r.subgraph(h.Main)}
	for _, e := range h.Extensions {
		if e.Prefix > math.MaxUint16 {
			return nil, hal.Errorf(hal.InvalidArgument, "service: the model: prefix %d of an extension", e.Prefix)
		}
		m.Extensions = append(m.Extensions, nn.ExtensionPrefix{Name: string(e.Name), Prefix: uint16(e.Prefix)})
	}
	for _, g := range h.Referenced {
		m.Referenced = append(m.Referenced, r.subgraph(g))
	}
	for _, s := range h.States {
		x := nn.State{Input: int(s.Input), Output: int(s.Output)}
		if s.Initial != nil {
			if x.Initial = r.constant(s.Initial); x.Initial == nil {
				x.Initial = []byte{}
			}
		}
		m.States = append(m.States, x)
	}
	return m, r.err
}

// modelReader decodes models from messages. After an error values are nil.
type modelReader struct {
	values []byte
	err    error
}

func (r *modelReader) constant(c *pb.Constant) []byte {
	n, at := c.GetBytes(), c.GetOffset()
	if n == 0 {
		return nil
	}
	if at > uint64(len(r.values)) || n > uint64(len(r.values))-at {
		r.err = hal.Errorf(hal.InvalidArgument, "service: the model: a constant of %d bytes at %d of %d", n, at, len(r.values))
		return nil
	}
	return r.values[at : at+n : at+n]
}

func (r *modelReader) subgraph(s *pb.Subgraph) nn.Subgraph {
	g := nn.Subgraph{Name: string(s.GetName()), Inputs: s.GetInputs(), Outputs: s.GetOutputs(), Consumers: s.GetConsumers()}
	for _, o := range s.GetOperands() {
		x := nn.Operand{
			Type: nn.OperandType(o.Type), Lifetime: nn.TemporaryVariable + nn.Lifetime(o.Lifetime), Dimensions: o.Dimensions, Scale: o.Scale, ZeroPoint: o.ZeroPoint,
			Extension: o.ExtensionData, Name: string(o.Name), Data: r.constant(o.Constant),
		}
		if c := o.Channel; c != nil {
			x.Channel = &nn.ChannelQuant{Dim: c.Dimension, Scales: c.Scales}
		}
		g.Operands = append(g.Operands, x)
	}
	for _, op := range s.GetOperations() {
		g.Operations = append(g.Operations, nn.Operation{Type: nn.OperationType(op.Type), Inputs: op.Inputs, Outputs: op.Outputs})
	}
	return g
}
