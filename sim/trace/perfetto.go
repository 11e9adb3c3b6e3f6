package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/nnsoc/nnsoc/internal/perfetto"
)

// Perfetto writes the protobuf format of ui.perfetto.dev. Its times are nanoseconds,
// rounded down. It implements Writer.
type Perfetto struct {
	mu        sync.Mutex
	w         *bufio.Writer
	processes map[string]*perfettoProcess
	uuids     uint64
	names     interning
	keys      interning
	interned  []byte // InternedData of the next packet
	packet    []byte
	event     []byte
	part      []byte
	begun     bool
	spans     int
	closed    bool
	err       error
}

type perfettoProcess struct {
	pid, uuid uint64
	lanes     lanes
	tracks    []uint64 // by number in lanes
	counters  map[string]uint64
}

// interning numbers names. What does not fit any more is written in full each time.
type interning struct {
	field protowire.Number
	ids   map[string]uint64
	bytes int
}

// Bounds of the names kept by a trace.
const (
	maxInterned      = 1 << 16
	maxInternedBytes = 1 << 24
)

// NewPerfetto begins a trace on w. The caller closes w after Close.
func NewPerfetto(w io.Writer) *Perfetto {
	return &Perfetto{
		w: bufio.NewWriterSize(w, 1<<16), processes: map[string]*perfettoProcess{},
		names: interning{field: perfetto.InternedEvents, ids: map[string]uint64{}},
		keys:  interning{field: perfetto.InternedAnnotations, ids: map[string]uint64{}},
	}
}

// Span implements Writer.
func (p *Perfetto) Span(process, track, name string, startFs, endFs int64, args ...Arg) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.err != nil {
		return
	}
	p.spans++
	on := p.process(process)
	lane, known := on.lanes.find(track)
	if !known {
		uuid := p.newUUID()
		on.tracks = append(on.tracks, uuid)
		rank := uint64(on.lanes.rank(track))
		thread := appendVarint(nil, perfetto.ThreadPID, on.pid)
		thread = appendVarint(thread, perfetto.ThreadTID, firstTID+uuid)
		thread = appendVarint(thread, perfetto.ThreadSort, rank)
		thread = appendString(thread, perfetto.ThreadName, track)
		p.describe(uuid, on.uuid, perfetto.TrackThread, thread, "", perfetto.TrackRank, rank)
	}
	uuid := on.tracks[lane-1]
	p.event = appendVarint(p.event[:0], perfetto.EventType, perfetto.SliceBegin)
	p.event = appendVarint(p.event, perfetto.EventTrack, uuid)
	p.event = p.name(p.event, &p.names, name, perfetto.EventNameID, perfetto.EventName)
	for _, a := range args {
		if flow, ok := a.Value.(Flow); ok {
			field := protowire.Number(perfetto.EventFlow)
			if flow.Ends {
				field = perfetto.EventFlowEnd
			}
			p.event = protowire.AppendFixed64(protowire.AppendTag(p.event, field, protowire.Fixed64Type), flow.ID)
			continue
		}
		p.part = p.name(p.part[:0], &p.keys, a.Key, perfetto.AnnotationNameID, perfetto.AnnotationName)
		p.part = appendValue(p.part, a.Value)
		p.event = appendBytes(p.event, perfetto.EventAnnotations, p.part)
	}
	p.emit(startFs)
	p.event = appendVarint(p.event[:0], perfetto.EventType, perfetto.SliceEnd)
	p.event = appendVarint(p.event, perfetto.EventTrack, uuid)
	p.emit(max(startFs, endFs))
}

// Counter implements Writer.
func (p *Perfetto) Counter(process, name string, atFs int64, value float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.err != nil {
		return
	}
	on := p.process(process)
	uuid, ok := on.counters[name]
	if !ok {
		uuid = p.newUUID()
		on.counters[name] = uuid
		var counter []byte
		if _, unit, found := strings.Cut(strings.TrimSuffix(name, ")"), " ("); found {
			counter = appendString(nil, perfetto.CounterUnit, unit)
		}
		p.describe(uuid, on.uuid, perfetto.TrackCounter, counter, name, perfetto.TrackRank, counterRank+uint64(len(on.counters)))
	}
	p.event = appendVarint(p.event[:0], perfetto.EventType, perfetto.CounterValue)
	p.event = appendVarint(p.event, perfetto.EventTrack, uuid)
	p.event = protowire.AppendTag(p.event, perfetto.EventDouble, protowire.Fixed64Type)
	p.event = protowire.AppendFixed64(p.event, math.Float64bits(value))
	p.emit(atFs)
}

// Processes implements Writer.
func (p *Perfetto) Processes(names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range names {
		if !p.closed && p.err == nil {
			p.process(name)
		}
	}
}

// Spans implements Writer.
func (p *Perfetto) Spans() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spans
}

