// Package lockorder finds locks that functions acquire in different orders. A lock is a mutex by the place of its
// declaration: the field of a struct type, or a variable. While a function holds lock A, every lock B that it or a
// function that it calls waits for adds the edge A -> B; a cycle of edges is a deadlock that some timing of goroutines
// reaches.
//
// Calls through interfaces and function values are to all possible targets (variable type analysis). TryLock does not
// wait. Not seen are locks that a function leaves to its caller to unlock, mutexes behind pointers of unknown origin,
// and that two values of one type are different: an edge from a lock to itself is reported like any other cycle.
package lockorder

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/cha"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// Lock is a mutex: "burst.Slots.mu".
type Lock string

// Edge is a place where a function waits for a lock while it holds another.
type Edge struct {
	Held, Wanted Lock
	At           token.Position // of the call under the held lock
	Path         []string       // functions from there to the one that waits
}

// String names the edge and its way.
func (e Edge) String() string {
	return fmt.Sprintf("%s: %s is held, %s is waited for: %s", e.At, e.Held, e.Wanted, strings.Join(e.Path, " > "))
}

// Edges are the orders in which the functions of packages acquire locks, one edge per pair in the order of their names.
// Functions of other packages count as acquiring none.
func Edges(dir string, patterns ...string) ([]Edge, error) {
	list, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: dir}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("lockorder: %w", err)
	}
	for _, p := range list {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("lockorder: %w", e)
		}
	}
	prog, _ := ssautil.Packages(list, ssa.InstantiateGenerics)
	prog.Build()
	functions := ssautil.AllFunctions(prog)
	for f := range functions {
		each(f, unwrap)
	}
	a := &analysis{graph: vta.CallGraph(functions, cha.CallGraph(prog)), waits: map[*ssa.Function]map[Lock]*ssa.Function{}, edges: map[[2]Lock]Edge{}}
	for f := range functions {
		if f.Blocks != nil {
			a.functions = append(a.functions, f)
		}
	}
	slices.SortFunc(a.functions, func(x, y *ssa.Function) int {
		if c := strings.Compare(x.String(), y.String()); c != 0 {
			return c
		}
		return int(x.Pos() - y.Pos())
	})
	a.closeWaits()
	for _, f := range a.functions {
		a.function(f)
	}
	keys := slices.SortedFunc(maps.Keys(a.edges), func(x, y [2]Lock) int {
		return strings.Compare(string(x[0]+" "+x[1]), string(y[0]+" "+y[1]))
	})
	var edges []Edge
	for _, k := range keys {
		edges = append(edges, a.edges[k])
	}
	return edges, nil
}

// Cyclic are the edges on a cycle.
func Cyclic(edges []Edge) (list []Edge) {
	next := map[Lock][]Lock{}
	for _, e := range edges {
		next[e.Held] = append(next[e.Held], e.Wanted)
	}
	for _, e := range edges {
		seen := map[Lock]bool{}
		var reaches func(l Lock) bool
		reaches = func(l Lock) bool {
			if l == e.Held {
				return true
			}
			if seen[l] {
				return false
			}
			seen[l] = true
			return slices.ContainsFunc(next[l], reaches)
		}
		if reaches(e.Wanted) {
			list = append(list, e)
		}
	}
	return list
}

type analysis struct {
	graph     *callgraph.Graph
	functions []*ssa.Function
	// waits are the locks that a function waits for, itself or through calls, each with
	// the function that it calls for it: itself or the next of a shortest way.
	waits map[*ssa.Function]map[Lock]*ssa.Function
	edges map[[2]Lock]Edge
}

// closeWaits finds the locks that all functions wait for, breadth first so that paths are short.
func (a *analysis) closeWaits() {
	for _, f := range a.functions {
		own := map[Lock]*ssa.Function{}
		each(f, func(i ssa.Instruction) {
			if c, ok := i.(*ssa.Call); ok {
				if l, op := lockOf(c.Common()); op == take {
					own[l] = f
				}
			}
		})
		a.waits[f] = own
	}
	for changed := true; changed; {
		changed = false
		added := map[*ssa.Function]map[Lock]*ssa.Function{}
		for _, f := range a.functions {
			each(f, func(i ssa.Instruction) {
				for _, callee := range a.callees(i) {
					for l := range a.waits[callee] {
						if a.waits[f][l] == nil && added[f][l] == nil {
							if added[f] == nil {
								added[f] = map[Lock]*ssa.Function{}
							}
							added[f][l] = callee
						}
					}
				}
			})
		}
		for f, list := range added {
			changed = true
			maps.Copy(a.waits[f], list)
		}
	}
}

// callees are the functions that an instruction runs in its goroutine. A function that is passed to one outside the
// packages counts as called by it.
func (a *analysis) callees(i ssa.Instruction) (list []*ssa.Function) {
	call, ok := i.(ssa.CallInstruction)
	if _, starts := i.(*ssa.Go); !ok || starts {
		return nil
	}
	if _, op := lockOf(call.Common()); op != none {
		return nil
	}
	if n := a.graph.Nodes[i.Parent()]; n != nil {
		for _, e := range n.Out {
			if e.Site == call && e.Callee.Func != nil {
				list = append(list, e.Callee.Func)
			}
		}
	}
	outside := call.Common().StaticCallee()
	if outside == nil || outside.Blocks != nil || later[outside.String()] {
		return list
	}
	for _, x := range call.Common().Args {
		switch f := x.(type) {
		case *ssa.MakeClosure:
			list = append(list, f.Fn.(*ssa.Function))
		case *ssa.Function:
			list = append(list, f)
		}
	}
	return list
}

