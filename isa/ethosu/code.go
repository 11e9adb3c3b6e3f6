package ethosu

// Code names a command: bits 9:0 of its first word, with bit 14 set for the
// commands that carry a second word (cmd1).
type Code uint16

// payloadBit marks commands that carry a payload word.
const payloadBit = 0x4000

// HasPayload reports whether a second word follows the command.
func (c Code) HasPayload() bool { return c&payloadBit != 0 }

// Operations.
const (
	OpStop        Code = 0x000
	OpIRQ         Code = 0x001
	OpConv        Code = 0x002
	OpDepthwise   Code = 0x003
	OpPool        Code = 0x005
	OpElementwise Code = 0x006
	OpDMAStart    Code = 0x010
	OpDMAWait     Code = 0x011
	OpKernelWait  Code = 0x012
	OpPMUMask     Code = 0x013
)

// Registers with a 16-bit value.
const (
	SetIFMPadTop      Code = 0x100
	SetIFMPadLeft     Code = 0x101
	SetIFMPadRight    Code = 0x102
	SetIFMPadBottom   Code = 0x103
	SetIFMDepthM1     Code = 0x104
	SetIFMPrecision   Code = 0x105
	SetIFMUpscale     Code = 0x107
	SetIFMZeroPoint   Code = 0x109
	SetIFMWidth0M1    Code = 0x10A
	SetIFMHeight0M1   Code = 0x10B
	SetIFMHeight1M1   Code = 0x10C
	SetIFMIBEnd       Code = 0x10D
	SetIFMRegion      Code = 0x10F
	SetOFMWidthM1     Code = 0x111
	SetOFMHeightM1    Code = 0x112
	SetOFMDepthM1     Code = 0x113
	SetOFMPrecision   Code = 0x114
	SetOFMBlkWidthM1  Code = 0x115
	SetOFMBlkHeightM1 Code = 0x116
	SetOFMBlkDepthM1  Code = 0x117
	SetOFMZeroPoint   Code = 0x118
	SetOFMWidth0M1    Code = 0x11A
	SetOFMHeight0M1   Code = 0x11B
	SetOFMHeight1M1   Code = 0x11C
	SetOFMRegion      Code = 0x11F
	SetKernelWidthM1  Code = 0x120
	SetKernelHeightM1 Code = 0x121
	SetKernelStride   Code = 0x122
	SetParallelMode   Code = 0x123
	SetAccFormat      Code = 0x124
	SetActivation     Code = 0x125
	SetActivationMin  Code = 0x126
	SetActivationMax  Code = 0x127
	SetWeightRegion   Code = 0x128
	SetScaleRegion    Code = 0x129
	SetABStart        Code = 0x12D
	SetBlockDep       Code = 0x12F
	SetDMA0SrcRegion  Code = 0x130
	SetDMA0DstRegion  Code = 0x131
	SetDMA0Size0      Code = 0x132
	SetDMA0Size1      Code = 0x133
	SetIFM2Broadcast  Code = 0x180
	SetIFM2Scalar     Code = 0x181
	SetIFM2Precision  Code = 0x185
	SetIFM2ZeroPoint  Code = 0x189
	SetIFM2Width0M1   Code = 0x18A
	SetIFM2Height0M1  Code = 0x18B
	SetIFM2Height1M1  Code = 0x18C
	SetIFM2IBStart    Code = 0x18D
	SetIFM2Region     Code = 0x18F
)

// Registers with a 32-bit value (40-bit addresses on U55's successor: the
// upper byte is in the parameter).
const (
	SetIFMBase0      Code = 0x4000
	SetIFMBase1      Code = 0x4001
	SetIFMBase2      Code = 0x4002
	SetIFMBase3      Code = 0x4003
	SetIFMStrideX    Code = 0x4004
	SetIFMStrideY    Code = 0x4005
	SetIFMStrideC    Code = 0x4006
	SetOFMBase0      Code = 0x4010
	SetOFMBase1      Code = 0x4011
	SetOFMBase2      Code = 0x4012
	SetOFMBase3      Code = 0x4013
	SetOFMStrideX    Code = 0x4014
	SetOFMStrideY    Code = 0x4015
	SetOFMStrideC    Code = 0x4016
	SetWeightBase    Code = 0x4020
	SetWeightLength  Code = 0x4021
	SetScaleBase     Code = 0x4022
	SetScaleLength   Code = 0x4023
	SetOFMScale      Code = 0x4024
	SetOPAScale      Code = 0x4025
	SetOPBScale      Code = 0x4026
	SetDMA0Src       Code = 0x4030
	SetDMA0Dst       Code = 0x4031
	SetDMA0Len       Code = 0x4032
	SetDMA0Skip0     Code = 0x4033
	SetDMA0Skip1     Code = 0x4034
	SetIFM2Base0     Code = 0x4080
	SetIFM2Base1     Code = 0x4081
	SetIFM2Base2     Code = 0x4082
	SetIFM2Base3     Code = 0x4083
	SetIFM2StrideX   Code = 0x4084
	SetIFM2StrideY   Code = 0x4085
	SetIFM2StrideC   Code = 0x4086
	SetWeight1Base   Code = 0x4090
	SetWeight1Length Code = 0x4091
	SetScale1Base    Code = 0x4092
	SetScale1Length  Code = 0x4093
)

// Product is a member of the family. Streams differ in address width (32 bits
// on U55, 40 on U65) and in the registers only U65 has.
type Product uint8

// Products, numbered as in the configuration word of a driver payload.
const (
	U55 Product = 0
	U65 Product = 1
)

// String is the product name in upper case.
func (p Product) String() string {
	switch p {
	case U55:
		return "U55"
	case U65:
		return "U65"
	}
	return "?"
}
