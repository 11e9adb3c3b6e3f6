package nntrace

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/nnsoc/nnsoc/internal/perfetto"
	"github.com/nnsoc/nnsoc/internal/try"
)

// headBytes is the length of the head of a file by which its format is detected.
const headBytes = 4096

// isPerfetto reports whether a file begins with a TracePacket. Text may begin with
// the same byte, a newline; what follows is then no message.
func isPerfetto(head []byte) bool {
	number, kind, n := protowire.ConsumeTag(head)
	if n < 0 || number != perfetto.TracePacket || kind != protowire.BytesType {
		return false
	}
	size, m := protowire.ConsumeVarint(head[n:])
	if m < 0 || size == 0 {
		return false
	}
	packet := head[n+m:]
	if uint64(len(packet)) >= size {
		return fields(packet[:size], func(field) error { return nil }) == nil
	}
	number, _, n = protowire.ConsumeTag(packet) // a long one
	return len(head) >= headBytes && n > 0 && number < 1000
}

// field is a field of a message.
type field struct {
	number protowire.Number
	value  uint64
	bytes  []byte
}

// fields calls f for each field of a message.
func fields(b []byte, f func(field) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		x := field{number: number}
		switch kind {
		case protowire.VarintType:
			x.value, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			x.bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// perfettoReader reads packets.
type perfettoReader struct {
	names   map[uint64]map[uint64]string // by sequence and number
	threads map[string]string            // one copy of each name
	text    []byte
	events  []Event
}

// maxPacket bounds a packet of a trace, which is held in memory while it is read. Perfetto's
// own buffers hold at most so much.
const maxPacket = 1 << 26

// readPerfetto reads Perfetto's format: slices of track events, and the marks of atrace in
// the ftrace events of a device. One packet is in memory at a time.
func readPerfetto(r *bufio.Reader) ([]Event, error) {
	p := &perfettoReader{names: map[uint64]map[uint64]string{}, threads: map[string]string{}}
	packets := 0
	err := eachField(r, func(number protowire.Number, b []byte) error {
		if number != perfetto.TracePacket {
			return nil
		}
		packets++
		return p.packet(b)
	})
	if err != nil {
		return nil, fmt.Errorf("nntrace: packet %d: %w", packets, err)
	}
	slices.SortStableFunc(p.events, func(a, b Event) int { return cmp.Compare(a.Us, b.Us) })
	return p.events, nil
}

// eachField calls f for each field with bytes of the message that r holds. The bytes are
// f's until it returns.
func eachField(r *bufio.Reader, f func(protowire.Number, []byte) error) error {
	var b bytes.Buffer
	for {
		tag, err := binary.ReadUvarint(r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		number, kind := protowire.DecodeTag(tag)
		size := uint64(0)
		switch kind {
		case protowire.VarintType, protowire.BytesType:
			size, err = binary.ReadUvarint(r)
		case protowire.Fixed32Type:
			size = 4
		case protowire.Fixed64Type:
			size = 8
		default:
			err = fmt.Errorf("a field of wire type %d", kind)
		}
		if err != nil {
			return notEnd(err)
		}
		if kind == protowire.VarintType {
			continue
		}
		if size > maxPacket {
			return fmt.Errorf("it has %d bytes, at most %d", size, maxPacket)
		}
		b.Reset() // it grows with the bytes read: a forged size allocates no memory
		if _, err := io.CopyN(&b, r, int64(size)); err != nil {
			return notEnd(err)
		}
		if kind == protowire.BytesType {
			if err := f(number, b.Bytes()); err != nil {
				return err
			}
		}
	}
}

// notEnd is err of a place where a file must not end.
func notEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (p *perfettoReader) packet(b []byte) (err error) {
	defer try.Catch(&err)
	var at, sequence, flags uint64
	var event, interned, ftrace []byte
	try.E(fields(b, func(f field) error {
		switch f.number {
		case perfetto.PacketFtrace:
			ftrace = f.bytes
		case perfetto.PacketTimestamp:
			at = f.value
		case perfetto.PacketSequence:
			sequence = f.value
		case perfetto.PacketTrackEvent:
			event = f.bytes
		case perfetto.PacketInterned:
			interned = f.bytes
		case perfetto.PacketSequenceFlags:
			flags = f.value
		}
		return nil
	}))
	if flags&1 != 0 { // the sequence begins anew
		delete(p.names, sequence)
	}
	try.E(fields(interned, func(f field) error { return p.intern(sequence, f) }))
	try.E(p.slice(event, sequence, at))
	return fields(ftrace, p.print)
}

// intern notes the name of a number.
func (p *perfettoReader) intern(sequence uint64, f field) error {
	if f.number != perfetto.InternedEvents {
		return nil
	}
	var id uint64
	var name []byte
	err := fields(f.bytes, func(f field) error {
		switch f.number {
		case perfetto.InternedID:
			id = f.value
		case perfetto.InternedName:
			name = f.bytes
		}
		return nil
	})
	if p.names[sequence] == nil {
		p.names[sequence] = map[uint64]string{}
	}
	p.names[sequence][id] = string(name)
	return err
}

// slice adds a track event that begins or ends one.
func (p *perfettoReader) slice(b []byte, sequence, at uint64) error {
	const begins, ends = 1, 2
	var kind, track uint64
	var name string
	err := fields(b, func(f field) error {
		switch f.number {
		case perfetto.EventType:
			kind = f.value
		case perfetto.EventTrack:
			track = f.value
		case perfetto.EventName:
			name = string(f.bytes)
		case perfetto.EventNameID:
			var known bool
			if name, known = p.names[sequence][f.value]; !known {
				return errors.New("a slice has a name that was not interned")
			}
		}
		return nil
	})
	if kind == begins || kind == ends {
		return cmp.Or(err, p.add("track ", track, Event{Name: name, Begin: kind == begins, Us: float64(at) / 1e3}))
	}
	return err
}

// print adds an ftrace event with a mark of atrace: "B|pid|name" or "E|pid".
func (p *perfettoReader) print(f field) error {
	if f.number != perfetto.FtraceEvent {
		return nil
	}
	var at, thread uint64
	var text []byte
	err := fields(f.bytes, func(f field) error {
		switch f.number {
		case perfetto.FtraceTimestamp:
			at = f.value
		case perfetto.FtraceThread:
			thread = f.value
		case perfetto.FtracePrint:
			return fields(f.bytes, func(f field) error {
				if f.number == perfetto.FtraceText {
					text = f.bytes
				}
				return nil
			})
		}
		return nil
	})
	mark := strings.SplitN(strings.TrimRight(string(text), "\n"), "|", 3)
	e := Event{Us: float64(at) / 1e3}
	switch {
	case mark[0] == "B" && len(mark) == 3:
		e.Name, e.Begin = mark[2], true
	case mark[0] != "E":
		return err
	}
	return cmp.Or(err, p.add("", thread, e))
}

// add adds an event of a thread.
func (p *perfettoReader) add(prefix string, thread uint64, e Event) error {
	if len(p.events) >= maxEvents {
		return errTooMany
	}
	p.text = strconv.AppendUint(append(p.text[:0], prefix...), thread, 10)
	name, ok := p.threads[string(p.text)]
	if !ok {
		name = string(p.text)
		p.threads[name] = name
	}
	e.Thread = name
	p.events = append(p.events, e)
	return nil
}