// later are functions that call their arguments in another goroutine or later.
var later = map[string]bool{
	"runtime.AddCleanup": true, "runtime.SetFinalizer": true, "time.AfterFunc": true, "context.AfterFunc": true, "(*sync.WaitGroup).Go": true,
	"sync.OnceFunc": true,
}

// unwrap replaces the function that sync.OnceFunc returns by its argument.
func unwrap(i ssa.Instruction) {
	call, ok := i.(*ssa.Call)
	if !ok || call.Common().StaticCallee() == nil || call.Common().StaticCallee().String() != "sync.OnceFunc" {
		return
	}
	for _, user := range *call.Referrers() {
		for _, x := range user.Operands(nil) {
			if *x == ssa.Value(call) {
				*x = call.Common().Args[0]
			}
		}
	}
}

// function adds the edges of one function: a forward analysis of the locks that may be held.
func (a *analysis) function(f *ssa.Function) {
	held := make([]map[Lock]bool, len(f.Blocks)) // on entry
	held[0] = map[Lock]bool{}
	for work := []*ssa.BasicBlock{f.Blocks[0]}; len(work) > 0; {
		b := work[0]
		work = work[1:]
		out := maps.Clone(held[b.Index])
		for _, i := range b.Instrs {
			a.step(i, out)
		}
		for _, s := range b.Succs {
			grown := held[s.Index] == nil
			if grown {
				held[s.Index] = map[Lock]bool{}
			}
			for l := range out {
				if !held[s.Index][l] {
					held[s.Index][l], grown = true, true
				}
			}
			if grown {
				work = append(work, s)
			}
		}
	}
}

// step interprets an instruction. Deferred calls run under the locks that are held at the defer statement: later ones
// that are unlocked by defer are unlocked before.
func (a *analysis) step(i ssa.Instruction, held map[Lock]bool) {
	call, ok := i.(ssa.CallInstruction)
	if !ok {
		return
	}
	l, op := lockOf(call.Common())
	_, deferred := i.(*ssa.Defer)
	switch {
	case op == give && !deferred:
		delete(held, l)
	case op == take:
		a.edge(i, held, l, i.Parent())
		held[l] = true
	case op == try:
		held[l] = true
	case op == none && len(held) > 0:
		for _, callee := range a.callees(i) {
			for l := range a.waits[callee] {
				a.edge(i, held, l, callee)
			}
		}
	}
}

// edge adds edges from all that is held to a lock that a callee waits for.
func (a *analysis) edge(i ssa.Instruction, held map[Lock]bool, wanted Lock, callee *ssa.Function) {
	for h := range held {
		key := [2]Lock{h, wanted}
		if _, known := a.edges[key]; known {
			continue
		}
		path := []string{i.Parent().String()}
		for f := i.Parent(); f != callee; callee = a.waits[f][wanted] {
			f = callee
			path = append(path, f.String())
		}
		a.edges[key] = Edge{h, wanted, i.Parent().Prog.Fset.Position(i.Pos()), path}
	}
}

// each calls visit for all instructions of a function.
func each(f *ssa.Function, visit func(ssa.Instruction)) {
	for _, b := range f.Blocks {
		for _, i := range b.Instrs {
			visit(i)
		}
	}
}

// operation is the effect of a call on a lock.
type operation int

const (
	none operation = iota
	take           // waits for it
	try            // acquires it or fails
	give
)

var operations = map[string]operation{"Lock": take, "RLock": take, "TryLock": try, "TryRLock": try, "Unlock": give, "RUnlock": give}

// lockOf is the lock of a call of a method of a mutex, and the operation on it.
func lockOf(c *ssa.CallCommon) (Lock, operation) {
	f := c.StaticCallee()
	if f == nil || f.Signature.Recv() == nil || len(c.Args) == 0 {
		return "", none
	}
	switch f.Signature.Recv().Type().String() {
	case "*sync.Mutex", "*sync.RWMutex":
	default:
		return "", none
	}
	op := operations[f.Name()]
	if op == none {
		return "", none
	}
	switch x := c.Args[0].(type) {
	case *ssa.FieldAddr:
		t := x.X.Type().Underlying().(*types.Pointer).Elem()
		owner := types.TypeString(t, func(p *types.Package) string { return p.Name() })
		return Lock(owner + "." + t.Underlying().(*types.Struct).Field(x.Field).Name()), op
	case *ssa.Global:
		return Lock(x.Pkg.Pkg.Name() + "." + x.Name()), op
	case *ssa.Alloc:
		return Lock(x.Parent().String() + "." + x.Comment), op
	case *ssa.FreeVar:
		return Lock(x.Parent().Parent().String() + "." + x.Name()), op
	}
	return "", none
}
