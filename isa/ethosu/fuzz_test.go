package ethosu

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		words := make([]uint32, len(b)/4)
		for i := range words {
			words[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
		cmds, err := Decode(words)
		if err != nil {
			return
		}
		if !slices.Equal(Encode(cmds), words) {
			t.Fatal("encode is not the inverse of decode")
		}
		var text bytes.Buffer
		require.NoError(t, Print(&text, words))
		back, err := Assemble(&text)
		if err != nil || !slices.Equal(back, words) {
			t.Fatalf("listing does not assemble to the same words: %v", err)
		}
	})
}

func FuzzPayload(f *testing.F) {
	p := &Payload{Config: Config{8, 48, false, U55}, Commands: []uint32{0xFFFF0000}}
	b, _ := p.Append(nil)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ReadPayload(b)
		if err != nil {
			return
		}
		out := require.V(p.Append(nil))(t)
		if q, err := ReadPayload(out); err != nil || !slices.Equal(p.Commands, q.Commands) || p.Config != q.Config {
			t.Fatalf("payload changes on the way: %v", err)
		}
	})
}

func FuzzWeights(f *testing.F) {
	b, _ := EncodeWeights(nil, []int16{1, -2, 3, 255, -255})
	f.Add(b)
	f.Add([]byte{0x08, 0, 0x08, 0x60, 0xC1, 0x2F, 0x30, 0x81})
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1 << 16
		w, _, err := DecodeWeights(nil, b, limit)
		if len(w) > limit {
			t.Fatalf("%d weights, the limit is %d", len(w), limit)
		}
		if err != nil {
			return
		}
		enc := require.V(EncodeWeights(nil, w))(t)
		if back, _, err := DecodeWeights(nil, enc, limit); err != nil || !slices.Equal(back, w) {
			t.Fatalf("weights change on the way: %v", err)
		}
	})
}

func FuzzAssemble(f *testing.F) {
	f.Add("0x000000:          0001 010f - cmd0.NPU_SET_IFM_REGION            1\n")
	f.Add("NPU_SET_OFM_SCALE 48, 0x41726b1e\n")
	f.Fuzz(func(t *testing.T, s string) {
		words, err := Assemble(bytes.NewReader([]byte(s)))
		if err == nil {
			require.V(Decode(words))(t, "assembled words do not decode")
		}
	})
}

// TestLeastWeight: a weight and a direct offset of nine bits each reach -256, which no weight is.
func TestLeastWeight(t *testing.T) {
	_, _, err := DecodeWeights(nil, []byte("&\x00\xdc\x02~ \x00\xff\x80\xff\xee"), 1<<16)
	require.ErrorContains(t, err, "weight -256 is too large", "a weight of -256")
}
