package ethosu

import "fmt"

// Traversal is the order of the weights of one core's share of a convolution in its stream.
type Traversal struct {
	OFMDepth, KernelHeight, KernelWidth, IFMDepth int // IFMDepth 1 when Depthwise

	BlockDepth int // OFM block depth of this core
	Depthwise  bool
	PartKernel bool // ignored when Depthwise
	IFMBits    int  // 8 or 16
	UBlockOFM  int  // OFM depth of a micro-block: 8, 4 on U55-32
	DilationX  int  // 1 or 2
	DilationY  int
}

// ubIFM is the IFM depth of a micro-block on all machines of the family.
const ubIFM = 8

// CoreBlockDepth is the block depth of one of cores cores.
func CoreBlockDepth(blockDepth, cores, core int) int {
	return (blockDepth + cores - 1 - core) / cores
}

// CoreDepth is the output channels of one of cores cores: core, core+cores, ...
func CoreDepth(depth, cores, core int) int { return (depth + cores - 1 - core) / cores }

func (t *Traversal) check() error {
	ok := t.OFMDepth > 0 && t.KernelHeight > 0 && t.KernelWidth > 0 && t.IFMDepth > 0 &&
		t.OFMDepth <= 1<<16 && t.IFMDepth <= 1<<16 && t.KernelHeight <= 1<<16 && t.KernelWidth <= 1<<16 &&
		t.KernelHeight*t.KernelWidth <= 1<<16 && // so that no product overflows
		t.BlockDepth > 0 && t.UBlockOFM > 0 && (t.IFMBits == 8 || t.IFMBits == 16) &&
		(t.DilationX == 1 || t.DilationX == 2) && (t.DilationY == 1 || t.DilationY == 2) &&
		(!t.Depthwise || t.IFMDepth == 1)
	if !ok {
		return fmt.Errorf("ethosu: weight shape %dx%dx%dx%d, block depth %d is out of range",
			t.OFMDepth, t.KernelHeight, t.KernelWidth, t.IFMDepth, t.BlockDepth)
	}
	return nil
}

func roundUp(a, b int) int { return (a + b - 1) / b * b }

// shape is the part of the traversal that does not depend on position.
func (t *Traversal) shape() (ib, tapAlign, subH, subW int) {
	ib = 32
	if t.IFMBits == 16 || t.PartKernel && !t.Depthwise {
		ib = 16
	}
	tapAlign = 1
	if t.Depthwise {
		tapAlign = 4
	} else if t.PartKernel {
		tapAlign = 4
		if t.IFMBits == 16 {
			tapAlign = 2
		}
	}
	return ib, tapAlign, 8 / t.DilationY, 8 / t.DilationX
}

// Len is the number of weights in the stream, padding included.
func (t *Traversal) Len() (int64, error) {
	if err := t.check(); err != nil {
		return 0, err
	}
	ib, align, subH, subW := t.shape()
	var taps int64 // padded taps over the sub-kernels
	for y := 0; y < t.KernelHeight; y += subH {
		h := min(subH, t.KernelHeight-y)
		full, rest := t.KernelWidth/subW, t.KernelWidth%subW
		taps += int64(full) * int64(roundUp(h*subW, align))
		if rest > 0 {
			taps += int64(roundUp(h*rest, align))
		}
	}
	var ifm int64 = 1
	if !t.Depthwise {
		if t.PartKernel {
			ifm = int64(roundUp(t.IFMDepth, ubIFM))
		} else {
			ifm = int64(roundUp(t.IFMDepth, ib))
		}
	}
	blocks, rest := t.OFMDepth/t.BlockDepth, t.OFMDepth%t.BlockDepth
	ofm := int64(blocks)*int64(roundUp(t.BlockDepth, t.UBlockOFM)) + int64(roundUp(rest, t.UBlockOFM))
	return taps * ifm * ofm, nil
}

