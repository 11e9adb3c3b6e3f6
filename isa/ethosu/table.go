package ethosu

// Field is a bit field of a command's parameter word.
type Field struct {
	Name    string
	Lo      uint8 // lowest bit
	Bits    uint8
	Meaning string
}

// Class is the kind of register or operation of a command.
type Class uint8

// Command classes.
const (
	ClassOp      Class = iota // starts or waits for work
	ClassReg                  // 16-bit register
	ClassAddr                 // byte address or stride inside a region: 32 bits, 40 on U65
	ClassLength               // byte count
	ClassScale                // 32-bit multiplier in the payload, shift in the parameter
	ClassMulOnly              // 16-bit multiplier in the payload, parameter unused
)

var classNames = [...]string{"operation", "register", "address", "length", "scale", "multiplier"}

// String is the word used in the manual.
func (c Class) String() string { return classNames[c] }

// Form is one row of the command table.
type Form struct {
	Code    Code
	Name    string // the vendor's name without NPU_OP_ or NPU_SET_
	Class   Class
	U65Only bool
	Fields  []Field // of the parameter; empty when the whole parameter is the value
	Meaning string
}

// FullName is the name as Vela prints it, without the cmd0. or cmd1. prefix.
func (f *Form) FullName() string {
	if f.Class == ClassOp {
		return "NPU_OP_" + f.Name
	}
	return "NPU_SET_" + f.Name
}

func fullWord(bits uint8, meaning string) []Field {
	return []Field{{"value", 0, bits, meaning}}
}

var regionField = []Field{{"region", 0, 3, "base pointer 0..7"}}

