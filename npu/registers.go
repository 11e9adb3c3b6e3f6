package npu

import "github.com/nnsoc/nnsoc/isa/ethosu"

// regFile is the registers as the stream has written them; 0 before.
type regFile struct {
	param   [ethosu.NumSlots]uint16
	payload [ethosu.NumSlots]uint32
	wide    bool // addresses have 40 bits
}

func (r *regFile) set(c ethosu.Command) {
	s := c.Code.Slot()
	r.param[s], r.payload[s] = c.Param, c.Payload
}

// u is a 16-bit register, unsigned.
func (r *regFile) u(c ethosu.Code) int { return int(r.param[c.Slot()]) }

// s is a 16-bit register, signed.
func (r *regFile) s(c ethosu.Code) int { return int(int16(r.param[c.Slot()])) }

// addr is an address, stride or length.
func (r *regFile) addr(c ethosu.Code) int {
	s := c.Slot()
	v := int(r.payload[s])
	if r.wide {
		v |= int(r.param[s]&0xFF) << 32
	}
	return v
}

// scale is a multiplier and its shift.
func (r *regFile) scale(c ethosu.Code) (uint32, uint8) {
	s := c.Slot()
	return r.payload[s], uint8(r.param[s] & 63)
}
