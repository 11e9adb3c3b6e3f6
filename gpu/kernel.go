package gpu

import (
	"fmt"
	"sync/atomic"

	"github.com/nnsoc/nnsoc/gpu/internal/decode"
	"github.com/nnsoc/nnsoc/gpu/internal/schedule"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// UserSGPRs selects the values a wave finds in its first scalar registers, in
// the bit order of a code object's kernel descriptor. They are dense, in this
// order, followed by the enabled work-group ids.
type UserSGPRs uint16

// User scalar registers of a kernel.
const (
	UserSegmentBuffer UserSGPRs = 1 << iota // 4 registers: buffer descriptor of scratch
	UserDispatchPtr                         // 2: AQL dispatch packet
	UserQueuePtr                            // 2: queue, of which the apertures are set
	UserKernargPtr                          // 2: kernel arguments
	UserDispatchID                          // 2
	UserFlatScratch                         // 2: scratch base
	UserSegmentSize                         // 1: scratch bytes per lane
)

// Addresses that kernel arguments may need.
const (
	// QueueAddress is the address in UserQueuePtr.
	QueueAddress = state.ArgsWindow - queueBytes

	// SharedAperture and PrivateAperture are the bases of the 4 GiB of generic addresses that map to the work-group's
	// LDS and the lane's scratch. The values are those of Linux's amdkfd for these chips.
	SharedAperture  = state.SharedAperture
	PrivateAperture = state.PrivateAperture
)

// Kernel is a program and the descriptor a dispatch needs. It is decoded when it
// first runs and must not change or be copied afterwards. The zero
// values of Base, User, and so on suit code from our own builder: s[0:1] kernel
// arguments, s2 s3 s4 the work-group ids that are enabled, v0 v1 v2 the
// work-item ids.
type Kernel struct {
	Name     string
	Code     []byte // little-endian words; the entry point is Entry
	Entry    int    // byte offset into Code
	Base     uint64 // address of Code[0], for s_getpc and PC-relative data
	WaveSize int    // 32 or 64

	VGPRs        int // vector registers per lane, 1..256
	Registers    int // that a lane occupies, where more than VGPRs
	LDSBytes     int // per work-group
	ScratchBytes int // per lane

	// WGP is the mode in which the waves of a work-group may be in all compute units of a cluster, each with
	// its own L0; else they are in one.
	WGP bool

	User          UserSGPRs // 0 means UserKernargPtr
	WorkgroupID   [3]bool   // which ids follow the user registers; none set means all three
	NoWorkgroupID bool      // really none
	GroupInfo     bool      // a register of work-group information follows the ids
	ScratchOffset bool      // then one with the wave's offset into scratch
	WorkItemIDs   int       // v0..: 0 x, 1 x y, 2 x y z

	Mode uint32 // bits of the float modes that differ from those of compiled kernels: rounding, flushed denormals, no IEEE or DX10 clamp

	decoded atomic.Pointer[program] // the program of the last run
}

// FromDescriptor is the kernel of a code object's descriptor. code holds the
// program from address base on; entry is the address of its first instruction.
func FromDescriptor(name string, d *rdna2.Descriptor, code []byte, base, entry uint64) (*Kernel, error) {
	switch {
	case entry < base || entry-base >= uint64(len(code)):
		return nil, fmt.Errorf("gpu: kernel %s: entry %#x outside the code at %#x", name, entry, base)
	case d.FP16Ovfl:
		return nil, fmt.Errorf("gpu: kernel %s: halves that do not overflow (FP16_OVFL) are not modelled", name)
	}
	k := &Kernel{
		Name: name, Code: code, Base: base, Entry: int(entry - base), WaveSize: d.WaveSize(),
		VGPRs: d.VGPRs, LDSBytes: int(d.LDSBytes), ScratchBytes: int(d.ScratchBytes),
		User: UserSGPRs(d.Properties & 0x7F), WorkgroupID: d.WorkgroupID, WorkItemIDs: d.WorkItemIDs,
		GroupInfo: d.Info, ScratchOffset: d.Scratch, WGP: d.WGPMode,
		Mode: uint32(d.Round32) | uint32(d.Round16)<<2 | uint32(d.Denorm32^rdna2.DenormKeep)<<state.ModeDenorm32 | uint32(d.Denorm16^rdna2.DenormKeep)<<state.ModeDenorm16,
	}
	if !d.DX10Clamp {
		k.Mode |= state.ModeDX10
	}
	if !d.IEEE {
		k.Mode |= state.ModeIEEE
	}
	if n := k.User.registers(); d.UserSGPRs != n {
		return nil, fmt.Errorf("gpu: kernel %s: descriptor has %d user registers, its properties make %d", name, d.UserSGPRs, n)
	}
	k.NoWorkgroupID = k.WorkgroupID == [3]bool{}
	return k, nil
}

// registers is the number of scalar registers that the values occupy.
func (u UserSGPRs) registers() int {
	n := 0
	for i, size := range [...]int{4, 2, 2, 2, 2, 2, 1} {
		if u>>i&1 != 0 {
			n += size
		}
	}
	return n
}

// Dispatch is one grid of work-groups running a kernel.
type Dispatch struct {
	Kernel *Kernel

	// Kernarg is copied to a private read-only segment of whole pages, zero behind the
	// arguments, and its address passed, unless KernargAddr names a place in the space.
	Kernarg     []byte
	KernargAddr uint64

	Grid      [3]int // work-items per dimension; zero means 1; need not be a multiple of Workgroup
	Workgroup [3]int // work-items per dimension; zero means 1
	Region    int    // RegionReport.ID the cycles are charged to

	// Queue is the queue of the dispatch. Queues of a run execute concurrently. In one queue a dispatch is launched
	// when those before it have ended or, with Beside, as a packet without a barrier bit: its work-groups start after
	// theirs.
	Queue      int
	Concurrent bool
}

// DefaultMaxInstructions is the watchdog of a run: at some 40 million wave
// instructions per second it acts within minutes, and the largest network of
// the zoo needs a twentieth of it.
const DefaultMaxInstructions = 1 << 34

// Options are the settings of a run.
type Options struct {
	Functional bool // no timing: same bytes, Report.Cycles is 0

	// Memory serves the misses of L2 in a run that begins with cold caches. The run does not reset it. State replaces
	// it where caches outlive a run; a timed run needs one of the two.
	Memory mem.Level
	State  *State

	// Unchecked skips the check for registers read before their load was
	// waited for.
	Unchecked bool

	// MaxInstructions ends a run with an error after that many wave
	// instructions; 0 means DefaultMaxInstructions.
	MaxInstructions int64

	// For tests: every dispatch executes as it is timed; how many were replayed; words that a recording may have.
	executeTimed bool
	replayed     *int
	maxRecord    int

	// Sampler, when set, lets a timed run simulate parts of its dispatches and extrapolate from them. Results are the
	// same; costs are estimates, except the counts of executed instructions.
	Sampler *Sampler

	// Recorded, when set, keeps the recordings of the run's dispatches where possible. If it holds those of an earlier
	// run, which found the same bytes in the space, the run times them again and leaves the space unchanged.
	Recorded *Recorded

	// Until ends a timed run that has not ended then with a *sim.Late; 0: nothing does.
	Until sim.Time

	// Points are the operating points of the clock during the run, the first from its start on; a dispatch runs at the
	// point of its start. None: the Spec's.
	Points []sim.Change

	// PointRead, when set, is called at each instant at which the run changes its operating point.
	PointRead func(sim.Time)

	// Preemption, when set, reports between dispatches whether another program may run.
	Preemption sim.Preemption

	Span func(sim.Span) // called as dispatches end; may be nil

	// Profile, when set, receives the cost of each instruction of a timed run. Cycles are counted on the SIMD that ends a
	// dispatch last, as in the report.
	Profile *sim.Profile
}

// program is a kernel decoded for one machine. It does not change, so that runs
// share it.
type program struct {
	state.Program
	schedule.Table
	k *Kernel

	timeless bool // its results do not depend on the time
	spec     Spec // it was decoded for
}

const maxCode = 8 << 20

// program is the kernel decoded for a machine: the form that an earlier run has
// left, or a new one. Runs that decode it at the same time make the same.
func (k *Kernel) program(spec *Spec) (*program, error) {
	if p := k.decoded.Load(); p != nil && p.spec == *spec {
		return p, nil
	}
	p, err := decodeKernel(k, spec)
	if err == nil {
		k.decoded.Store(p)
	}
	return p, err
}

func decodeKernel(k *Kernel, spec *Spec) (*program, error) {
	fail := func(format string, args ...any) (*program, error) {
		return nil, fmt.Errorf("gpu: kernel %s: %w", k.Name, fmt.Errorf(format, args...))
	}
	switch {
	case k.WaveSize != 32 && k.WaveSize != 64:
		return fail("wave size %d, want 32 or 64", k.WaveSize)
	case k.VGPRs < 1 || k.VGPRs > 256:
		return fail("%d vector registers, want 1..256", k.VGPRs)
	case len(k.Code) == 0 || len(k.Code)%4 != 0 || len(k.Code) > maxCode:
		return fail("%d bytes of code, want a multiple of 4 up to %d", len(k.Code), maxCode)
	case k.Entry < 0 || k.Entry >= len(k.Code) || k.Entry%4 != 0:
		return fail("entry %#x outside the code", k.Entry)
	case k.LDSBytes < 0 || k.LDSBytes > spec.LDSBytes || k.LDSBytes > 64<<10:
		return fail("%d bytes of LDS, the machine has %d", k.LDSBytes, spec.LDSBytes)
	case k.ScratchBytes < 0 || k.ScratchBytes > 64<<10:
		return fail("%d bytes of scratch per lane, at most %d", k.ScratchBytes, 64<<10)
	case k.WorkItemIDs < 0 || k.WorkItemIDs > 2 || k.WorkItemIDs >= k.VGPRs:
		return fail("work-item id selector %d with %d registers", k.WorkItemIDs, k.VGPRs)
	}
	p := &program{k: k, spec: *spec}
	p.Name, p.WaveSize, p.VGPRs, p.ScratchBytes, p.Mode = k.Name, k.WaveSize, k.VGPRs, k.ScratchBytes, k.Mode
	if err := decode.Program(&p.Program, k.Code, k.Entry); err != nil {
		return fail("%w", err)
	}
	p.Table = schedule.New(&p.Program, spec.costs(k.WaveSize))
	p.timeless = p.isTimeless()
	return p, nil
}

// costs are the costs of instructions for waves of so many lanes.
func (s *Spec) costs(waveSize int) *schedule.Costs {
	c := schedule.Costs{LineShift: shiftOf(s.ICache.Line)}
	for k, v := range s.Vector {
		c.Result[k], c.Issue[k] = v.Result, v.Issue*max(waveSize/s.Lanes, 1)
	}
	c.Issue[ClassTrans] = max(waveSize/s.Lanes, 1) // occupies its own unit for longer
	return &c
}
