package bench

// StreamPattern is the memory access pattern of a stream. A copy reads one stream and writes another; its bytes count
// once.
type StreamPattern struct {
	Name          string
	Reads, Writes int // streams
	Counted       int // of those, whose bytes count
}

// StreamPatterns are the patterns by which StreamRate of a SoC is measured.
func StreamPatterns() []StreamPattern {
	return []StreamPattern{{"read", 1, 0, 1}, {"write", 0, 1, 1}, {"copy", 1, 1, 1}}
}

// PublishedStream is the bandwidth in GB/s that an engine of a phone has been measured with.
type PublishedStream struct {
	Engine, Pattern string
	Low, High       float64
	Source          string
}

// PublishedStreams are of a Snapdragon 855, or of the same core on the same kind of memory.
func PublishedStreams() []PublishedStream {
	const core = "sbc-bench: RK3588, one Cortex-A76 at 2.35 to 2.4 GHz"
	return []PublishedStream{
		{"cpu", "write", 29, 30, core + ", memset"},
		{"cpu", "copy", 10.8, 12.8, core + ", memcpy"},
		{"gpu", "read", 30.1, 30.5, "ArchProbe: Adreno 640, buffers from 8 MB on"},
	}
}
