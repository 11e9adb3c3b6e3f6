package gpu

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// These tests run kernels that clang compiled from C and OpenCL C on the core,
// and compare with the same computation in Go.

const elfBase = 0x4000_0000

// compile builds a kernel file of the shared data into a code object and maps
// it.
func compile(t *testing.T, file string, wave int) (*elf.File, *mem.Space) {
	t.Helper()
	src := shared.Path(t, "rdna2", "k", file)
	for _, tool := range []string{"clang-19", "ld.lld-19"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("skipped: needs " + tool)
		}
	}
	obj, out := filepath.Join(t.TempDir(), "k.o"), filepath.Join(t.TempDir(), "k.co")
	args := []string{"-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-nogpulib", "-O3", "-mcode-object-version=5",
		"-Xclang", "-target-feature", "-Xclang", "+enable-flat-scratch", "-mllvm", "-amdgpu-sdwa-peephole=0", "-c", "-o", obj, src}
	if filepath.Ext(file) == ".cl" {
		args = append([]string{"-x", "cl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header"}, args...)
	} else {
		args = append([]string{"-x", "c", "-ffreestanding"}, args...)
	}
	if wave == 64 {
		args = append(args, "-mwavefrontsize64", "-DW64")
	}
	for _, c := range [][]string{append([]string{"clang-19"}, args...), {"ld.lld-19", "-shared", "--no-undefined", "-o", out, obj}} {
		if b, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, b)
		}
	}
	f := require.V(elf.Open(out))(t)
	t.Cleanup(func() { f.Close() })
	s := &mem.Space{}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Memsz == 0 {
			continue
		}
		b := make([]byte, p.Memsz)
		if _, err := p.ReadAt(b[:p.Filesz], 0); err != nil {
			t.Fatal(err)
		}
		require.NoError(t, s.Map(mem.Segment{Name: "elf", Base: elfBase + p.Vaddr, Data: b, ReadOnly: true}))
	}
	return f, s
}

// kernelIn finds a kernel by its descriptor symbol.
func kernelIn(t *testing.T, f *elf.File, s *mem.Space, name string) *Kernel {
	t.Helper()
	syms := require.V(f.DynamicSymbols())(t)
	for _, sym := range syms {
		if sym.Name != name+".kd" {
			continue
		}
		d := require.V(rdna2.ParseDescriptor(s.Bytes(elfBase+sym.Value, rdna2.DescriptorSize)))(t)
		entry := uint64(int64(elfBase+sym.Value) + d.Entry)
		code := s.Find(entry, 4)
		if code == nil {
			t.Fatalf("%s: entry %#x is not mapped", name, entry)
		}
		k := require.V(FromDescriptor(name, &d, code.Data, code.Base, entry))(t)
		return k
	}
	t.Fatalf("no kernel %s", name)
	return nil
}

// pack lays arguments out at their natural alignment, as the ABI has them.
func pack(vals ...any) []byte {
	var b []byte
	for _, v := range vals {
		n := binary.Size(v)
		for len(b)%n != 0 {
			b = append(b, 0)
		}
		b, _ = binary.Append(b, binary.LittleEndian, v)
	}
	return append(b, make([]byte, 256)...) // implicit arguments, unused
}

type compiled struct {
	file, name string
	grid, size [3]int
	// prepare fills memory and returns the arguments; check compares.
	prepare func(b []byte, r *rand.Rand) []byte
	check   func(b, was []byte) error
}

func addr(off int) uint64 { return dataBase + uint64(off) }

func floatAt(b []byte, i int) float32 { return math.Float32frombits(word(b, i)) }

func randomFloats(b []byte, from, n int, r *rand.Rand) {
	for i := range n {
		setFloat(b, from+i, float32(r.NormFloat64()))
	}
}

// near reports whether two floats are equal to a relative tolerance.
func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*(1+math.Abs(b)) }

