package testvectors

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/refcpu"
)

// runReference validates, compiles and executes a case and judges the result.
func runReference(c *vectors.Case) error {
	err := validate.Model(c.Model)
	var out []refcpu.Tensor
	if err == nil {
		var p *refcpu.Program
		if p, err = refcpu.Compile(c.Model); err == nil {
			in := make([]refcpu.Tensor, len(c.Inputs))
			for i, v := range c.Inputs {
				in[i] = refcpu.Tensor{Data: v.Data}
				for _, d := range v.Dimensions {
					if len(v.Data) > 0 || d == 0 {
						in[i].Dimensions = v.Dimensions
					}
				}
			}
			out, err = p.Execute(in, refcpu.Options{})
		}
	}
	if c.ExpectFailure {
		if err == nil {
			return fmt.Errorf("no error, one was expected")
		}
		return nil
	}
	if err != nil {
		return err
	}
	dims, data := make([][]uint32, len(out)), make([][]byte, len(out))
	for i := range out {
		dims[i], data[i] = out[i].Dimensions, out[i].Data
	}
	return Check(c, dims, data)
}

func TestReferenceCorpus(t *testing.T) {
	files := Files()
	if len(files) == 0 {
		t.Skip("skipped: needs shared data")
	}
	passed, failed := map[nn.OperationType]int{}, map[nn.OperationType]int{}
	total, good := 0, 0
	for _, path := range files {
		f, err := vectors.Load(path)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, c := range f.Cases {
			if !Uses(c, refcpu.Supported) {
				continue
			}
			total++
			err := runReference(c)
			count := passed
			if err != nil {
				count = failed
				t.Errorf("%s: %s: %v", f.Spec, c.Name, err)
			} else {
				good++
			}
			seen := map[nn.OperationType]bool{}
			for _, op := range c.Model.Main.Operations {
				if !seen[op.Type] {
					seen[op.Type] = true
					count[op.Type]++
				}
			}
		}
	}
	var lines []string
	for op := nn.OperationType(0); op.Valid(); op++ {
		if passed[op]+failed[op] > 0 {
			lines = append(lines, fmt.Sprintf("%s %d/%d", op, passed[op], passed[op]+failed[op]))
		}
	}
	sort.Strings(lines)
	t.Logf("%d of %d cases pass\n%s", good, total, strings.Join(lines, "\n"))
	if total < 2000 {
		t.Errorf("only %d cases run", total)
	}
}
