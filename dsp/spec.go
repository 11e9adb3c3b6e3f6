package dsp

import "github.com/nnsoc/nnsoc/sim/mem"

// CacheSpec describes one cache; Ways*LineBytes*sets == Bytes.
type CacheSpec struct {
	Bytes     int
	Ways      int
	LineBytes int
	HitCycles int // core cycles from request to data
}

// Spec is the machine: everything that is a number and not an instruction.
type Spec struct {
	Name          string
	Threads       int // hardware threads
	Contexts      int // HVX contexts: threads that may use vectors at the same time
	IssueInterval int // core cycles between two packets of one thread
	IssueWidth    int // packets per core cycle over all threads
	ClockHz       int64
	VoltageV      float64 // supply at ClockHz

	L1I, L1D, L2    CacheSpec
	L2BytesPerCycle int    // L2 port, shared by all threads
	VTCMBase        uint32 // address range served by VTCM instead of L2
	VTCMBytes       uint32
	VTCMCycles      int // core cycles from request to data
	// NewDRAM makes the memory behind L2, cold. A run owns what it gets.
	NewDRAM func() (mem.Level, error)

	JobStartCycles   int64 // submit and start one job
	VectorLoadCycles int   // load latency that the vector pipeline hides: no stall up to it
	BranchSlots      int   // issue slots lost by a taken branch that is not a loop end
	MispredictSlots  int   // more slots lost when a conditional branch goes against its hint

	Energy EnergyTable
}
