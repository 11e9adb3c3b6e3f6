package soc

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// boxWidth is how wide the box of an engine is with a blank beside it, in letters; pictureWidth is four of them.
const (
	boxWidth     = 30
	pictureWidth = 4*boxWidth - 1
)

// Picture draws a machine in text: a box per engine with its numbers, from the units down to the caches, and below them what
// they share, as accesses pass it.
func Picture(c *Config) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", c.SoC.Name, c.SoC.Description)
	var boxes [][]string
	for _, lines := range [][]string{c.CPU.picture(), c.GPU.picture(), c.DSP.picture(), c.NPU.picture()} {
		if lines != nil {
			boxes = append(boxes, lines)
		}
	}
	beside(&b, boxes)
	fabric := fmt.Sprintf("interconnect: %d bytes per cycle at %g MHz for each engine, %d cycles one way", c.Interconnect.BytesPerCycle, c.Interconnect.MHz, c.Interconnect.LatencyCycles)
	shared := [][]string{{fabric}}
	if s := c.SystemCache; s != nil {
		shared = append(shared, []string{fmt.Sprintf("system-level cache: %d KiB, %d ways, lines of %d bytes; %d banks of %d bytes per cycle at %g MHz, hit %d cycles",
			s.KiB, s.Ways, s.LineBytes, s.Banks, s.BytesPerCycle, s.MHz, s.HitCycles)})
	}
	d := &c.DRAM
	shared = append(shared, []string{fmt.Sprintf("DRAM: %s, %d channels of %d bits at %g MT/s, %.1f GB/s at most; %d banks per channel, rows of %d bytes",
		d.Type, d.Channels, d.BusBits, d.MTPerS, float64(d.Channels*d.BusBits)/8*d.MTPerS/1e3, d.BanksPerChannel, d.RowBytes)})
	for i, lines := range shared {
		framed := box(lines, pictureWidth)
		if i > 0 { // below the edge of the one above
			framed = framed[1:]
		}
		for _, l := range framed {
			fmt.Fprintln(&b, l)
		}
	}
	return b.String()
}

// beside writes boxes beside each other, of one height, with a line from each down to what is shared.
func beside(b *strings.Builder, boxes [][]string) {
	height := 0
	for i, lines := range boxes {
		boxes[i] = box(lines, boxWidth-1)
		height = max(height, len(boxes[i]))
	}
	for row := range height + 1 {
		var line []string
		for _, lines := range boxes {
			text := center("|", boxWidth-1)
			if row < len(lines) {
				text = lines[row]
			}
			line = append(line, text)
		}
		fmt.Fprintln(b, strings.TrimRight(strings.Join(line, " "), " "))
	}
}

// box frames lines, broken at blanks where they are too long.
func box(lines []string, width int) (framed []string) {
	edge := "+" + strings.Repeat("-", width-2) + "+"
	framed = append(framed, edge)
	for _, l := range lines {
		for _, part := range broken(l, width-4) {
			framed = append(framed, "| "+part+strings.Repeat(" ", max(0, width-4-utf8.RuneCountInString(part)))+" |")
		}
	}
	return append(framed, edge)
}

// broken divides a text at its blanks into lines of at most a width; lines after the first begin further right.
func broken(text string, width int) (lines []string) {
	for _, word := range strings.Fields(text) {
		n := len(lines)
		if n > 0 && utf8.RuneCountInString(lines[n-1]+" "+word) <= width {
			lines[n-1] += " " + word
			continue
		}
		if n > 0 {
			word = "  " + word
		}
		for utf8.RuneCountInString(word) > width { // a word alone that no line holds
			letters := []rune(word)
			lines, word = append(lines, string(letters[:width])), "  "+string(letters[width:])
		}
		lines = append(lines, word)
	}
	return lines
}

func center(s string, width int) string {
	left := (width - len(s)) / 2
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", width-len(s)-left)
}

// clocks are the lowest and the highest clock, and the one of the preference fast-single-answer where that is another.
func (c *Clock) clocks() string {
	lo, hi := c.OPPs[0].MHz, c.OPPs[len(c.OPPs)-1].MHz
	text := fmt.Sprintf("%g MHz", hi)
	if lo != hi {
		text = fmt.Sprintf("%g to %g MHz", lo, hi)
	}
	if c.FastMHz != hi {
		text += fmt.Sprintf(", fast %g", c.FastMHz)
	}
	return text
}

