// Package perfetto numbers the fields of Perfetto's trace format that nnsoc writes and reads.
package perfetto

// Numbers of the fields used, of perfetto/trace/*.proto.
const (
	TracePacket = 1 // of Trace

	// Of TracePacket.
	PacketFtrace          = 1
	PacketTimestamp       = 8 // ns
	PacketSequence        = 10
	PacketTrackEvent      = 11
	PacketInterned        = 12
	PacketSequenceFlags   = 13
	PacketTrackDescriptor = 60

	SequenceBegins = 1 // nothing is interned yet
	SequenceGoesOn = 2 // names are those interned before

	// Of TrackDescriptor.
	TrackUUID    = 1
	TrackName    = 2
	TrackProcess = 3
	TrackThread  = 4
	TrackParent  = 5
	TrackCounter = 8
	TrackOrder   = 11 // of its children
	TrackRank    = 12 // among its siblings

	OrderByRank = 3

	ProcessPID  = 1
	ProcessSort = 3
	ProcessName = 6
	ThreadPID   = 1
	ThreadTID   = 2
	ThreadSort  = 3
	ThreadName  = 5
	CounterUnit = 6 // its name

	// Of TrackEvent.
	EventAnnotations = 4
	EventType        = 9
	EventNameID      = 10
	EventTrack       = 11
	EventName        = 23
	EventDouble      = 44 // value of a counter
	EventFlow        = 47
	EventFlowEnd     = 48

	SliceBegin   = 1
	SliceEnd     = 2
	CounterValue = 4

	// Of DebugAnnotation.
	AnnotationNameID = 1
	AnnotationBool   = 2
	AnnotationInt    = 4
	AnnotationDouble = 5
	AnnotationString = 6
	AnnotationJSON   = 9
	AnnotationName   = 10

	// Of InternedData, and of its entries.
	InternedEvents      = 2
	InternedAnnotations = 3
	InternedID          = 1
	InternedName        = 2

	// Of FtraceEventBundle, FtraceEvent and PrintFtraceEvent.
	FtraceEvent     = 2
	FtraceTimestamp = 1 // ns
	FtraceThread    = 2
	FtracePrint     = 3
	FtraceText      = 2
)
