package exec_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// little is a hexadecimal number as bytes, the last digits first.
func little(s string) ([]byte, error) {
	b, err := hex.DecodeString(s)
	slices.Reverse(b)
	return b, err
}

// place is the target of a lane's access.
type place struct {
	bytes func(c *contents) []byte // the memory
	at    func(lane, i int) int    // of byte i
}

// checkMemory runs a row of a load, store or atomic on two lanes, each at its own address, or on one where the form has
// no address per lane. A load or store is also run on all lanes, each at one of the two addresses.
func checkMemory(r *row, f *rdna2.Form) error {
	in, out := map[string][]byte{}, map[string][]byte{}
	for i, list := range [][]string{r.in, r.out} {
		for _, x := range list {
			k, v, ok := strings.Cut(x, "=")
			b, err := little(v)
			if !ok || err != nil {
				return fmt.Errorf("%q is no name=number", x)
			}
			[]map[string][]byte{in, out}[i][k] = b
		}
	}
	for _, lanes := range []int{32, 64} {
		for _, all := range []bool{false, true} {
			if err := memoryRow(f, lanes, all, in, out); err != nil {
				return fmt.Errorf("%d lanes, all %v: %w", lanes, all, err)
			}
		}
	}
	return nil
}

func memoryRow(f *rdna2.Form, lanes int, all bool, in, out map[string][]byte) error {
	b := newBench(lanes)
	const baseReg, soffReg = 20, 24 // scalar registers of bases, descriptors and offsets
	inst := rdna2.Inst{Op: f.Op, Src: [4]uint16{rdna2.Null, rdna2.Null, rdna2.Null, soffReg}, Offset: 8}
	active := []int{1, 6}
	dst, where := 0, place{}
	addrRegs, bySaddr := 0, false
	atomic := f.Sched == rdna2.SchedAtomic || f.Format == rdna2.DS && in["mem"] != nil && out["mem"] != nil && !strings.Contains(f.Mnemonic.String(), "write")
	for _, o := range f.Operands() {
		switch o.Role {
		case rdna2.RoleVDst:
			inst.Dst, dst = rdna2.V(dstReg), int(o.Regs)
		case rdna2.RoleAddr, rdna2.RoleVAddr:
			inst.Src[0], addrRegs = rdna2.V(srcReg), int(o.Regs)
		case rdna2.RoleData0, rdna2.RoleVData:
			inst.Src[1] = rdna2.V(srcReg + 4)
		case rdna2.RoleData1:
			inst.Src[2] = rdna2.V(srcReg + 8)
		case rdna2.RoleSAddr, rdna2.RoleSRsrc:
			inst.Src[2], bySaddr = baseReg, true
		}
	}
	home := func(lane int) int { return lane } // the lane whose place it has
	if all && !atomic {
		home, active = func(lane int) int { return 1 + 5*(lane&1) }, upTo(lanes)
	}
	// Byte offset of a lane's place; addresses below leave 8 of it to the offset of the instruction.
	off := func(lane int) int { return 48 + 32*home(lane) }
	switch f.Format {
	case rdna2.DS:
		where = place{func(c *contents) []byte { return c.lds }, func(l, i int) int { return off(l) + i }}
		for _, l := range active {
			b.setV(srcReg, l, 1, uint64(off(l)-8))
		}
	case rdna2.FLAT, rdna2.GLOBAL:
		where = place{func(c *contents) []byte { return c.mem }, func(l, i int) int { return off(l) + i }}
		b.setS(baseReg, 2, testBase)
		for _, l := range active {
			if bySaddr {
				b.setV(srcReg, l, 1, uint64(off(l)-8))
			} else {
				b.setV(srcReg, l, 2, testBase+uint64(off(l)-8))
			}
		}
	case rdna2.SCRATCH:
		where = place{func(c *contents) []byte { return c.scratch }, func(l, i int) int { return (16+i)/4*4*lanes + 4*l + i%4 }}
		if addrRegs == 0 && !bySaddr {
			inst.Offset = 16
		}
		b.setS(baseReg, 1, 8)
		for _, l := range active {
			b.setV(srcReg, l, 1, 8)
		}
	case rdna2.MUBUF:
		where = place{func(c *contents) []byte { return c.mem }, func(l, i int) int { return off(l) + i }}
		stride, raw := uint32(0), uint32(3<<28)
		if f.Has(rdna2.FlagIdxEn) {
			stride = 32
		}
		inst.Offset = 16
		b.setS(soffReg, 1, 16)
		records := uint32(testMemory)
		if stride > 0 {
			raw, records = 0, testMemory/32
		}
		for i, v := range []uint32{testBase & 0xFFFFFFFF, testBase>>32 | stride<<16, records, raw} {
			b.setS(baseReg+i, 1, uint64(v))
		}
		if addrRegs == 0 {
			active = active[:1] // every lane has the same address
			where.at = func(l, i int) int { return 32 + i }
		}
		for _, l := range active {
			switch {
			case f.Has(rdna2.FlagIdxEn | rdna2.FlagOffEn):
				b.setV(srcReg, l, 1, uint64(home(l)))
				b.setV(srcReg+1, l, 1, 16)
			case f.Has(rdna2.FlagIdxEn):
				b.setV(srcReg, l, 1, uint64(home(l)))
				where.at = func(l, i int) int { return 32 + 32*home(l) + i }
			case addrRegs > 0:
				b.setV(srcReg, l, 1, uint64(off(l)-32))
			}
		}
	}
	var exec uint64
	for _, l := range active {
		exec |= 1 << l
	}
	b.setS(state.EXEC, lanes/32, exec)

	put := func(c *contents, l int, v []byte) {
		for i, x := range v {
			where.bytes(c)[where.at(l, i)] = x
		}
	}
	live := contents{lds: b.w.Group.LDS, mem: b.mem, scratch: b.w.Scratch}
	data := srcReg + 4
	if f.Format == rdna2.MUBUF && atomic && dst > 0 {
		data = dstReg // the old value replaces the data
	}
	for _, l := range active {
		put(&live, l, in["mem"])
		registers(dstReg, l, in["dst"], b.setV)
		switch {
		case in["cmp"] != nil && f.Format == rdna2.DS:
			registers(srcReg+4, l, in["cmp"], b.setV)
			registers(srcReg+8, l, in["new"], b.setV)
		case in["cmp"] != nil:
			registers(data, l, in["new"], b.setV)
			registers(data+len(in["new"])/4, l, in["cmp"], b.setV)
		default:
			registers(data, l, in["data"], b.setV)
			registers(srcReg+8, l, in["data2"], b.setV)
		}
	}
	b.want = b.contents()
	for _, l := range active {
		put(&b.want, l, out["mem"])
		switch {
		case dst == 0:
		case out["dst"] != nil:
			registers(dstReg, l, out["dst"], b.setWantV)
		default: // an atomic returns the value before
			registers(dstReg, l, in["mem"], b.setWantV)
		}
	}
	if err := b.exec(&inst); err != nil {
		return err
	}
	return b.noted(f, active, where)
}

// upTo are the lanes below n.
func upTo(n int) (all []int) {
	for l := range n {
		all = append(all, l)
	}
	return all
}

// registers sets the registers of a lane from one on to bytes.
func registers(reg, l int, v []byte, set func(reg, lane, n int, v uint64)) {
	for i := 0; i < len(v); i += 4 {
		var w [4]byte
		copy(w[:], v[i:])
		set(reg+i/4, l, 1, uint64(binary.LittleEndian.Uint32(w[:])))
	}
}

// noted holds the addresses that timing finds against the places of the lanes.
func (b *bench) noted(f *rdna2.Form, active []int, where place) error {
	at, ok := map[rdna2.Format]uint64{rdna2.DS: 0, rdna2.SCRATCH: b.w.ScratchBase}[f.Format]
	if !ok {
		at = testBase
	}
	for _, l := range active {
		if got, want := b.m.Addr[l], at+uint64(where.at(l, 0)); b.m.Block == 0 && got != want {
			return fmt.Errorf("lane %d at %#x, want %#x", l, got, want)
		}
	}
	return nil
}
