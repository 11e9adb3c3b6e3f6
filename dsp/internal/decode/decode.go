// Package decode decodes code to blocks of micro-ops: it divides words into packets, orders the instructions of a
// packet so that sequential execution equals parallel execution, and records for the timing model the registers, memory
// operations and events of a packet.
package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/nnsoc/nnsoc/dsp/internal/asm"
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

// hintsTaken reports conditional branches that the program expects to be taken.
func hintsTaken(f *hexagon.Form) bool {
	return strings.Contains(f.Syntax, "jump:t ") || strings.Contains(f.Syntax, "jumpr:t ")
}

// memKindOf is the request of a form to the memory system.
func memKindOf(f *hexagon.Form) (MemKind, bool) {
	load, store := f.Has(hexagon.FlagLoad), f.Has(hexagon.FlagStore)
	switch {
	case f.Op == hexagon.Y2_dcfetchbo:
		return PrefetchL1, true
	case f.Op == hexagon.Y5_l2fetch, f.Op == hexagon.Y4_l2fetch:
		return PrefetchL2, true
	case f.Class == hexagon.CVI_SCATTER_NEW_RST:
		return ScatterWait, true
	case IsScatterGather(f) && load:
		return GatherElements, true
	case IsScatterGather(f):
		return ScatterElements, true
	case f.Op == hexagon.Y2_barrier || f.Op == hexagon.Y2_syncht || f.Op == hexagon.Y2_isync:
		return WaitStores, true
	case f.Op == hexagon.J2_pause:
		return WaitCycles, true
	case f.MemBytes == 128 && load:
		return VectorLoad, true
	case f.MemBytes == 128 && store:
		return VectorStore, true
	case load && store || f.Class == hexagon.V4LDST:
		return ScalarUpdate, true
	case load:
		return ScalarLoad, true
	case store:
		return ScalarStore, true
	}
	return 0, false
}

// IsScatterGather reports accesses to single elements of memory.
func IsScatterGather(f *hexagon.Form) bool {
	return f.Class >= hexagon.CVI_GATHER && f.Class <= hexagon.CVI_SCATTER_DV
}

// Elements is the elements that a scatter or gather moves.
func Elements(f *hexagon.Form) uint8 {
	if strings.Contains(f.Name, "termw") || strings.Contains(f.Name, "thermw") {
		return 32
	}
	return 64
}

// Config is the configuration of the core and of the run for a decoder.
type Config struct {
	Asm           *asm.Handlers // nil: portable
	Stop          uint32        // a block does not run past this address
	ExtractCycles uint8         // by which vextract is longer than a scalar load
	Version       int           // of the core, 66 for V66
	DMA           bool          // the core has user DMA
	OneRound      bool          // no block runs several rounds at once
}

// Gap is a range of addresses between executable segments.
type Gap struct{ From, To uint32 }

// Decoder decodes code to blocks.
type Decoder struct {
	Config
	base  uint32 // of words
	words []uint32
	gaps  []Gap  // by address: parts of words that are none
	mark  []byte // by word of the program: where packets have been seen

	text     [hexagon.NumOps]uint8
	builder  packetBuilder
	last     hexagon.Packet
	open     Block // lists of the block under way
	retained []Use // of all packets so far, the last piece
}

// retain keeps a copy of a list that the next packet overwrites.
func (d *Decoder) retain(list []Use) []Use {
	if cap(d.retained)-len(d.retained) < len(list) {
		d.retained = make([]Use, 0, max(retainedUses, len(list)))
	}
	at := len(d.retained)
	d.retained = append(d.retained, list...)
	return d.retained[at:len(d.retained):len(d.retained)]
}

// retainedUses is the size of a piece of Decoder.held.
const retainedUses = 1 << 10

