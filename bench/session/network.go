package session

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// Network is a model with its inputs and, once Reference has computed them, the results of the reference CPU.
type Network struct {
	Model    *nn.Model
	Inputs   [][]byte // one of each input of the model, states among them
	Expected []compare.Tensor
	Noise    bool // the inputs are made up
}

// NewNetwork checks a model. Inputs are dense buffers, one for each input that is no state; nil are reproducible noise.
func NewNetwork(m *nn.Model, inputs [][]byte) (*Network, error) {
	if err := nnrt.Validate(m); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	noise := inputs == nil
	if noise {
		for _, i := range nnrt.NonStateInputs(m) {
			inputs = append(inputs, tensor.SyntheticInput(&m.Main, i, 0x9E3779B9^uint32(i)))
		}
	}
	all, err := nnrt.NewStates(m).Inputs(inputs)
	return &Network{Model: m, Inputs: all, Noise: noise}, err
}

// Reference computes the expected outputs once. What it cannot compute is an input that the network does not allow, such
// as an index beyond a table.
func (n *Network) Reference() (err error) {
	if n.Expected == nil {
		n.Expected, err = cpudriver.ReferenceTensors(n.Model, n.Inputs)
	}
	return err
}

// Compare judges the outputs of an execution against the reference's: see cpudriver.Compare.
func (n *Network) Compare(res *nnrt.Result) []compare.Result {
	return cpudriver.Compare(n.Model, n.Inputs, n.Expected, res.Tensors(n.Model))
}
