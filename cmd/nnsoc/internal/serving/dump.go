package serving

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/graphdump"
)

// maxFiles bounds the files of a record. Later requests are not recorded.
const maxFiles = 20_000

// recorder writes a driver's requests into a folder: model-N-before.dot, .json and, where the driver runs passes,
// model-N-after.dot, .json; request-N-model-M-input-I.npy and -output-I.npy, or .bin for types without a form in NumPy.
// It may be used from several goroutines.
type recorder struct {
	folder string
	warn   func(string)

	mu       sync.Mutex
	files    int
	models   int
	requests int
	failed   bool
}

// write writes a file, or reports once why no more are written.
func (d *recorder) write(name string, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed {
		return
	}
	err := error(nil)
	if d.files++; d.files > maxFiles {
		err = fmt.Errorf("%s has %d files", d.folder, maxFiles)
	} else {
		err = os.WriteFile(filepath.Join(d.folder, name), data, 0o600)
	}
	if err != nil {
		d.failed = true
		d.warn(fmt.Sprintf("--dump: no more is written: %v", err))
	}
}

// next is the number of the next model or request.
func (d *recorder) next(count *int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	*count++
	return *count
}

// modelRecord is a prepared model in a record.
type modelRecord struct {
	recorder *recorder
	number   int
	model    *nn.Model // nil: not known
}

// model records a model as received and as the passes of the driver left it.
func (d *recorder) model(device hal.Device, m *nn.Model) *modelRecord {
	x := &modelRecord{d, d.next(&d.models), m}
	if m == nil {
		return x
	}
	x.graph("before", m)
	passes, ok := hal.As[hal.PassPrinter](device)
	if !ok {
		return x
	}
	list, err := passes.Passes(m)
	if err != nil {
		return x // preparing has failed as well, or will
	}
	last := ""
	for _, p := range list {
		if p.Graph != "" {
			last = p.Graph
		}
	}
	if last == "" {
		return x
	}
	g, err := graph.Outline(last)
	if err != nil {
		d.warn(fmt.Sprintf("--dump: the graph of model %d behind the passes: %v", x.number, err))
		return x
	}
	x.graph("after", &nn.Model{Name: m.Name, Main: g.Subgraph, Referenced: m.Referenced, Extensions: m.Extensions})
	return x
}

// graph writes a model as a drawing and as JSON.
func (x *modelRecord) graph(when string, m *nn.Model) {
	name := fmt.Sprintf("model-%04d-%s", x.number, when)
	var dot bytes.Buffer
	if graphdump.Write(&dot, m.Name, m) == nil {
		x.recorder.write(name+".dot", dot.Bytes())
	}
	if text, err := json.MarshalIndent(graphOf(m), "", "  "); err == nil {
		x.recorder.write(name+".json", append(text, '\n'))
	}
}

// graphJSON is a main subgraph without the values of its constants.
type graphJSON struct {
	Name       string          `json:"name"`
	Operands   []operandJSON   `json:"operands"`
	Operations []operationJSON `json:"operations"`
	Inputs     []uint32        `json:"inputs"`
	Outputs    []uint32        `json:"outputs"`
}

type operandJSON struct {
	Type       string   `json:"type"`
	Lifetime   string   `json:"lifetime"`
	Dimensions []uint32 `json:"dimensions"`
	Scale      float32  `json:"scale,omitempty"`
	ZeroPoint  int32    `json:"zero_point,omitempty"`
	Bytes      int      `json:"constant_bytes,omitempty"`
}

type operationJSON struct {
	Type    string   `json:"type"`
	Inputs  []uint32 `json:"inputs"`
	Outputs []uint32 `json:"outputs"`
}

func graphOf(m *nn.Model) graphJSON {
	g := graphJSON{Name: m.Name, Inputs: m.Main.Inputs, Outputs: m.Main.Outputs}
	for i := range m.Main.Operands {
		o := &m.Main.Operands[i]
		g.Operands = append(g.Operands, operandJSON{o.Type.String(), o.Lifetime.String(), o.Dimensions, o.Scale, o.ZeroPoint, len(o.Data)})
	}
	for i := range m.Main.Operations {
		op := &m.Main.Operations[i]
		g.Operations = append(g.Operations, operationJSON{op.Type.String(), op.Inputs, op.Outputs})
	}
	return g
}

// request records the inputs of a request and returns its number.
func (x *modelRecord) request(r *hal.Request) int {
	if x == nil || r == nil {
		return 0
	}
	n := x.recorder.next(&x.recorder.requests)
	x.tensors(n, "input", r, r.Inputs, nil)
	return n
}

// recordOutputs records the outputs of a request.
func (x *modelRecord) recordOutputs(n int, r *hal.Request, res *hal.Result) {
	if x == nil || r == nil || res == nil {
		return
	}
	x.tensors(n, "output", r, r.Outputs, res.OutputDimensions)
}

// tensors writes arguments in memory of the client.
func (x *modelRecord) tensors(n int, what string, r *hal.Request, list []hal.RequestArgument, dims [][]uint32) {
	for i, a := range list {
		l := a.Location
		if a.HasNoValue || uint64(l.PoolIndex) >= uint64(len(r.Pools)) {
			continue
		}
		m := r.Pools[l.PoolIndex].Memory
		if m == nil || uint64(l.Offset)+uint64(l.Length) > uint64(len(m.Data)) {
			continue
		}
		name := fmt.Sprintf("request-%06d-model-%04d-%s-%d", n, x.number, what, i)
		data := m.Data[l.Offset:][:l.Length]
		if npy, ok := x.npy(what, i, a.Dimensions, dims, data); ok {
			x.recorder.write(name+".npy", npy)
		} else {
			x.recorder.write(name+".bin", data)
		}
	}
}

// npy is a tensor as NumPy stores it.
func (x *modelRecord) npy(what string, i int, given []uint32, reported [][]uint32, data []byte) ([]byte, bool) {
	if x.model == nil {
		return nil, false
	}
	operands := x.model.Main.Inputs
	if what == "output" {
		operands = x.model.Main.Outputs
	}
	if i >= len(operands) {
		return nil, false
	}
	o := &x.model.Main.Operands[operands[i]]
	dims := o.Dimensions
	if len(given) > 0 {
		dims = given
	}
	if i < len(reported) {
		dims = reported[i]
	}
	bytesOf := int64(o.Type.ElementBytes()) * nn.Elements(dims)
	if bytesOf < 0 || bytesOf > int64(len(data)) {
		return nil, false
	}
	var b bytes.Buffer
	if tensor.WriteNpy(&b, o.Type, dims, data[:bytesOf]) != nil {
		return nil, false
	}
	return b.Bytes(), true
}
