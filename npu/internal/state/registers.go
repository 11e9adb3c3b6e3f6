package state

import "github.com/nnsoc/nnsoc/isa/ethosu"

// Registers are the registers as the stream has written them; 0 before.
type Registers struct {
	param   [ethosu.NumSlots]uint16
	Payload [ethosu.NumSlots]uint32
	Wide    bool // addresses have 40 bits
}

// Set applies a command that sets a register.
func (r *Registers) Set(c ethosu.Command) {
	s := c.Code.Slot()
	r.param[s], r.Payload[s] = c.Param, c.Payload
}

// U is a 16-bit register, unsigned.
func (r *Registers) U(c ethosu.Code) int { return int(r.param[c.Slot()]) }

// S is a 16-bit register, signed.
func (r *Registers) S(c ethosu.Code) int { return int(int16(r.param[c.Slot()])) }

// Addr is an address, stride or length.
func (r *Registers) Addr(c ethosu.Code) int {
	s := c.Slot()
	v := int(r.Payload[s])
	if r.Wide {
		v |= int(r.param[s]&0xFF) << 32
	}
	return v
}

// Scale is a multiplier and its shift.
func (r *Registers) Scale(c ethosu.Code) (uint32, uint8) {
	s := c.Slot()
	return r.Payload[s], uint8(r.param[s] & 63)
}
