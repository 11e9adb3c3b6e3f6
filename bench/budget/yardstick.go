package budget

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// portable multiplies and adds bytes in a loop that the compiler does not vectorize.
func portable(what string) (*meter, error) {
	products := int64(1 << 24)
	switch what {
	case "2^24 products":
	case "MobileNet v1's products":
		m, err := zoo.Build(quantNetwork)
		if err != nil {
			return nil, err
		}
		products = opspec.MACs(m)
	default:
		return nil, fmt.Errorf("no loop of portable Go is called %q", what)
	}
	a, b := make([]int8, 4096), make([]int8, 4096)
	for i := range a {
		a[i], b[i] = int8(5*i), int8(3*i)
	}
	sum := int32(0)
	return timed(func() error {
		for range products / int64(len(a)) {
			sum += product(a, b)
		}
		if sum == 1 { // so that nothing is left out
			return errors.New("impossible sum")
		}
		return nil
	}), nil
}

//go:noinline
func product(a, b []int8) (sum int32) {
	b = b[:len(a)]
	for i, x := range a {
		sum += int32(x) * int32(b[i])
	}
	return sum
}

// copies copies more than the caches of a host hold.
func copies() *meter {
	from, to := make([]byte, 64<<20), make([]byte, 64<<20)
	for i := range from {
		from[i] = byte(i)
	}
	return timed(func() error {
		copy(to, from)
		return nil
	})
}

// emulated is a run of programs by qemu-hexagon, which must end with the status that the core ends with.
func (b *bench) emulated(name string) (_ *meter, err error) {
	defer try.Catch(&err)
	if _, err := exec.LookPath("qemu-hexagon"); err != nil {
		return nil, errSkip("needs qemu-hexagon")
	}
	dir := try.V(b.folder())
	core := try.V(b.core())
	var files []string
	for i, text := range programs[name] {
		x := try.V(assemble(text))
		f := filepath.Join(dir, fmt.Sprintf("%d.elf", i))
		try.E(os.WriteFile(f, x, 0o700))
		want, _ := try.V2(core.execute(x))
		if _, got, err := emulate(f); err != nil {
			return nil, err
		} else if got != want {
			return nil, fmt.Errorf("program %d ends with status %d in QEMU, %d on the core", i, got, want)
		}
		files = append(files, f)
	}
	return &meter{once: func() (sum time.Duration, err error) {
		for _, f := range files {
			spent, _, err := emulate(f)
			if err != nil {
				return 0, err
			}
			sum += spent
		}
		return sum, nil
	}}, nil
}

// emulate runs an executable in QEMU: its user CPU time and exit status.
func emulate(file string) (time.Duration, int, error) {
	c := exec.Command("qemu-hexagon", file)
	out, err := c.CombinedOutput()
	var status *exec.ExitError
	if err != nil && (!errors.As(err, &status) || status.ExitCode() < 0) {
		return 0, 0, fmt.Errorf("qemu-hexagon: %w: %s", err, out)
	}
	return c.ProcessState.UserTime(), c.ProcessState.ExitCode(), nil
}

// host is the host of a measurement.
func host() string {
	s := runtime.GOOS + "/" + runtime.GOARCH
	switch {
	case Wide():
		s += " AVX-512"
	case cpu.X86.HasAVX2:
		s += " AVX2"
	}
	return s
}

// Wide reports whether the simulator's code uses AVX-512 in this process.
func Wide() bool { return cpu.X86.HasAVX512F }

// NarrowSetting of GODEBUG, which package cpu reads, keeps a process from AVX-512.
const NarrowSetting = "cpu.avx512f=off"
