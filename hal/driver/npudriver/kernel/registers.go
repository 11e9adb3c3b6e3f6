package kernel

import (
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// Emit writes the registers of a kernel and starts it. at is where its packed constants
// lie when it runs, cores how many cores the machine has.
func (k *Kernel) Emit(b *ethosu.Builder, p *Packed, at layout.Buffer, cores, blockDep int) {
	k.input(b)
	k.output(b)
	b.Set(ethosu.SetOFMBlkHeightM1, k.Block.H-1)
	b.Set(ethosu.SetOFMBlkWidthM1, k.Block.W-1)
	b.Set(ethosu.SetOFMBlkDepthM1, k.Block.D-1)
	b.Set(ethosu.SetIFMIBEnd, k.Block.IBEnd)
	b.Set(ethosu.SetABStart, k.Block.ABStart)
	b.Set(ethosu.SetAccFormat, 0)
	b.Set(ethosu.SetBlockDep, blockDep)
	if k.Kind != Elementwise {
		b.Set(ethosu.SetKernelHeightM1, (k.KH-1)*k.DY)
		b.Set(ethosu.SetKernelWidthM1, (k.KW-1)*k.DX)
		b.Set(ethosu.SetKernelStride, ethosu.KernelStride(k.SX, k.SY, k.DX, k.DY, k.PartKernel))
	}
	if k.Weights != nil {
		p.registers(b, at, cores)
	}
	if k.Kind == Elementwise {
		b.SetScale(ethosu.SetOPAScale, k.OPAScale, k.OPAShift)
		b.SetScale(ethosu.SetOPBScale, k.OPBScale, 0)
	}
	if k.Global || k.Kind == Elementwise {
		b.SetScale(ethosu.SetOFMScale, k.Scale, k.Shift)
	}
	code := [...]ethosu.Code{Conv: ethosu.OpConv, Depthwise: ethosu.OpDepthwise, Pool: ethosu.OpPool, Elementwise: ethosu.OpElementwise}[k.Kind]
	b.Op(code, k.Mode)
}

func (p *Packed) registers(b *ethosu.Builder, from layout.Buffer, cores int) {
	b.Set(ethosu.SetWeightRegion, from.Region)
	b.Set(ethosu.SetScaleRegion, from.Region)
	at := uint64(from.Addr)
	for n, c := range [2][4]ethosu.Code{
		{ethosu.SetScaleBase, ethosu.SetScaleLength, ethosu.SetWeightBase, ethosu.SetWeightLength},
		{ethosu.SetScale1Base, ethosu.SetScale1Length, ethosu.SetWeight1Base, ethosu.SetWeight1Length},
	} {
		if n >= cores {
			break
		}
		b.SetAddr(c[0], at)
		b.SetAddr(c[1], uint64(p.ScaleBytes[n]))
		at += uint64(p.ScaleBytes[n])
		b.SetAddr(c[2], at)
		b.SetAddr(c[3], uint64(p.WeightBytes[n]))
		at += uint64(p.WeightBytes[n])
	}
}

// mapCodes are the registers of one feature map.
type mapCodes struct {
	region, zero, width0, height0, height1 ethosu.Code
	base                                   [4]ethosu.Code
	strideX, strideY, strideC              ethosu.Code
}

var (
	ifmCodes = mapCodes{
		ethosu.SetIFMRegion, ethosu.SetIFMZeroPoint, ethosu.SetIFMWidth0M1, ethosu.SetIFMHeight0M1, ethosu.SetIFMHeight1M1,
		[4]ethosu.Code{ethosu.SetIFMBase0, ethosu.SetIFMBase1, ethosu.SetIFMBase2, ethosu.SetIFMBase3},
		ethosu.SetIFMStrideX, ethosu.SetIFMStrideY, ethosu.SetIFMStrideC,
	}
	ifm2Codes = mapCodes{
		ethosu.SetIFM2Region, ethosu.SetIFM2ZeroPoint, ethosu.SetIFM2Width0M1, ethosu.SetIFM2Height0M1, ethosu.SetIFM2Height1M1,
		[4]ethosu.Code{ethosu.SetIFM2Base0, ethosu.SetIFM2Base1, ethosu.SetIFM2Base2, ethosu.SetIFM2Base3},
		ethosu.SetIFM2StrideX, ethosu.SetIFM2StrideY, ethosu.SetIFM2StrideC,
	}
	ofmCodes = mapCodes{
		ethosu.SetOFMRegion, ethosu.SetOFMZeroPoint, ethosu.SetOFMWidth0M1, ethosu.SetOFMHeight0M1, ethosu.SetOFMHeight1M1,
		[4]ethosu.Code{ethosu.SetOFMBase0, ethosu.SetOFMBase1, ethosu.SetOFMBase2, ethosu.SetOFMBase3},
		ethosu.SetOFMStrideX, ethosu.SetOFMStrideY, ethosu.SetOFMStrideC,
	}
)

func featureMap(b *ethosu.Builder, c *mapCodes, f *layout.FeatureMap) {
	b.Set(c.region, f.Region)
	tile := f.Tile()
	b.SetAddr(c.base[0], uint64(f.Addr+f.Row*f.StrideY))
	below := 0 // where the rows behind the first tile are
	if tile < f.H {
		below = f.Addr
	}
	b.SetAddr(c.base[1], 0)
	b.SetAddr(c.base[2], uint64(below))
	b.SetAddr(c.base[3], 0)
	b.Set(c.height0, tile-1)
	b.Set(c.height1, tile-1)
	b.Set(c.width0, f.W-1)
	b.SetAddr(c.strideY, uint64(f.StrideY))
	b.SetAddr(c.strideX, uint64(f.StrideX))
	b.SetAddr(c.strideC, uint64(max(f.StrideC, f.Bytes)))
	b.Set(c.zero, f.Zero)
}

// format is the code of a map's order of elements.
func format(f *layout.FeatureMap) int {
	if f.StrideC > 0 {
		return ethosu.NHCWB16
	}
	return ethosu.NHWC
}

func (k *Kernel) input(b *ethosu.Builder) {
	featureMap(b, &ifmCodes, &k.IFM.FeatureMap)
	b.Set(ethosu.SetIFMDepthM1, k.IFM.C-1)
	b.Set(ethosu.SetIFMPrecision, ethosu.IFMPrecision(k.IFM.Signed, k.IFM.Bytes, format(&k.IFM.FeatureMap), k.ScaleMode))
	b.Set(ethosu.SetIFMUpscale, 0)
	if k.Kind != Elementwise {
		b.Set(ethosu.SetIFMPadTop, k.Top)
		b.Set(ethosu.SetIFMPadLeft, k.Left)
		b.Set(ethosu.SetIFMPadRight, k.Right)
		b.Set(ethosu.SetIFMPadBottom, k.Bottom)
		return
	}
	if k.IFM2 != nil {
		featureMap(b, &ifm2Codes, &k.IFM2.FeatureMap)
		b.Set(ethosu.SetIFM2Precision, ethosu.IFMPrecision(k.IFM2.Signed, k.IFM2.Bytes, format(&k.IFM2.FeatureMap), 0))
		b.Set(ethosu.SetIFM2Broadcast, k.Broadcast)
		b.Set(ethosu.SetIFM2IBStart, k.Block.IB2Start)
	}
}

func (k *Kernel) output(b *ethosu.Builder) {
	f := &k.OFM.FeatureMap
	featureMap(b, &ofmCodes, f)
	b.Set(ethosu.SetOFMHeightM1, f.H-1)
	b.Set(ethosu.SetOFMWidthM1, f.W-1)
	b.Set(ethosu.SetOFMDepthM1, f.C-1)
	b.Set(ethosu.SetOFMPrecision, ethosu.OFMPrecision(f.Signed, f.Bytes, format(f), k.Global || k.Kind == Elementwise, k.Round))
	act := ethosu.ActNone
	if k.Table != nil {
		act = ethosu.ActTable
	}
	b.Set(ethosu.SetActivation, act|k.Clip<<12)
	b.Set(ethosu.SetActivationMin, k.Lo)
	b.Set(ethosu.SetActivationMax, k.Hi)
}
