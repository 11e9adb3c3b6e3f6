package decode

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// leaves are the fields of an operation by name, slices by their length.
func leaves(m map[string]string, name string, v reflect.Value) map[string]string {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(m, name+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			leaves(m, fmt.Sprintf("%s[%d]", name, i), v.Index(i))
		}
	case reflect.Slice:
		m[name] = fmt.Sprint("len ", v.Len())
	default:
		m[name] = fmt.Sprint(v)
	}
	return m
}

// set is a command that sets a register.
func set(c ethosu.Code, param uint16, payload uint32) ethosu.Command {
	return ethosu.Command{Code: c, Param: param, Payload: payload}
}

// read is the operation of a command, on a machine with two cores, one of which works, with registers set over those of
// a convolution of 4x6 pixels from 16 to 8 channels of one tap.
func read(op ethosu.Command, cmds ...ethosu.Command) (map[string]string, error) {
	m := &state.Machine{SHRAM: make([]byte, 48<<10), Registers: state.Registers{Wide: true}}
	var regions state.Regions
	for i := range regions {
		regions[i] = make([]byte, 1<<16-i)
	}
	for _, c := range append([]ethosu.Command{
		set(ethosu.SetOFMHeightM1, 3, 0), set(ethosu.SetOFMWidthM1, 5, 0), set(ethosu.SetOFMDepthM1, 7, 0), set(ethosu.SetIFMDepthM1, 15, 0),
		set(ethosu.SetIFMWidth0M1, 63, 0), set(ethosu.SetIFMHeight0M1, 63, 0), set(ethosu.SetOFMWidth0M1, 63, 0), set(ethosu.SetOFMHeight0M1, 63, 0),
		set(ethosu.SetIFM2Width0M1, 63, 0), set(ethosu.SetIFM2Height0M1, 63, 0), set(ethosu.SetScaleLength, 0, 80),
		set(ethosu.SetActivationMax, 255, 0),
	}, cmds...) {
		m.Registers.Set(c)
	}
	var o state.Op
	err := Op(&o, m, op, &regions, 2)
	return leaves(map[string]string{}, "", reflect.ValueOf(o)), err
}

