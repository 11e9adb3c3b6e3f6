package offline

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver"
	"github.com/nnsoc/nnsoc/importer/tflite/export"
	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
)

// Operands of an ethos-u operator in front of its inputs.
const (
	payload = iota
	constants
	scratch
	fastScratch
	fixedOperands
)

// typeUint8 is the format's type of these operands.
const typeUint8 = 3

// customOptions is Vela's options of its operators: a FlexBuffer of the byte 1.
var customOptions = []byte{1, 4, 1}

// write compiles the steps of the NPU and writes the file.
func (n *Network) write(d *npudriver.Device, m *nn.Model, steps []step, accelerator ethosu.Config) (err error) {
	defer try.Catch(&err)
	offsets, shared := assignOffsets(m, steps)
	var groups []export.Group
	own := map[uint32]int{} // offsets of tensors
	for i := range steps {
		s := &steps[i]
		if s.device != onNPU {
			groups = append(groups, export.Group{Operations: s.operations})
			continue
		}
		var at *npudriver.IOOffsets
		if offsets != nil {
			at = &npudriver.IOOffsets{Inputs: pick(offsets, s.part.Inputs), Outputs: pick(offsets, s.part.Outputs), Bytes: shared}
		}
		o := try.V(d.Operator(s.part.Model, at))
		for k, x := range s.part.Inputs {
			own[x] = o.Inputs[k]
		}
		for k, x := range s.part.Outputs {
			own[x] = o.Outputs[k]
		}
		p := ethosu.Payload{Release: ethosu.DefaultRelease, ID: ethosu.DefaultID, Config: accelerator, Commands: o.Commands}
		stream := try.V(p.Append(nil))
		if max(o.ArenaBytes, o.FastBytes) > vela.MaxArena {
			return fmt.Errorf("offline: working memory of %d and %d bytes, at most %d", o.ArenaBytes, o.FastBytes, vela.MaxArena)
		}
		groups = append(groups, export.Group{Name: vela.CustomCode, Options: customOptions, First: operands(len(n.Operators), stream, o), Inputs: s.part.Inputs, Outputs: s.part.Outputs})
		n.Operators = append(n.Operators, Operator{
			Operations: len(s.operations), CommandBytes: 4 * len(o.Commands), ConstantBytes: len(o.Constants), WeightBytes: o.WeightBytes,
			ArenaBytes: o.ArenaBytes, FastBytes: o.FastBytes,
		})
	}
	file, tensors := try.V2(export.Grouped(m, groups))
	file.Metadata = append(file.Metadata, tflitefile.Metadata{Name: "OfflineMemoryAllocation", Data: allocation(file, tensors, own)})
	n.File = file.Bytes()
	return nil
}

func pick(offsets map[uint32]int, operands []uint32) []int {
	list := make([]int, len(operands))
	for i, x := range operands {
		list[i] = offsets[x]
	}
	return list
}

// operands returns the tensors that operator number i has in front of its inputs.
func operands(i int, stream []byte, o *npudriver.Operator) []tflitefile.Tensor {
	c := o.Constants
	if len(c) == 0 {
		c = make([]byte, alignment) // a tensor without data would be an activation
	}
	fast := o.FastBytes
	if fast == 0 {
		fast = o.ArenaBytes // the same memory
	}
	bytes := func(what string, n int, data []byte) tflitefile.Tensor {
		return tflitefile.Tensor{Name: fmt.Sprintf("ethos_u_%d_%s", i, what), Type: typeUint8, Shape: []int32{int32(n)}, Data: data}
	}
	list := make([]tflitefile.Tensor, fixedOperands)
	list[payload] = bytes("command_stream", len(stream), stream)
	list[constants] = bytes("flash", len(c), c)
	list[scratch] = bytes("scratch", max(o.ArenaBytes, alignment), nil)
	list[fastScratch] = bytes("scratch_fast", max(fast, alignment), nil)
	return list
}

// allocation is the content of OfflineMemoryAllocation: version, subgraphs, tensors, and an offset in the arena of
// each, -1 for those elsewhere.
func allocation(file *tflitefile.Model, tensors map[uint32]int32, own map[uint32]int) []byte {
	list := file.Subgraphs[0].Tensors
	offsets := make([]int32, len(list))
	for i := range offsets {
		offsets[i] = -1
	}
	for x, at := range own {
		offsets[tensors[x]] = int32(at)
	}
	for _, o := range file.Subgraphs[0].Operators {
		if o.Custom == vela.CustomCode {
			offsets[o.Inputs[scratch]], offsets[o.Inputs[fastScratch]] = 0, 0
		}
	}
	data := binary.LittleEndian.AppendUint32(nil, 0)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(file.Subgraphs)))
	data = binary.LittleEndian.AppendUint32(data, uint32(len(list)))
	for _, at := range offsets {
		data = binary.LittleEndian.AppendUint32(data, uint32(at))
	}
	return data
}
