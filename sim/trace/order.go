package trace

import (
	"strconv"
	"strings"
)

// Flow as the value of an Arg draws an arrow to or from its span: from the span that begins
// the flow of a number to those that end it.
type Flow struct {
	ID   uint64
	Ends bool
}

// lanes are the tracks of a process. Viewers show them by rank: units of one kind, such as "thread 0" and "thread 1",
// by their numbers, kinds in the order of their first spans.
type lanes struct {
	ids   map[string]int // by track, in order of appearance from 1 on
	kinds map[string]int
}

func newLanes() lanes { return lanes{map[string]int{}, map[string]int{}} }

// find is the number of a track; known is false when it is new.
func (l *lanes) find(track string) (id int, known bool) {
	if id, known = l.ids[track]; !known {
		id = len(l.ids) + 1
		l.ids[track] = id
	}
	return id, known
}

// maxUnits bounds the units of one kind that are in order.
const maxUnits = 1 << 12

// rank is the place of a track among those of its process.
func (l *lanes) rank(track string) int {
	kind := len(track)
	for kind > 0 && track[kind-1] >= '0' && track[kind-1] <= '9' {
		kind--
	}
	unit, err := strconv.Atoi(track[kind:])
	if err != nil || unit >= maxUnits-1 {
		kind, unit = len(track), -1
	}
	name := strings.TrimRight(track[:kind], " ")
	k, known := l.kinds[name]
	if !known {
		k = len(l.kinds)
		l.kinds[name] = k
	}
	return k*maxUnits + unit + 1
}
