package asm

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/isa/hexagon/object"
)

func data(size int) func(a *assembler, t token) {
	return func(a *assembler, t token) {
		if a.peek().ends() {
			return
		}
		it := item{kind: itemData, at: t}
		for {
			at := a.peek()
			v, n := a.expr(a.toks, a.pos)
			a.pos = n
			if v.open() {
				it.fixups = append(it.fixups, dataFix{len(it.data), size, v, at})
			} else if err := fitsData(v.add, size); err != nil {
				fail(at, "%s", err)
			}
			it.data = append(it.data, binary.LittleEndian.AppendUint64(nil, uint64(v.add))[:size]...)
			if !a.comma() {
				a.add(it)
				return
			}
		}
	}
}

func fitsData(v int64, size int) error {
	if n := 8 * size; n < 64 && (v >= 1<<n || v < -1<<(n-1)) {
		return fmt.Errorf("%d does not fit %d bytes", v, size)
	}
	return nil
}

func text(end string) func(a *assembler, t token) {
	return func(a *assembler, t token) {
		it := item{kind: itemData, at: t}
		for {
			s := a.next()
			if s.kind != tokString {
				fail(s, "%s takes quoted text", t.text)
			}
			it.data = append(it.data, s.text+end...)
			if !a.comma() {
				a.add(it)
				return
			}
		}
	}
}

func space(a *assembler, t token) {
	n := a.absolute()
	it := item{kind: itemSpace, n: n, at: t}
	if a.comma() {
		v := a.absolute()
		it.fill = byte(v)
	}
	a.add(it)
}

// fill is .fill COUNT, SIZE, VALUE.
func fill(a *assembler, t token) {
	n := a.absolute()
	size, v := int64(1), int64(0)
	if a.comma() {
		if size = a.absolute(); a.comma() {
			v = a.absolute()
		}
	}
	if n < 0 || size < 0 || size > 8 || n > maxAsmBytes {
		fail(t, ".fill of %d times %d bytes", n, size)
	}
	it := item{kind: itemData, at: t}
	if a.bytes+n*size > maxAsmBytes {
		fail(t, "more than %d bytes", maxAsmBytes)
	}
	for range n {
		it.data = append(it.data, binary.LittleEndian.AppendUint64(nil, uint64(v))[:size]...)
	}
	a.add(it)
}

func align(power bool) func(a *assembler, t token) {
	return func(a *assembler, t token) {
		n := a.absolute()
		if power && n >= 0 && n < 32 {
			n = 1 << n
		}
		it := item{kind: itemAlign, n: n, limit: n, at: t}
		if a.comma() && !a.peek().is(",") {
			v := a.absolute()
			it.fill, it.filled = byte(v), v != 0
		}
		if a.comma() {
			it.limit = a.absolute()
		}
		if n < 1 || n > object.PageSize || bits.OnesCount64(uint64(n)) != 1 {
			fail(t, "alignment of %d is not a power of two up to %d", n, object.PageSize)
		}
		a.add(it)
	}
}

// common is .comm NAME, SIZE, ALIGNMENT: zeroed memory.
func common(a *assembler, t token) {
	name := a.name()
	if !a.comma() {
		fail(a.peek(), "%s takes a name and a size", t.text)
	}
	size, n := a.absolute(), int64(8)
	if a.comma() {
		n = a.absolute()
		for a.comma() { // LLVM's access size
			a.absolute()
		}
	}
	if n < 1 || n > object.PageSize || bits.OnesCount64(uint64(n)) != 1 {
		fail(t, "alignment of %d is not a power of two up to %d", n, object.PageSize)
	}
	defer func(s int) { a.cur = s }(a.cur)
	a.cur = secBSS
	a.add(item{kind: itemAlign, n: n, limit: n, at: t})
	a.define(name)
	a.add(item{kind: itemSpace, n: size, at: t})
}

// each calls f for the text of every element of a list and adds the resulting bytes.
func (a *assembler) each(t token, f func(s string, b []byte) ([]byte, bool)) {
	it := item{kind: itemData, at: t}
	for {
		at := a.peek()
		var b strings.Builder
		for k := at; !k.ends() && !k.is(","); k = a.peek() {
			b.WriteString(a.next().written())
		}
		var ok bool
		if it.data, ok = f(b.String(), it.data); !ok {
			fail(at, "%s takes a number, not %q", t.text, b.String())
		}
		if !a.comma() {
			a.add(it)
			return
		}
	}
}

// floats is .float and .double.
func floats(size int) func(a *assembler, t token) {
	return func(a *assembler, t token) {
		a.each(t, func(s string, b []byte) ([]byte, bool) {
			v, err := strconv.ParseFloat(s, 8*size)
			if err != nil && !math.IsInf(v, 0) || s == "" || strings.Contains(s, "_") {
				return b, false
			}
			if size == 4 {
				return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v))), !math.IsNaN(v)
			}
			return binary.LittleEndian.AppendUint64(b, math.Float64bits(v)), !math.IsNaN(v)
		})
	}
}

// octa is numbers of sixteen bytes.
func octa(a *assembler, t token) {
	a.each(t, func(s string, b []byte) ([]byte, bool) {
		n, ok := new(big.Int).SetString(s, 0)
		if !ok || n.Sign() < 0 || n.BitLen() > 128 || strings.Contains(s, "_") {
			return b, false
		}
		var be [16]byte
		n.FillBytes(be[:])
		b = binary.LittleEndian.AppendUint64(b, binary.BigEndian.Uint64(be[8:]))
		return binary.LittleEndian.AppendUint64(b, binary.BigEndian.Uint64(be[:])), true
	})
}

// leb is numbers in groups of seven bits.
func leb(a *assembler, t token) {
	it := item{kind: itemData, at: t}
	for {
		n := a.absolute()
		for signed := strings.EqualFold(t.text, ".sleb128"); ; {
			low := byte(n & 0x7f)
			if signed {
				n >>= 7
			} else {
				n = int64(uint64(n) >> 7)
			}
			if n == 0 && !(signed && low&0x40 != 0) || n == -1 && signed && low&0x40 != 0 {
				it.data = append(it.data, low)
				break
			}
			it.data = append(it.data, low|0x80)
		}
		if !a.comma() {
			a.add(it)
			return
		}
	}
}
