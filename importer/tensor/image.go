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

func decodeImage(data []byte, o *nn.Operand, n Normalization) ([]byte, error) {
	d := o.Dimensions
	if len(d) != 4 || d[0] != 1 || (d[3] != 1 && d[3] != 3) {
		return nil, fmt.Errorf("a picture does not fit an input of shape %v; want [1, height, width, 1 or 3]", d)
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
	h, w, ch := int(d[1]), int(d[2]), int(d[3])
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.BiLinear.Scale(dst, dst.Bounds(), src, src.Bounds(), draw.Src, nil)
	buf := make([]byte, o.Bytes())
	size := o.Type.ElementBytes()
	for i := range h * w {
		p := dst.Pix[4*i : 4*i+3]
		if ch == 1 {
			// ITU-R 601 luma, the usual "L" conversion.
			y := (19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16
			p = []byte{byte(y)}
		}
		for c, v := range p {
			at := buf[(i*ch+c)*size:]
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
