package launch

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/lookup"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// ScalarEntry reports whether a scalar register holds an entry of n bytes.
func ScalarEntry(n int) bool { return n <= 8 && n&(n-1) == 0 }

// Gather copies the entries that indices in memory name.
type Gather struct {
	Bytes   int
	Outer   int
	List    int
	Indices *layout.Tensor
	In      *layout.Tensor
	Count   int
	Out     *layout.Tensor
	Bad     *layout.Tensor
}

// Launch implements step.Work.
func (w Gather) Launch(l *step.Launcher, _ step.Rows) {
	k := lookup.Gather{Full: w.Bytes >= layout.VectorBytes, Rest: w.Bytes%layout.VectorBytes != 0}
	if ScalarEntry(w.Bytes) {
		k = lookup.Gather{Size: w.Bytes}
	}
	var table []uint32
	for o := range w.Outer {
		for _, r := range l.Spread(w.List) {
			table = append(table, w.Indices.Addr+uint32(4*r[0]), w.In.Addr+uint32(o*w.Count*w.Bytes), w.Out.Addr+uint32((o*w.List+r[0])*w.Bytes), uint32(r[1]-r[0]))
		}
	}
	job := l.LaunchTable(l.Kernel(k), table, 4, uint32(w.Count), uint32(w.Bytes), w.Bad.Addr, w.In.Addr, 0, layout.VectorBytes)
	if job != nil && w.In.Bytes() <= step.PrefetchLimit { // each thread fetches a part of the entries, which all may need
		args := job.Args
		for t, part := range l.Spread(layout.CeilDiv(w.In.Bytes(), layout.VectorBytes)) {
			if t < len(args) {
				args[t][5], args[t][6] = w.In.Addr+uint32(part[0]*layout.VectorBytes), step.Box(uint32((part[1]-part[0]+1)*layout.VectorBytes))
			}
		}
	}
}

// FindKey finds the row of each key.
type FindKey struct {
	List  int
	In    [3]*layout.Tensor
	Found *layout.Tensor
	Op    opspec.Hashtable
}

// Launch implements step.Work.
func (w FindKey) Launch(l *step.Launcher, _ step.Rows) {
	var table []uint32
	for _, r := range l.Spread(w.List) {
		table = append(table, w.In[0].Addr+uint32(4*r[0]), w.Found.Addr+uint32(4*r[0]), uint32(r[1]-r[0]))
	}
	lane := make([]uint32, layout.VectorBytes/4)
	for i := range lane {
		lane[i] = uint32(i)
	}
	l.LaunchTable(l.Kernel(lookup.FindKey{}), table, 3, w.In[1].Addr, uint32(layout.CeilDiv(max(w.Op.Rows, 1), layout.VectorBytes/4)), uint32(w.Op.Rows), l.Words(lane))
}