// Walk calls visit for each run of n stream weights in order: they are the weights of output channel o, tap (y, x),
// input channels i..i+n-1. Weights of channels or taps outside the kernel are padding zeros; for those o, i or y are
// outside.
func (t *Traversal) Walk(visit func(o, y, x, i, n int)) error {
	if err := t.check(); err != nil {
		return err
	}
	ib, align, subH, subW := t.shape()
	n := ubIFM
	if t.Depthwise {
		n = 1
	}
	group := func(ofm, y0, x0, w, e, i int) {
		y, x := y0+e/w, x0+e%w
		if y >= min(y0+subH, t.KernelHeight) {
			y = t.KernelHeight // padding tap
		}
		for o := ofm; o < ofm+t.UBlockOFM; o++ {
			visit(o, y, x, i, n)
		}
	}
	for ob := 0; ob < t.OFMDepth; ob += t.BlockDepth {
		depth := min(t.BlockDepth, t.OFMDepth-ob)
		for i0 := 0; i0 < t.IFMDepth; i0 += ib {
			for y0 := 0; y0 < t.KernelHeight; y0 += subH {
				h := min(subH, t.KernelHeight-y0)
				for x0 := 0; x0 < t.KernelWidth; x0 += subW {
					w := min(subW, t.KernelWidth-x0)
					taps := roundUp(h*w, align)
					switch {
					case t.Depthwise:
						for o := 0; o < depth; o += t.UBlockOFM {
							for e := 0; e < taps; e++ {
								group(ob+o, y0, x0, w, e, 0)
							}
						}
					case t.PartKernel:
						for i := 0; i < min(ib, t.IFMDepth-i0); i += ubIFM {
							for o := 0; o < depth; o += t.UBlockOFM {
								for e := 0; e < taps; e++ {
									group(ob+o, y0, x0, w, e, i0+i)
								}
							}
						}
					default:
						for o := 0; o < depth; o += t.UBlockOFM {
							for e := 0; e < taps; e++ {
								for i := 0; i < ib; i += ubIFM {
									group(ob+o, y0, x0, w, e, i0+i)
								}
							}
						}
					}
				}
			}
		}
	}
	return nil
}

// Gather appends the stream order of weights[o][y][x][i] (dense) to dst.
func (t *Traversal) Gather(dst, weights []int16) ([]int16, error) {
	if n := t.OFMDepth * t.KernelHeight * t.KernelWidth * t.IFMDepth; t.check() == nil && len(weights) != n {
		return dst, fmt.Errorf("ethosu: %d weights, the shape has %d", len(weights), n)
	}
	n, err := t.Len()
	if err != nil {
		return dst, err
	}
	stream := append(dst, make([]int16, n)...)
	at := len(dst)
	err = t.Walk(func(o, y, x, i, n int) {
		if o < t.OFMDepth && y < t.KernelHeight {
			from := ((o*t.KernelHeight+y)*t.KernelWidth+x)*t.IFMDepth + i
			switch valid := min(n, t.IFMDepth-i); {
			case valid == ubIFM:
				*(*[ubIFM]int16)(stream[at:]) = *(*[ubIFM]int16)(weights[from:])
			case valid > 0:
				copy(stream[at:at+valid], weights[from:])
			}
		}
		at += n
	})
	return stream, err
}

// Scatter is the inverse of Gather into dst[o][y][x][i] with the given strides
// in elements: oStride between output channels; taps and input channels are
// dense. A stream of another length than Len is an error.
func (t *Traversal) Scatter(dst, stream []int16, oStride int) error {
	n, err := t.Len()
	if err != nil {
		return err
	}
	if int64(len(stream)) != n {
		return fmt.Errorf("ethosu: weight stream holds %d weights, the operation needs %d", len(stream), n)
	}
	at := 0
	return t.Walk(func(o, y, x, i, n int) {
		if o < t.OFMDepth && y < t.KernelHeight {
			if valid := min(n, t.IFMDepth-i); valid > 0 {
				to := o*oStride + (y*t.KernelWidth+x)*t.IFMDepth + i
				if valid == ubIFM {
					*(*[ubIFM]int16)(dst[to:]) = *(*[ubIFM]int16)(stream[at:])
				} else {
					copy(dst[to:to+valid], stream[at:at+valid])
				}
			}
		}
		at += n
	})
}
