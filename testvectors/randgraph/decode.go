package randgraph

import "github.com/nnsoc/nnsoc/hal"

// maxDecoded bounds the operations of a case from bytes.
const maxDecoded = 3

// Decode makes a case of bytes, for a fuzzer: two for each operation, which of the table's variants
// it is and how many decisions follow, then a byte for each decision. nil is bytes whose decisions
// contradict each other.
func (t *Table) Decode(data []byte) *Case {
	list := t.Variants()
	r := recipe{table: t, kind: &kinds[2]}
	for len(data) >= 2 && len(r.slots) < maxDecoded {
		s := slot{variant: list[(int(data[0])|int(data[1]&3)<<8)%len(list)]}
		n := min(int(data[1]>>2), len(data)-2)
		for _, b := range data[2 : 2+n] {
			x := uint32(b)
			if x > 128 { // large values for seeds
				x <<= 8 * (x % 4)
			}
			s.choices = append(s.choices, x)
		}
		data = data[2+n:]
		r.slots = append(r.slots, s)
	}
	if len(r.slots) == 0 {
		return nil
	}
	return r.build()
}

// Judge runs a case on a device and compares with the reference. supported is false when the
// device declines an operation; then nothing ran.
func Judge(d hal.Device, c *Case, o Options) (supported bool, err error) { return judge(d, c, o) }
