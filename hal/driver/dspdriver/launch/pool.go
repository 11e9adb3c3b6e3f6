package launch

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/pool"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// window is one reduction: rows x cols positions of the input.
type window struct {
	in         uint32
	out        uint32
	rows, cols int
}

// windowShares is how many entries a thread has at least, so that threads get
// about equal numbers of windows.
const windowShares = 4

const (
	// maxShapes is how many kinds of windows, at the edges of an image, have code of
	// their own, maxUnrolled how many elements these have.
	maxShapes   = 4
	maxUnrolled = 9
)

// byShape divides windows by rows and columns, largest first.
func byShape(windows []window) (parts [][]window) {
	at := map[[2]int]int{}
	for _, w := range windows {
		s := [2]int{w.rows, w.cols}
		i, ok := at[s]
		if !ok {
			i = len(parts)
			at[s] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], w)
	}
	slices.SortStableFunc(parts, func(a, b []window) int { return b[0].rows*b[0].cols - a[0].rows*a[0].cols })
	return parts
}

// windowsOf is the kernel for windows of a tensor, whose positions may lie side by side as a client has them.
func windowsOf(in *layout.Tensor) pool.Window {
	steps := in.Steps()
	return pool.Window{RowStep: steps[1], ColStep: steps[2], Unalign: steps[1]%layout.VectorBytes != 0 || steps[2]%layout.VectorBytes != 0}
}

// launchWindows launches the window kernel over the given windows.
func launchWindows(l *step.Launcher, k pool.Window, in *layout.Tensor, windows []window, channels int, lo, hi int32,
	divide func(n int, signed bool) (pool.Quotient, error), signed bool) {
	if parts := byShape(windows); k.Rows == 0 && len(windows) >= 8*l.Threads && len(parts) <= maxShapes && parts[0][0].rows*parts[0][0].cols <= maxUnrolled {
		for _, part := range parts {
			k.Rows, k.Cols = part[0].rows, part[0].cols
			launchWindows(l, k, in, part, channels, lo, hi, divide, signed)
		}
		return
	}
	k.Clamp = lo > 0 || hi < 255
	k.Halfwords = !k.Max && !slices.ContainsFunc(windows, func(w window) bool { return w.rows*w.cols > pool.MaxHalfwords })
	var table []uint32
	longest := layout.CeilDiv(len(windows)*layout.CeilDiv(channels, layout.VectorBytes), windowShares*l.Threads)
	for len(windows) > 0 {
		w, n, inStep, outStep := windows[0], 1, uint32(0), uint32(0)
		for n < min(len(windows), longest) {
			last, next := windows[n-1], windows[n]
			if n == 1 {
				inStep, outStep = next.in-last.in, next.out-last.out
			}
			if next != (window{last.in + inStep, last.out + outStep, w.rows, w.cols}) {
				break
			}
			n++
		}
		windows = windows[n:]
		var q []uint32
		if !k.Max {
			d, err := divide(w.rows*w.cols, signed)
			if err != nil {
				l.Fail(err)
			}
			if q = d.Constants(); k.Halfwords {
				q = d.HalfwordConstants(w.rows * w.cols)
			}
		}
		for c := 0; c < channels; c += layout.VectorBytes {
			table = append(table, w.in+uint32(c), w.out+uint32(c), uint32(w.rows), uint32(w.cols), uint32(n), inStep, outStep)
			table = append(table, q...)
		}
	}
	job := l.LaunchTable(l.Kernel(k), table, k.EntryWords(), uint32(lo)*0x01010101, uint32(hi)*0x01010101, 0, 0, layout.VectorBytes)
	if job == nil {
		return
	}
	job.PrefetchArg = pool.WinPrefetch
	if !l.Streams(in) {
		return
	}
	words := k.EntryWords()
	var spans [][2]uint32 // that the threads read
	low, high, sum := ^uint32(0), uint32(0), uint32(0)
	for _, r := range l.Spread(len(table) / words) {
		first, last := table[words*r[0]:], table[words*(r[1]-1):]
		from, to := first[pool.WinIn], last[pool.WinIn]+(last[pool.WinRows]-1)*uint32(k.RowStep)+last[pool.WinCols]*uint32(k.ColStep)+(last[pool.WinCount]-1)*last[pool.WinInStep]
		to = max(from, to)
		spans = append(spans, [2]uint32{from, to})
		low, high, sum = min(low, from), max(high, to), sum+to-from
	}
	whole := sum > (high-low)/2*3 // threads divide channels: each brings a part for all
	share := (high-low)/uint32(len(spans)) + layout.VectorBytes
	for t, s := range spans {
		if whole {
			s[0] = low + uint32(t)*share
			s[1] = min(s[0]+share, high)
		}
		if s[0] < s[1] {
			job.FetchFirst(pool.WinPrefetch, t, s[0], s[1])
		}
	}
}

// Pool reduces windows of an image to their maxima or averages.
type Pool struct {
	opspec.Pool
	In, Out *layout.Tensor
	Lo, Hi  int32
	IsMax   bool
	Signed  bool // the client's values are
}

// Launch implements step.Work.
func (w Pool) Launch(l *step.Launcher, r step.Rows) {
	k := windowsOf(w.In)
	k.Max = w.IsMax
	var windows []window
	for row := r.From; row < r.To; row++ {
		n, y := row/w.OutH, row%w.OutH
		y0 := max(y*w.StrideH-w.Top, 0)
		y1 := min(y*w.StrideH-w.Top+w.KH, w.H)
		for x := range w.OutW {
			x0 := max(x*w.StrideW-w.Left, 0)
			x1 := min(x*w.StrideW-w.Left+w.KW, w.W)
			windows = append(windows, window{w.In.At(n, y0, x0), w.Out.At(n, y, x), y1 - y0, x1 - x0})
		}
	}
	launchWindows(l, k, w.In, windows, w.C, w.Lo, w.Hi, pool.AverageQuotient, w.Signed)
}

// Mean reduces each image of a tensor, rows x cols positions, to its mean.
type Mean struct {
	In, Out    *layout.Tensor
	Rows, Cols int
	Signed     bool // the client's values are
}

// Launch implements step.Work.
func (w Mean) Launch(l *step.Launcher, _ step.Rows) {
	k := windowsOf(w.In)
	var windows []window
	for i := range w.Out.Shape.W {
		windows = append(windows, window{w.In.At(i, 0, 0), w.Out.At(0, 0, i), w.Rows, w.Cols})
	}
	launchWindows(l, k, w.In, windows, w.Out.Shape.C, 0, 255, pool.MeanQuotient, w.Signed)
}
