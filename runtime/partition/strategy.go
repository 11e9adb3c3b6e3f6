package partition

import (
	"fmt"
	"os/exec"
	"strings"

	"github.com/nnsoc/nnsoc/internal/spelling"
)

// Strategy chooses a device for each operation. Plan must not change the
// problem; a plan that gives an operation to a device that does not support it
// is an error when it is compiled.
type Strategy interface {
	Name() string
	Plan(p *Problem) (Plan, error)
}

// fixed are the strategies without a parameter, by name.
func fixed() []Strategy {
	return []Strategy{AOSP{}, Single(0), GreedyMerge{}, DP{}, MinCut{}, BranchAndBound{}, Pipeline{}, Auto{}}
}

// special are the strategies that are compared only where they are named: delegate follows what engines take instead of looking for a
// good plan, branches finds what it looks for only in networks with branches.
func special() []Strategy { return []Strategy{Delegate{}, Branches{}} }

// Known lists what Parse accepts for the devices of a problem, beside programs: Names, delegate and branches.
func Known(devices []Device) []string {
	names := Names(devices)
	for _, s := range special() {
		names = append(names, s.Name())
	}
	return names
}

// Names lists the strategies that look for a good plan for the devices of a problem, or leave it to one device.
func Names(devices []Device) []string {
	names := []string{"aosp", "cpu"}
	for _, d := range devices[1:] {
		names = append(names, "single:"+d.Name)
	}
	for _, s := range fixed()[2:] {
		names = append(names, s.Name())
	}
	return names
}

// Parse returns the strategy of a name: one that Known lists, or
// exec:PROGRAM with arguments separated by spaces.
func Parse(name string, devices []Device) (Strategy, error) {
	if name == "ilp" { // how branch-bound was called
		name = BranchAndBound{}.Name()
	}
	for _, s := range append(fixed(), special()...) {
		if s.Name() == name {
			return s, nil
		}
	}
	if device, ok := strings.CutPrefix(name, "single:"); ok {
		var known []string
		for k, d := range devices {
			if d.Name == device {
				return named{Single(k), name}, nil
			}
			known = append(known, d.Name)
		}
		return nil, fmt.Errorf("partition: no device %q for %s; there are %s", device, name, strings.Join(known, ", "))
	}
	if command, ok := strings.CutPrefix(name, "exec:"); ok {
		args := strings.Fields(command)
		if len(args) == 0 {
			return nil, fmt.Errorf("partition: %s names no program", name)
		}
		if _, err := exec.LookPath(args[0]); err != nil {
			return nil, fmt.Errorf("partition: %s: %w", name, err)
		}
		return &External{Command: args}, nil
	}
	return nil, fmt.Errorf("partition: no strategy %q; there are %s, exec:PROGRAM%s", name, strings.Join(Known(devices), ", "), spelling.DidYouMean(name, Known(devices)))
}

// named is a strategy under another name.
type named struct {
	Strategy
	name string
}

// Name implements Strategy.
func (n named) Name() string { return n.name }
