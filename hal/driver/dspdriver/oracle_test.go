package dspdriver

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn"
)

// smallNetwork is two convolutions, a depthwise one and an average pool, with
// an input that exercises them.
func smallNetwork() (*nn.Model, []byte) {
	b := newBuilder(rand.New(rand.NewPCG(77, 1)))
	in := b.activation(nn.TensorQuant8Asymm, 1, 9, 9, 3)
	x := b.input(in)
	layer := func(op nn.OperationType, x uint32, c, k, size, stride int, out nn.Operand, last bool) uint32 {
		o := b.m.Main.Operands[x]
		dims, channelDim := []int{k, size, size, c}, 0
		if op == nn.OpDepthwiseConv2D {
			dims, channelDim = []int{1, size, size, k}, 3
		}
		f, bias := b.weights(o, dims, k, channelDim)
		terms := size * size * c
		if op == nn.OpDepthwiseConv2D {
			terms = size * size
		}
		out.Scale = outScale(b, o, terms)
		y := b.operand(out)
		if last {
			b.m.Main.Operands[y].Lifetime = nn.SubgraphOutput
			b.m.Main.Outputs = append(b.m.Main.Outputs, y)
		}
		args := []uint32{x, f, bias, b.int32(nn.PaddingSame), b.int32(stride), b.int32(stride)}
		if op == nn.OpDepthwiseConv2D {
			args = append(args, b.int32(1))
		}
		b.add(op, append(args, b.int32(int(nn.ActRelu6))), y)
		return y
	}
	y := layer(nn.OpConv2D, x, 3, 40, 3, 2, b.activation(in.Type, 1, 5, 5, 40), false)
	y = layer(nn.OpDepthwiseConv2D, y, 40, 40, 3, 1, b.activation(in.Type, 1, 5, 5, 40), false)
	layer(nn.OpConv2D, y, 40, 150, 1, 1, b.activation(in.Type, 1, 5, 5, 150), true)
	return &b.m, b.bytes(9 * 9 * 3)
}

// TestOraclePackets has llvm-mc assemble every distinct packet that lowering the
// networks and the corpus emits, and demands our words.
func TestOraclePackets(t *testing.T) {
	oracle.Need(t, "llvm-mc-19", "llvm-objcopy-19")
	d := device(t)
	seen := map[string]bool{}
	var packets []hexagon.Packet
	take := func(p hal.PreparedModel) {
		for _, k := range allKernels(p) {
			for _, q := range k.Packets {
				q.Addr = 0
				if s := q.Asm(); !seen[s] {
					seen[s] = true
					packets = append(packets, q)
				}
			}
		}
	}
	small, _ := smallNetwork()
	p, err := d.PrepareModel(small, hal.PrepareOptions{})
	require.NoError(t, err)
	take(p)
	for _, name := range testNetworks {
		m, _ := synthetic(t, name)
		if p, err = d.PrepareModel(m, hal.PrepareOptions{}); err != nil {
			t.Fatal(err)
		}
		take(p)
	}
	for _, name := range givenNetworks {
		if _, err := os.Stat(filepath.Join(shared.Dir(), "models", name)); err != nil {
			continue
		}
		m, _ := network(t, name)
		if p, err = d.PrepareModel(m, hal.PrepareOptions{}); err != nil {
			t.Fatal(err)
		}
		take(p)
	}
	eachCase(t, func(c *vectors.Case) {
		p, err := d.PrepareModel(c.Model, hal.PrepareOptions{})
		if err != nil {
			return
		}
		for _, programs := range compile.Programs(p) {
			if len(programs) == 0 { // lowered when it executes
				executeCase(t, p, c)
				break
			}
		}
		take(p)
	})
	var text strings.Builder
	var want []uint32
	for i := range packets {
		q := &packets[i]
		q.Addr = uint32(4 * len(want))
		fmt.Fprintln(&text, q.Asm())
		if want, err = q.Encode(want); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	src, obj, bin := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.bin")
	require.NoError(t, os.WriteFile(src, []byte(text.String()), 0o644))
	run(t, "llvm-mc-19", "-arch=hexagon", "-mcpu=hexagonv66", "-mattr=+hvxv66,+hvx-length128b,+zreg", "--mno-pairing", "--mno-compound",
		"-filetype=obj", "-o", obj, src)
	run(t, "llvm-objcopy-19", "-O", "binary", "-j", ".text", obj, bin)
	data := require.File(t, bin)
	if len(data) != 4*len(want) {
		t.Fatalf("llvm-mc made %d words of %d packets, we %d", len(data)/4, len(packets), len(want))
	}
	bad := 0
	for i := range packets {
		q := &packets[i]
		at := q.Addr / 4
		for w := range uint32(q.Words) {
			if got := binary.LittleEndian.Uint32(data[4*(at+w):]); got != want[at+w] {
				if bad++; bad < 10 {
					t.Errorf("word %d of %s: llvm-mc %08x, ours %08x", w, q.Asm(), got, want[at+w])
				}
				break
			}
		}
	}
	t.Logf("%d distinct packets", len(packets))
}

func executeCase(t *testing.T, p hal.PreparedModel, c *vectors.Case) {
	r := &hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Functional: true}}
	for _, v := range c.Inputs {
		r.Inputs = append(r.Inputs, v.Data)
	}
	for _, v := range c.Outputs {
		r.Outputs = append(r.Outputs, make([]byte, len(v.Data)))
	}
	require.Report(t, require.Err(hal.Execute(p, r)), c.Name)
}

func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%.2000s", name, err, stderr.String())
	}
	return out
}
