package ethosu

import (
	"encoding/binary"
	"fmt"
)

// payloadMagic is "COP1", the first word of a driver payload.
const payloadMagic = 0x31504F43

// Driver actions: the id byte of a tag word.
const (
	actionConfig  = 1
	actionStream  = 2
	actionReadReg = 3
	actionDump    = 4
	actionNop     = 5
)

// Config is the machine a stream was compiled for, as the driver compares it
// with the CONFIG register.
type Config struct {
	MACsLog2  int // of the MACs per cycle of all cores
	ShramKiB  int // of all cores
	CustomDMA bool
	Product   Product
}

// Cores is 2 for the dual-core U65 and 1 otherwise.
func (c Config) Cores() int {
	if c.Product == U65 && c.MACsLog2 == 9 {
		return 2
	}
	return 1
}

func (c Config) word() uint32 {
	w := uint32(c.MACsLog2)&15 | uint32(c.ShramKiB)&0xFF<<8 | uint32(c.Product)<<28
	if c.CustomDMA {
		w |= 1 << 27
	}
	return w
}

// Payload is a driver payload: the command-stream tensor of the ethos-u
// operator.
type Payload struct {
	Release  uint16 // parameter of the configuration action: patch<<4 | release
	Config   Config
	ID       uint32 // architecture and product version
	Commands []uint32
}

// The identification Vela 3.10 writes: architecture 1.0.6.
const (
	DefaultRelease = 0x10
	DefaultID      = 1<<28 | 0<<20 | 6<<16
)

// ReadPayload parses a driver payload. Commands is a copy. Actions other than configuration, padding and exactly one
// stream are an error: they would request effects that a payload cannot have here.
func ReadPayload(b []byte) (*Payload, error) {
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("ethosu: payload of %d bytes is not a number of words", len(b))
	}
	n := len(b) / 4
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	if n == 0 || word(0) != payloadMagic {
		return nil, fmt.Errorf("ethosu: payload does not start with COP1")
	}
	p := &Payload{}
	config, stream := false, false
	for i := 1; i < n; {
		tag := word(i)
		param, high := tag>>16, tag>>8&0xFF
		switch tag & 0xFF {
		case actionConfig:
			if i+3 > n {
				return nil, fmt.Errorf("ethosu: payload word %d: configuration cut short", i)
			}
			w := word(i + 1)
			if product := w >> 28; product == productU85 {
				return nil, fmt.Errorf("ethosu: payload word %d: %w", i+1, errU85)
			} else if product > uint32(U65) {
				return nil, fmt.Errorf("ethosu: payload word %d: compiled for product %d, which is unknown; %d is Ethos-U55, %d Ethos-U65", i+1, product, U55, U65)
			}
			if v := w >> 4 & 15; v != 0 {
				return nil, fmt.Errorf("ethosu: payload word %d: command stream version %d, only 0 is known", i+1, v)
			}
			p.Release = uint16(param)
			p.Config = Config{int(w & 15), int(w >> 8 & 0xFF), w>>27&1 != 0, Product(w >> 28)}
			p.ID = word(i + 2)
			config = true
			i += 3
		case actionStream:
			length := int(param | high<<16)
			if length > n-i-1 {
				return nil, fmt.Errorf("ethosu: payload word %d: stream of %d words, %d left", i, length, n-i-1)
			}
			if stream {
				return nil, fmt.Errorf("ethosu: payload word %d: second command stream", i)
			}
			p.Commands = make([]uint32, length)
			for k := range p.Commands {
				p.Commands[k] = word(i + 1 + k)
			}
			stream = true
			i += 1 + length
		case actionNop:
			i++
		case actionReadReg, actionDump:
			return nil, fmt.Errorf("ethosu: payload word %d: debug action %d is not supported", i, tag&0xFF)
		default:
			return nil, fmt.Errorf("ethosu: payload word %d: unknown driver action %d", i, tag&0xFF)
		}
	}
	if !config || !stream {
		return nil, fmt.Errorf("ethosu: payload lacks a configuration or a command stream")
	}
	return p, nil
}

// Append writes the payload, the stream at a multiple of 16 bytes from the
// start and the whole padded to 16 bytes.
func (p *Payload) Append(dst []byte) ([]byte, error) {
	if len(p.Commands) >= 1<<24 {
		return dst, fmt.Errorf("ethosu: stream of %d words does not fit 24 bits", len(p.Commands))
	}
	start := len(dst)
	put := func(w uint32) { dst = binary.LittleEndian.AppendUint32(dst, w) }
	put(payloadMagic)
	put(uint32(p.Release)<<16 | actionConfig)
	put(p.Config.word())
	put(p.ID)
	for (len(dst)-start+4)%16 != 0 {
		put(actionNop)
	}
	n := uint32(len(p.Commands))
	put(n&0xFFFF<<16 | n>>16<<8 | actionStream)
	for _, w := range p.Commands {
		put(w)
	}
	return dst, nil
}