// forms lists every command in code order.
var forms = []Form{
	{OpStop, "STOP", ClassOp, false, fullWord(16, "interrupt mask"), "end of stream; raises the interrupt"},
	{OpIRQ, "IRQ", ClassOp, false, fullWord(16, "interrupt mask"), "raise the interrupt and continue"},
	{OpConv, "CONV", ClassOp, false, nil, "convolution over all input channels"},
	{OpDepthwise, "DEPTHWISE", ClassOp, false, nil, "convolution of each channel by itself"},
	{OpPool, "POOL", ClassOp, false, []Field{{"mode", 0, 2, "0 max, 1 average, 2 reduce_sum"}}, "pooling"},
	{OpElementwise, "ELEMENTWISE", ClassOp, false,
		[]Field{{"mode", 0, 6, "0 MUL 1 ADD 2 SUB 3 MIN 4 MAX 5 LRELU 6 ABS 7 CLZ 8 SHR 9 SHL"}}, "elementwise operation"},
	{OpDMAStart, "DMA_START", ClassOp, false,
		[]Field{{"mode", 0, 4, "0"}, {"channel", 4, 4, "DMA channel, 0"}}, "start a memory copy"},
	{OpDMAWait, "DMA_WAIT", ClassOp, false, fullWord(4, "k"), "wait until at most k copies are outstanding"},
	{OpKernelWait, "KERNEL_WAIT", ClassOp, false, fullWord(2, "n"), "wait until at most n kernels are outstanding"},
	{OpPMUMask, "PMU_MASK", ClassOp, false, fullWord(1, "1 counts, 0 pauses"), "mask the performance counters"},

	{SetIFMPadTop, "IFM_PAD_TOP", ClassReg, false, fullWord(7, "rows"), "zero rows above the input"},
	{SetIFMPadLeft, "IFM_PAD_LEFT", ClassReg, false, fullWord(7, "columns"), "zero columns left of the input"},
	{SetIFMPadRight, "IFM_PAD_RIGHT", ClassReg, false, fullWord(8, "columns"), "zero columns right of the input"},
	{SetIFMPadBottom, "IFM_PAD_BOTTOM", ClassReg, false, fullWord(8, "rows"), "zero rows below the input"},
	{SetIFMDepthM1, "IFM_DEPTH_M1", ClassReg, false, fullWord(16, "channels - 1"), "input depth of CONV and reduce_sum"},
	{SetIFMPrecision, "IFM_PRECISION", ClassReg, false, []Field{
		{"signed", 0, 1, "1 signed"}, {"precision", 2, 2, "0 8-bit, 1 16-bit, 2 32-bit"},
		{"format", 6, 2, "0 NHWC, 1 NHCWB16"}, {"scale_mode", 8, 2, "0 OPA and OPB 16-bit, 1 OPA 32-bit, 2 OPB 32-bit"},
		{"round", 14, 2, "as OFM_PRECISION"}}, "input element type and layout"},
	{SetIFMUpscale, "IFM_UPSCALE", ClassReg, false, fullWord(2, "0 none, 1 nearest x2, 2 zeros x2"), "input upscaling"},
	{SetIFMZeroPoint, "IFM_ZERO_POINT", ClassReg, false, fullWord(16, "signed for signed types"), "input zero point"},
	{SetIFMWidth0M1, "IFM_WIDTH0_M1", ClassReg, false, fullWord(16, "columns - 1"), "width of tiles 0 and 2"},
	{SetIFMHeight0M1, "IFM_HEIGHT0_M1", ClassReg, false, fullWord(16, "rows - 1"), "height of tile 0"},
	{SetIFMHeight1M1, "IFM_HEIGHT1_M1", ClassReg, false, fullWord(16, "rows - 1"), "height of tile 1"},
	{SetIFMIBEnd, "IFM_IB_END", ClassReg, false, fullWord(6, "bank"), "end of the input buffer in SHRAM"},
	{SetIFMRegion, "IFM_REGION", ClassReg, false,
		[]Field{{"region", 0, 3, "base pointer 0..7"}, {"custom_dma", 15, 1, "external DMA"}}, "region of the input"},
	{SetOFMWidthM1, "OFM_WIDTH_M1", ClassReg, false, fullWord(16, "columns - 1"), "output width"},
	{SetOFMHeightM1, "OFM_HEIGHT_M1", ClassReg, false, fullWord(16, "rows - 1"), "output height"},
	{SetOFMDepthM1, "OFM_DEPTH_M1", ClassReg, false, fullWord(16, "channels - 1"), "output depth"},
	{SetOFMPrecision, "OFM_PRECISION", ClassReg, false, []Field{
		{"signed", 0, 1, "1 signed"}, {"precision", 1, 2, "0 8-bit, 1 16-bit, 2 32-bit"},
		{"format", 6, 2, "0 NHWC, 1 NHCWB16"}, {"scale_mode", 8, 1, "0 per-channel records, 1 OFM_SCALE"},
		{"round", 14, 2, "0 double (TFLite), 1 truncate, 2 natural"}}, "output element type, layout and rounding"},
	{SetOFMBlkWidthM1, "OFM_BLK_WIDTH_M1", ClassReg, false, fullWord(6, "columns - 1"), "block width"},
	{SetOFMBlkHeightM1, "OFM_BLK_HEIGHT_M1", ClassReg, false, fullWord(5, "rows - 1"), "block height"},
	{SetOFMBlkDepthM1, "OFM_BLK_DEPTH_M1", ClassReg, false, fullWord(7, "channels - 1"), "block depth; fixes the weight order"},
	{SetOFMZeroPoint, "OFM_ZERO_POINT", ClassReg, false, fullWord(16, "signed for signed types"), "output zero point"},
	{SetOFMWidth0M1, "OFM_WIDTH0_M1", ClassReg, false, fullWord(16, "columns - 1"), "width of tiles 0 and 2"},
	{SetOFMHeight0M1, "OFM_HEIGHT0_M1", ClassReg, false, fullWord(16, "rows - 1"), "height of tile 0"},
	{SetOFMHeight1M1, "OFM_HEIGHT1_M1", ClassReg, false, fullWord(16, "rows - 1"), "height of tile 1"},
	{SetOFMRegion, "OFM_REGION", ClassReg, false,
		[]Field{{"region", 0, 3, "base pointer 0..7"}, {"custom_dma", 15, 1, "external DMA"}}, "region of the output"},
	{SetKernelWidthM1, "KERNEL_WIDTH_M1", ClassReg, false, fullWord(16, "dilation * (width - 1)"), "kernel width, dilated"},
	{SetKernelHeightM1, "KERNEL_HEIGHT_M1", ClassReg, false, fullWord(16, "dilation * (height - 1)"), "kernel height, dilated"},
	{SetKernelStride, "KERNEL_STRIDE", ClassReg, false, []Field{
		{"stride_x_lsb", 0, 1, "(stride x - 1) bit 0"}, {"stride_y_lsb", 1, 1, "(stride y - 1) bit 0"},
		{"weight_order", 2, 1, "0 depth first, 1 part kernel first"},
		{"dilation_x", 3, 1, "1 = 2"}, {"dilation_y", 4, 1, "1 = 2"}, {"decomposition", 5, 1, "0 8x8, 1 4x4"},
		{"stride_x_msb", 6, 1, "(stride x - 1) bit 1"}, {"stride_y_msb", 9, 1, "(stride y - 1) bit 1"}},
		"stride, dilation, weight order"},
	{SetParallelMode, "PARALLEL_MODE", ClassReg, true, fullWord(1, "0 one core, 1 two cores by output depth"), "use of the cores"},
	{SetAccFormat, "ACC_FORMAT", ClassReg, false, fullWord(2, "0 int32, 1 int40, 2 fp16"), "accumulator format"},
	{SetActivation, "ACTIVATION", ClassReg, false, []Field{
		{"function", 0, 5, "0 clamp, 3 tanh, 4 sigmoid, 16..23 table 0..7"},
		{"clip", 12, 3, "0 output type, 2 uint8, 3 int8, 5 int16"}}, "activation"},
	{SetActivationMin, "ACTIVATION_MIN", ClassReg, false, fullWord(16, "signed"), "lower clamp, quantized"},
	{SetActivationMax, "ACTIVATION_MAX", ClassReg, false, fullWord(16, "signed"), "upper clamp, quantized"},
	{SetWeightRegion, "WEIGHT_REGION", ClassReg, false, regionField, "region of the weight streams"},
	{SetScaleRegion, "SCALE_REGION", ClassReg, false, regionField, "region of the bias/scale records"},
	{SetABStart, "AB_START", ClassReg, false, fullWord(6, "bank"), "start of the accumulators in SHRAM"},
	{SetBlockDep, "BLOCKDEP", ClassReg, false, fullWord(2, "blocks"), "block jobs that may overlap the previous kernel"},
	{SetDMA0SrcRegion, "DMA0_SRC_REGION", ClassReg, false, []Field{
		{"region", 0, 3, "base pointer 0..7"}, {"internal", 8, 1, "1 = SHRAM"},
		{"stride_mode", 9, 2, "0 1D, 1 2D, 2 3D (U65)"}}, "source of a copy"},
	{SetDMA0DstRegion, "DMA0_DST_REGION", ClassReg, false, []Field{
		{"region", 0, 3, "base pointer 0..7"}, {"internal", 8, 1, "1 = SHRAM"},
		{"stride_mode", 9, 2, "0 1D, 1 2D, 2 3D (U65)"}}, "destination of a copy"},
	{SetDMA0Size0, "DMA0_SIZE0", ClassReg, true, fullWord(16, "rows"), "rows of a 2D copy"},
	{SetDMA0Size1, "DMA0_SIZE1", ClassReg, true, fullWord(16, "planes"), "planes of a 3D copy"},
	{SetIFM2Broadcast, "IFM2_BROADCAST", ClassReg, false, []Field{
		{"h", 0, 1, "second input has one row"}, {"w", 1, 1, "one column"}, {"c", 2, 1, "one channel"},
		{"order", 6, 1, "1 = IFM2 is the first operand"}, {"scalar", 7, 1, "1 = IFM2_SCALAR is the second input"}},
		"broadcast of the second input"},
	{SetIFM2Scalar, "IFM2_SCALAR", ClassReg, false, fullWord(16, "quantized"), "scalar second input"},
	{SetIFM2Precision, "IFM2_PRECISION", ClassReg, false, []Field{
		{"signed", 0, 1, "1 signed"}, {"precision", 2, 2, "0 8-bit, 1 16-bit, 2 32-bit"},
		{"format", 6, 2, "0 NHWC, 1 NHCWB16"}}, "second input element type and layout"},
	{SetIFM2ZeroPoint, "IFM2_ZERO_POINT", ClassReg, false, fullWord(16, "signed for signed types"), "second input zero point"},
	{SetIFM2Width0M1, "IFM2_WIDTH0_M1", ClassReg, false, fullWord(16, "columns - 1"), "width of tiles 0 and 2"},
	{SetIFM2Height0M1, "IFM2_HEIGHT0_M1", ClassReg, false, fullWord(16, "rows - 1"), "height of tile 0"},
	{SetIFM2Height1M1, "IFM2_HEIGHT1_M1", ClassReg, false, fullWord(16, "rows - 1"), "height of tile 1"},
	{SetIFM2IBStart, "IFM2_IB_START", ClassReg, false, fullWord(6, "bank"), "start of the second input buffer in SHRAM"},
	{SetIFM2Region, "IFM2_REGION", ClassReg, false,
		[]Field{{"region", 0, 3, "base pointer 0..7"}, {"custom_dma", 15, 1, "external DMA"}}, "region of the second input"},

	{SetIFMBase0, "IFM_BASE0", ClassAddr, false, nil, "input tile 0 (top left)"},
	{SetIFMBase1, "IFM_BASE1", ClassAddr, false, nil, "input tile 1 (top right)"},
	{SetIFMBase2, "IFM_BASE2", ClassAddr, false, nil, "input tile 2 (bottom left)"},
	{SetIFMBase3, "IFM_BASE3", ClassAddr, false, nil, "input tile 3 (bottom right)"},
	{SetIFMStrideX, "IFM_STRIDE_X", ClassAddr, false, nil, "bytes between columns"},
	{SetIFMStrideY, "IFM_STRIDE_Y", ClassAddr, false, nil, "bytes between rows"},
	{SetIFMStrideC, "IFM_STRIDE_C", ClassAddr, false, nil, "bytes between 16-channel bricks"},
	{SetOFMBase0, "OFM_BASE0", ClassAddr, false, nil, "output tile 0 (top left)"},
	{SetOFMBase1, "OFM_BASE1", ClassAddr, false, nil, "output tile 1 (top right)"},
	{SetOFMBase2, "OFM_BASE2", ClassAddr, false, nil, "output tile 2 (bottom left)"},
	{SetOFMBase3, "OFM_BASE3", ClassAddr, false, nil, "output tile 3 (bottom right)"},
	{SetOFMStrideX, "OFM_STRIDE_X", ClassAddr, false, nil, "bytes between columns"},
	{SetOFMStrideY, "OFM_STRIDE_Y", ClassAddr, false, nil, "bytes between rows"},
	{SetOFMStrideC, "OFM_STRIDE_C", ClassAddr, false, nil, "bytes between 16-channel bricks"},
	{SetWeightBase, "WEIGHT_BASE", ClassAddr, false, nil, "weight stream of core 0"},
	{SetWeightLength, "WEIGHT_LENGTH", ClassLength, false, nil, "its bytes"},
	{SetScaleBase, "SCALE_BASE", ClassAddr, false, nil, "bias/scale records of core 0"},
	{SetScaleLength, "SCALE_LENGTH", ClassLength, false, nil, "their bytes (20 bits)"},
	{SetOFMScale, "OFM_SCALE", ClassScale, false, []Field{{"shift", 0, 6, "right shift"}}, "output scale"},
	{SetOPAScale, "OPA_SCALE", ClassScale, false, []Field{{"shift", 0, 6, "right shift"}}, "scale of the first operand"},
	{SetOPBScale, "OPB_SCALE", ClassMulOnly, false, nil, "scale of the second operand"},
	{SetDMA0Src, "DMA0_SRC", ClassAddr, false, nil, "copy from"},
	{SetDMA0Dst, "DMA0_DST", ClassAddr, false, nil, "copy to"},
	{SetDMA0Len, "DMA0_LEN", ClassAddr, false, nil, "bytes, or bytes of one row"},
	{SetDMA0Skip0, "DMA0_SKIP0", ClassAddr, true, nil, "bytes skipped between rows"},
	{SetDMA0Skip1, "DMA0_SKIP1", ClassAddr, true, nil, "bytes skipped between planes"},
	{SetIFM2Base0, "IFM2_BASE0", ClassAddr, false, nil, "second input tile 0 (top left)"},
	{SetIFM2Base1, "IFM2_BASE1", ClassAddr, false, nil, "second input tile 1 (top right)"},
	{SetIFM2Base2, "IFM2_BASE2", ClassAddr, false, nil, "second input tile 2 (bottom left)"},
	{SetIFM2Base3, "IFM2_BASE3", ClassAddr, false, nil, "second input tile 3 (bottom right)"},
	{SetIFM2StrideX, "IFM2_STRIDE_X", ClassAddr, false, nil, "bytes between columns"},
	{SetIFM2StrideY, "IFM2_STRIDE_Y", ClassAddr, false, nil, "bytes between rows"},
	{SetIFM2StrideC, "IFM2_STRIDE_C", ClassAddr, false, nil, "bytes between 16-channel bricks"},
	{SetWeight1Base, "WEIGHT1_BASE", ClassAddr, true, nil, "weight stream of core 1"},
	{SetWeight1Length, "WEIGHT1_LENGTH", ClassLength, true, nil, "its bytes; 0 = core 1 idle"},
	{SetScale1Base, "SCALE1_BASE", ClassAddr, true, nil, "bias/scale records of core 1"},
	{SetScale1Length, "SCALE1_LENGTH", ClassLength, true, nil, "their bytes"},
}

