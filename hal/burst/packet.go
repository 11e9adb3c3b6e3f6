package burst

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/try"
)

// RequestMessage is the content of a request packet. Pools are slots.
type RequestMessage struct {
	Inputs, Outputs []hal.RequestArgument
	Slots           []int32
	MeasureTiming   bool
}

// Packet is the message as datums: the packet's head, each input with its dimensions,
// each output with its dimensions, the slots, whether to measure.
func (m *RequestMessage) Packet() []Datum {
	list := make([]Datum, 1, 2+len(m.Inputs)+len(m.Outputs)+len(m.Slots))
	for i := range m.Inputs {
		list = argument(list, &m.Inputs[i], InputOperand, InputDimension)
	}
	for i := range m.Outputs {
		list = argument(list, &m.Outputs[i], OutputOperand, OutputDimension)
	}
	for _, s := range m.Slots {
		list = append(list, put(PoolIdentifier, uint32(s)))
	}
	list = append(list, put(MeasureTiming, word(m.MeasureTiming)))
	list[0] = put(RequestPacket, uint32(len(list)), uint32(len(m.Inputs)), uint32(len(m.Outputs)), uint32(len(m.Slots)))
	return list
}

// reader decodes the datums of a packet in order.
type reader struct {
	list  []Datum
	words []int
}

// next reads a datum, which must be of kind k.
func (r *reader) next(k Kind) (*Datum, error) {
	if len(r.list) == 0 {
		return nil, fmt.Errorf("burst: the packet ends where a datum of kind %d belongs", k)
	}
	d := &r.list[0]
	r.list = r.list[1:]
	return d, d.expect(k, r.words)
}

// values reads n datums of one word each; n is bounded by the datums left.
func (r *reader) values(k Kind, n uint32) ([]uint32, error) {
	if uint64(n) > uint64(len(r.list)) {
		return nil, fmt.Errorf("burst: %d datums of kind %d announced, %d follow", n, k, len(r.list))
	}
	var list []uint32
	for range n {
		d, err := r.next(k)
		if err != nil {
			return nil, err
		}
		list = append(list, d.word(0))
	}
	return list, nil
}

// head reads the head of a packet, whose first word is the number of datums.
func (r *reader) head(k Kind) (*Datum, error) {
	n := len(r.list)
	d, err := r.next(k)
	if err == nil && uint64(d.word(0)) != uint64(n) {
		err = fmt.Errorf("burst: a packet of %d datums declares %d", n, d.word(0))
	}
	return d, err
}

// arguments reads the arguments of a request.
func (r *reader) arguments(n uint32, operand, dimension Kind) (_ []hal.RequestArgument, err error) {
	defer try.Catch(&err)
	if uint64(n) > uint64(len(r.list)) {
		return nil, fmt.Errorf("burst: %d operands announced, %d datums follow", n, len(r.list))
	}
	var list []hal.RequestArgument
	for range n {
		d := try.V(r.next(operand))
		a := hal.RequestArgument{Location: hal.DataLocation{PoolIndex: d.word(1), Offset: d.word(2), Length: d.word(3)}}
		a.HasNoValue = try.V(flag(d.word(0)))
		a.Dimensions = try.V(r.values(dimension, d.word(4)))
		list = append(list, a)
	}
	return list, nil
}

// ParseRequest reads a request packet. Every datum must be used.
func ParseRequest(packet []Datum) (_ *RequestMessage, err error) {
	defer try.Catch(&err)
	r := &reader{packet, requestWords[:]}
	head := try.V(r.head(RequestPacket))
	m := &RequestMessage{}
	m.Inputs = try.V(r.arguments(head.word(1), InputOperand, InputDimension))
	m.Outputs = try.V(r.arguments(head.word(2), OutputOperand, OutputDimension))
	slots := try.V(r.values(PoolIdentifier, head.word(3)))
	for _, s := range slots {
		m.Slots = append(m.Slots, int32(s))
	}
	d := try.V(r.next(MeasureTiming))
	m.MeasureTiming = try.V(flag(d.word(0)))
	return m, r.end()
}

// end checks that a packet is used up.
func (r *reader) end() error {
	if len(r.list) > 0 {
		return fmt.Errorf("burst: %d datums behind the end of a packet", len(r.list))
	}
	return nil
}

// ResultMessage is the content of a result packet.
type ResultMessage struct {
	Status hal.Status
	Shapes []hal.OutputShape
	Timing hal.Timing
}

// Packet is the message as datums: the packet's head, each shape, the timing. A status
// of HAL 1.3 becomes one that a HAL 1.2 client knows.
func (m *ResultMessage) Packet() []Datum {
	list := make([]Datum, 1, 2+len(m.Shapes))
	for i := range m.Shapes {
		s := &m.Shapes[i]
		list = append(list, put(ResultOperand, word(s.IsSufficient), uint32(len(s.Dimensions))))
		for _, d := range s.Dimensions {
			list = append(list, put(ResultDimension, d))
		}
	}
	t := m.Timing
	list = append(list, put(ExecutionTiming, uint32(t.OnDevice), uint32(t.OnDevice>>32), uint32(t.InDriver), uint32(t.InDriver>>32)))
	list[0] = put(ResultPacket, uint32(len(list)), uint32(m.Status.ToV1_2()), uint32(len(m.Shapes)))
	return list
}

// ParseResult reads a result packet. Every datum must be used.
func ParseResult(packet []Datum) (_ *ResultMessage, err error) {
	defer try.Catch(&err)
	r := &reader{packet, resultWords[:]}
	head := try.V(r.head(ResultPacket))
	m := &ResultMessage{Status: hal.Status(head.word(1))}
	if m.Status < hal.StatusNone || m.Status > hal.InvalidArgument {
		return nil, fmt.Errorf("burst: %d is no status of HAL 1.2", head.word(1))
	}
	if uint64(head.word(2)) > uint64(len(r.list)) {
		return nil, fmt.Errorf("burst: %d shapes announced, %d datums follow", head.word(2), len(r.list))
	}
	for range head.word(2) {
		d := try.V(r.next(ResultOperand))
		var s hal.OutputShape
		s.IsSufficient = try.V(flag(d.word(0)))
		s.Dimensions = try.V(r.values(ResultDimension, d.word(1)))
		m.Shapes = append(m.Shapes, s)
	}
	d := try.V(r.next(ExecutionTiming))
	m.Timing.OnDevice = uint64(d.word(0)) | uint64(d.word(1))<<32
	m.Timing.InDriver = uint64(d.word(2)) | uint64(d.word(3))<<32
	return m, r.end()
}
