package glossary

import "regexp"

// palette is what pages and plots draw with: Okabe and Ito's colours, which stay apart for colour-blind readers, then their
// darker forms.
var palette = []string{
	"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999",
	"#004c78", "#9c6b00", "#006b4e", "#8a4f71", "#2f7ba3", "#8f3f00", "#a39a1f", "#555555",
}

// colours are those of causes.
var colours = map[Class]string{
	Engine: palette[0], Software: palette[1], Wait: palette[2], Visibility: palette[3],
	Memory: palette[4], Busy: palette[5], WakeUp: palette[6], Idle: palette[7],
}

// Colour is the colour of a cause on every page and plot, as #rrggbb.
func (c Class) Colour() string { return colours[c] }

// Names are the colours of what is no cause where no cause is drawn beside it: devices, networks, strategies.
func Names() []string { return append([]string(nil), palette...) }

// Others are the colours of what is no cause beside causes: none is that of one.
func Others() []string { return append([]string(nil), palette[len(Classes):]...) }

var (
	// transfers are the names of spans that move data.
	transfers = regexp.MustCompile(`^(copy|fetch|load|store|prefetch)`)
	// operations are the names of spans of operations: an index and a type.
	operations = regexp.MustCompile(`^[0-9]+ [A-Z]`)
)

// SpanClass returns the cause of a span of a timeline by its name; "" of one that contains others, such as a network.
func SpanClass(name string) Class {
	for i := range words {
		if w := &words[i]; w.Kind == Part && w.Word == name {
			return w.Class
		}
	}
	switch {
	case transfers.MatchString(name):
		return Memory
	case operations.MatchString(name):
		return Engine
	}
	return ""
}
