package base_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
)

// picky lowers everything and refuses everything by shapes and parameters.
type picky struct{}

func (picky) Passes() pass.Pipeline             { return pass.NewPipeline(pass.ResolveShapes) }
func (picky) Check(g *graph.Graph) base.Checker { return picky{} }
func (picky) Types(int) error                   { return nil }
func (picky) Lowers(int) error                  { return errors.New("RELU: 1 element, at most 0") }
func (picky) Defers(int) error                  { return errors.New("RELU: no shape") }

func (picky) Lower(*graph.Graph, hal.PrepareOptions) (base.Executable, error) {
	panic("lowers what the checker refuses")
}

// TestLowersIsAskedAgain: what a checker refuses is not lowered, although nobody asked which
// operations are supported.
func TestLowersIsAskedAgain(t *testing.T) {
	d := base.New(base.Config{Name: "toy"}, base.NewCompiler(picky{}))
	_, err := d.PrepareModel(relu(), hal.PrepareOptions{})
	if err == nil || !strings.Contains(err.Error(), "at most 0") {
		t.Errorf("%v", err)
	}
}

// lost is a lowering that panics where its passes are requested.
type lost struct{ picky }

func (lost) Passes() pass.Pipeline { panic("lost") }

// TestPassesPanic: a panic is named after the device and the call.
func TestPassesPanic(t *testing.T) {
	_, err := base.New(base.Config{Name: "toy"}, base.NewCompiler(lost{})).Passes(relu())
	if err == nil || !strings.HasPrefix(err.Error(), "toy") || !strings.Contains(err.Error(), "panic in Passes") {
		t.Error(err)
	}
}
