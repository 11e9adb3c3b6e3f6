// Command cacher compiles a small model for a device and saves it in files of a folder, or
// loads it from there. It prints the version of the driver.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/sim/soc"
)

var salt string // set by the linker

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(do, dir string) error {
	phone, err := soc.Load("pixel4")
	if err != nil {
		return err
	}
	list, err := devices.Open(phone, hal.FastSingleAnswer)
	if err != nil {
		return err
	}
	gpu := list[1]
	fmt.Println(gpu.Version())
	var files [2]*os.File
	for i := range files {
		if files[i], err = os.OpenFile(filepath.Join(dir, fmt.Sprint(i)), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return err
		}
	}
	c := hal.Cache{Model: []hal.CacheHandle{{files[0]}}, Data: []hal.CacheHandle{{files[1]}}, Token: hal.CacheToken{1}}
	if do == "load" {
		_, err = gpu.PrepareModelFromCache(nil, c)
		return err
	}
	b := builder.New(builder.Config{})
	x := b.Input(b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{4}}), salt)
	b.Output(b.Apply(nn.OpRelu, nn.TensorFloat32, builder.Quant{}, x), "y")
	m, err := b.Model("relu")
	if err != nil {
		return err
	}
	_, err = gpu.PrepareModel(m, hal.PrepareOptions{Cache: c})
	return err
}
