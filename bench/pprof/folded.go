package pprof

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteFolded writes a line per place and reason: the frames of its stack, the outermost first,
// divided by semicolons, and one of its values, as flamegraph.pl, inferno and speedscope read it.
func (r *Recorder) WriteFolded(w io.Writer, v Value) error {
	out := bufio.NewWriter(w)
	list, costs := r.sorted()
	for i, p := range list {
		if costs[i][v] == 0 {
			continue
		}
		frames := []string{p.device}
		for _, f := range []string{p.operation, p.program} {
			if f != "" {
				frames = append(frames, f)
			}
		}
		if p.at >= 0 {
			frames = append(frames, fmt.Sprintf("0x%04x %s", p.at, p.text))
		} else if p.text != "" && p.text != p.operation {
			frames = append(frames, p.text)
		}
		if p.reason != "" {
			frames = append(frames, "["+p.reason+"]")
		}
		for k := range frames {
			frames[k] = frameText.Replace(frames[k])
		}
		fmt.Fprintf(out, "%s %d\n", strings.Join(frames, ";"), costs[i][v])
	}
	return out.Flush()
}

// frameText replaces the separators of frames and lines in a frame.
var frameText = strings.NewReplacer(";", ",", "\n", " ", "\r", " ")
