package nntrace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of the fields of perfetto/trace/*.proto that slices are made of.
const (
	perfettoPacket = 1 // of Trace

	// Of TracePacket.
	perfettoFtrace        = 1
	perfettoTimestamp     = 8 // ns
	perfettoSequence      = 10
	perfettoTrackEvent    = 11
	perfettoInterned      = 12
	perfettoSequenceFlags = 13

	// Of TrackEvent.
	perfettoEventType   = 9
	perfettoEventNameID = 10
	perfettoEventTrack  = 11
	perfettoEventName   = 23

	// Of FtraceEventBundle, FtraceEvent and PrintFtraceEvent.
	ftraceEvent     = 2
	ftraceTimestamp = 1 // ns
	ftraceThread    = 2
	ftracePrint     = 3
	ftraceText      = 2

	// Of InternedData and EventName.
	internedEvents = 2
	internedID     = 1
	internedName   = 2
)

// headBytes of a file tell its format.
const headBytes = 4096

// looksLikePerfetto reports whether a file begins with a TracePacket. Text may begin with
// the same byte, a newline; what follows is then no message.
func looksLikePerfetto(head []byte) bool {
	number, kind, n := protowire.ConsumeTag(head)
	if n < 0 || number != perfettoPacket || kind != protowire.BytesType {
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

// perfetto reads packets.
type perfetto struct {
	names  map[uint64]map[uint64]string // by sequence and number
	events []Event
}

// readPerfetto reads Perfetto's format: slices of track events, and the marks of atrace in
// the ftrace events of a device.
func readPerfetto(data []byte) ([]Event, error) {
	p := &perfetto{names: map[uint64]map[uint64]string{}}
	packets := 0
	err := fields(data, func(f field) error {
		if f.number != perfettoPacket || f.bytes == nil {
			return nil
		}
		packets++
		return p.packet(f.bytes)
	})
	if err != nil {
		return nil, fmt.Errorf("nntrace: packet %d: %w", packets, err)
	}
	slices.SortStableFunc(p.events, func(a, b Event) int { return cmp.Compare(a.Us, b.Us) })
	return p.events, nil
}

func (p *perfetto) packet(b []byte) error {
	var at, sequence, flags uint64
	var event, interned, ftrace []byte
	err := fields(b, func(f field) error {
		switch f.number {
		case perfettoFtrace:
			ftrace = f.bytes
		case perfettoTimestamp:
			at = f.value
		case perfettoSequence:
			sequence = f.value
		case perfettoTrackEvent:
			event = f.bytes
		case perfettoInterned:
			interned = f.bytes
		case perfettoSequenceFlags:
			flags = f.value
		}
		return nil
	})
	if err != nil {
		return err
	}
	if flags&1 != 0 { // the sequence begins anew
		delete(p.names, sequence)
	}
	if err := fields(interned, func(f field) error { return p.intern(sequence, f) }); err != nil {
		return err
	}
	if err := p.slice(event, sequence, at); err != nil {
		return err
	}
	return fields(ftrace, p.print)
}

// intern notes the name of a number.
func (p *perfetto) intern(sequence uint64, f field) error {
	if f.number != internedEvents {
		return nil
	}
	var id uint64
	var name []byte
	err := fields(f.bytes, func(f field) error {
		switch f.number {
		case internedID:
			id = f.value
		case internedName:
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
func (p *perfetto) slice(b []byte, sequence, at uint64) error {
	const begins, ends = 1, 2
	var kind, track uint64
	var name string
	err := fields(b, func(f field) error {
		switch f.number {
		case perfettoEventType:
			kind = f.value
		case perfettoEventTrack:
			track = f.value
		case perfettoEventName:
			name = string(f.bytes)
		case perfettoEventNameID:
			var known bool
			if name, known = p.names[sequence][f.value]; !known {
				return errors.New("a slice has a name that was not interned")
			}
		}
		return nil
	})
	if kind == begins || kind == ends {
		p.events = append(p.events, Event{Thread: "track " + strconv.FormatUint(track, 10), Name: name, Begin: kind == begins, Us: float64(at) / 1e3})
	}
	return err
}

// print adds an ftrace event with a mark of atrace: "B|pid|name" or "E|pid".
func (p *perfetto) print(f field) error {
	if f.number != ftraceEvent {
		return nil
	}
	var at, thread uint64
	var text []byte
	err := fields(f.bytes, func(f field) error {
		switch f.number {
		case ftraceTimestamp:
			at = f.value
		case ftraceThread:
			thread = f.value
		case ftracePrint:
			return fields(f.bytes, func(f field) error {
				if f.number == ftraceText {
					text = f.bytes
				}
				return nil
			})
		}
		return nil
	})
	mark := strings.SplitN(strings.TrimRight(string(text), "\n"), "|", 3)
	e := Event{Thread: strconv.FormatUint(thread, 10), Us: float64(at) / 1e3}
	switch {
	case mark[0] == "B" && len(mark) == 3:
		e.Name, e.Begin = mark[2], true
	case mark[0] != "E":
		return err
	}
	p.events = append(p.events, e)
	return err
}