// TestRegisters: a register changes the fields of an operation named in the programmer's model, and no other, or is
// refused.
func TestRegisters(t *testing.T) {
	conv, pool, elt := ethosu.Command{Code: ethosu.OpConv}, ethosu.Command{Code: ethosu.OpPool}, ethosu.Command{Code: ethosu.OpElementwise}
	depthwise, sum := ethosu.Command{Code: ethosu.OpDepthwise}, ethosu.Command{Code: ethosu.OpPool, Param: ethosu.PoolReduceSum}
	abs := ethosu.Command{Code: ethosu.OpElementwise, Param: ethosu.EltAbs}
	tall := set(ethosu.SetKernelHeightM1, 4, 0)
	wide := set(ethosu.SetKernelWidthM1, 4, 0)
	type list = []ethosu.Command
	for _, c := range []struct {
		op     ethosu.Command
		before list // base registers of the comparison
		set    ethosu.Command
		want   string // changes, or the error's text after "error "
	}{
		{conv, nil, set(ethosu.SetKernelHeightM1, 4, 0), "IFM.H=8 Window.ExtentH=5 Window.H=5 Window.InH=8"},
		{conv, nil, set(ethosu.SetKernelWidthM1, 4, 0), "IFM.W=10 Window.ExtentW=5 Window.InW=10 Window.W=5"},
		{conv, list{tall}, set(ethosu.SetIFMPadTop, 2, 0), "IFM.H=6 Window.InH=6 Window.Top=2"},
		{conv, list{tall}, set(ethosu.SetIFMPadBottom, 3, 0), "IFM.H=5 Window.Bottom=3 Window.InH=5"},
		{conv, list{wide}, set(ethosu.SetIFMPadLeft, 2, 0), "IFM.W=8 Window.InW=8 Window.Left=2"},
		{conv, list{wide}, set(ethosu.SetIFMPadRight, 3, 0), "IFM.W=7 Window.InW=7 Window.Right=3"},
		{conv, nil, set(ethosu.SetIFMPadTop, 3, 0), "IFM.H=1 Window.InH=1 Window.Top=3"},
		{conv, nil, set(ethosu.SetIFMPadTop, 4, 0), "error padding leaves an input of 0x6"},
		{conv, nil, set(ethosu.SetIFMPadLeft, 6, 0), "error padding leaves an input of 4x0"},
		{conv, nil, set(ethosu.SetKernelStride, 1, 0), "IFM.W=11 Window.InW=11 Window.StrideX=2"},
		{conv, nil, set(ethosu.SetKernelStride, 2, 0), "IFM.H=7 Window.InH=7 Window.StrideY=2"},
		{conv, nil, set(ethosu.SetKernelStride, 4, 0), "Window.PartKernel=true"},
		{conv, nil, set(ethosu.SetKernelStride, 1<<6, 0), "IFM.W=16 Window.InW=16 Window.StrideX=3"},
		{conv, nil, set(ethosu.SetKernelStride, 1<<9, 0), "IFM.H=10 Window.InH=10 Window.StrideY=3"},
		{conv, list{wide}, set(ethosu.SetKernelStride, 1<<3, 0), "Window.DilationX=2 Window.W=3"},
		{conv, list{tall}, set(ethosu.SetKernelStride, 1<<4, 0), "Window.DilationY=2 Window.H=3"},
		{conv, list{set(ethosu.SetKernelWidthM1, 3, 0)}, set(ethosu.SetKernelStride, 1<<3, 0), "error kernel extent 0x3 is no multiple of the dilation"},
		{conv, list{set(ethosu.SetKernelHeightM1, 3, 0)}, set(ethosu.SetKernelStride, 1<<4, 0), "error kernel extent 3x0 is no multiple of the dilation"},
		{conv, list{set(ethosu.SetKernelWidthM1, 255, 0)}, set(ethosu.SetKernelHeightM1, 255, 0), "IFM.H=259 Window.ExtentH=256 Window.H=256 Window.InH=259"},
		{conv, list{set(ethosu.SetKernelWidthM1, 255, 0)}, set(ethosu.SetKernelHeightM1, 256, 0), "error kernel of 257x256 is too large"},
		{conv, nil, set(ethosu.SetIFMUpscale, 1, 0), "IFM.H=2 IFM.W=3 Window.Upscale=1"},
		{conv, list{tall}, set(ethosu.SetIFMUpscale, 2, 0), "IFM.H=4 IFM.W=3 Window.Upscale=2"},
		{conv, list{set(ethosu.SetKernelWidthM1, 1, 0)}, set(ethosu.SetIFMUpscale, 1, 0), "IFM.H=2 IFM.W=4 Window.Upscale=1"},
		{conv, nil, set(ethosu.SetIFMUpscale, 3, 0), "error reserved upscale mode 3"},
		{conv, nil, set(ethosu.SetIFMDepthM1, 30, 0), "IFM.C=31"},
		{depthwise, nil, set(ethosu.SetIFMDepthM1, 30, 0), ""},
		{pool, nil, set(ethosu.SetIFMDepthM1, 30, 0), ""},
		{sum, list{set(ethosu.SetOFMDepthM1, 0, 0)}, set(ethosu.SetIFMDepthM1, 30, 0), "IFM.C=31"},
		{sum, list{set(ethosu.SetOFMDepthM1, 0, 0)}, set(ethosu.SetOFMDepthM1, 1, 0), "error reduce_sum into 2 channels"},
		{conv, nil, set(ethosu.SetIFMPrecision, 1, 0), "IFM.Signed=true"},
		{conv, nil, set(ethosu.SetIFMPrecision, 4, 0), "IFM.ElemSize=2"},
		{conv, nil, set(ethosu.SetIFMPrecision, 8, 0), "error 32-bit input of a convolution"},
		{depthwise, nil, set(ethosu.SetIFMPrecision, 8, 0), "error 32-bit input of a convolution"},
		{pool, nil, set(ethosu.SetIFMPrecision, 8, 0), "IFM.ElemSize=4"},
		{conv, nil, set(ethosu.SetIFMPrecision, 12, 0), "error IFM: reserved precision 3"},
		{conv, nil, set(ethosu.SetIFMPrecision, 0x40, 0), "IFM.NHCWB16=true"},
		{conv, nil, set(ethosu.SetIFMPrecision, 0x80, 0), "error IFM: reserved layout 2"},
		{conv, nil, set(ethosu.SetIFMZeroPoint, 200, 0), "IFM.ZeroPoint=200"},
		{conv, list{set(ethosu.SetIFMPrecision, 1, 0)}, set(ethosu.SetIFMZeroPoint, 0xff80, 0), "IFM.ZeroPoint=-128"},
		{conv, nil, set(ethosu.SetIFMRegion, 5, 0), "IFM.Data=len_65531 IFM.Region=5"},
		{conv, nil, set(ethosu.SetIFMRegion, 0x8000, 0), "error IFM: custom DMA is not modelled"},
		{conv, nil, set(ethosu.SetIFMWidth0M1, 2, 0), "IFM.Width0=3"},
		{conv, nil, set(ethosu.SetIFMHeight0M1, 2, 0), "IFM.Height0=3"},
		{conv, nil, set(ethosu.SetIFMHeight1M1, 2, 0), "IFM.Height1=3"},
		{conv, nil, set(ethosu.SetIFMBase0, 0, 0x300), "IFM.Base[0]=768"},
		{conv, nil, set(ethosu.SetIFMBase3, 1, 0x300), "IFM.Base[3]=4294968064"},
		{conv, nil, set(ethosu.SetIFMStrideX, 0, 0x20), "IFM.StrideX=32"},
		{conv, nil, set(ethosu.SetIFMStrideY, 0, 0x20), "IFM.StrideY=32"},
		{conv, nil, set(ethosu.SetIFMStrideC, 0, 0x20), "IFM.StrideC=32"},
		{conv, nil, set(ethosu.SetOFMHeightM1, 2, 0), "IFM.H=3 OFM.H=3 Window.InH=3"},
		{conv, nil, set(ethosu.SetOFMWidthM1, 2, 0), "IFM.W=3 OFM.W=3 Window.InW=3"},
		{conv, nil, set(ethosu.SetOFMDepthM1, 2, 0), "OFM.C=3"},
		{conv, nil, set(ethosu.SetOFMDepthM1, 8, 0), "error scale records of core 0 need 90 bytes, SCALE_LENGTH is 80"},
		{pool, nil, set(ethosu.SetOFMDepthM1, 8, 0), "IFM.C=9 OFM.C=9"},
		{conv, nil, set(ethosu.SetOFMPrecision, 1, 0), "OFM.Signed=true Output.Max=127 Output.Signed=true"},
		{conv, nil, set(ethosu.SetOFMPrecision, 2, 0), "OFM.ElemSize=2 Output.ElemSize=2"},
		{conv, nil, set(ethosu.SetOFMPrecision, 4, 0), "OFM.ElemSize=4 Output.ElemSize=4 Output.Max=2147483647 Output.Min=-2147483648"},
		{conv, nil, set(ethosu.SetOFMPrecision, 0x100, 0), "Output.Global=true"},
		{conv, nil, set(ethosu.SetOFMPrecision, 0x8000, 0), "Output.Round=2"},
		{conv, nil, set(ethosu.SetOFMPrecision, 0xc000, 0), "error reserved rounding mode 3"},
		{conv, nil, set(ethosu.SetOFMZeroPoint, 7, 0), "OFM.ZeroPoint=7 Output.ZeroPoint=7"},
		{conv, list{set(ethosu.SetOFMPrecision, 4, 0)}, set(ethosu.SetOFMZeroPoint, 7, 0), "OFM.ZeroPoint=7"},
		{conv, list{set(ethosu.SetOFMPrecision, 4, 0), set(ethosu.SetActivation, 5<<12, 0)}, set(ethosu.SetOFMZeroPoint, 0xfff9, 0), "OFM.ZeroPoint=65529 Output.ZeroPoint=-7"},
		{conv, nil, set(ethosu.SetOFMScale, 9, 1<<31), "Output.Scale=2147483648 Output.Shift=9"},
		{conv, nil, set(ethosu.SetOFMScale, 64, 3), "Output.Scale=3"},
		{conv, nil, set(ethosu.SetActivationMin, 20, 0), "Output.Min=20"},
		{conv, nil, set(ethosu.SetActivationMax, 20, 0), "Output.Max=20"},
		{conv, nil, set(ethosu.SetActivationMin, 0xfff0, 0), ""},
		{conv, list{set(ethosu.SetActivationMin, 30, 0)}, set(ethosu.SetActivationMax, 20, 0), "Output.Max=20 Output.Min=20"},
		{conv, list{set(ethosu.SetActivationMin, 0x8000, 0), set(ethosu.SetActivationMax, 0x7fff, 0)}, set(ethosu.SetActivation, 3<<12, 0), "Output.Max=127 Output.Min=-128"},
		{conv, list{set(ethosu.SetActivationMin, 0x8000, 0), set(ethosu.SetActivationMax, 0x7fff, 0)}, set(ethosu.SetActivation, 2<<12, 0), ""},
		{conv, list{set(ethosu.SetActivationMin, 0x8000, 0), set(ethosu.SetActivationMax, 0x7fff, 0)}, set(ethosu.SetActivation, 5<<12, 0), "Output.Max=32767 Output.Min=-32768"},
		{conv, nil, set(ethosu.SetActivation, 4<<12, 0), "error reserved clip range 4"},
		{conv, nil, set(ethosu.SetActivation, 9, 0), "error reserved activation 9"},
		{conv, nil, set(ethosu.SetActivation, 24, 0), "error reserved activation 24"},
		{conv, nil, set(ethosu.SetActivation, ethosu.ActTanh, 0), "error tanh or sigmoid with 8-bit output"},
		{conv, list{set(ethosu.SetOFMPrecision, 2, 0), set(ethosu.SetOFMZeroPoint, 3, 0)}, set(ethosu.SetActivation, ethosu.ActTanh, 0),
			"Output.Activation=3 Output.Max=9223372036854775807 Output.Min=-9223372036854775808 Output.ZeroPoint=0"},
		{conv, nil, set(ethosu.SetActivation, 23, 0), "Output.Activation=23 Output.Table=len_256"},
		{conv, list{set(ethosu.SetOFMPrecision, 1, 0)}, set(ethosu.SetActivation, 16, 0), "Output.Activation=16 Output.Table=len_256 Output.TableBias=128"},
		{conv, list{set(ethosu.SetOFMPrecision, 2, 0)}, set(ethosu.SetActivation, 16, 0), "Output.Activation=16 Output.Table=len_2048"},
		{conv, list{set(ethosu.SetOFMPrecision, 2, 0)}, set(ethosu.SetActivation, 17, 0), "error lookup table of 2048 bytes at slot 1"},
		{conv, list{set(ethosu.SetOFMPrecision, 4, 0), set(ethosu.SetActivation, 3<<12, 0)}, set(ethosu.SetActivation, 3<<12|20, 0), "Output.Activation=20 Output.Table=len_1024 Output.TableBias=128"},
		{conv, list{set(ethosu.SetOFMPrecision, 4, 0)}, set(ethosu.SetActivation, 3<<12|21, 0), "error lookup table of 1024 bytes at slot 5"},
		{conv, list{set(ethosu.SetOFMPrecision, 4, 0)}, set(ethosu.SetActivation, 16, 0), "error 32-bit lookup table with clip range 0"},
		{conv, nil, set(ethosu.SetAccFormat, 1, 0), "Acc40=true"},
		{conv, nil, set(ethosu.SetAccFormat, 2, 0), "error accumulator format 2 is not supported"},
		{conv, nil, set(ethosu.SetOFMBlkHeightM1, 31, 0), "BlockH=32"},
		{conv, nil, set(ethosu.SetOFMBlkWidthM1, 63, 0), "BlockW=64"},
		{conv, nil, set(ethosu.SetOFMBlkDepthM1, 127, 0), "BlockD=128"},
		{conv, nil, set(ethosu.SetBlockDep, 3, 0), "BlockDep=3"},
		{conv, nil, set(ethosu.SetIFMIBEnd, 14, 0), "IBEnd=14"},
		{conv, nil, set(ethosu.SetABStart, 30, 0), "ABStart=30"},
		{conv, nil, set(ethosu.SetWeightRegion, 3, 0), "WeightData=len_65533 WeightRegion=3"},
		{conv, nil, set(ethosu.SetScaleRegion, 4, 0), "ScaleData=len_65532 ScaleRegion=4"},
		{conv, nil, set(ethosu.SetWeightBase, 0, 0x20), "Weights[0].Base=32"},
		{conv, nil, set(ethosu.SetWeightBase, 0, 0x10000), "Weights[0].Base=65536"},
		{conv, nil, set(ethosu.SetWeightBase, 0, 0x10010), "error weight stream [0x10010,0x10010) outside its region of 0x10000 bytes"},
		{conv, nil, set(ethosu.SetWeightBase, 0, 0x28), "error weight stream at 0x28 of 0x0 bytes: not aligned to 16 bytes"},
		{conv, nil, set(ethosu.SetWeightLength, 0, 0x28), "error weight stream at 0x0 of 0x28 bytes: not aligned to 16 bytes"},
		{conv, nil, set(ethosu.SetWeightLength, 0, 0x10000), "Weights[0].Length=65536"},
		{conv, nil, set(ethosu.SetWeightLength, 0, 0x10010), "error weight stream [0x0,0x10010) outside its region of 0x10000 bytes"},
		{conv, nil, set(ethosu.SetScaleBase, 0, 0x28), "Scales[0].Base=40"},
		{conv, nil, set(ethosu.SetScaleBase, 0, 0xffb1), "error scale records [0xffb1,0x10001) outside its region of 0x10000 bytes"},
		{conv, nil, set(ethosu.SetParallelMode, 2, 0), "error reserved parallel mode 2"},
		{conv, list{set(ethosu.SetScale1Length, 0, 40)}, set(ethosu.SetParallelMode, 1, 0), "Cores=2 Scales[1].Length=40"},
		{conv, nil, set(ethosu.SetParallelMode, 1, 0), "error scale records of core 1 need 40 bytes, SCALE_LENGTH is 0"},
		{conv, list{set(ethosu.SetScale1Length, 0, 40), set(ethosu.SetParallelMode, 1, 0)}, set(ethosu.SetWeight1Base, 0, 48), "Weights[1].Base=48"},
		{conv, list{set(ethosu.SetScale1Length, 0, 40), set(ethosu.SetParallelMode, 1, 0)}, set(ethosu.SetWeight1Length, 0, 48), "Weights[1].Length=48"},
		{conv, list{set(ethosu.SetScale1Length, 0, 40), set(ethosu.SetParallelMode, 1, 0)}, set(ethosu.SetScale1Base, 0, 48), "Scales[1].Base=48"},
		{elt, nil, set(ethosu.SetIFMPrecision, 0x100, 0), "ScaleMode=1"},
		{elt, nil, set(ethosu.SetIFMPrecision, 0x200, 0), "ScaleMode=2"},
		{elt, nil, set(ethosu.SetIFMPrecision, 0x300, 0), "error reserved scale mode 3"},
		{elt, nil, set(ethosu.SetOPAScale, 5, 77), "OPAScale=77 OPAShift=5"},
		{elt, nil, set(ethosu.SetOPBScale, 0, 77), "OPBScale=77"},
		{elt, nil, set(ethosu.SetIFM2Broadcast, 1, 0), "IFM2.H=1"},
		{elt, nil, set(ethosu.SetIFM2Broadcast, 2, 0), "IFM2.W=1"},
		{elt, nil, set(ethosu.SetIFM2Broadcast, 4, 0), "IFM2.C=1"},
		{elt, nil, set(ethosu.SetIFM2Broadcast, 64, 0), "Swap=true"},
		{elt, nil, set(ethosu.SetIFM2Broadcast, 128, 0), "HasIFM2=false IFM2.C=0 IFM2.H=0 IFM2.W=0"},
		{elt, list{set(ethosu.SetIFM2Broadcast, 128, 0)}, set(ethosu.SetIFM2Scalar, 0xfff0, 0), "Scalar=65520"},
		{elt, list{set(ethosu.SetIFM2Broadcast, 128, 0), set(ethosu.SetIFM2Precision, 1, 0)}, set(ethosu.SetIFM2Scalar, 0xfff0, 0), "Scalar=-16"},
		{elt, list{set(ethosu.SetIFM2Broadcast, 128, 0)}, set(ethosu.SetIFM2ZeroPoint, 3, 0), "IFM2.ZeroPoint=3 Scalar=-3"},
		{elt, nil, set(ethosu.SetIFM2Region, 6, 0), "IFM2.Data=len_65530 IFM2.Region=6"},
		{elt, nil, set(ethosu.SetIFM2Precision, 12, 0), "error IFM2: reserved precision 3"},
		{elt, nil, set(ethosu.SetIFM2Base0, 0, 0x20000), "error IFM2 tile 0 ends at 0x20008, region 0 has 0x10000 bytes"},
		{abs, nil, set(ethosu.SetIFM2Region, 6, 0), ""},
		{abs, nil, set(ethosu.SetOFMHeightM1, 9, 0), "IFM.H=10 OFM.H=10"},
		{conv, nil, set(ethosu.SetOFMBase0, 0, 0x10000), "error OFM tile 0 ends at 0x10008, region 0 has 0x10000 bytes"},
		{conv, nil, set(ethosu.SetOFMBase0, 0, 0xfff8), "OFM.Base[0]=65528"},
		{conv, list{set(ethosu.SetOFMPrecision, 2, 0)}, set(ethosu.SetOFMBase0, 0, 1), "error OFM tile 0 at 0x1, row stride 0x0: not aligned to 2 bytes"},
		{conv, list{set(ethosu.SetOFMPrecision, 2, 0)}, set(ethosu.SetOFMStrideY, 0, 1), "error OFM tile 0 at 0x0, row stride 0x1: not aligned to 2 bytes"},
		{conv, list{set(ethosu.SetOFMPrecision, 0x40, 0)}, set(ethosu.SetOFMBase0, 0, 8), "error OFM tile 0 at 0x8, row stride 0x0: not aligned to 16 bytes"},
		{pool, list{set(ethosu.SetOFMPrecision, 0x40, 0), set(ethosu.SetOFMDepthM1, 16, 0)}, set(ethosu.SetOFMStrideC, 0, 8), "error OFM tile 0 at 0x0, row stride 0x0: not aligned to 16 bytes"},
		{pool, list{set(ethosu.SetOFMPrecision, 0x40, 0), set(ethosu.SetOFMDepthM1, 15, 0)}, set(ethosu.SetOFMStrideC, 0, 8), "OFM.StrideC=8"},
		{conv, list{set(ethosu.SetOFMWidthM1, 0xffff, 0)}, set(ethosu.SetOFMHeightM1, 64, 0), "error OFM of 65x65536x8 elements is too large"},
		{ethosu.Command{Code: ethosu.OpPool, Param: 3}, nil, set(ethosu.SetBlockDep, 3, 0), "error reserved pooling mode 3"},
		{ethosu.Command{Code: ethosu.OpElementwise, Param: ethosu.NumElt}, nil, set(ethosu.SetBlockDep, 3, 0), "error reserved elementwise mode 10"},
	} {
		before, _ := read(c.op, c.before...)
		after, err := read(c.op, append(slices.Clone(c.before), c.set)...)
		var changes []string
		for k, v := range after {
			if before[k] != v {
				changes = append(changes, strings.ReplaceAll(k[1:]+"="+v, " ", "_"))
			}
		}
		slices.Sort(changes)
		got := strings.Join(changes, " ")
		if err != nil {
			got = "error " + err.Error()
		}
		if got != c.want {
			t.Errorf("%v %d %#x, %v: %s, want %s", c.op.Code, c.set.Param, c.set.Payload, c.set.Code, got, c.want)
		}
	}
	var o state.Op
	m := &state.Machine{}
	m.Registers.Set(set(ethosu.SetParallelMode, 1, 0))
	if err := Op(&o, m, pool, &state.Regions{make([]byte, 16)}, 1); err == nil || err.Error() != "parallel mode needs two cores, the machine has one" {
		t.Errorf("two cores of one: %v", err)
	}
}
