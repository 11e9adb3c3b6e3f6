package rdna2

import "github.com/nnsoc/nnsoc/isa/codegen"

// Register classes of the builder. S and V are consecutive scalar and vector
// registers; the others are single registers that exist once.
const (
	S1 codegen.Class = iota
	S2
	S4
	S8
	S16
	V1
	V2
	V3
	V4
	ClassSCC
	ClassVCC
	ClassEXEC
	ClassM0
	ClassNull
	numBuildClasses
)

// Register files of the builder.
const (
	FileS = iota
	FileV
	fileSCC
	fileVCC
	fileEXEC
	fileM0
	fileNull
)

// EXECReg is the EXEC mask, to be written by scalar instructions.
func EXECReg() codegen.Reg { return codegen.Phys(ClassEXEC, 0) }

// VCCReg is VCC as an explicit operand.
func VCCReg() codegen.Reg { return codegen.Phys(ClassVCC, 0) }

// singleCodes are the operand codes of the files that hold one register.
var singleCodes = [...]uint16{fileSCC: SCC, fileVCC: VCC, fileEXEC: EXEC, fileM0: M0, fileNull: Null}

// Target describes wave32 gfx1030 to the passes of isa/codegen: one instruction per group, tuples of scalar registers
// aligned as the encoding requires.
type Target struct{ classes []codegen.ClassInfo }

// NewTarget makes the target. It is immutable and may be shared.
func NewTarget() *Target {
	t := &Target{classes: make([]codegen.ClassInfo, numBuildClasses)}
	set := func(c codegen.Class, name string, file uint8, width, align, units int) {
		info := codegen.ClassInfo{Name: name, File: file, Width: width}
		for u := 0; u+width <= units; u += align {
			info.Alloc = append(info.Alloc, uint16(u))
		}
		t.classes[c] = info
	}
	const sgprs = 106
	set(S1, "s", FileS, 1, 1, sgprs)
	// Singles fill from the top so that tuples find aligned space below.
	a := t.classes[S1].Alloc
	for i, j := 0, len(a)-1; i < j; i, j = i+1, j-1 {
		a[i], a[j] = a[j], a[i]
	}
	set(S2, "s[2]", FileS, 2, 2, sgprs)
	set(S4, "s[4]", FileS, 4, 4, sgprs)
	set(S8, "s[8]", FileS, 8, 4, sgprs)
	set(S16, "s[16]", FileS, 16, 4, sgprs)
	set(V1, "v", FileV, 1, 1, 256)
	set(V2, "v[2]", FileV, 2, 1, 256)
	set(V3, "v[3]", FileV, 3, 1, 256)
	set(V4, "v[4]", FileV, 4, 1, 256)
	set(ClassSCC, "scc", fileSCC, 1, 1, 1)
	set(ClassVCC, "vcc", fileVCC, 1, 1, 1)
	set(ClassEXEC, "exec", fileEXEC, 1, 1, 1)
	set(ClassM0, "m0", fileM0, 1, 1, 1)
	set(ClassNull, "null", fileNull, 1, 1, 1)
	return t
}

// Classes implements codegen.Target.
func (t *Target) Classes() []codegen.ClassInfo { return t.classes }

// scheduleLoad is the distance that the scheduler tries to put between a
// memory load and its use. The nominal latency would keep every load of a
// block in flight at once; other waves hide the rest.
const scheduleLoad = 48

// Latency implements codegen.Target.
func (t *Target) Latency(def *codegen.Instr, _ int, _ *codegen.Instr, _ int) int {
	switch s := Op(def.Op).Form().Sched; s {
	case SchedLoad, SchedAtomic:
		return scheduleLoad
	case SchedStore, SchedWait, SchedControl, SchedBarrier, SchedBranch:
		return 1
	default:
		return s.Cost().Latency
	}
}

// NewGroup implements codegen.Target.
func (t *Target) NewGroup() codegen.Group { return &group{} }

// group holds one instruction.
type group struct{ full bool }

func (g *group) Reset() { g.full = false }

func (g *group) TryAdd(*codegen.Instr) bool {
	if g.full {
		return false
	}
	g.full = true
	return true
}
