package tensor

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/nnsoc/nnsoc/importer/npy"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn"
)

// TestPictureMatchesRecordedInput compares our resizing with the recorded
// input of a real network, made by another library's bilinear filter.
func TestPictureMatchesRecordedInput(t *testing.T) {
	want := require.File(t, shared.Path(t, "models", "mobilenet_v1_1.0_224_quant", "case0.in0.bin"))
	o := &nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1, 224, 224, 3}}
	got := require.V(Read(shared.Path(t, "models", "data", "grace_hopper.bmp"), o, DefaultNormalization))(t)
	worst, sum := 0, 0
	for i := range want {
		d := int(got[i]) - int(want[i])
		sum += d * d
		if d < 0 {
			d = -d
		}
		worst = max(worst, d)
	}
	require.Check(t, worst <= 2, "largest difference %d of 255, mean square %.3f", worst, float64(sum)/float64(len(want)))
}

// TestPictureLayouts reads a picture of two pixels with channels last, first, and as grey.
func TestPictureLayouts(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 2, 1))
	copy(picture.Pix, []byte{10, 20, 30, 255, 40, 50, 60, 255})
	var file bytes.Buffer
	require.NoError(t, png.Encode(&file, picture))
	for _, c := range []struct {
		dims []uint32
		want []byte
	}{
		{[]uint32{1, 1, 2, 3}, []byte{10, 20, 30, 40, 50, 60}}, {[]uint32{1, 3, 1, 2}, []byte{10, 40, 20, 50, 30, 60}}, {[]uint32{1, 1, 1, 2}, []byte{18, 48}}, {[]uint32{1, 1, 2, 1}, []byte{18, 48}},
	} {
		got, err := decode(file.Bytes(), &nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: c.dims}, DefaultNormalization)
		require.Check(t, err == nil && bytes.Equal(got, c.want), "%v: %v, %v", c.dims, got, err)
	}
	_, err := decode(file.Bytes(), &nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1, 2, 1, 2}}, DefaultNormalization)
	require.ErrorContains(t, err, "does not fit an input of shape [1 2 1 2]")
}

func TestNpyRoundTrip(t *testing.T) {
	for _, dims := range [][]uint32{{5}, {1, 2, 3}, {1, 1, 1, 7}} {
		o := &nn.Operand{Type: nn.TensorFloat32, Dimensions: dims}
		data := Synthetic(o, 7)
		var b bytes.Buffer
		require.NoError(t, WriteNpy(&b, o.Type, dims, data))
		require.Check(t, (b.Len()-len(data))%64 == 0, "%v: data begins at %d", dims, b.Len()-len(data))
		got, err := decode(b.Bytes(), o, DefaultNormalization)
		require.Check(t, err == nil && bytes.Equal(got, data), "%v: %v", dims, err)
		for cut := range b.Len() {
			if _, err := decode(b.Bytes()[:cut], o, DefaultNormalization); err == nil {
				t.Errorf("%v: %d of %d bytes are accepted", dims, cut, b.Len())
			}
		}
	}
}

func TestWrongInputs(t *testing.T) {
	o := &nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 4}}
	var b bytes.Buffer
	WriteNpy(&b, nn.TensorFloat32, []uint32{1, 5}, make([]byte, 20))
	for _, c := range []struct {
		data []byte
		want string
	}{
		{[]byte("text"), "a raw tensor TENSOR_FLOAT32[1 4] has 16"},
		{b.Bytes(), "shape [1 5], input wants [1 4]"},
	} {
		require.ErrorContains(t, require.Err(decode(c.data, o, DefaultNormalization)), c.want)
	}
}

// TestIntegerWidths reads 16-bit and 64-bit integers for TENSOR_INT32, raw and as
// .npy, and refuses a value beyond 32 bits.
func TestIntegerWidths(t *testing.T) {
	plain := &nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{2}}
	scaled := &nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{2}, Scale: 0.5}
	want := []byte{5, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff}
	narrow := []byte{5, 0, 0xfe, 0xff}
	wide := []byte{5, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	array := func(descr string, data []byte) []byte {
		var b bytes.Buffer
		require.NoError(t, (&npy.Array{Descr: descr, Shape: []int{2}, Data: data}).Write(&b))
		return b.Bytes()
	}
	for _, c := range []struct {
		data []byte
		o    *nn.Operand
	}{{wide, plain}, {narrow, scaled}, {array("<i8", wide), plain}, {array("<i2", narrow), plain}} {
		if got, err := decode(c.data, c.o, DefaultNormalization); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: %v, %v", c.data, got, err)
		}
	}
	require.Fails(t, require.Err(decode(narrow, plain, DefaultNormalization)), "half of a tensor is accepted")
	wide[5] = 1
	require.ErrorContains(t, require.Err(decode(wide, plain, DefaultNormalization)), "does not fit the 32 bits", "a value beyond 32 bits")
}

func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	WriteNpy(&b, nn.TensorQuant8Asymm, []uint32{1, 2, 2, 3}, make([]byte, 12))
	f.Add(b.Bytes())
	f.Add([]byte("BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x18\x00"))
	o := &nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1, 2, 2, 3}}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decode(data, o, DefaultNormalization)
		if err == nil && len(got) != 12 {
			t.Fatalf("%d bytes", len(got))
		}
	})
}

// TestUnmergedShapes: an array has the shape of the input's file, of more than four dimensions, or NNAPI's.
func TestUnmergedShapes(t *testing.T) {
	o := &nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{2, 2, 2, 2}, Unmerged: []uint32{1, 2, 2, 2, 2}}
	for _, c := range []struct {
		shape []int
		right bool
	}{{[]int{1, 2, 2, 2, 2}, true}, {[]int{2, 2, 2, 2}, true}, {[]int{2, 1, 2, 2, 2}, false}, {[]int{16}, false}} {
		var b bytes.Buffer
		require.NoError(t, (&npy.Array{Descr: "|u1", Shape: c.shape, Data: make([]byte, 16)}).Write(&b))
		_, err := decode(b.Bytes(), o, DefaultNormalization)
		require.Check(t, (err == nil) == c.right, "shape %v: %v", c.shape, err)
	}
}
