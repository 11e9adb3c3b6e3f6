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
)

// Numbers of the fields used, of perfetto/trace/*.proto.
const (
	tracePacket = 1 // of Trace

	// Of TracePacket.
	packetTimestamp       = 8 // ns
	packetSequence        = 10
	packetTrackEvent      = 11
	packetInterned        = 12
	packetSequenceFlags   = 13
	packetTrackDescriptor = 60

	sequenceBegins = 1 // nothing is interned yet
	sequenceGoesOn = 2 // names are those interned before

	// Of TrackDescriptor.
	trackUUID    = 1
	trackName    = 2
	trackProcess = 3
	trackThread  = 4
	trackParent  = 5
	trackCounter = 8

	processPID  = 1
	processName = 6
	threadPID   = 1
	threadTID   = 2
	threadName  = 5
	counterUnit = 6 // its name

	// Of TrackEvent.
	eventAnnotations = 4
	eventType        = 9
	eventNameID      = 10
	eventTrack       = 11
	eventName        = 23
	eventDouble      = 44 // value of a counter

	sliceBegin   = 1
	sliceEnd     = 2
	counterValue = 4

	// Of DebugAnnotation.
	annotationNameID = 1
	annotationBool   = 2
	annotationInt    = 4
	annotationDouble = 5
	annotationString = 6
	annotationJSON   = 9
	annotationName   = 10

	// Of InternedData, and of its entries.
	internedEvents      = 2
	internedAnnotations = 3
	internedID          = 1
	internedName        = 2
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
	tracks    map[string]uint64
	counters  map[string]uint64
}

// interning numbers names. What does not fit any more is written in full each time.
type interning struct {
	field protowire.Number
	ids   map[string]uint64
	bytes int
}

// Bounds of what a trace keeps of its names.
const (
	maxInterned      = 1 << 16
	maxInternedBytes = 1 << 24
)

// NewPerfetto begins a trace on w. The caller closes w after Close.
func NewPerfetto(w io.Writer) *Perfetto {
	return &Perfetto{
		w: bufio.NewWriterSize(w, 1<<16), processes: map[string]*perfettoProcess{},
		names: interning{field: internedEvents, ids: map[string]uint64{}},
		keys:  interning{field: internedAnnotations, ids: map[string]uint64{}},
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
	uuid, ok := on.tracks[track]
	if !ok {
		uuid = p.newUUID()
		on.tracks[track] = uuid
		thread := appendVarint(nil, threadPID, on.pid)
		thread = appendVarint(thread, threadTID, firstTID+uuid)
		thread = appendString(thread, threadName, track)
		p.describe(uuid, on.uuid, trackThread, thread, "")
	}
	p.event = appendVarint(p.event[:0], eventType, sliceBegin)
	p.event = appendVarint(p.event, eventTrack, uuid)
	p.event = p.name(p.event, &p.names, name, eventNameID, eventName)
	for _, a := range args {
		p.part = p.name(p.part[:0], &p.keys, a.Key, annotationNameID, annotationName)
		p.part = appendValue(p.part, a.Value)
		p.event = appendBytes(p.event, eventAnnotations, p.part)
	}
	p.emit(startFs)
	p.event = appendVarint(p.event[:0], eventType, sliceEnd)
	p.event = appendVarint(p.event, eventTrack, uuid)
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
			counter = appendString(nil, counterUnit, unit)
		}
		p.describe(uuid, on.uuid, trackCounter, counter, name)
	}
	p.event = appendVarint(p.event[:0], eventType, counterValue)
	p.event = appendVarint(p.event, eventTrack, uuid)
	p.event = protowire.AppendTag(p.event, eventDouble, protowire.Fixed64Type)
	p.event = protowire.AppendFixed64(p.event, math.Float64bits(value))
	p.emit(atFs)
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

func (p *Perfetto) newUUID() uint64 { p.uuids++; return p.uuids }

// process returns the process of a name and introduces a new one.
func (p *Perfetto) process(name string) *perfettoProcess {
	x := p.processes[name]
	if x == nil {
		x = &perfettoProcess{pid: uint64(len(p.processes) + 1), uuid: p.newUUID(), tracks: map[string]uint64{}, counters: map[string]uint64{}}
		p.processes[name] = x
		process := appendVarint(nil, processPID, x.pid)
		process = appendString(process, processName, name)
		p.describe(x.uuid, 0, trackProcess, process, "")
	}
	return x
}

// describe writes the packet that introduces a track.
func (p *Perfetto) describe(uuid, parent uint64, kind protowire.Number, what []byte, name string) {
	d := appendVarint(nil, trackUUID, uuid)
	if parent != 0 {
		d = appendVarint(d, trackParent, parent)
	}
	if name != "" {
		d = appendString(d, trackName, name)
	}
	d = appendBytes(d, kind, what)
	p.packet = appendBytes(p.packet[:0], packetTrackDescriptor, d)
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
		entry := appendVarint(nil, internedID, n)
		entry = appendString(entry, internedName, name)
		p.interned = appendBytes(p.interned, i.field, entry)
	}
	return appendVarint(b, id, n)
}

// emit writes the packet of an event, with the names that it is the first to use.
func (p *Perfetto) emit(atFs int64) {
	p.packet = appendVarint(p.packet[:0], packetTimestamp, uint64(max(atFs, 0))/1e6)
	if len(p.interned) > 0 {
		p.packet = appendBytes(p.packet, packetInterned, p.interned)
		p.interned = p.interned[:0]
	}
	p.packet = appendBytes(p.packet, packetTrackEvent, p.event)
	p.write()
}

// write writes a packet of the one sequence that a trace is.
func (p *Perfetto) write() {
	p.packet = appendVarint(p.packet, packetSequence, 1)
	flags := uint64(sequenceGoesOn)
	if !p.begun {
		p.begun, flags = true, sequenceBegins
	}
	p.packet = appendVarint(p.packet, packetSequenceFlags, flags)
	var head [16]byte
	h := protowire.AppendTag(head[:0], tracePacket, protowire.BytesType)
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

// appendValue appends the value of an annotation; what is neither text nor number is JSON.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendString(b, annotationString, v)
	case bool:
		return appendVarint(b, annotationBool, protowire.EncodeBool(v))
	case int:
		return appendVarint(b, annotationInt, uint64(v))
	case int64:
		return appendVarint(b, annotationInt, uint64(v))
	case float64:
		return protowire.AppendFixed64(protowire.AppendTag(b, annotationDouble, protowire.Fixed64Type), math.Float64bits(v))
	}
	text, err := json.Marshal(v)
	if err != nil {
		return appendString(b, annotationString, fmt.Sprint(v))
	}
	return appendString(b, annotationJSON, string(text))
}
