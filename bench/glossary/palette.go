package glossary

import (
	"hash/fnv"
	"regexp"
	"slices"
)

// palette is what pages and plots draw with: Okabe and Ito's colours, which stay apart for colour-blind readers, then their
// darker forms.
var palette = []string{
	"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999",
	"#004c78", "#9c6b00", "#006b4e", "#8a4f71", "#2f7ba3", "#8f3f00", "#a39a1f", "#555555",
}

// colours gives each class of causes its colour.
var colours = map[Class]string{
	Engine: palette[0], Software: palette[1], Wait: palette[2], Visibility: palette[3],
	Memory: palette[4], Busy: palette[5], WakeUp: palette[6], Idle: palette[7],
}

// Colour is the colour of a cause on every page and plot, as #rrggbb.
func (c Class) Colour() string { return colours[c] }

// Names are the colours of what is no cause where no cause is drawn beside it: devices, networks, strategies.
func Names() []string { return append([]string(nil), palette...) }

// Others returns colours for what stands beside causes without being one; no cause has one of them.
func Others() []string { return append([]string(nil), palette[len(Classes):]...) }

// engines are the colours of the engines of a phone; beside causes they are told apart too.
var engines = map[string]string{"cpu": palette[15], "gpu": palette[11], "dsp": palette[9], "npu": palette[10]}

// Device is the colour of a device on every page and in every graph, and that of text on it. Devices without one of their
// own have one of the others by their name.
func Device(name string) (fill, ink string) {
	fill = engines[name]
	if fill == "" {
		h := fnv.New32a()
		_, _ = h.Write([]byte(name))
		rest := []string{palette[8], palette[12], palette[13], palette[14]}
		fill = rest[h.Sum32()%uint32(len(rest))]
	}
	return fill, "#ffffff"
}

var (
	// transfers are the names of spans that move data.
	transfers = regexp.MustCompile(`^(copy|fetch|load|store|prefetch)`)
	// operations are the names of spans of operations: an index and a type.
	operations = regexp.MustCompile(`^[0-9]+ [A-Z]`)
)

// SpanClass returns the cause of a span of a timeline: by its name, that of an operation by the stall reason that most of
// its cycles are charged to, where one is known; "" of a span that contains others, such as a network.
func SpanClass(name, stall string) Class {
	for i := range words {
		if w := &words[i]; w.Kind == Part && w.Word == name {
			return w.Class
		}
	}
	switch {
	case transfers.MatchString(name):
		return Memory
	case operations.MatchString(name) && slices.ContainsFunc(words, func(w Word) bool { return w.Kind == Reason && w.Word == stall }):
		return ClassOf(Reason, stall)
	case operations.MatchString(name):
		return Engine
	}
	return ""
}
