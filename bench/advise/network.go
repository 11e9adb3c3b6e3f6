package advise

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
)

// networkChanges are other networks.
func networkChanges(r *Run) (list []Change) {
	list = append(list, declined(r)...)
	list = append(list, depths(r)...)
	if c := relaxed(r); c != nil {
		list = append(list, *c)
	}
	return list
}

// CallChanges returns other ways to execute a network: they follow from the parts of its latency alone.
func CallChanges(r *Run) []Change {
	us := r.Parts["binder"] + r.Parts["cpu_wake"]
	if r.Burst || us == 0 {
		return nil
	}
	return []Change{{Kind: Calls, What: "execute through burst objects (--burst)", Burst: true, PredictedUS: us,
		Why: fmt.Sprintf("%.1f us go to binder calls and to cores that wake up", us)}}
}

// declined removes operations that the device leaves to the CPU, all of one type at a time: the time of the network if
// the device supported them, or the network did without. They become a RESHAPE, so both sides must have the same
// elements and quantization.
func declined(r *Run) (list []Change) {
	byType := map[nn.OperationType][]*Operation{}
	ops := r.Model.Main.Operations
	for i := range r.Operations {
		if o := &r.Operations[i]; o.Reason != "" && o.Index >= 0 {
			byType[ops[o.Index].Type] = append(byType[ops[o.Index].Type], o)
		}
	}
	launch := r.launchUS()
	for _, t := range slices.Sorted(maps.Keys(byType)) {
		model := cloned(r.Model)
		us, n := 0.0, 0
		for _, o := range byType[t] {
			if model.passThrough(o.Index) {
				us, n = us+o.US+launch, n+1
			}
		}
		if n == 0 {
			continue
		}
		list = append(list, Change{Kind: Network, What: fmt.Sprintf("%d of %s less, or a device that supports them", n, t),
			Why: "they break a part: " + byType[t][0].Reason, PredictedUS: us, Model: model.model()})
	}
	return list
}

// launchUS is the cost of one more launch of the device.
func (r *Run) launchUS() float64 {
	us, parts, inside := 0.0, 0, false
	for i := range r.Operations {
		o := &r.Operations[i]
		switch {
		case o.Index < 0 && o.Device == r.Device:
			us += o.US
		case o.Index >= 0:
			if here := o.Device == r.Device; here != inside {
				if inside = here; here {
					parts++
				}
			}
		}
	}
	if parts == 0 {
		return 0
	}
	return us / float64(parts)
}

// relaxed lets float32 be computed in half precision.
func relaxed(r *Run) *Change {
	if r.Model.Relaxed || !slices.ContainsFunc(r.Model.Main.Operands, func(o nn.Operand) bool { return o.Type == nn.TensorFloat32 }) {
		return nil
	}
	us := r.us(slices.Concat(memoryReasons, []string{"l1", "l2"})...)
	m := *r.Model
	m.Relaxed = true
	return &Change{Kind: Network, What: "allow half precision (relaxComputationFloat32toFloat16)", Model: &m,
		Why: fmt.Sprintf("%.1f us go to moving float32, half the bytes are enough", us), PredictedUS: us / 2}
}

// granules are the output channels that an engine computes together, by engine: the depth of
// its array (npu.ublock[2] of the SoC), the rows of HVX's products, the lanes of a GEMM tile.
func granule(r *Run) int {
	switch r.Device {
	case "npu":
		for i := range r.Keys {
			if r.Keys[i].Path == "npu.ublock[2]" {
				return int(r.Keys[i].Value)
			}
		}
	case "dsp", "gpu":
		return 32
	}
	return 0
}

// mostLost is the share of its channels that a narrowed operation may lose.
const mostLost = 0.25

// depths narrows convolutions whose output channels do not fill the engine's granule. Each is a separate change.
func depths(r *Run) (list []Change) {
	unit := granule(r)
	if unit < 2 {
		return nil
	}
	for i := range r.Operations {
		o := &r.Operations[i]
		if o.Index < 0 || o.Device != r.Device || o.US <= 0 {
			continue
		}
		op := &r.Model.Main.Operations[o.Index]
		if op.Type != nn.OpConv2D {
			continue
		}
		depth := lastDimension(&r.Model.Main.Operands[op.Outputs[0]])
		whole := depth / unit * unit
		if whole == 0 || whole == depth || float64(depth-whole) > mostLost*float64(depth) {
			continue
		}
		model := cloned(r.Model)
		touched, err := model.narrow(o.Index, whole)
		if err != nil {
			continue // other operations need these channels
		}
		us := 0.0
		full := (depth + unit - 1) / unit * unit
		for k := range r.Operations {
			if x := &r.Operations[k]; slices.Contains(touched, x.Index) {
				us += x.US * x.Stalls["issue"] * float64(full-whole) / float64(full)
			}
		}
		list = append(list, Change{Kind: Network, What: fmt.Sprintf("operation %d: %d output channels in place of %d", o.Index, whole, depth),
			Why: fmt.Sprintf("the %s computes %d together, so that %d take as long as %d", strings.ToUpper(r.Device), unit, depth, full), PredictedUS: us, Model: model.model()})
	}
	return list
}

func lastDimension(o *nn.Operand) int {
	if n := len(o.Dimensions); n > 0 {
		return int(o.Dimensions[n-1])
	}
	return 0
}
