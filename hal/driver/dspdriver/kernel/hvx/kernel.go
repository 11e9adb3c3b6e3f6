package hvx

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/nnsoc/nnsoc/isa/codegen"
)

// Kernel is a generator of code. The dynamic type must be comparable: equal
// values emit equal code on one Machine, and code is kept by value.
type Kernel interface {
	// Name is for listings, statistics and error texts. It need not be unique.
	Name() string
	// Emit writes the code. It is called once per value and Machine, and may panic
	// where an operand does not fit an instruction.
	Emit(b *Builder)
}

// Machine is what code depends on besides its key.
type Machine struct {
	IssueInterval int  // cycles between two packets of a thread
	DMA           bool // the core has user DMA
}

// Code is a compiled kernel: packets with physical registers, without addresses.
type Code struct {
	Name string
	Cost int // packets of a run, by codegen's estimate of loop counts
	// Loops are its parts by how often they run.
	Loops   []Loop
	Fetches bool // it brings its inputs to L2 itself (l2fetch)
	code    *codegen.Code
}

// Packets is how many packets the code has.
func (c *Code) Packets() int { return len(c.code.Groups) }

// checkKey reports a kernel that cannot be a key.
func checkKey(k Kernel) error {
	if !reflect.TypeOf(k).Comparable() {
		return fmt.Errorf("hvx: kernel %s: type %T is not comparable", k.Name(), k)
	}
	return nil
}

// Compile emits, schedules and allocates a kernel.
func Compile(k Kernel, m Machine) (*Code, error) {
	if err := checkKey(k); err != nil {
		return nil, err
	}
	return compile(k, m, newTarget(m.IssueInterval))
}

// compile is Compile for a target of the machine that other kernels may have been compiled for.
func compile(k Kernel, m Machine, t *target) (*Code, error) {
	b := &Builder{Func: codegen.New(t, k.Name()), DMA: m.DMA, loops: make([]Loop, 1)}
	k.Emit(b)
	b.countLines()
	code, err := b.Func.Compile()
	if err != nil {
		return nil, fmt.Errorf("hvx: %w", err)
	}
	return &Code{Name: k.Name(), Cost: code.Cost, Loops: b.finishLoops(code.Sections), Fetches: b.fetches, code: code}, nil
}

// instrBytes is the size of an instruction without an extender.
const instrBytes = 4

// outlined is a kernel without code: its loops, with their issue slots as far as they are known
// without a schedule (codegen.Outline), and the approximate size of its code in bytes.
type outlined struct {
	*Linked
	bytes int
}

func outline(k Kernel, m Machine, t *target) (o outlined, err error) {
	b := &Builder{Func: codegen.New(t, k.Name()), DMA: m.DMA, loops: make([]Loop, 1)}
	k.Emit(b)
	b.countLines()
	sections, err := b.Func.Outline()
	if err != nil {
		return o, fmt.Errorf("hvx: %w", err)
	}
	b.Func.EachInstr(func(int, *codegen.Instr) { o.bytes += instrBytes })
	o.Linked = &Linked{Name: k.Name(), Loops: b.finishLoops(sections), Fetches: b.fetches}
	return o, nil
}

// Symbol makes one word of a kernel's name with printed slices in it.
func Symbol(name string) string { return strings.NewReplacer(" ", ".", "[", "", "]", "").Replace(name) }

func Flag(on bool, s string) string {
	if on {
		return s
	}
	return ""
}
