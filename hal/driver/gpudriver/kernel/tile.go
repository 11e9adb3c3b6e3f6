package kernel

// Machine is what choices among tiles depend on: the units of a GPU that waves wait for.
type Machine struct {
	Clusters                 int // of compute units
	CUs, SIMDs               int // compute units of all clusters, SIMDs of one
	WaveLanes                int // of a wave of the hardware that the machine stands for
	WaveSIMDs                int // SIMDs that run such a wave
	Rows                     int // of a SIMD's vector registers
	AddressLanes             int // lanes of a load that a compute unit processes per cycle
	BroadcastLanes           int // the same of quads of lanes with one address
	Line                     int // bytes of a line of L2
	L2Bytes                  int
	L2Rate                   int // bytes per cycle from L2 to all compute units
	NearestBytes             int // of the cache of a compute unit
	NearestRate              int // bytes per cycle from it
	L2Latency, ScalarLatency int // cycles of a load that L2 serves, and of one of the scalar cache
	ScalarLine               int // bytes of a line of the scalar cache
	DotCycles                int // for which a dot product of halves or bytes occupies a SIMD
}

// Tile is a division of sums of products among waves, described by the repeated step of a wave: for
// a convolution a tap and four input channels, for a product of matrices as many elements of its
// rows as are loaded at once.
type Tile struct {
	Waves, Groups int     // of a work-group, and work-groups
	Steps         float64 // of a wave
	Products      float64 // cycles for which the products of a step occupy a SIMD
	Loads         float64 // cycles for which its loads occupy a compute unit, see Machine.Load
	Lines         float64 // that they load from L2
	Wait          float64 // cycles in which a wave can do nothing: latencies beyond its products
	End           float64 // cycles for which a wave occupies a SIMD after its steps
}

// Cycles estimates a launch, without costs that all tiles share. The time of a step is that of the
// unit for which all waves of a compute unit wait, or the time of a single work-group to load, wait
// and multiply, if that is longer. It depends only on rates and latencies of the machine.
func (m *Machine) Cycles(t *Tile) float64 {
	waves := float64(t.Waves * Up(t.Groups, m.CUs)) // of the busiest compute unit
	fill := t.Lines * float64(m.Line*m.CUs) / float64(m.L2Rate)
	all := waves * max(t.Loads, fill, t.Products/float64(m.SIMDs))
	alone := float64(t.Waves)*t.Loads + t.Wait + float64(m.Sharing(t.Waves))*t.Products
	return t.Steps*max(alone, all) + t.End*waves/float64(m.SIMDs)
}

// CyclesOf estimates a launch of waves by themselves from the work that its code counts.
func (m *Machine) CyclesOf(w Work) float64 {
	n := float64(w.Waves)
	return m.Cycles(&Tile{Waves: 1, Groups: w.Waves, Steps: 1, Products: float64(w.Instructions) / n, Loads: float64(w.Loads) / n * m.Load(4),
		Wait: float64(w.Chain * int64(m.L2Latency))})
}

// Load is the cycles for which a load of so many bytes by each lane of a wave occupies a compute
// unit: the greater of those of its addresses and those of its bytes.
func (m *Machine) Load(bytes int) float64 {
	return max(float64(Up(32, m.AddressLanes)), float64(32*bytes)/float64(m.NearestRate))
}

// Sharing is the waves of a work-group of so many that one SIMD runs: waves that make one of the
// hardware stay on its SIMDs.
func (m *Machine) Sharing(waves int) int {
	simds := m.SIMDs
	if m.WaveSIMDs > 0 {
		simds = min(simds, m.WaveSIMDs*Up(32*waves, m.WaveLanes))
	}
	return Up(waves, simds)
}

// Up is n/by, rounded up.
func Up(n, by int) int { return (n + by - 1) / by }