// NumSlots bounds Code.Slot.
const NumSlots = 0x190 + 0x94

// Slot is a dense index of a known command, for register files and tables.
func (c Code) Slot() int {
	if c&payloadBit != 0 {
		return 0x190 + int(c&^payloadBit)
	}
	return int(c)
}

// slots maps Slot to an index of forms plus 1. It is written once, here.
var slots = func() (t [NumSlots]uint8) {
	for i := range forms {
		t[forms[i].Code.Slot()] = uint8(i + 1)
	}
	return
}()

// Lookup is the table row of a command, nil when there is none.
func Lookup(c Code) *Form {
	n := int(c &^ payloadBit)
	if c&payloadBit != 0 {
		if n >= NumSlots-0x190 {
			return nil
		}
		n += 0x190
	} else if n >= 0x190 {
		return nil
	}
	if s := slots[n]; s != 0 {
		return &forms[s-1]
	}
	return nil
}

// Forms is the number of commands; Row is the i-th of them in code order.
func Forms() int { return len(forms) }

// Row is the i-th row of the command table.
func Row(i int) *Form { return &forms[i] }

// String is the vendor's full name.
func (c Code) String() string {
	if f := Lookup(c); f != nil {
		return f.FullName()
	}
	return "NPU_UNKNOWN"
}
