package cli

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

type jsonInner struct {
	X float64 `json:"x"`
}

type jsonMore struct {
	Y int `json:"y"`
}

type jsonSample struct {
	Name   string             `json:"name"`
	Value  float64            `json:"value"`
	Small  float32            `json:"small"`
	List   []float64          `json:"list"`
	None   []float64          `json:"none"`
	Left   []int              `json:"left,omitempty"`
	Zero   float64            `json:"zero,omitempty"`
	Map    map[string]float64 `json:"map"`
	Raw    json.RawMessage    `json:"raw"`
	Inner  *jsonInner         `json:"inner"`
	Absent *jsonInner         `json:"absent,omitempty"`
	Any    any                `json:"any"`
	Bytes  []byte             `json:"bytes"`
	Plain  int
	hidden int
	Drop   int `json:"-"`
	jsonInner
	*jsonMore
}

// TestJSONIsMarshal: finite values are encoded as encoding/json encodes them.
func TestJSONIsMarshal(t *testing.T) {
	v := jsonSample{Name: `a "<b>"`, Value: 1e30, Small: 0.1, List: []float64{1, 2.5}, Map: map[string]float64{"b": 1, "a": 2},
		Raw: json.RawMessage(`{"k":[1]}`), Inner: &jsonInner{3}, Any: []any{1, "x", nil, map[string]any{}}, Bytes: []byte{1, 2}, hidden: 1}
	for _, v.jsonMore = range []*jsonMore{nil, &jsonMore{4}} {
		want := require.V(json.Marshal(v))(t)
		got, err := encodeJSON(v)
		require.Check(t, err == nil && string(got) == string(want), "%v\n got %s\nwant %s", err, got, want)
	}
}

// TestJSONNonFinite: numbers that JSON lacks are strings wherever they are.
func TestJSONNonFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	v := jsonSample{Value: nan, Small: float32(inf), List: []float64{1, -inf}, Map: map[string]float64{"m": nan}, Inner: &jsonInner{inf},
		Any: []any{nan}, Zero: nan, jsonInner: jsonInner{-inf}}
	var b strings.Builder
	require.NoError(t, PrintJSON(&b, v))
	var back map[string]any
	require.NoError(t, json.Unmarshal([]byte(b.String()), &back))
	for key, want := range map[string]string{
		"value": `"NaN"`, "small": `"+Inf"`, "list": `[1,"-Inf"]`, "map": `{"m":"NaN"}`, "inner": `{"x":"+Inf"}`, "any": `["NaN"]`,
		"zero": `"NaN"`, "x": `"-Inf"`,
	} {
		if got, _ := json.Marshal(back[key]); string(got) != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
}
