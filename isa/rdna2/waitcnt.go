package rdna2

// Largest values of the wait counters, which mean no wait.
const (
	MaxVM   = 63
	MaxExp  = 7
	MaxLGKM = 63
	MaxVS   = 63
)

// Waitcnt are the counters of s_waitcnt: the instruction waits until at most
// so many operations of each kind are outstanding.
type Waitcnt struct{ VM, Exp, LGKM int }

// SplitWaitcnt unpacks the immediate of s_waitcnt.
func SplitWaitcnt(simm16 uint16) Waitcnt {
	return Waitcnt{
		VM:   int(simm16&15 | simm16>>10&0x30),
		Exp:  int(simm16 >> 4 & 7),
		LGKM: int(simm16 >> 8 & 63),
	}
}

// Simm16 packs the counters; larger values than fit are no wait.
func (w Waitcnt) Simm16() uint16 {
	vm, exp, lgkm := uint16(min(w.VM, MaxVM)), uint16(min(w.Exp, MaxExp)), uint16(min(w.LGKM, MaxLGKM))
	return vm&15 | vm>>4<<14 | exp<<4 | lgkm<<8
}

// Hwreg packs the immediate of s_getreg and s_setreg: size bits from offset of
// hardware register id.
func Hwreg(id, offset, size int) uint16 { return uint16(id&63 | offset&31<<6 | (size-1)&31<<11) }

// Hardware registers.
const (
	HwMode         = 1
	HwStatus       = 2
	HwFlatScrLo    = 20
	HwFlatScrHi    = 21
	HwShaderCycles = 29
)

// hwregNames are the registers that gfx1030 names, without HW_REG_.
var hwregNames = [64]string{
	HwMode: "MODE", HwStatus: "STATUS", 3: "TRAPSTS", 5: "GPR_ALLOC", 6: "LDS_ALLOC", 7: "IB_STS", 15: "SH_MEM_BASES",
	16: "TBA_LO", 17: "TBA_HI", 18: "TMA_LO", 19: "TMA_HI", HwFlatScrLo: "FLAT_SCR_LO", HwFlatScrHi: "FLAT_SCR_HI",
	23: "HW_ID1", 24: "HW_ID2", 25: "POPS_PACKER", HwShaderCycles: "SHADER_CYCLES",
}
