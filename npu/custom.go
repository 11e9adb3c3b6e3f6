package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// CustomOp is the ethos-u operator of a model compiled by Vela, from the .tflite file.
type CustomOp struct {
	CommandStream []byte // operand 0: driver payload
	Flash         []byte // operand 1: weights, scales, tables: region 0
	ArenaBytes    int    // operand 2: region 1
	FastBytes     int    // operand 3: region 2; 0 shares the arena
}

// Compiled is a custom operator ready to run.
type Compiled struct {
	Program Program
	Config  ethosu.Config
	op      CustomOp
}

// maxArena bounds the request of a file.
const maxArena = 1 << 30

// Load parses the operator's driver payload.
func (op CustomOp) Load() (*Compiled, error) {
	p, err := ethosu.ReadPayload(op.CommandStream)
	if err != nil {
		return nil, fmt.Errorf("npu: custom operator: %w", err)
	}
	for _, n := range []int{op.ArenaBytes, op.FastBytes} {
		if n < 0 || n > maxArena {
			return nil, fmt.Errorf("npu: custom operator: arena of %d bytes", n)
		}
	}
	return &Compiled{Program: Program{Commands: p.Commands}, Config: p.Config, op: op}, nil
}

// Check reports whether a machine is the one the operator was compiled for, as
// the driver does before it starts a stream.
func (k *Compiled) Check(s *Spec) error {
	switch macs := 1 << k.Config.MACsLog2; {
	case k.Config.Product != s.Product:
		return fmt.Errorf("npu: compiled for %s, %s is %s", k.Config.Product, s.Name, s.Product)
	case macs != s.MACsPerCycle():
		return fmt.Errorf("npu: compiled for %d MACs per cycle, %s has %d", macs, s.Name, s.MACsPerCycle())
	case k.Config.Cores() != s.Cores:
		return fmt.Errorf("npu: compiled for %d cores, %s has %d", k.Config.Cores(), s.Name, s.Cores)
	case k.Config.ShramKiB<<10 != s.ShramBytes*s.Cores:
		return fmt.Errorf("npu: compiled for %d KiB of SHRAM, %s has %d", k.Config.ShramKiB, s.Name, s.ShramBytes*s.Cores>>10)
	}
	return nil
}

// Regions allocates the memory of an inference: region 1 is the arena, into
// which inputs are written and from which outputs are read.
func (k *Compiled) Regions() *Regions {
	var r Regions
	r[0] = append([]byte(nil), k.op.Flash...)
	r[1] = make([]byte, k.op.ArenaBytes)
	r[2] = r[1]
	if k.op.FastBytes > 0 {
		r[2] = make([]byte, k.op.FastBytes)
	}
	return &r
}
