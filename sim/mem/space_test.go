package mem_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestShadow: a shadow has bytes of its own where they can be written and shares the others; it follows when asked.
func TestShadow(t *testing.T) {
	s := &mem.Space{}
	data, constants := []byte{1, 2, 3}, []byte{4}
	for _, g := range []mem.Segment{{Name: "data", Base: 0x100, Data: data}, {Name: "constants", Base: 0x200, Data: constants, ReadOnly: true}} {
		require.NoError(t, s.Map(g))
	}
	c := s.Shadow()
	c.Bytes(0x100, 3)[0] = 9
	data[1], constants[0] = 8, 7
	if data[0] != 1 || c.Bytes(0x100, 3)[1] != 2 || c.Bytes(0x200, 1)[0] != 7 {
		t.Errorf("%v, its shadow %v and %v", data, c.Bytes(0x100, 3), c.Bytes(0x200, 1))
	}
	c.Follow(s)
	if got := c.Bytes(0x100, 3); got[0] != 1 || got[1] != 8 {
		t.Errorf("%v does not follow %v", got, data)
	}
}
