package examples_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
	"github.com/nnsoc/nnsoc/testvectors/conformance/traps"
	"github.com/nnsoc/nnsoc/testvectors/mutation"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
)

// lacking are the checks that driver.py cannot pass, by what it leaves out.
var lacking = map[string][]string{
	"the rules of other operations and of control flow": {
		"models of HAL 1.3 and cycles of subgraphs", "validateModel: mutateOperandScale", "validateModel: mutateOperandZeroPoint",
		"validateModel: mutateOperationOperandType", "validateModel: removeOperand", "validateModel: removeOperationInput",
		"validateModel: addOperationInput", "validateModel: addOperationOutput",
	},
}

// python is an interpreter that can run driver.py. In make oracle there has to be one.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import grpc, google.protobuf").Run() == nil {
			return name
		}
	}
	if os.Getenv(oracle.Variable) == "1" {
		t.Fatal("python3 with grpcio and protobuf is not there")
	}
	t.Skip("skipped: needs python3 with grpcio and protobuf")
	return ""
}

// ownModel has each operation of driver.py once.
func ownModel(t *testing.T) *nn.Model {
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Values("x", 2, 3)
	b.Output(b.Activate(b.Mul(b.Add(x, x, builder.NoActivation), x), builder.ReLU), "y")
	m, err := b.Model("own")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// isOwn reports whether a model has these operations only, of floats.
func isOwn(m *nn.Model, has []nn.OperationType) bool {
	return !slices.ContainsFunc(m.Main.Operations, func(o nn.Operation) bool {
		return !slices.Contains(has, o.Type) || m.Main.Operands[o.Inputs[0]].Type != nn.TensorFloat32
	})
}

// TestPythonDriver: a driver that shares no code with this project conforms for its three
// operations: every vector of them, random models, and what the contract asks of a driver without
// the parts in lacking.
func TestPythonDriver(t *testing.T) {
	interpreter := python(t)
	if text, err := os.ReadFile("driver.py"); err != nil || strings.Count(string(text), "\n") > 300 {
		t.Errorf("driver.py has %d lines, at most 300; %v", strings.Count(string(text), "\n"), err)
	}
	dir := t.TempDir()
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(driverpb.File_driver_proto)}})
	if err != nil {
		t.Fatal(err)
	}
	descriptor, socket := filepath.Join(dir, "driver.binpb"), filepath.Join(dir, "python.sock")
	if err := os.WriteFile(descriptor, set, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(interpreter, "driver.py", descriptor, socket)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "python serves "+socket+"\n" {
		t.Fatalf("%q, %v", line, err)
	}
	d, err := service.Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()

	has := []nn.OperationType{nn.OpAdd, nn.OpMul, nn.OpRelu}
	s := testvectors.Run(t, d, func(c *vectors.Case) bool {
		return c.Model != nil && !slices.ContainsFunc(c.Model.Main.Operations, func(o nn.Operation) bool { return !slices.Contains(has, o.Type) })
	})
	if s.Passed == 0 {
		t.Error("no vector passes")
	}
	r, err := randgraph.Run(d, randgraph.Options{Seed: 1, Count: 120, Operations: regexp.MustCompile("^(ADD|MUL|RELU)$"), Workers: 4})
	if err != nil || r.Failed != 0 || r.Passed < 20 {
		t.Errorf("random models: %d passed, %d failed, %v", r.Passed, r.Failed, err)
	}
	for _, op := range has {
		if !slices.ContainsFunc(r.Coverage, func(c randgraph.Coverage) bool { return c.Variant.Op == op && c.Passed > 0 }) {
			t.Errorf("no model with %s", op)
		}
	}

	left := map[string]string{}
	for why, list := range lacking {
		for _, name := range list {
			left[name] = why
		}
	}
	passed := 0
	for _, c := range conformance.Checks() {
		if !c.EachDevice {
			continue
		}
		why, without := left[c.Name]
		delete(left, c.Name)
		ended := make(chan check.Outcome, 1)
		go func() { ended <- c.RunOn(d) }()
		select {
		case o := <-ended:
			switch {
			case without && o.Err == nil:
				t.Errorf("%s passes, though the driver lacks %s", c.Name, why)
			case !without && o.Err != nil:
				t.Errorf("%s (%s): %v", c.Name, strings.Join(c.Rows, " "), o.Err)
			case o.Err == nil && o.Skipped == "":
				passed++
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s does not end", c.Name)
		}
	}
	refused := 0
	for _, k := range mutation.Kinds { // those of lacking, too
		for _, x := range k.Mutants(ownModel(t)) {
			refused++
			if p, err := d.PrepareModel(x.Model, x.Options); hal.StatusOf(err) != hal.InvalidArgument || p != nil {
				t.Errorf("%s: %s: %v", k.Name, x.What, err)
			}
		}
	}
	cases, err := traps.All()
	if err != nil {
		t.Fatal(err)
	}
	trapped := 0
	for _, x := range cases {
		if m := x.Case.Model; m == nil || !x.Case.ExpectFailure || !isOwn(m, has) {
			continue
		}
		trapped++
		if _, err := d.PrepareModel(x.Case.Model, hal.PrepareOptions{}); hal.StatusOf(err) != hal.InvalidArgument {
			t.Errorf("%s: %v", x.Case.Name, err)
		}
		if _, err := d.SupportedOperations(x.Case.Model); hal.StatusOf(err) != hal.InvalidArgument {
			t.Errorf("%s: getSupportedOperations: %v", x.Case.Name, err)
		}
	}
	if trapped == 0 {
		t.Error("no trap of its operations")
	}
	if refused < 100 {
		t.Errorf("%d broken models", refused)
	}
	if len(left) > 0 || passed < 65 {
		t.Errorf("%d checks passed, no checks %v", passed, left)
	}
	t.Logf("%d vectors, %d random models, %d checks passed", s.Passed, r.Passed, passed)
}

// TestProtocolIsDocumented: docs/Protocol.md names every call and every message, and no others.
func TestProtocolIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../Protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	f := driverpb.File_driver_proto
	for i := range f.Services().Get(0).Methods().Len() {
		known[string(f.Services().Get(0).Methods().Get(i).Name())] = true
	}
	for i := range f.Messages().Len() {
		m := f.Messages().Get(i)
		known[string(m.Name())] = true
		if !strings.Contains(string(text), "`"+string(m.Name())+"`") {
			t.Errorf("message %s is not there", m.Name())
			continue
		}
		row := regexp.MustCompile(`(?m)^\| ` + "`" + string(m.Name()) + "`" + ` \|.*$`).Find(text)
		for k := range m.Fields().Len() {
			if name := string(m.Fields().Get(k).Name()); !strings.Contains(string(row), "`"+name+"`") {
				t.Errorf("field %s of %s is not in its row", name, m.Name())
			}
		}
	}
	for i := range f.Services().Get(0).Methods().Len() {
		if name := string(f.Services().Get(0).Methods().Get(i).Name()); !strings.Contains(string(text), "| `"+name+"` |") {
			t.Errorf("call %s is not there", name)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z][A-Za-z]*)` \\|").FindAllSubmatch(text, -1) {
		if !known[string(m[1])] {
			t.Errorf("%s is no call and no message", m[1])
		}
	}
}
