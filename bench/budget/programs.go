package budget

import (
	"fmt"
	"io"
	"strings"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/dsp/linux"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// programs are Hexagon programs by the work's name, in assembly: the core counts their cycles, qemu-hexagon runs the
// same bytes, and both must exit with the same status, a checksum of their results.
var programs = map[string][]string{
	"u8 GEMM 512^3, program":          {gemmText},
	"scalar programs":                 {crcText, sieveText, productText},
	"vectors stored in L2":            {storeText("{ vmem(r0++#1) = v0 ; nop }", 64)},
	"vectors copied in L2, unaligned": {storeText("{ v0 = vmemu(r1++#1) }\n{ vmemu(r0++#1) = v0 ; nop }", 64)},
	"vectors stored beyond L2":        {storeText("{ vmem(r0++#1) = v0 ; nop }", 8192)},
	"vectors copied beyond L2":        {storeText("{ v0 = vmem(r1++#1) ; vmem(r0++#1) = v0.new }", 8192)},
}

// codeBase is the address of code, after the page that a linker reserves for the ELF header.
const codeBase = 0x20000

// exit ends a program with the low seven bits of r10.
const exit = `
	{ r0 = and(r10,#127) ; r6 = #94 }
	{ trap0(#1) }
`

// fill writes r2 words from r0 on, each from the one before: x = 5x + 12345.
const fill = `
	{ loop0(2f,r2) ; r3 = ##12345 }
2:
	{ memw(r0++#4) = r3 ; r3 = mpyi(r3,#5) }
	{ r3 = add(r3,##12345) }:endloop0
`

// gemmText multiplies two matrices of 512 x 512 bytes in blocks of four rows and 64 columns. An iteration of the inner
// loop processes eight of the depth: 16 products of 32 times four bytes, two in each packet. Sums are 32 bits wide;
// rows are consecutive, of the other matrix for each four of the depth 64 columns.
const gemmText = `	.globl _start
_start:
	{ r0 = ##a ; r2 = ##131072 }` + fill + `
	{ r4 = ##a ; r10 = #0 ; r11 = #128 }
	{ v12 = vsplat(r10) }
row:
	{ r1 = ##w ; r12 = #8 }
	{ r6 = ##c }
column:
	{ r3 = r4 ; r17:16 = memd(r4+#0) ; v8 = vmem(r1++#1) ; v0 = vsplat(r10) }
	{ r19:18 = memd(r3+#512) ; v9 = vmem(r1++#1) ; v1 = v0 ; v2 = v0 }
	{ r21:20 = memd(r3+#1024) ; v10 = vmem(r1++#1) ; v3 = v0 ; v4 = v0 }
	{ r23:22 = memd(r3+#1536) ; v5 = v0 ; v6 = v0 ; loop0(1f,#64) }
	{ v7 = v0 }
1:
	{ v0.uw += vrmpy(v8.ub,r16.ub) ; v1.uw += vrmpy(v9.ub,r16.ub) ; v11 = vmem(r1++#1) ; r3 = add(r3,#8) }
	{ v2.uw += vrmpy(v8.ub,r18.ub) ; v3.uw += vrmpy(v9.ub,r18.ub) }
	{ v4.uw += vrmpy(v8.ub,r20.ub) ; v5.uw += vrmpy(v9.ub,r20.ub) }
	{ v6.uw += vrmpy(v8.ub,r22.ub) ; v7.uw += vrmpy(v9.ub,r22.ub) ; v8 = vmem(r1++#1) }
	{ v0.uw += vrmpy(v10.ub,r17.ub) ; v1.uw += vrmpy(v11.ub,r17.ub) ; v9 = vmem(r1++#1) ; r17:16 = memd(r3+#0) }
	{ v2.uw += vrmpy(v10.ub,r19.ub) ; v3.uw += vrmpy(v11.ub,r19.ub) ; r19:18 = memd(r3+#512) }
	{ v4.uw += vrmpy(v10.ub,r21.ub) ; v5.uw += vrmpy(v11.ub,r21.ub) ; r21:20 = memd(r3+#1024) }
	{ v6.uw += vrmpy(v10.ub,r23.ub) ; v7.uw += vrmpy(v11.ub,r23.ub) ; v10 = vmem(r1++#1) ; r23:22 = memd(r3+#1536) }:endloop0
	{ vmem(r6+#0) = v0 ; v12 = vxor(v12,v0) ; r1 = add(r1,#-384) }
	{ vmem(r6+#1) = v1 ; v12 = vxor(v12,v1) }
	{ vmem(r6+#2) = v2 ; v12 = vxor(v12,v2) }
	{ vmem(r6+#3) = v3 ; v12 = vxor(v12,v3) ; r7 = add(r6,#512) }
	{ vmem(r7+#0) = v4 ; v12 = vxor(v12,v4) }
	{ vmem(r7+#1) = v5 ; v12 = vxor(v12,v5) }
	{ vmem(r7+#2) = v6 ; v12 = vxor(v12,v6) ; r6 = add(r6,#1024) }
	{ vmem(r7+#3) = v7 ; v12 = vxor(v12,v7) ; r12 = add(r12,#-1) }
	{ p0 = cmp.gt(r12,#0) ; if (p0.new) jump:t column }
	{ r4 = add(r4,#2048) ; r11 = add(r11,#-1) }
	{ p0 = cmp.gt(r11,#0) ; if (p0.new) jump:t row }
	{ r0 = ##c }
	{ vmem(r0+#0) = v12 }
	{ r10 = memw(r0+#0) ; r1 = memw(r0+#64) }
	{ r10 = xor(r10,r1) }` + exit + `
	.bss
	.p2align 12
a:	.space 262144
w:	.space 262144
	.space 2048
	.p2align 12
c:	.space 8192
`

// crcText is the CRC-32 of 128 KiB, bit by bit.
const crcText = `	.globl _start
_start:
	{ r0 = ##a ; r2 = ##32768 }` + fill + `
	{ r0 = ##a ; r10 = #-1 }
	{ r4 = ##131072 }
	{ r5 = ##0xedb88320 }
	{ loop1(3f,r4) }
3:
	{ r3 = memub(r0++#1) ; loop0(1f,#8) }
	{ r10 = xor(r10,r3) }
1:
	{ p0 = tstbit(r10,#0) ; r10 = lsr(r10,#1) }
	{ if (p0) r10 = xor(r10,r5) }:endloop0
	{ nop }
	{ nop }:endloop1` + exit + `
	.bss
	.p2align 12
a:	.space 131072
`

// sieveText counts the primes below 2^18.
const sieveText = `	.globl _start
_start:
	{ r8 = ##a ; r4 = #2 ; r10 = #0 }
	{ r7 = #1 ; r9 = ##262144 }
next:
	{ r0 = add(r8,r4) }
	{ r1 = memub(r0+#0) }
	{ p0 = cmp.eq(r1,#0) ; if (!p0.new) jump:nt over }
	{ r10 = add(r10,#1) ; r5 = add(r4,r4) }
	{ p0 = cmp.gtu(r9,r5) ; if (!p0.new) jump:nt over }
mark:
	{ r0 = add(r8,r5) ; r5 = add(r5,r4) }
	{ memb(r0+#0) = r7 ; p0 = cmp.gtu(r9,r5) }
	{ if (p0) jump:t mark }
over:
	{ r4 = add(r4,#1) }
	{ p0 = cmp.gtu(r9,r4) ; if (p0.new) jump:t next }` + exit + `
	.bss
	.p2align 12
a:	.space 262144
`

// productText multiplies two matrices of 96 x 96 words.
const productText = `	.globl _start
_start:
	{ r0 = ##a ; r2 = ##18432 }` + fill + `
	{ r4 = ##a ; r11 = #96 ; r10 = #0 }
row:
	{ r5 = ##b ; r12 = #96 }
column:
	{ r0 = r4 ; r1 = r5 ; r6 = #0 ; r7 = #0 }
	{ loop0(1f,#96) ; r2 = #0 }
1:
	{ r6 += mpyi(r2,r7) ; r2 = memw(r0++#4) ; r7 = memw(r1+#0) }
	{ r1 = add(r1,#384) }:endloop0
	{ r6 += mpyi(r2,r7) }
	{ r10 = xor(r10,r6) ; r5 = add(r5,#4) ; r12 = add(r12,#-1) }
	{ p0 = cmp.gt(r12,#0) ; if (p0.new) jump:t column }
	{ r4 = add(r4,#384) ; r11 = add(r11,#-1) }
	{ p0 = cmp.gt(r11,#0) ; if (p0.new) jump:t row }` + exit + `
	.bss
	.p2align 12
a:	.space 36864
b:	.space 36864
`

// stores is how many vectors storeText writes at least; whole passes make it a few more.
const stores = 1 << 18

// storeText writes vectors, in a buffer of so many KiB again and again. In the body r0 and r1 walk
// through a destination and a source.
func storeText(body string, kib int) string {
	passes := max(1, stores/(8*kib))
	return strings.NewReplacer("PASSES", fmt.Sprint(passes), "VECTORS", fmt.Sprint(8*kib), "BYTES", fmt.Sprint(kib<<10+256), "BODY", body).Replace(`	.globl _start
_start:
	{ r2 = ##PASSES }
pass:
	{ r0 = ##into ; r1 = ##from }
	{ r3 = ##VECTORS ; v0 = vsplat(r2) }
	{ r0 = add(r0,#3) ; loop0(1f,r3) }
1:
BODY:endloop0
	{ r2 = add(r2,#-1) }
	{ p0 = cmp.gt(r2,#0) ; if (p0.new) jump:t pass }
	{ r1 = ##into }
	{ r10 = memw(r1+#64) }` + exit + `
	.bss
	.p2align 12
into:	.space BYTES
from:	.space BYTES
`)
}

// assemble links a program into an executable.
func assemble(text string) ([]byte, error) {
	obj, err := asm.AssembleObject(text, asm.Options{Base: codeBase})
	if err != nil {
		return nil, err
	}
	return obj.ELF()
}

// core is the DSP of a SoC with its memory; every program begins with cold caches.
type core struct {
	*dsp.Core
	soc *soc.Config
}

func (b *bench) core() (*core, error) {
	spec, err := dsp.FromSoC(b.SoC, sim.FastSingleAnswer)
	if err != nil {
		return nil, err
	}
	c, err := dsp.New(spec)
	return &core{c, b.SoC}, err
}

// execute runs an executable as `nnsoc dsp exec` does and returns its exit status.
func (c *core) execute(executable []byte) (status int, rep *sim.Report, err error) {
	image, err := linux.LoadELF(executable)
	if err != nil {
		return 0, nil, err
	}
	memory, _, err := c.soc.NewPath("dsp", 0)
	if err != nil {
		return 0, nil, err
	}
	p := &linux.Process{Image: image, Args: []string{"budget"}, Stdout: io.Discard, Stderr: io.Discard}
	rep, err = linux.Exec(c.Core, []*linux.Process{p}, dsp.Options{Profile: &dsp.Profile{}, Memory: memory})
	return p.Status, rep, err
}

// program is a run of the programs of a name on the core, cycles counted.
func (b *bench) program(name string) (*meter, error) {
	core, err := b.core()
	if err != nil {
		return nil, err
	}
	var executables [][]byte
	for _, text := range programs[name] {
		x, err := assemble(text)
		if err != nil {
			return nil, err
		}
		executables = append(executables, x)
	}
	return timed(func() error {
		for _, x := range executables {
			if _, _, err := core.execute(x); err != nil {
				return err
			}
		}
		return nil
	}), nil
}