// picture says what a cache is.
func (c *Cache) picture(name string) string {
	return fmt.Sprintf("%s %g KiB, %d ways, lines of %d, %d bytes per cycle, hit %d", name, c.KiB, c.Ways, c.LineBytes, c.BytesPerCycle, c.HitCycles)
}

func (c *CPU) picture() []string {
	if c == nil {
		return nil
	}
	lines := []string{"CPU", c.Name, fmt.Sprintf("%d threads", c.Threads)}
	for i := range c.Clusters {
		k := &c.Clusters[i]
		lines = append(lines, fmt.Sprintf("%d x %s: %s", k.Cores, k.Name, k.Clock.clocks()),
			fmt.Sprintf("%g MAC per cycle in floats, %g in 8 bits", k.MACF32, k.MACI8),
			fmt.Sprintf("L1D %g KiB, L2 %g KiB", k.L1D.KiB, k.L2.KiB))
	}
	return append(lines, fmt.Sprintf("L3 %g KiB", c.L3.KiB), fmt.Sprintf("%g GB/s of a core", c.DRAMGBPerS))
}

func (g *GPU) picture() []string {
	if g == nil {
		return nil
	}
	lds := "CU"
	if g.LDSPerCluster {
		lds = "cluster"
	}
	lines := []string{"GPU", g.Name, g.Clock.clocks(), fmt.Sprintf("%d clusters x %d CU x %d SIMD x %d lanes", g.Clusters, g.CUsPerCluster, g.SIMDsPerCU, g.Lanes),
		fmt.Sprintf("%d waves per SIMD, %d rows of registers", g.WavesPerSIMD, g.VGPRRows),
		fmt.Sprintf("LDS %d KiB per %s", g.LDSKiB, lds),
		g.L0.picture("L0 per CU"), fmt.Sprintf("scalar cache %g KiB, code %g KiB", g.Scalar.KiB, g.ICache.KiB)}
	if g.GL1 != nil {
		lines = append(lines, g.GL1.picture("GL1"))
	}
	return append(lines, g.L2.picture("L2"), fmt.Sprintf("path to DRAM %g ns", g.MemoryNs))
}

func (d *DSP) picture() []string {
	if d == nil {
		return nil
	}
	lines := []string{"DSP", d.Name, d.Clock.clocks(), fmt.Sprintf("%d threads, %d HVX contexts of 128 bytes", d.Threads, d.Contexts),
		fmt.Sprintf("a packet per thread in %d cycles, %d per cycle in all", d.IssueInterval, d.IssueWidth),
		fmt.Sprintf("L1I %g KiB, L1D %g KiB (scalar)", d.L1I.KiB, d.L1D.KiB), d.L2.picture("L2"),
		fmt.Sprintf("VTCM %d KiB, %d cycles", d.VTCMKiB, d.VTCMCycles)}
	if d.DMA != nil {
		lines = append(lines, fmt.Sprintf("DMA %d bursts of %d bytes in flight", d.DMA.Outstanding, d.DMA.BurstBytes))
	}
	return append(lines, fmt.Sprintf("path to DRAM %g ns", d.MemoryNs))
}

func (n *NPU) picture() []string {
	if n == nil {
		return nil
	}
	macs := n.Cores * n.Ublock[0] * n.Ublock[1] * n.Ublock[2] * n.IFMDepth
	lines := []string{"NPU", n.Name, n.Clock.clocks(),
		fmt.Sprintf("%d MAC per cycle: cores %d, blocks of %dx%dx%d outputs, %d inputs each", macs, n.Cores, n.Ublock[0], n.Ublock[1], n.Ublock[2], n.IFMDepth),
		fmt.Sprintf("decoder %d weights per cycle", n.WeightsPerCycle), fmt.Sprintf("SHRAM %d KiB", n.ShramKiB), fmt.Sprintf("%d DMA channels", n.DMAChannels)}
	for i := range n.Memories {
		m := &n.Memories[i]
		if m.IsDRAM() {
			lines = append(lines, fmt.Sprintf("port to DRAM, bursts of %d bytes, path %g ns", m.BurstBytes, n.MemoryNs))
			continue
		}
		size := ""
		if m.KiB > 0 {
			size = fmt.Sprintf(" %d KiB,", m.KiB)
		}
		lines = append(lines, fmt.Sprintf("%s%s %g bytes per cycle", m.Name, size, m.BytesPerCycle))
	}
	return lines
}
