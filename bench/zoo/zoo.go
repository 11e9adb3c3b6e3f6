// Package zoo builds published networks by name, with their exact shapes and deterministic synthetic weights. Nothing
// is read from files; the same name builds the same bytes on every machine.
//
// A file holds a family of architectures. Batch normalization is folded into the convolutions, as in converted
// networks, except where an activation is in between. Parameters are weights and biases after folding;
// multiply-accumulates are those of convolutions and matrix products.
package zoo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// architecture adds a network to a builder, from inputs to outputs.
type architecture func(*builder.Builder)

// Network is a network that Build makes.
type Network struct {
	Name string
	// Published are the figures that the source of the architecture states.
	Published Figures
	format    builder.Format
	build     architecture
	perScale  bool // channels have their own weight scales
}

// Figures are published counts, in millions, printed with the digits of their
// source; "" where the source has none.
type Figures struct {
	Parameters string
	MACs       string
	// Source is the source of the figures, or else of the shapes.
	Source string
	// Normalized: Parameters has the four values per channel of batch normalization, of which folding keeps one.
	Normalized bool
	// PerElement is the count in MACs beside products: so many for each element of the output of a convolution, for
	// normalization and activation.
	PerElement int
}

// Counting is what the figures count beside weights, biases and products; "" for nothing.
func (f *Figures) Counting() string {
	var l []string
	if f.Normalized {
		l = append(l, "parameters of batch normalization before folding")
	}
	if f.PerElement > 0 {
		l = append(l, fmt.Sprintf("%d multiply-accumulates for normalization and activation of an element", f.PerElement))
	}
	return strings.Join(l, "; ")
}

// Type is the element type of the network's activations.
func (n *Network) Type() string {
	return builder.New(builder.Config{Format: n.format}).Type().String()
}

// Networks lists all networks by name.
func Networks() []*Network { return slices.Clone(all()) }

// Names lists the names of all networks, sorted.
func Names() []string {
	l := make([]string, len(all()))
	for i, n := range all() {
		l[i] = n.Name
	}
	return l
}

// Find returns the network of a name.
func Find(name string) (*Network, bool) {
	i, ok := slices.BinarySearchFunc(all(), name, func(n *Network, name string) int { return cmp.Compare(n.Name, name) })
	if !ok {
		return nil, false
	}
	return all()[i], true
}

// Build makes the network with all weights.
func (n *Network) Build() (*nn.Model, error) {
	b := n.builder(false)
	return b.Model(n.Name)
}

// Outline makes the network without the data of its weights, for counting, and
// counts its parameters. The model does not validate.
func (n *Network) Outline() (m *nn.Model, parameters int64, err error) {
	b := n.builder(true)
	m, err = b.Model(n.Name)
	return m, b.Parameters(), err
}

func (n *Network) builder(shapesOnly bool) *builder.Builder {
	b := builder.New(builder.Config{Format: n.format, ShapesOnly: shapesOnly, ChannelScales: n.perScale})
	n.build(b)
	return b
}

// Build makes the network of a name. An unknown name is an error that lists
// similar ones.
func Build(name string) (*nn.Model, error) {
	n, ok := Find(name)
	if !ok {
		return nil, fmt.Errorf("no network is called %q; similar: %s", name, strings.Join(Similar(name, 5), ", "))
	}
	return n.Build()
}

// MustBuild is Build for the name of a network that is known to exist; it
// panics on another one.
func MustBuild(name string) *nn.Model {
	m, err := Build(name)
	if err != nil {
		panic(err)
	}
	return m
}

// Similar lists the names of at most n networks that are closest to a name.
func Similar(name string, n int) []string {
	type candidate struct {
		name     string
		distance int
	}
	var l []candidate
	for _, x := range all() {
		l = append(l, candidate{x.Name, distance(letters(name), letters(x.Name))})
	}
	slices.SortStableFunc(l, func(x, y candidate) int { return cmp.Compare(x.distance, y.distance) })
	var names []string
	for _, c := range l[:min(n, len(l))] {
		names = append(names, c.name)
	}
	return names
}

// letters is a name without its separators: resnet50 is resnet_50.
func letters(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// maxCompared bounds the part of a name that distance looks at.
const maxCompared = 64

// distance counts the letters to change before a is the beginning of b, or all of it; of two names that begin
// alike the shorter is closer.
func distance(a, b string) int {
	a = a[:min(len(a), maxCompared)]
	best := len(a) + len(b)
	for n := range len(b) + 1 {
		best = min(best, edlib.LevenshteinDistance(a, b[:n]))
	}
	return best*maxCompared + max(0, len(b)-len(a))
}
