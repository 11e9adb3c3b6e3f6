package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/guarded"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// Results of a random model.
const (
	graphSuccess           = "Success"
	graphFailedCompilation = "FailedCompilation"
	graphFailedExecution   = "FailedExecution"
	graphOtherCall         = "OtherNnApiCall"
	graphInvalid           = "InvalidModel"
	graphUnsupported       = "Unsupported"
)

func (t *test) randomLoad(c *Config) error      { return t.random(c, false) }
func (t *test) randomInference(c *Config) error { return t.random(c, true) }

// random compiles random models, and runs them if infer is set. Calls that fail are counted: only a crash or a hang is
// a failure.
func (t *test) random(c *Config, infer bool) error {
	counts := map[string]int{}
	random := rand.New(rand.NewPCG(t.request.Seed, uint64(t.request.Config)+1))
	end := time.Now().Add(c.Duration)
	for k := 0; k < c.Graphs && (k == 0 || time.Now().Before(end)); k++ {
		format := builder.Float32
		if k%2 == 1 {
			format = builder.Quant8
		}
		m, err := randomModel(random, format, c.Size, c.Range)
		counts[t.graph(m, err, infer)]++
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count.Graphs = counts
	return nil
}

// graph is the outcome of a random model on the device, with the CPU for unsupported operations.
func (t *test) graph(m *nn.Model, err error, infer bool) string {
	if err != nil || nnrt.Validate(m) != nil {
		return graphInvalid
	}
	d := t.registry.Devices()[1]
	support, err := guarded.SupportedOperations(d, m)
	if err != nil {
		return graphOtherCall
	}
	if !slices.ContainsFunc(support, func(s hal.Support) bool { return s.OK }) {
		return graphUnsupported
	}
	c, err := nnrt.Compile(t.registry, m, d.Name(), nnrt.CompileOptions{Partitioning: nnrt.WithoutFallback})
	if err != nil {
		return graphFailedCompilation
	}
	t.compilations.Add(1)
	if infer {
		var inputs [][]byte
		for i := range m.Main.Inputs {
			inputs = append(inputs, tensor.SyntheticInput(&m.Main, i, uint32(i)))
		}
		if _, err := c.Execute(inputs, nnrt.ExecuteOptions{Functional: true}); err != nil {
			return graphFailedExecution
		}
		t.inferences.Add(1)
	}
	return graphSuccess
}

// maxRandomElements bounds a tensor of a random model.
const maxRandomElements = 1 << 16

// randomModel draws a model of so many operations on tensors of one shape, whose
// dimensions are at most limit.
func randomModel(random *rand.Rand, format builder.Format, operations, limit int) (*nn.Model, error) {
	b := builder.New(builder.Config{Format: format})
	dims, elements := []uint32{1}, 1
	for range 3 {
		d := 1 + random.IntN(min(limit, maxRandomElements/elements))
		dims, elements = append(dims, uint32(d)), elements*d
	}
	values := []builder.Tensor{b.Values("x", dims...)}
	pick := func() builder.Tensor { return values[random.IntN(len(values))] }
	read := map[builder.Tensor]bool{}
	for range operations {
		x, y := pick(), pick()
		read[x] = true
		var z builder.Tensor
		switch k := random.IntN(8); {
		case k == 0:
			z = b.Mul(x, y)
			read[y] = true
		case k == 1:
			z = b.MaxPool(x, builder.Pool{Window: 3})
		case k == 2:
			z = b.AveragePool(x, builder.Pool{Window: 3})
		case k == 3:
			z = b.Depthwise(x, builder.Conv{Kernel: 3, Act: builder.ReLU})
		case k == 4 && dims[3] <= 64:
			z = b.Conv(x, builder.Conv{Out: dims[3], Kernel: 1, Act: builder.ReLU6})
		case k == 5:
			z = b.Activate(x, builder.ReLU)
		default:
			z = b.Add(x, y, builder.ReLU)
			read[y] = true
		}
		values = append(values, z)
	}
	for i, v := range values[1:] {
		if !read[v] {
			b.Output(v, fmt.Sprintf("y%d", i))
		}
	}
	return b.Model("random")
}