var compiledKernels = []compiled{
	{"saxpy.c", "saxpy", [3]int{1000}, [3]int{64},
		func(b []byte, r *rand.Rand) []byte {
			randomFloats(b, 0, 2048, r)
			return pack(addr(0), addr(4096), float32(2.5), int32(1000))
		},
		func(b, was []byte) error {
			for i := range 1000 {
				x := float32(0)
				// The partial last group has lanes beyond n: they hold 0.
				if j := i&^63 + 63 - i&63; j < 1000 {
					x = floatAt(was, j)
				} else {
					continue
				}
				if want := fma32(2.5, x, floatAt(was, 1024+i)); floatAt(b, 1024+i) != want {
					return fmt.Errorf("y[%d] = %g, want %g", i, floatAt(b, 1024+i), want)
				}
			}
			return nil
		}},
	{"gemm_f32.cl", "gemm_f32", [3]int{2 * 256, 1}, [3]int{256},
		func(b []byte, r *rand.Rand) []byte {
			randomFloats(b, 0, 64*32+32*128, r)
			return pack(addr(0), addr(4*64*32), addr(4*(64*32+32*128)), int32(64), int32(128), int32(32))
		},
		func(b, was []byte) error {
			for i := range 64 {
				for j := range 128 {
					acc := float32(0)
					for k := range 32 {
						acc = fma32(floatAt(was, i*32+k), floatAt(was, 64*32+k*128+j), acc)
					}
					if got := floatAt(b, 64*32+32*128+i*128+j); got != acc {
						return fmt.Errorf("C[%d][%d] = %g, want %g", i, j, got, acc)
					}
				}
			}
			return nil
		}},
	{"elem.cl", "div_sqrt", [3]int{256}, [3]int{64},
		func(b []byte, r *rand.Rand) []byte {
			for i := range 512 {
				setFloat(b, i, float32(math.Abs(r.NormFloat64())*math.Ldexp(1, r.IntN(120)-60)))
			}
			// Quotients near overflow and below the normal range.
			setFloat(b, 0, 1e38)
			setFloat(b, 256, 1e-2)
			setFloat(b, 1, 1e-38)
			setFloat(b, 257, 1e3)
			setFloat(b, 2, 1)
			setFloat(b, 258, 3e38)
			return pack(addr(0), addr(1024))
		},
		func(b, was []byte) error {
			for i := range 256 {
				x, y := floatAt(was, i), floatAt(was, 256+i)
				want := float64(x/y) + math.Sqrt(float64(x))
				if got := float64(floatAt(b, i)); !near(got/want, 1, 4e-7) && got != float64(float32(want)) {
					return fmt.Errorf("%d: %g/%g + sqrt = %g, want %g", i, x, y, got, want)
				}
			}
			return nil
		}},
	{"elem.cl", "divmod", [3]int{256}, [3]int{64},
		func(b []byte, r *rand.Rand) []byte {
			for i := range 256 {
				setWord(b, i, r.Uint32()>>r.IntN(32))
			}
			setWord(b, 0, 1<<31)
			return pack(addr(0), addr(1024), int32(-7), int32(1013))
		},
		func(b, was []byte) error {
			for i := range 256 {
				v := int32(word(was, i))
				want := v/-7*1013 + v%-7 + int32(uint32(v)/1013)
				if got := int32(word(b, 256+i)); got != want {
					return fmt.Errorf("%d: %d, want %d", v, got, want)
				}
			}
			return nil
		}},
	{"elem.cl", "i64_sum", [3]int{64}, [3]int{64},
		func(b []byte, r *rand.Rand) []byte {
			for i := range 64 * 9 { // small enough for the sum not to overflow
				setWord(b, i, uint32(int32(r.Uint32())>>8))
			}
			return pack(addr(0), addr(4096), int32(9))
		},
		func(b, was []byte) error {
			for i := range 64 {
				s := int64(0)
				for j := range 9 {
					s += int64(int32(word(was, 9*i+j))) * int64(int32(word(was, j)))
				}
				if got := int64(binary.LittleEndian.Uint64(b[4096+8*i:])); got != s/9 {
					return fmt.Errorf("row %d: %d, want %d", i, got, s/9)
				}
			}
			return nil
		}},
	{"elem.cl", "f64_mean", [3]int{64}, [3]int{64},
		func(b []byte, r *rand.Rand) []byte {
			randomFloats(b, 0, 64*7, r)
			return pack(addr(0), addr(4096), int32(7))
		},
		func(b, was []byte) error {
			for i := range 64 {
				s := 0.0
				for j := range 7 {
					s += float64(floatAt(was, 7*i+j))
				}
				if got := math.Float64frombits(binary.LittleEndian.Uint64(b[4096+8*i:])); got != s/7 {
					return fmt.Errorf("row %d: %g, want %g", i, got, s/7)
				}
			}
			return nil
		}},
	{"elem.cl", "transpose", [3]int{64, 16}, [3]int{32, 8},
		func(b []byte, r *rand.Rand) []byte {
			randomFloats(b, 0, 64*64, r)
			return pack(addr(0), addr(4*64*64), int32(64), int32(64))
		},
		func(b, was []byte) error {
			for i := range 64 {
				for j := range 64 {
					if got, want := word(b, 64*64+j*64+i), word(was, i*64+j); got != want {
						return fmt.Errorf("y[%d][%d] = %#x, want %#x", j, i, got, want)
					}
				}
			}
			return nil
		}},
	{"elem.cl", "ew_f16", [3]int{512}, [3]int{256},
		func(b []byte, r *rand.Rand) []byte {
			for i := range 1024 {
				setWord(b, i, testValues(r)&0xBFFFBFFF)
			}
			return pack(addr(0), addr(2048), int32(500))
		},
		func(b, was []byte) error {
			for i := range 512 {
				want := word(was, i)
				if i < 500 {
					x, y := word(was, i), word(was, 512+i)
					part := func(x, y uint32) uint32 {
						a := half(math.FMA(halfOf(x), halfOf(y), 1))
						a = half(max(halfOf(a), halfOf(y)))
						a = half(min(halfOf(a), 6))
						return half(halfOf(a) - halfOf(y))
					}
					want = part(x, y) | part(x>>16, y>>16)<<16
				}
				if got := word(b, i); !sameLane("f16", got, want) && !sameLane("f16", got&0x7FFF7FFF, want&0x7FFF7FFF) {
					return fmt.Errorf("x[%d] = %#x, want %#x", i, got, want)
				}
			}
			return nil
		}},
	{"elem.cl", "add_q8", [3]int{128}, [3]int{64},
		func(b []byte, r *rand.Rand) []byte {
			for i := range 256 {
				setWord(b, i, r.Uint32())
			}
			return pack(addr(0), addr(512), addr(1024), int32(3), int32(-5), int32(7), float32(0.37), float32(0.61))
		},
		func(b, was []byte) error {
			for i := range 512 {
				x, y := float32(int8(was[i]))-3, float32(int8(was[512+i]))+5
				v := fma32(y, 0.61, x*0.37)
				want := min(max(int32(math.RoundToEven(float64(v)))+7, -128), 127)
				other := min(max(int32(math.RoundToEven(float64(fma32(x, 0.37, y*0.61))))+7, -128), 127)
				if got := int32(int8(b[1024+i])); got != want && got != other {
					return fmt.Errorf("%d: %d, want %d", i, got, want)
				}
			}
			return nil
		}},
	{"elem.cl", "bytes", [3]int{64}, [3]int{64},
		func(b []byte, r *rand.Rand) []byte {
			for i := range 512 {
				setWord(b, i, r.Uint32())
			}
			for i := range 64 {
				b[1024+2*i], b[1024+2*i+1] = byte(r.IntN(16)), 0
			}
			return pack(addr(0), addr(512), addr(1024), addr(1536))
		},
		func(b, was []byte) error {
			for i := range 64 {
				z := uint16(was[1024+2*i])
				y := uint16(uint32(was[3*i]) + 2*uint32(was[3*i+1]) + uint32(was[3*i+2])<<z)
				if got := binary.LittleEndian.Uint16(b[512+2*i:]); got != y {
					return fmt.Errorf("y[%d] = %#x, want %#x", i, got, y)
				}
				if got := binary.LittleEndian.Uint16(b[1536+2*i:]); got != z>>3 {
					return fmt.Errorf("w[%d] = %#x, want %#x", i, got, z>>3)
				}
			}
			return nil
		}},
	{"conv.cl", "conv3x3", [3]int{64, 6, 6}, [3]int{64},
		func(b []byte, r *rand.Rand) []byte {
			randomFloats(b, 0, 6*6*4+9*4*64+64, r)
			return pack(addr(0), addr(4*144), addr(4*(144+2304)), addr(4*(144+2304+64)), int32(6), int32(6), int32(4), int32(64), int32(1))
		},
		func(b, was []byte) error {
			for oy := range 6 {
				for ox := range 6 {
					for oc := range 64 {
						s := floatAt(was, 144+2304+oc)
						for k := range 9 {
							iy, ix := oy+k/3-1, ox+k%3-1
							if iy < 0 || iy >= 6 || ix < 0 || ix >= 6 {
								continue
							}
							for c := range 4 {
								s = fma32(floatAt(was, (iy*6+ix)*4+c), floatAt(was, 144+(k*4+c)*64+oc), s)
							}
						}
						want := min(max(s, 0), 6)
						if got := floatAt(b, 144+2304+64+(oy*6+ox)*64+oc); got != want {
							return fmt.Errorf("y[%d][%d][%d] = %g, want %g", oy, ox, oc, got, want)
						}
					}
				}
			}
			return nil
		}},
	{"conv.cl", "maxpool_u8", [3]int{64, 4, 4}, [3]int{64},
		func(b []byte, r *rand.Rand) []byte {
			for i := range 8 * 8 * 64 {
				setWord(b, i, r.Uint32())
			}
			return pack(addr(0), addr(8*8*256), int32(8), int32(64))
		},
		func(b, was []byte) error {
			for o := range 4 * 4 * 256 {
				y, x, c := o/1024, o/256%4, o%256
				at := func(i, j int) byte { return was[((2*y+i)*8+2*x+j)*256+c] }
				if got, want := b[8*8*256+o], max(at(0, 0), at(0, 1), at(1, 0), at(1, 1)); got != want {
					return fmt.Errorf("y[%d] = %d, want %d", o, got, want)
				}
			}
			return nil
		}},
}

