package engine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

func newNPUDisasm(a *cli.App) *cobra.Command {
	operator := -1
	cmd := &cobra.Command{
		Use:   "disasm FILE",
		Short: "list the register commands of a compiled network",
		Long: `disasm lists the commands of every ethos-u operator of a TensorFlow Lite file that Vela
compiled, or of a driver payload: offset, words and name, in the form of Vela's own
listings. "nnsoc npu asm" reads the list of one operator back. The path - is standard input.`,
		Example: "  nnsoc npu disasm net_vela.tflite\n  nnsoc npu disasm net_vela.tflite --operator 0 > commands.txt && nnsoc npu asm commands.txt -o payload.bin",
		Args:    cli.ExactlyOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("operator") && operator < 0 {
				return cli.Usage(fmt.Errorf("--operator %d: want a number from 0", operator))
			}
			return npuDisasm(a, args[0], operator)
		},

		ValidArgsFunction: cli.CompleteFiles("tflite", "bin"),
	}
	cmd.Flags().IntVar(&operator, "operator", -1, "list only that ethos-u operator, counted from 0 (default all)")
	return cmd
}

// npuListing is the JSON object of npu asm and npu disasm.
type npuListing struct {
	SchemaVersion int         `json:"schema_version"`
	File          string      `json:"file"`
	Operators     []npuStream `json:"operators"`
}

// npuStream is the commands of one ethos-u operator.
type npuStream struct {
	Operator    int          `json:"operator"`
	Accelerator string       `json:"accelerator"`
	Bytes       int          `json:"command_bytes"`
	Commands    []npuCommand `json:"commands"`

	words []uint32
}

type npuCommand struct {
	Offset  int     `json:"offset"`
	Name    string  `json:"name"`
	Param   uint16  `json:"param"`
	Payload *uint32 `json:"payload,omitempty"`
}

func npuDisasm(a *cli.App, path string, operator int) error {
	data, err := readInput(path)
	if err != nil {
		return err
	}
	payloads, err := payloadsOf(data)
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	if operator >= len(payloads) {
		return cli.Usage(fmt.Errorf("%s: no operator %d, there are %d", path, operator, len(payloads)))
	}
	l := npuListing{SchemaVersion: cli.SchemaVersion, File: path}
	for i, b := range payloads {
		if operator >= 0 && i != operator {
			continue
		}
		s, err := newNPUStream(i, b)
		if err != nil {
			return cli.Usage(fmt.Errorf("%s: operator %d: %w", path, i, err))
		}
		l.Operators = append(l.Operators, *s)
	}
	if a.JSON {
		return cli.PrintJSON(a.Out, l)
	}
	var out bytes.Buffer
	for i := range l.Operators {
		s := &l.Operators[i]
		fmt.Fprintf(&out, "; %s: operator %d for %s, %d commands in %d bytes\n", path, s.Operator, s.Accelerator, len(s.Commands), s.Bytes)
		if err := ethosu.Print(&out, s.words); err != nil {
			return err
		}
	}
	_, err = a.Out.Write(out.Bytes())
	return err
}

// payloadsOf are the driver payloads of a compiled network, or the file itself.
func payloadsOf(data []byte) ([][]byte, error) {
	if bytes.HasPrefix(data, []byte("COP1")) {
		return [][]byte{data}, nil
	}
	n, err := vela.Read(data)
	if err != nil {
		if !errors.Is(err, vela.ErrNotVela) {
			err = fmt.Errorf("neither a driver payload (COP1) nor a compiled network: %w", err)
		}
		return nil, err
	}
	var l [][]byte
	for i := range n.Steps {
		if o := n.Steps[i].NPU; o != nil {
			l = append(l, o.Payload)
		}
	}
	return l, nil
}

func newNPUStream(index int, payload []byte) (*npuStream, error) {
	p, err := ethosu.ReadPayload(payload)
	if err != nil {
		return nil, err
	}
	commands, err := ethosu.Decode(p.Commands)
	if err != nil {
		return nil, err
	}
	s := &npuStream{Operator: index, Accelerator: p.Config.String(), Bytes: 4 * len(p.Commands), words: p.Commands}
	at := 0
	for _, c := range commands {
		x := npuCommand{Offset: 4 * at, Name: c.Code.String(), Param: c.Param}
		if c.Code.HasPayload() {
			x.Payload = &c.Payload
		}
		s.Commands = append(s.Commands, x)
		at += c.Words()
	}
	return s, nil
}
