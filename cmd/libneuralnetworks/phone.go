//go:build linux && cgo && libneuralnetworks

package main

// #include <stdint.h>
// #include "support.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/cgo"
	"slices"
	"strings"
	"sync"

	"github.com/nnsoc/nnsoc/bench/applog"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Variables of the environment that configure the phone.
const (
	socVariable    = "NNSOC_SOC"    // a preset or a file
	setVariable    = "NNSOC_SET"    // keys of it that are changed, K=V separated by commas
	deviceVariable = "NNSOC_DEVICE" // drivers to use, separated by commas; without it all
	// machineVariable is the folder of a phone of "nnsoc serve --machine"; without it the process has its own.
	machineVariable = "NNSOC_MACHINE"
)

// phone is the simulated phone of the process.
type phone struct {
	runtime *nnapi.Runtime
	devices []*device // by index
	callbacks
}

// device is a device with what the app holds of it for as long as it runs.
type device struct {
	*nnapi.Device
	handle        C.uintptr_t
	name, version *C.char
}

// thePhone opens the phone when the app first needs it.
var thePhone = sync.OnceValues(func() (*phone, error) {
	p, err := open(os.Getenv)
	if err != nil {
		fmt.Fprintf(os.Stderr, "nnsoc: libneuralnetworks: %v\n", err)
		return nil, bad(nnapi.OpFailed, "no phone: %w", err)
	}
	return p, nil
})

// hardware is what a phone's runtime is made of.
type hardware struct {
	soc     string
	devices []hal.Device // the CPU first
	nowFs   func() int64
}

// open makes the phone that the environment describes.
func open(env func(string) string) (*phone, error) {
	find := own
	if env(machineVariable) != "" {
		find = served
	}
	h, err := find(env)
	if err != nil {
		return nil, err
	}
	drivers, err := chosen(h.devices[1:], env(deviceVariable))
	if err != nil {
		return nil, err
	}
	r, err := nnapi.NewRuntime(h.devices[0], drivers...)
	if err != nil {
		return nil, err
	}
	recorder, err := applog.FromEnvironment(env, applog.Process{ID: os.Getpid(), Program: programName(), SoC: h.soc, Devices: namesOf(drivers)}, h.nowFs)
	if err != nil {
		return nil, err
	}
	p := &phone{runtime: r}
	d := &diagnostics{callbacks: &p.callbacks}
	if recorder != nil {
		d.recorder = recorder
	}
	r.SetDiagnostics(d)
	for i := range r.DeviceCount() {
		d, err := r.Device(i)
		if err != nil {
			return nil, err
		}
		x := &device{Device: d, name: lasting(d.Name()), version: lasting(d.Version())}
		x.handle = C.uintptr_t(cgo.NewHandle(x))
		p.devices = append(p.devices, x)
	}
	return p, nil
}

// lasting is a string for the program, which stays as long as the process.
func lasting(s string) *C.char {
	text := C.CString(s)
	C.nnsoc_keep(text)
	return text
}

// own is the hardware of this process alone.
func own(env func(string) string) (*hardware, error) {
	config, err := load(env(socVariable), env(setVariable))
	if err != nil {
		return nil, err
	}
	machine, err := devices.NewMachine(config, hal.FastSingleAnswer)
	if err != nil {
		return nil, err
	}
	return &hardware{config.SoC.Name, machine.Devices(), clock(machine)}, nil
}

// served is the hardware of a phone that another process holds.
func served(env func(string) string) (*hardware, error) {
	folder := env(machineVariable)
	if env(socVariable) != "" || env(setVariable) != "" {
		return nil, fmt.Errorf("%s and %s do nothing with %s: the phone is there", socVariable, setVariable, machineVariable)
	}
	found, dead, err := service.DialAll(folder)
	if err == nil {
		err = errors.Join(dead...)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", machineVariable, err)
	}
	h := &hardware{soc: "the phone " + folder}
	for _, d := range found {
		if d.Type() == hal.DeviceCPU {
			h.devices = append([]hal.Device{d}, h.devices...)
			h.nowFs = func() int64 { return int64(d.Now()) * 1e6 }
		} else {
			h.devices = append(h.devices, d)
		}
	}
	if h.nowFs == nil {
		return nil, fmt.Errorf("%s: %s has no CPU", machineVariable, folder)
	}
	return h, nil
}

// programName is the file of the process's program, without its folder.
func programName() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Base(name)
}

// clock returns the present instant of a machine, in femtoseconds.
func clock(m hal.Machine) func() int64 {
	return func() (now int64) {
		_ = m.Enter(func(c hal.Client) error { now = c.NowFs(); return nil }) // the function has no error
		return now
	}
}

// load reads a SoC and changes keys of it.
func load(name, set string) (*soc.Config, error) {
	if name == "" {
		name = soc.Default
	}
	var changes []soc.Change
	for _, s := range fields(set) {
		c, err := soc.ParseChange(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", setVariable, err)
		}
		changes = append(changes, c)
	}
	return soc.LoadChanged(name, changes...)
}

// chosen are the drivers that a list names, in its order; those of an empty list are all.
func chosen(all []hal.Device, names string) (list []hal.Device, err error) {
	if names == "" {
		return all, nil
	}
	for _, name := range fields(names) {
		i := slices.IndexFunc(all, func(d hal.Device) bool { return d.Name() == name })
		switch {
		case name == "cpu": // there in any case
		case i < 0:
			return nil, fmt.Errorf("%s: no device %q; there are %s", deviceVariable, name, strings.Join(namesOf(all), ", "))
		default:
			list = append(list, all[i])
		}
	}
	return list, nil
}

func namesOf(all []hal.Device) (names []string) {
	for _, d := range all {
		names = append(names, d.Name())
	}
	return append(names, "cpu")
}

func fields(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}
