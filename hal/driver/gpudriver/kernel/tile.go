package kernel

// Machine is what choices among tiles depend on: the units of a GPU that waves wait for.
type Machine struct {
	Clusters       int // of compute units
	CUs, SIMDs     int // compute units of all clusters, SIMDs of one
	WaveLanes      int // of a wave of the hardware that the machine stands for
	WaveSIMDs      int // SIMDs that run such a wave
	Rows           int // of a SIMD's vector registers
	AddressLanes   int // lanes of a load that a compute unit takes per cycle
	BroadcastLanes int // the same of quads of lanes with one address
	Line           int // bytes of a line of L2
	L2Rate         int // bytes per cycle that L2 gives all compute units
	NearestBytes   int // of the cache of a compute unit
	NearestRate    int // bytes per cycle that it gives
	Near, Scalar   int // cycles of a load that L2 serves, and of one of the scalar cache
	ScalarLine     int // bytes of a line of the scalar cache
	Local          int // cycles of local memory
	LocalBytes     int // of local memory, per compute unit
	DotCycles      int // that a dot product of halves or bytes takes a SIMD
}

// Tile is a way to cut sums of products among waves, by what a wave does again and again: a step
// of a convolution is a tap and four input channels, one of a product of matrices as many elements
// of its rows as are loaded at once.
type Tile struct {
	Waves, Groups int     // of a work-group, and work-groups
	Steps         float64 // of a wave
	Products      float64 // cycles that the products of a step take a SIMD
	Loads         float64 // cycles that its loads take a compute unit, see Machine.Load
	Lines         float64 // that they bring from L2
	Wait          float64 // cycles in which a wave can do nothing: latencies beyond its products
	Resident      int     // waves that a compute unit has room for; 0: it has always
	End           float64 // cycles that a wave takes a SIMD behind its steps
}

// Cycles estimates a launch, without what all of its tiles have alike. A step takes as long as the
// unit that all waves of a compute unit wait for, or as a work-group alone takes to load, to wait
// and to multiply. There is nothing in it but rates and latencies of the machine.
func (m *Machine) Cycles(t *Tile) float64 {
	waves := float64(t.Waves * Up(t.Groups, m.CUs)) // of the busiest compute unit
	fill := t.Lines * float64(m.Line*m.CUs) / float64(m.L2Rate)
	all := waves * max(t.Loads, fill, t.Products/float64(m.SIMDs))
	alone := float64(t.Waves)*t.Loads + t.Wait + float64(m.Sharing(t.Waves))*t.Products
	if t.Resident > 0 {
		alone *= max(waves/float64(t.Resident), 1)
	}
	return t.Steps*max(alone, all) + t.End*waves/float64(m.SIMDs)
}

// Load is the cycles that a load of so many bytes by each lane of a wave takes a compute unit: by
// its addresses, or by its bytes.
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
