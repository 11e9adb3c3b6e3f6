package partition

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestExport: the problem as data has what its schema says, no more and no less, and a row per cost.
func TestExport(t *testing.T) {
	p := randomProblem(rand.New(rand.NewPCG(2, 2)), 10, 2, true)
	if p.Model == nil {
		p.Model = &nn.Model{Name: "m"}
		for i := range p.Graph.Values {
			p.Graph.Values[i].Operand = uint32(i)
			p.Model.Main.Operands = append(p.Model.Main.Operands, nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 2}})
		}
	}
	x := p.Export("s")
	first := 0
	x.Points = []ExportedPoint{{Device: "a", ClockMHz: 100, EngineUS: 1.5}, {Device: "a", Operation: &first, ClockMHz: 100, EngineUS: 2, Waits: 0.25}}
	x.Contention = []ExportedContention{{"a", "b", 1.5}}
	files := require.V(x.Files())(t)
	require.Same(t, "device,operation,clock_mhz,memory_clock_mhz,engine_us,energy_uj,dram_bytes,waits\na,,100,0,1.5,0,0,0\na,0,100,0,2,0,0,0.25\n", string(files["points.csv"]), "points.csv")
	require.Same(t, "device,beside,slowdown\na,b,1.5\n", string(files["contention.csv"]), "contention.csv")
	var schema, problem map[string]any
	require.NoError(t, json.Unmarshal(files["problem.schema.json"], &schema))
	require.NoError(t, json.Unmarshal(files["problem.json"], &problem))
	conforms(t, schema, schema, problem, "problem")
	costs := 0
	for i := range p.Graph.Operations {
		for d := range p.Devices {
			if p.supports(d, i) && !p.Costs.Operation[d][i].never() {
				costs++
			}
		}
	}
	require.Same(t, costs+1+2*len(p.Devices), strings.Count(string(files["operations.csv"]), "\n"), "rows of operations.csv")
}

// conforms checks what the schema uses of JSON Schema: types, required and listed properties, items.
func conforms(t *testing.T, root, schema map[string]any, v any, at string) {
	t.Helper()
	if ref, ok := schema["$ref"].(string); ok {
		schema = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	if list, ok := schema["anyOf"].([]any); ok {
		if v == nil {
			return
		}
		schema = list[1].(map[string]any)
		conforms(t, root, schema, v, at)
		return
	}
	switch x := v.(type) {
	case map[string]any:
		properties := schema["properties"].(map[string]any)
		want := slices.Sorted(maps.Keys(properties))
		require.Check(t, slices.Equal(want, slices.Sorted(maps.Keys(x))), "%s has %v, the schema %v", at, slices.Sorted(maps.Keys(x)), want)
		require.Same(t, len(want), len(schema["required"].([]any)), at+": properties that are required")
		for k := range x {
			conforms(t, root, properties[k].(map[string]any), x[k], at+"."+k)
		}
	case []any:
		require.Check(t, schema["type"] == "array", "%s is a list, the schema has %v", at, schema["type"])
		for _, e := range x {
			conforms(t, root, schema["items"].(map[string]any), e, at+"[]")
		}
	case string:
		require.Check(t, schema["type"] == "string", "%s is a string, the schema has %v", at, schema["type"])
	case float64:
		kind := schema["type"]
		_, several := kind.([]any)
		require.Check(t, kind == "number" || kind == "integer" && x == float64(int64(x)) || several || schema["const"] == x, "%s is %v, the schema has %v", at, x, kind)
	case bool:
		require.Check(t, schema["type"] == "boolean", "%s is a bool, the schema has %v", at, schema["type"])
	}
}

// TestReadPlan: plans that are none, or none of the problem, are refused with the place.
func TestReadPlan(t *testing.T) {
	p := randomProblem(rand.New(rand.NewPCG(2, 2)), 3, 2, true)
	name := p.Devices[0].Name
	for text, want := range map[string]string{
		"": "no plan in it", "[]": "cannot unmarshal", `{"device": []}`: "unknown field", `{"devices": []} 1`: "more than one JSON object",
		`{"devices": []}`: "it answers for 0 operations, there are 3", `{"devices": ["` + name + `", "x", "` + name + `"]}`: `operation 1: no device "x"`,
	} {
		f, err := ReadPlan("plan.json", []byte(text))
		if err == nil {
			_, err = f.Plan(p)
			require.Same(t, fmt.Sprint(err), fmt.Sprint(f.Fits(3, p.Devices)), text)
		}
		require.Check(t, err != nil && strings.Contains(err.Error(), want) && strings.Contains(err.Error(), "plan.json"), "%q: %v, want %s", text, err, want)
	}
	f := require.V(ReadPlan("plan.json", []byte(`{"devices": ["`+name+`", "`+name+`", "`+name+`"]}`)))(t)
	plan := require.V(f.Plan(p))(t)
	require.Check(t, f.Name() == "plan.json" && slices.Equal(plan.Device, []int{0, 0, 0}), "%+v", plan)
	_, err := ReadPlan("plan.json", make([]byte, maxPlanBytes+1))
	require.Check(t, err != nil && strings.Contains(err.Error(), "a plan of more than"), "%v", err)
}

func FuzzReadPlan(f *testing.F) {
	f.Add([]byte(`{"devices": ["cpu", "cpu", "cpu"]}`))
	p := randomProblem(rand.New(rand.NewPCG(2, 2)), 3, 2, true)
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := ReadPlan("f", data)
		if err != nil {
			return
		}
		if plan, err := x.Plan(p); err == nil {
			require.NoError(t, p.CheckPlan(plan))
		}
	})
}
