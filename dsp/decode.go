package dsp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/native"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Limits of a block, so that thread slices stay short.
const (
	maxBlockPackets = 64
	maxBlockOps     = 256
	maxRounds       = 256 // that a block runs at once
)

// block is straight-line code decoded once: packets up to and including one
// that may leave the sequence.
type block struct {
	decodedBlock
	link     [2]*block // successors seen last in functional runs
	variants []*variant
	fetched  int64 // memory.fetches when L1I answered for all of its lines without changing
	runs     int64
	prof     *blockProfile // nil but in profiled runs
}

// decodedBlock is what the decoder knows of a block.
type decodedBlock struct {
	state.Code
	addr     uint32 // first packet
	end      uint32 // behind the last packet
	packets  []packetInfo
	mem      []memOp
	vector   bool // uses HVX
	branches bool
	hintTook bool   // a conditional branch of the last packet is hinted taken
	cond     bool   // a branch of the last packet is conditional
	ends     bool   // the last packet does what the driver of the thread looks at
	counts   bool   // the only packet reads counters, which are set before it runs
	rounds   uint16 // how often it may run in one go
	count    events
	insts    int64
}

// memOp is a memory operation of a block as the timing model sees it.
type memOp struct {
	kind   memKind
	bytes  uint8
	packet uint16
}

type memKind uint8

const (
	scalarLoad memKind = iota
	scalarStore
	scalarUpdate // read-modify-write
	vectorLoad
	vectorStore
	prefetchL1
	prefetchL2
	scatterElements // start in the background; bytes holds the number of elements
	gatherElements
	scatterWait // until the thread's scatters and gathers are done
	waitStores  // until the stores of the thread are done
	waitCycles  // as many as the address slot says
)

// use is a register read or written by a packet, with its pipeline cycle.
type use struct {
	res   uint8
	cycle uint8
	hvx   bool
}

type packetInfo struct {
	addr uint32
	uses []use
	defs []use
}

// Resources of the hazard and interlock analysis: one number per register.
const (
	resR = 0
	resV = 32
	resP = 64
	resQ = 68
	resC = 72
	// resFlags is the floating-point flags of usr; c31 counts and has no resource.
	resFlags = resC + 31
	resT     = 104 // temporaries made by the decoder
	// noRes is a read that a copy has taken out of the analysis.
	noRes = 255
)

func containsSat(syntax string) bool { return strings.Contains(syntax, ":sat") }

// hintsTaken reports conditional branches that the program expects to be taken.
func hintsTaken(f *hexagon.Form) bool {
	return strings.Contains(f.Syntax, "jump:t ") || strings.Contains(f.Syntax, "jumpr:t ")
}

// memKindOf is what a form asks of the memory system.
func memKindOf(f *hexagon.Form) (memKind, bool) {
	load, store := f.Has(hexagon.FlagLoad), f.Has(hexagon.FlagStore)
	switch {
	case f.Op == hexagon.Y2_dcfetchbo:
		return prefetchL1, true
	case f.Op == hexagon.Y5_l2fetch, f.Op == hexagon.Y4_l2fetch:
		return prefetchL2, true
	case f.Class == hexagon.CVI_SCATTER_NEW_RST:
		return scatterWait, true
	case isScatterGather(f) && load:
		return gatherElements, true
	case isScatterGather(f):
		return scatterElements, true
	case f.Op == hexagon.Y2_barrier || f.Op == hexagon.Y2_syncht || f.Op == hexagon.Y2_isync:
		return waitStores, true
	case f.Op == hexagon.J2_pause:
		return waitCycles, true
	case f.MemBytes == 128 && load:
		return vectorLoad, true
	case f.MemBytes == 128 && store:
		return vectorStore, true
	case load && store || f.Class == hexagon.V4LDST:
		return scalarUpdate, true
	case load:
		return scalarLoad, true
	case store:
		return scalarStore, true
	}
	return 0, false
}

// isScatterGather reports accesses to single elements of memory.
func isScatterGather(f *hexagon.Form) bool {
	return f.Class >= hexagon.CVI_GATHER && f.Class <= hexagon.CVI_SCATTER_DV
}

// elements is what a scatter or gather moves.
func elements(f *hexagon.Form) uint8 {
	if strings.Contains(f.Name, "termw") || strings.Contains(f.Name, "thermw") {
		return 32
	}
	return 64
}

