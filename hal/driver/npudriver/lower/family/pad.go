package family

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowerPad is PAD and PAD_V2: the zero point around, or a value.
func lowerPad(l *lower.Lowering, _ *nn.Operation, p opspec.Pad) {
	o := l.Tensor(p.Output)
	from := allBytes(l, p.Input)
	to := l.Out(p.Output, 1, 1, int(o.Bytes()))
	value := o.ZeroPoint
	if p.Value != opspec.None {
		data, err := l.View().Data(p.Value)
		constantPadding.Refuse(err != nil, "operand %d is none", p.Value)
		value = int32(binary.LittleEndian.Uint32(data))
	}
	padTo(l, &p, from, to, lower.ElementBytes(o.Type), value)
}

// allBytes is an input operand as a dense vector of its bytes.
func allBytes(l *lower.Lowering, x uint32) layout.Ref {
	o := l.Tensor(x)
	return l.In(x, 1, 1, int(o.Bytes()))
}

// padTo pads the dense tensor at from into the dense one at to: in one kernel where only
// height and width of images of bytes grow, else by filling all and copying the tensor to
// its place.
func padTo(l *lower.Lowering, p *opspec.Pad, from, to layout.Ref, size int, value int32) {
	if padImage(l, p, from, to, size, value) {
		return
	}
	fillMap(l, to, int(nn.Elements(p.Dims))*size, binary.LittleEndian.AppendUint32(nil, uint32(value))[:size])
	axes := []axis{{size, 1, 1}}
	src, dst := size, size
	for i := len(p.In) - 1; i >= 0; i-- {
		axes = append(axes, axis{int(p.In[i]), src, dst})
		to.Addr += p.Before[i] * dst
		src, dst = src*int(p.In[i]), dst*int(p.Dims[i])
	}
	copyAxes(l, from, to, axes)
}

// padImage is a 1x1 depthwise kernel of weight 1 with padding: taps outside the image are
// zero before the output zero point is added.
func padImage(l *lower.Lowering, p *opspec.Pad, from, to layout.Ref, size int, value int32) (done bool) {
	if len(p.In) != 4 || size != 1 || p.Before[0]|p.After[0]|p.Before[3]|p.After[3] != 0 ||
		p.Before[1] > maxBefore || p.Before[2] > maxBefore || p.After[1] > maxPadAfter || p.After[2] > maxPadAfter || p.In[0] > maxBatch {
		return false
	}
	h, w, c := int(p.In[1]), int(p.In[2]), int(p.In[3])
	oh, ow := int(p.Dims[1]), int(p.Dims[2])
	unit := fixedpoint.QuantizeMultiplier(1)
	scale, shift := hardware(unit)
	for n := range int(p.In[0]) {
		k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Depthwise, Round: doubleRound, Top: p.Before[1], Left: p.Before[2], Bottom: p.After[1], Right: p.After[2]}}
		k.IFM = layout.Ref{Value: from.Value, FeatureMap: layout.Dense(from.Addr+n*h*w*c, h, w, c, 1, from.Signed)}
		k.OFM = layout.Ref{Value: to.Value, FeatureMap: layout.Dense(to.Addr+n*oh*ow*c, oh, ow, c, 1, to.Signed)}
		k.IFM.Zero, k.OFM.Zero = int(value), int(value)
		k.Lo, k.Hi = layout.Limits(k.OFM.Signed)
		k.Weights = &kernel.Weights{Form: kernel.Ones, Outputs: c, Taps: 1}
		for range c {
			k.Weights.Records = append(k.Weights.Records, scaleRecord(0, scale, shift))
		}
		l.Add(k)
	}
	return true
}