func TestOracleCompiledKernels(t *testing.T) {
	oracle.Need(t)
	for _, c := range compiledKernels {
		for _, wave := range []int{32, 64} {
			t.Run(fmt.Sprintf("%s/wave%d", c.name, wave), func(t *testing.T) {
				f, s := compile(t, c.file, wave)
				k := kernelIn(t, f, s, c.name)
				if k.WaveSize != wave {
					t.Fatalf("wave size %d", k.WaveSize)
				}
				data := make([]byte, 1<<16)
				require.NoError(t, s.Map(mem.Segment{Name: "data", Base: dataBase, Data: data}))
				arguments := c.prepare(data, rand.New(rand.NewPCG(uint64(len(c.name)), 5)))
				was := bytes.Clone(data)
				var first []byte
				for _, functional := range []bool{true, false} {
					copy(data, was)
					core := newCore(t, nil)
					r := require.V(core.Run(s, []Dispatch{{Kernel: k, Grid: c.grid, Workgroup: c.size, Kernarg: arguments}}, Options{Functional: functional}))(t)
					require.NoError(t, c.check(data, was))
					if functional {
						first = bytes.Clone(data)
						continue
					}
					checkReport(t, r)
					if !bytes.Equal(first, data) {
						t.Error("timed and functional bytes differ")
					}
				}
			})
		}
	}
}