// decoder turns code into blocks.
type decoder struct {
	prog  *Program
	words []uint32
	asm   *native.Handlers
	stop  uint32 // a block does not run past this address
	mark  []byte // by word of the program: where packets have been seen

	extract uint8 // Spec.ExtractCycles
	dma     bool  // the core has user DMA
	single  bool  // Core.single

	text    [hexagon.NumOps]uint8
	builder packetBuilder
	last    hexagon.Packet
	open    block // lists of the block under way
	held    []use // of all packets so far, the last piece
}

// hold keeps a copy of a list that the next packet overwrites.
func (d *decoder) hold(list []use) []use {
	if cap(d.held)-len(d.held) < len(list) {
		d.held = make([]use, 0, max(heldUses, len(list)))
	}
	at := len(d.held)
	d.held = append(d.held, list...)
	return d.held[at:len(d.held):len(d.held)]
}

// heldUses is the size of a piece of decoder.held.
const heldUses = 1 << 10

func newDecoder(p *Program) (*decoder, error) {
	if p == nil || p.Base&3 != 0 || len(p.Code)&3 != 0 {
		return nil, errors.New("dsp: program is not aligned to words")
	}
	if uint64(p.Base)+uint64(len(p.Code)) > ReturnAddress {
		return nil, fmt.Errorf("dsp: program of %d bytes at %#x leaves the address space", len(p.Code), p.Base)
	}
	d := &decoder{prog: p, words: make([]uint32, len(p.Code)/4), mark: make([]byte, len(p.Code)/4)}
	for i := range d.words {
		d.words[i] = binary.LittleEndian.Uint32(p.Code[4*i:])
	}
	return d, nil
}

// block decodes from addr up to the next packet that may leave the sequence.
func (d *decoder) block(addr uint32) (*block, error) {
	b := new(block)
	b.addr, b.Ops, b.packets, b.mem = addr, d.open.Ops[:0], d.open.packets[:0], d.open.mem[:0]
	p, pc := &d.last, addr
	for {
		var err error
		if *p, err = d.decode(pc); err != nil {
			if len(b.packets) > 0 { // reported when execution gets there
				break
			}
			return nil, err
		}
		counts := readsCounter(p)
		if counts && len(b.packets) > 0 { // the time of what precedes is known when it has run
			break
		}
		b.counts = counts
		if err := d.packet(b, p); err != nil {
			if len(b.packets) > 0 {
				break
			}
			return nil, &Error{Kind: FaultIllegal, Packet: pc, Rule: err.Error()}
		}
		pc += 4 * uint32(p.Words)
		b.Loop0, b.Loop1 = p.EndLoop0, p.EndLoop1
		b.ends = d.endsBlock(p)
		if pc == d.stop || b.Loop0 || b.Loop1 || b.branches || b.ends || b.counts ||
			len(b.packets) >= maxBlockPackets || len(b.Ops) > maxBlockOps || len(b.mem) > state.MaxMemOps-4 {
			break
		}
	}
	b.end = pc
	b.rounds = 1
	if !d.single {
		b.rounds = b.repeats()
	}
	end := state.Uop{PC: pc}
	if d.asm != nil {
		end.Asm = d.asm.Exit
		if b.rounds > 1 {
			end.Asm = d.asm.Again
			end.Imm, end.Imm2 = int32(4*len(b.mem)), -int32(len(b.Ops)*int(unsafe.Sizeof(end)))
		}
		b.Asm = true
	}
	b.Ops = append(b.Ops, end)
	d.open.Ops, d.open.packets, d.open.mem = b.Ops, b.packets, b.mem
	b.Ops, b.packets, b.mem = slices.Clone(b.Ops), slices.Clone(b.packets), slices.Clone(b.mem)
	for i := range b.Ops {
		b.Ops[i].Index = uint16(i)
	}
	b.Last, b.Slots = &b.Ops[len(b.Ops)-1], len(b.mem)
	return b, nil
}

// repeats is how often a block that has been decoded may run in one go, 1 when it
// is not the whole body of a hardware loop or does what ends a round.
func (b *block) repeats() uint16 {
	if !b.Loop0 || b.Loop1 || b.branches || b.ends || b.counts {
		return 1
	}
	n := maxRounds
	if len(b.mem) > 0 {
		n = min(n, state.MaxRoundOps/len(b.mem))
	}
	for i := range b.mem {
		if b.mem[i].kind > prefetchL1 {
			return 1
		}
	}
	for i := range b.Ops {
		switch hexagon.Op(b.Ops[i].Op) {
		case hexagon.A2_tfrcrr, hexagon.A4_tfrcpp: // may read the loop count
			return 1
		}
	}
	return uint16(n)
}

