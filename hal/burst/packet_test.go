package burst_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestAnnounced: a packet that announces more datums than follow is refused by the announcement, before any of them
// is read.
func TestAnnounced(t *testing.T) {
	m := &burst.RequestMessage{Inputs: []hal.RequestArgument{{Dimensions: []uint32{2, 3}}}, Slots: []int32{1}}
	for _, c := range []struct {
		datum, word int // of the packet, and of the datum's payload
		n           byte
		want        string
	}{
		{0, 1, 6, "6 operands announced, 5 datums follow"},
		{1, 4, 5, "5 datums of kind 2 announced, 4 follow"},
		{0, 3, 3, "3 datums of kind 5 announced, 2 follow"},
	} {
		list := m.Packet()
		require.V(burst.ParseRequest(list))(t)
		list[c.datum][8+4*c.word] = c.n
		_, err := burst.ParseRequest(list)
		require.ErrorContains(t, err, c.want)
	}
}

// TestAskedOnce: a memory that two pools of a request name is requested from the client once.
func TestAskedOnce(t *testing.T) {
	p := connect(t)
	m, other := hal.NewMemory(4), hal.NewMemory(4)
	var asked []int32
	p.asked = func(slots []int32) { asked = append(asked, slots...) }
	require.V(p.Execute(naming(m, other, m), hal.ExecuteOptions{}))(t)
	require.Equal(t, []int32{0, 1}, asked)
	for i, want := range []*hal.Memory{m, other, m} {
		require.Check(t, p.seen[0][i].Memory == want, "pool %d has another memory", i)
	}
	_ = p.Close()
}
