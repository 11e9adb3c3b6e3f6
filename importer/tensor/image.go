package tensor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // decoders register themselves
	_ "image/png"
	"math"
	"os"

	"github.com/x448/float16"
	_ "golang.org/x/image/bmp"
	"golang.org/x/image/draw"

	"github.com/nnsoc/nnsoc/nn"
)

// maxPixels bounds a picture: 64 megapixels.
const maxPixels = 64 << 20

// IsPicture reports whether Read treats a file as a picture.
func IsPicture(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, _, err = image.DecodeConfig(f)
	return err == nil
}

func isImage(data []byte) bool {
	_, _, err := image.DecodeConfig(bytes.NewReader(data))
	return err == nil
}

// layout is where a picture's elements are in a tensor: how far apart pixels and a pixel's channels are.
type layout struct {
	height, width, channels int
	pixel, channel          int
}

// layoutOf is the layout of a tensor with channels last, as TensorFlow Lite and NNAPI have them, or else first, as ONNX.
func layoutOf(d []uint32) (l layout, err error) {
	colours := func(n uint32) bool { return n == 1 || n == 3 }
	switch {
	case len(d) == 4 && d[0] == 1 && colours(d[3]):
		return layout{height: int(d[1]), width: int(d[2]), channels: int(d[3]), pixel: int(d[3]), channel: 1}, nil
	case len(d) == 4 && d[0] == 1 && colours(d[1]):
		return layout{height: int(d[2]), width: int(d[3]), channels: int(d[1]), pixel: 1, channel: int(d[2] * d[3])}, nil
	}
	return l, fmt.Errorf("a picture does not fit an input of shape %v; want [1, height, width, 1 or 3] or [1, 1 or 3, height, width]", d)
}

func decodeImage(data []byte, o *nn.Operand, n Normalization) ([]byte, error) {
	l, err := layoutOf(o.Dimensions)
	if err != nil {
		return nil, err
	}
	if n.Std == 0 {
		return nil, errors.New("standard deviation 0")
	}
	cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if cfg.Width < 1 || cfg.Height < 1 || cfg.Width > maxPixels/cfg.Height {
		return nil, fmt.Errorf("picture of %dx%d pixels", cfg.Width, cfg.Height)
	}
	src, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	dst := image.NewRGBA(image.Rect(0, 0, l.width, l.height))
	draw.BiLinear.Scale(dst, dst.Bounds(), src, src.Bounds(), draw.Src, nil)
	buf := make([]byte, o.Bytes())
	size := o.Type.ElementBytes()
	for i := range l.height * l.width {
		p := dst.Pix[4*i : 4*i+3]
		if l.channels == 1 {
			// ITU-R 601 luma, the usual "L" conversion.
			y := (19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16
			p = []byte{byte(y)}
		}
		for c, v := range p {
			at := buf[(i*l.pixel+c*l.channel)*size:]
			switch o.Type {
			case nn.TensorQuant8Asymm:
				at[0] = v
			case nn.TensorQuant8AsymmSigned:
				at[0] = v - 128
			case nn.TensorFloat32, nn.TensorFloat16:
				putFloat(at, o.Type, (float64(v)-n.Mean)/n.Std)
			default:
				return nil, fmt.Errorf("a picture does not fit an input of type %v", o.Type)
			}
		}
	}
	return buf, nil
}

func putFloat(b []byte, t nn.OperandType, v float64) {
	if t == nn.TensorFloat16 {
		binary.LittleEndian.PutUint16(b, float16.Fromfloat32(float32(v)).Bits())
		return
	}
	binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
}
