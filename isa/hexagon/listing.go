package hexagon

import (
	"cmp"
	"strconv"
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