// Marks of program words.
const (
	packetStart = 1
	packetRest  = 2
)

// decode is the packet at pc. Code runs in one division into packets: a jump
// into the middle of one that has run, or around it, is an error.
func (d *decoder) decode(pc uint32) (p hexagon.Packet, err error) {
	end := d.prog.until(pc)
	if end == 0 {
		return p, state.Nowhere(pc, "outside the program [%#x,%#x)", d.prog.Base, d.prog.Base+uint32(len(d.prog.Code)))
	}
	if pc&3 != 0 {
		return p, state.Nowhere(pc, "not a multiple of 4")
	}
	at := d.index(pc)
	if d.mark[at] == packetRest {
		return p, state.Nowhere(pc, "in the middle of packet %#x", d.startOf(at))
	}
	p, n, err := hexagon.DecodePacket(d.words[at:d.index(end)], pc)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return p, illegal(pc, err)
	}
	for k := at + 1; k < at+n; k++ {
		if d.mark[k] == packetStart {
			return p, &Error{Kind: FaultJump, Packet: pc, Rule: fmt.Sprintf("its word %d was entered by a jump into the middle", k-at)}
		}
	}
	d.mark[at] = packetStart
	for k := at + 1; k < at+n; k++ {
		d.mark[k] = packetRest
	}
	return p, nil
}

// index is the word at an address.
func (d *decoder) index(pc uint32) int { return int((pc - d.prog.Base) / 4) }

// changed finds a packet that has run and whose words in memory are others now.
func (d *decoder) changed(space *mem.Space) (pc uint32, ok bool) {
	for i, m := range d.mark {
		pc = d.prog.Base + 4*uint32(i)
		if m == 0 {
			continue
		}
		if b := space.Bytes(uint64(pc), 4); b == nil || binary.LittleEndian.Uint32(b) != d.words[i] {
			return d.startOf(i), true
		}
	}
	return 0, false
}

// startOf is the address of the packet that word k belongs to.
func (d *decoder) startOf(k int) uint32 {
	for d.mark[k] == packetRest {
		k--
	}
	return d.prog.Base + 4*uint32(k)
}

// endsBlock reports packets behind which the driver of the thread looks at its
// state: traps, prefetch boxes, and writes of loop registers.
func (d *decoder) endsBlock(p *hexagon.Packet) bool {
	for i := range p.Insts[:p.N] {
		switch p.Insts[i].Op {
		case hexagon.J2_trap0, hexagon.Y5_l2fetch, hexagon.Y4_l2fetch, hexagon.A2_tfrrcr, hexagon.A4_tfrpcp,
			hexagon.Y6_dmstart, hexagon.Y6_dmlink, hexagon.Y6_dmpoll, hexagon.Y6_dmwait, hexagon.Y6_dmpause, hexagon.Y6_dmresume:
			return true
		}
		if p.Insts[i].Op.Form().Has(hexagon.FlagLoop) {
			return true
		}
	}
	return false
}

// readsCounter reports whether a packet reads a counting register.
func readsCounter(p *hexagon.Packet) bool {
	for i := range p.Insts[:p.N] {
		switch in := &p.Insts[i]; in.Op {
		case hexagon.A2_tfrcrr, hexagon.A4_tfrcpp:
			if counterC[in.R[1]] {
				return true
			}
		}
	}
	return false
}

// illegal turns an error of the decoder or the packet checker into ours.
func illegal(pc uint32, err error) *Error {
	var d *hexagon.DecodeError
	var r *hexagon.RuleError
	switch {
	case errors.As(err, &d):
		return &Error{Kind: FaultIllegal, Packet: d.Addr, Rule: fmt.Sprintf("word %d (%#08x): %s", d.Index, d.Word, d.Reason)}
	case errors.As(err, &r) && r.Text != "":
		return &Error{Kind: FaultIllegal, Packet: r.Addr, Rule: r.Text + ": " + r.Rule}
	case errors.As(err, &r):
		return &Error{Kind: FaultIllegal, Packet: r.Addr, Rule: r.Rule}
	}
	return &Error{Kind: FaultIllegal, Packet: pc, Rule: err.Error()}
}
