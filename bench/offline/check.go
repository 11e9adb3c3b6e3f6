package offline

import (
	"github.com/nnsoc/nnsoc/bench/inference"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// QuickWork is the Work that Check does in less than a second: MobileNet v1, of 579 million, takes 0.1 s of a 2.1 GHz Xeon.
const QuickWork = 1 << 32

// work is what Check computes of a model: multiply-accumulates, and elements that operations write.
func work(m *nn.Model) int64 {
	n := opspec.MACs(m)
	for _, o := range m.Main.Operations {
		for _, x := range o.Outputs {
			n += max(0, m.Main.Operands[x].Elements())
		}
	}
	return n
}

// Check reads the file, runs it on noise on the machine that it was compiled for, without times, and compares its outputs
// with what the reference CPU computes of the model. There is a result for each output.
func (n *Network) Check() ([]compare.Result, error) {
	m := n.model
	file, err := vela.Read(n.File)
	if err != nil {
		return nil, err
	}
	machine, err := inference.NewMachine(n.config, hal.FastSingleAnswer)
	if err != nil {
		return nil, err
	}
	session, err := inference.New(file, machine)
	if err != nil {
		return nil, err
	}
	var inputs [][]byte
	for i := range m.Main.Inputs {
		inputs = append(inputs, tensor.SyntheticInput(&m.Main, i, uint32(i+1)))
	}
	expected, err := cpudriver.ReferenceTensors(m, inputs)
	if err != nil {
		return nil, err
	}
	res, err := session.Run(inputs, inference.Options{Functional: true})
	if err != nil {
		return nil, err
	}
	actual := make([]compare.Tensor, len(res.Outputs))
	for i, o := range inference.Operands(file, file.Outputs) {
		actual[i] = compare.Tensor{Type: o.Type, Dimensions: o.Dimensions, Data: res.Outputs[i]}
	}
	return cpudriver.Compare(m, inputs, expected, actual), nil
}