// New is a decoder of the code at base, both multiples of words.
func New(base uint32, code []byte, gaps []Gap, c Config) *Decoder {
	d := &Decoder{Config: c, base: base, gaps: gaps, words: make([]uint32, len(code)/4), mark: make([]byte, len(code)/4)}
	for i := range d.words {
		d.words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	return d
}

// Same reports whether the decoder has been made of this code at this place.
func (d *Decoder) Same(base uint32, code []byte) bool {
	if d.base != base || len(code) != 4*len(d.words) {
		return false
	}
	for i, w := range d.words {
		if binary.LittleEndian.Uint32(code[4*i:]) != w {
			return false
		}
	}
	return true
}

// until is where the code around pc ends, 0 if there is none at pc.
func (d *Decoder) until(pc uint32) uint32 {
	n := 4 * uint32(len(d.words))
	if pc-d.base >= n {
		return 0
	}
	for _, g := range d.gaps {
		if pc < g.From {
			return g.From
		}
		if pc < g.To {
			return 0
		}
	}
	return d.base + n
}

// Block decodes from addr up to the next packet that may leave the sequence, into a Block
// that is zero.
func (d *Decoder) Block(addr uint32, b *Block) error {
	b.Addr, b.Ops, b.Packets, b.Mem = addr, d.open.Ops[:0], d.open.Packets[:0], d.open.Mem[:0]
	p, pc := &d.last, addr
	for {
		var err error
		if *p, err = d.decode(pc); err != nil {
			if len(b.Packets) > 0 { // reported when execution gets there
				break
			}
			return err
		}
		counts := readsCounter(p)
		if counts && len(b.Packets) > 0 { // the time of the preceding packets is known when they have run
			break
		}
		b.Counts = counts
		if err := d.packet(b, p); err != nil {
			if len(b.Packets) > 0 {
				break
			}
			return &state.Error{Kind: state.FaultIllegal, Packet: pc, Rule: err.Error()}
		}
		pc += 4 * uint32(p.Words)
		b.Loop0, b.Loop1 = p.EndLoop0, p.EndLoop1
		b.ends = d.endsBlock(p)
		if pc == d.Stop || b.Loop0 || b.Loop1 || b.Branches || b.ends || b.Counts ||
			len(b.Packets) >= maxBlockPackets || len(b.Ops) > maxBlockOps || len(b.Mem) > state.MaxMemOps-4 {
			break
		}
	}
	b.End = pc
	b.Rounds = 1
	if !d.OneRound {
		b.Rounds = b.repeats()
	}
	end := state.Uop{PC: pc}
	if d.Asm != nil {
		end.Asm = d.Asm.Exit
		if b.Rounds > 1 {
			end.Asm = d.Asm.Again
			end.Imm, end.Imm2 = int32(4*len(b.Mem)), -int32(len(b.Ops)*int(unsafe.Sizeof(end)))
		}
		b.Asm = true
	}
	b.Ops = append(b.Ops, end)
	d.open.Ops, d.open.Packets, d.open.Mem = b.Ops, b.Packets, b.Mem
	b.Ops, b.Packets, b.Mem = slices.Clone(b.Ops), slices.Clone(b.Packets), slices.Clone(b.Mem)
	for i := range b.Ops {
		b.Ops[i].Index = uint16(i)
	}
	b.Last, b.Slots = &b.Ops[len(b.Ops)-1], len(b.Mem)
	b.Expect()
	d.Asm.Join(b.Ops[:len(b.Ops)-1])
	return nil
}

// Marks of program words.
const (
	packetStart = 1
	packetRest  = 2
)

// decode is the packet at pc. Code runs in one division into packets: a jump
// into the middle of one that has run, or around it, is an error.
func (d *Decoder) decode(pc uint32) (p hexagon.Packet, err error) {
	end := d.until(pc)
	if end == 0 {
		return p, state.Nowhere(pc, "outside the program [%#x,%#x)", d.base, d.base+4*uint32(len(d.words)))
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
			return p, &state.Error{Kind: state.FaultJump, Packet: pc, Rule: fmt.Sprintf("its word %d was entered by a jump into the middle", k-at)}
		}
	}
	d.mark[at] = packetStart
	for k := at + 1; k < at+n; k++ {
		d.mark[k] = packetRest
	}
	return p, nil
}

// index is the word at an address.
func (d *Decoder) index(pc uint32) int { return int((pc - d.base) / 4) }

// Changed finds a packet that has run and whose words in memory are others now.
func (d *Decoder) Changed(space *mem.Space) (pc uint32, ok bool) {
	for i, m := range d.mark {
		pc = d.base + 4*uint32(i)
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
func (d *Decoder) startOf(k int) uint32 {
	for d.mark[k] == packetRest {
		k--
	}
	return d.base + 4*uint32(k)
}

// endsBlock reports packets behind which the driver of the thread looks at its
// state: traps, prefetch boxes, and writes of loop registers.
func (d *Decoder) endsBlock(p *hexagon.Packet) bool {
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

// illegal converts an error of the decoder or the packet checker to ours.
func illegal(pc uint32, err error) *state.Error {
	var d *hexagon.DecodeError
	var r *hexagon.RuleError
	switch {
	case errors.As(err, &d):
		return &state.Error{Kind: state.FaultIllegal, Packet: d.Addr, Rule: fmt.Sprintf("word %d (%#08x): %s", d.Index, d.Word, d.Reason)}
	case errors.As(err, &r) && r.Text != "":
		return &state.Error{Kind: state.FaultIllegal, Packet: r.Addr, Rule: r.Text + ": " + r.Rule}
	case errors.As(err, &r):
		return &state.Error{Kind: state.FaultIllegal, Packet: r.Addr, Rule: r.Rule}
	}
	return &state.Error{Kind: state.FaultIllegal, Packet: pc, Rule: err.Error()}
}
