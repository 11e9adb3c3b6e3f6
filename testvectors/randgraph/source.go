package randgraph

import (
	"math/rand/v2"

	"github.com/nnsoc/nnsoc/hal"
)

// source yields the decisions of one operation: fresh random ones, or a recorded list. It records the decisions it
// yields. A list that is too short continues with zeros; an entry that is too large becomes the largest possible.
type source struct {
	rng    *rand.Rand // nil when replaying
	replay []uint32
	log    []uint32
}

// choose decides between 0 and n-1; 0 is the simplest.
func (s *source) choose(n int) int {
	v := 0
	switch at := len(s.log); {
	case s.rng != nil:
		v = s.rng.IntN(n)
	case at < len(s.replay):
		v = min(int(s.replay[at]), n-1)
	}
	s.log = append(s.log, uint32(v))
	return v
}

// chance is true with the given probability in percent; the simplest is false.
func (s *source) chance(percent int) bool { return s.choose(100) >= 100-percent }

// pick decides between values, the simplest first.
func pick[T any](s *source, values ...T) T { return values[s.choose(len(values))] }

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
