package engine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/rdna2/asm"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

func newGPUAsm(a *cli.App) *cobra.Command {
	var f assembler
	cmd := &cobra.Command{
		Use:   "asm FILE.s",
		Short: "assemble RDNA2 source in LLVM's syntax into a code object",
		Long: `asm assembles source for gfx1030 in LLVM's syntax: the output of clang -S for
amdgcn-amd-amdhsa, or hand-written code. It supports labels, sections, data, symbols
and expressions, .macro, .rept, .irp and .if, kernel descriptors (.amdhsa_kernel) and
argument metadata (.amdgpu_metadata), and links what it has assembled.

Without -o it prints a listing. With -o it writes a code object that "nnsoc gpu exec" runs
and LLVM's tools read, or the format of --format: elf, hex (a word of code per line) or list.`,
		Example: "  nnsoc gpu asm kernel.s\n  nnsoc gpu asm kernel.s -o kernel.co && nnsoc gpu exec kernel.co --arg buf:x.npy\n  clang -x cl -target amdgcn-amd-amdhsa -mcpu=gfx1030 -nogpulib -S -o - k.cl | nnsoc gpu asm - -o k.co",
		Args:    cli.ExactlyOne,
		RunE:    func(_ *cobra.Command, args []string) error { return gpuAsm(a, args[0], &f) },

		ValidArgsFunction: cli.CompleteFiles("s", "S", "asm"),
	}
	f.addFlags(cmd, "elf", "hex", "list")
	return cmd
}

// assembleKernels assembles a source; errors name file and line.
func assembleKernels(path string, data []byte) (*codeobject.File, error) {
	u, err := asm.Assemble(string(data))
	var at *asm.Error
	if errors.As(err, &at) {
		return nil, cli.Usage(fmt.Errorf("%s:%d: %s", path, at.Line, at.Msg))
	}
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	f, err := u.Link()
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	return f, nil
}

func gpuAsm(a *cli.App, path string, flags *assembler) (err error) {
	defer try.Catch(&err)
	format := try.V(flags.chosen())
	data := try.V(readInput(path))
	f := try.V(assembleKernels(path, data))
	var out bytes.Buffer
	switch format {
	case "elf":
		b, err := f.ELF()
		if err != nil {
			return cli.Usage(fmt.Errorf("%s: %w", path, err))
		}
		out.Write(b)
	case "hex":
		for i := range f.Segments {
			if s := &f.Segments[i]; s.Exec {
				for _, in := range f.Instructions(s) {
					for _, w := range in.Words {
						fmt.Fprintf(&out, "%08x\n", w)
					}
				}
			}
		}
	case "list":
		try.E(f.List(&out))
	}
	return writeAssembled(a, flags, format, out.Bytes(), func() error { return printKernels(a, path, f) })
}

// codeObjectReport is the JSON object of gpu asm and gpu disasm.
type codeObjectReport struct {
	SchemaVersion int           `json:"schema_version"`
	File          string        `json:"file"`
	Machine       string        `json:"machine"`
	Version       int           `json:"code_object_version"`
	Kernels       []kernelInfo  `json:"kernels"`
	Code          []kernelInstr `json:"code"`
}

type kernelInfo struct {
	Name         string      `json:"name"`
	Entry        uint64      `json:"entry"`
	WaveSize     int         `json:"wave_size"`
	VGPRs        int         `json:"vgprs"`
	LDSBytes     uint32      `json:"lds_bytes"`
	ScratchBytes uint32      `json:"scratch_bytes"`
	KernargBytes uint32      `json:"kernarg_bytes"`
	Args         []kernelArg `json:"args"`
}

type kernelArg struct {
	Name   string `json:"name,omitempty"`
	Type   string `json:"type,omitempty"`
	Kind   string `json:"kind"` // value kind: by_value, global_buffer, hidden_block_count_x, ...
	Offset int    `json:"offset"`
	Bytes  int    `json:"bytes"`
}

type kernelInstr struct {
	Addr   uint64   `json:"addr"`
	Words  []uint32 `json:"words"`
	Text   string   `json:"text"`
	Target string   `json:"target,omitempty"`
	Error  string   `json:"error,omitempty"`
}

func printKernels(a *cli.App, path string, f *codeobject.File) error {
	r := codeObjectReport{SchemaVersion: cli.SchemaVersion, File: path, Machine: f.Machine, Version: f.Version, Kernels: []kernelInfo{}, Code: []kernelInstr{}}
	for i := range f.Kernels {
		k := &f.Kernels[i]
		d := &k.Descriptor
		info := kernelInfo{
			Name: k.Name, Entry: k.Entry, WaveSize: d.WaveSize(), VGPRs: d.VGPRs, LDSBytes: d.LDSBytes, ScratchBytes: d.ScratchBytes,
			KernargBytes: d.KernargBytes, Args: []kernelArg{},
		}
		if k.Meta != nil {
			for _, p := range k.Meta.Args {
				info.Args = append(info.Args, kernelArg{p.Name, p.Type, p.Kind, p.Offset, p.Bytes})
			}
		}
		r.Kernels = append(r.Kernels, info)
	}
	for i := range f.Segments {
		if s := &f.Segments[i]; s.Exec {
			for _, in := range f.Instructions(s) {
				k := kernelInstr{Addr: in.Addr, Words: in.Words, Text: in.Text, Target: in.Target}
				if in.Err != nil {
					k.Error = in.Err.Error()
				}
				r.Code = append(r.Code, k)
			}
		}
	}
	return cli.PrintJSON(a.Out, r)
}
