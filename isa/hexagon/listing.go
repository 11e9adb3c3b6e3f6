package hexagon

import (
	"cmp"
	"strconv"
	"strings"
)

// UndecodedRows are the lines of a packet that DecodePacket refuses, as Packet.Rows has them: each word is decoded on its own, so
// that one that is no instruction, "<unknown>", spoils only itself. There are as many lines as the packet has words, or one where
// its end cannot be found.
func UndecodedRows(words []uint32, addr uint32, target TargetText) []string {
	n := packetWords(words)
	if n == 0 {
		return []string{"<unknown>"}
	}
	p := Packet{Addr: addr}
	text := make([]string, n)
	inst := make([]int, n) // of a word, -1 for one that is none
	ext, haveExt := uint32(0), false
	for i, w := range words[:n] {
		inst[i] = -1
		pp := w >> parseShift & 3
		switch {
		case pp == parseDuplex && p.N > 2:
		case pp == parseDuplex:
			if high, low, reason := decodeDuplex(w, ext, haveExt); reason == "" {
				text[i] = string(high.appendText(nil, addr, target, nil)) + "; \t" + string(low.appendText(nil, addr, target, nil))
			}
		case w>>28 == 0:
			ext, haveExt = extenderValue(w), true
			text[i] = "immext(#0x" + strconv.FormatUint(uint64(ext), 16) + ")"
			continue
		default:
			k := p.N
			p.N++
			in := &p.Insts[k]
			op, ok := lookup(w)
			if !ok {
				text[i] = foreignText(w)
				break
			}
			dist, reason := decodeInst(in, op, w, ext, haveExt)
			if reason == "" && dist >= 0 {
				reason = p.resolveNew(int(k), uint8(dist))
			}
			if reason != "" {
				*in = Inst{}
				break
			}
			text[i] = string(in.appendText(nil, addr, target, nil))
		}
		haveExt = false
	}
	for i := range text {
		text[i] = cmp.Or(text[i], "<unknown>")
		lead := "  \t"
		if i == 0 {
			lead = "{ \t"
		}
		text[i] = lead + text[i]
	}
	p.EndLoop0 = words[0]>>parseShift&3 == parseLoopEnd
	p.EndLoop1 = n > 1 && words[1]>>parseShift&3 == parseLoopEnd
	text[n-1] += " } " + p.loopSuffix(" ")
	return text
}

// packetWords is how many words the parse bits put into a packet, 0 when it has no end.
func packetWords(words []uint32) int {
	for i, w := range words[:min(len(words), MaxWords)] {
		if pp := w >> parseShift & 3; pp == parseEnd || pp == parseDuplex {
			return i + 1
		}
	}
	return 0
}

// foreignText is the assembly text of a form that the table does not hold, where its syntax is known; else empty.
func foreignText(word uint32) string {
	_, f := findForeign(word)
	if f == nil || f.syntax == "" {
		return ""
	}
	var b []byte
	for _, part := range strings.SplitAfter(f.syntax, "}") {
		fixed, field, ok := strings.Cut(part, "{")
		b = append(b, fixed...)
		if !ok {
			continue
		}
		switch field = strings.TrimSuffix(field, "}"); field {
		case "d":
			b = strconv.AppendUint(append(b, 'v'), uint64(word&31), 10)
		case "dddd": // four registers, the highest first
			b = strconv.AppendUint(append(b, 'v'), uint64(word&31|3), 10)
			b = strconv.AppendUint(append(b, ':'), uint64(word&28), 10)
		case "u":
			b = strconv.AppendUint(append(b, 'v'), uint64(word>>8&31), 10)
		case "t":
			b = strconv.AppendUint(append(b, 'r'), uint64(word>>16&31), 10)
		case "t8":
			b = strconv.AppendUint(append(b, 'r'), uint64(word>>16&7), 10)
		case "m":
			b = strconv.AppendUint(append(b, 'm'), uint64(word>>13&1), 10)
		case "p":
			b = strconv.AppendUint(append(b, 'p'), uint64(word>>11&3), 10)
		case "s3":
			b = appendImm(b, &OperandSpec{Signed: true}, int32(word<<21)>>29, false)
		case "s4":
			b = appendImm(b, &OperandSpec{Signed: true}, int32(gather(word, 0x2700)<<28)>>28, false)
		}
	}
	return string(b)
}