// Close implements Writer.
func (p *Perfetto) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if err := p.w.Flush(); p.err == nil {
		p.err = err
	}
	return p.err
}

// firstTID keeps the numbers of threads apart from those of processes.
const firstTID = 1 << 16

// counterRank places counters behind the tracks of their process.
const counterRank = 1 << 24

func (p *Perfetto) newUUID() uint64 { p.uuids++; return p.uuids }

// process returns the process of a name and introduces a new one.
func (p *Perfetto) process(name string) *perfettoProcess {
	x := p.processes[name]
	if x == nil {
		x = &perfettoProcess{pid: uint64(len(p.processes) + 1), uuid: p.newUUID(), lanes: newLanes(), counters: map[string]uint64{}}
		p.processes[name] = x
		process := appendVarint(nil, perfetto.ProcessPID, x.pid)
		process = appendVarint(process, perfetto.ProcessSort, x.pid)
		process = appendString(process, perfetto.ProcessName, name)
		p.describe(x.uuid, 0, perfetto.TrackProcess, process, "", perfetto.TrackOrder, perfetto.OrderByRank)
	}
	return x
}

// describe writes the packet that introduces a track, with a field that states its order.
func (p *Perfetto) describe(uuid, parent uint64, kind protowire.Number, what []byte, name string, order protowire.Number, value uint64) {
	d := appendVarint(nil, perfetto.TrackUUID, uuid)
	if parent != 0 {
		d = appendVarint(d, perfetto.TrackParent, parent)
	}
	if name != "" {
		d = appendString(d, perfetto.TrackName, name)
	}
	d = appendBytes(d, kind, what)
	d = appendVarint(d, order, value)
	p.packet = appendBytes(p.packet[:0], perfetto.PacketTrackDescriptor, d)
	p.write()
}

// name appends a name to a message: its number, or in full.
func (p *Perfetto) name(b []byte, i *interning, name string, id, full protowire.Number) []byte {
	n, known := i.ids[name]
	if !known {
		if len(i.ids) >= maxInterned || i.bytes+len(name) > maxInternedBytes {
			return appendString(b, full, name)
		}
		n = uint64(len(i.ids) + 1)
		i.ids[name] = n
		i.bytes += len(name)
		entry := appendVarint(nil, perfetto.InternedID, n)
		entry = appendString(entry, perfetto.InternedName, name)
		p.interned = appendBytes(p.interned, i.field, entry)
	}
	return appendVarint(b, id, n)
}

// emit writes the packet of an event, with the names that it is the first to use.
func (p *Perfetto) emit(atFs int64) {
	p.packet = appendVarint(p.packet[:0], perfetto.PacketTimestamp, uint64(max(atFs, 0))/1e6)
	if len(p.interned) > 0 {
		p.packet = appendBytes(p.packet, perfetto.PacketInterned, p.interned)
		p.interned = p.interned[:0]
	}
	p.packet = appendBytes(p.packet, perfetto.PacketTrackEvent, p.event)
	p.write()
}

// write writes a packet of the one sequence that a trace is.
func (p *Perfetto) write() {
	p.packet = appendVarint(p.packet, perfetto.PacketSequence, 1)
	flags := uint64(perfetto.SequenceGoesOn)
	if !p.begun {
		p.begun, flags = true, perfetto.SequenceBegins
	}
	p.packet = appendVarint(p.packet, perfetto.PacketSequenceFlags, flags)
	var head [16]byte
	h := protowire.AppendTag(head[:0], perfetto.TracePacket, protowire.BytesType)
	h = protowire.AppendVarint(h, uint64(len(p.packet)))
	if _, err := p.w.Write(h); p.err == nil {
		p.err = err
	}
	if _, err := p.w.Write(p.packet); p.err == nil {
		p.err = err
	}
}

func appendVarint(b []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

func appendBytes(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

// appendString appends a string, which must be UTF-8.
func appendString(b []byte, n protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), strings.ToValidUTF8(v, "\ufffd"))
}

// appendValue appends the value of an annotation; values other than text and numbers are JSON.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendString(b, perfetto.AnnotationString, v)
	case bool:
		return appendVarint(b, perfetto.AnnotationBool, protowire.EncodeBool(v))
	case int:
		return appendVarint(b, perfetto.AnnotationInt, uint64(v))
	case int64:
		return appendVarint(b, perfetto.AnnotationInt, uint64(v))
	case float64:
		return protowire.AppendFixed64(protowire.AppendTag(b, perfetto.AnnotationDouble, protowire.Fixed64Type), math.Float64bits(v))
	}
	text, err := json.Marshal(v)
	if err != nil {
		return appendString(b, perfetto.AnnotationString, fmt.Sprint(v))
	}
	return appendString(b, perfetto.AnnotationJSON, string(text))
}
