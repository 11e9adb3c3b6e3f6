package hexagon

import "strconv"

// Numbers of the control registers that programs use.
const (
	CtrlSA0 = 0
	CtrlLC0 = 1
	CtrlSA1 = 2
	CtrlLC1 = 3
	CtrlP30 = 4 // p3:0 as one word
	CtrlM0  = 6
	CtrlM1  = 7
	CtrlUSR = 8
	CtrlPC  = 9
	CtrlUGP = 10
	CtrlGP  = 11
	CtrlCS0 = 12
	CtrlCS1 = 13
)

// controlNames are the control registers c0..c31; empty ones are reserved.
var controlNames = [32]string{
	0: "sa0", 1: "lc0", 2: "sa1", 3: "lc1", 4: "p3:0", 5: "c5", 6: "m0", 7: "m1", 8: "usr", 9: "pc", 10: "ugp", 11: "gp",
	12: "cs0", 13: "cs1", 14: "upcyclelo", 15: "upcyclehi", 16: "framelimit", 17: "framekey", 18: "pktcountlo", 19: "pktcounthi",
	30: "utimerlo", 31: "utimerhi",
}

// NumControls is how many control registers there are.
const NumControls = len(controlNames)

// systemNames are the system registers that have a name; the others up to s80 go by their number.
var systemNames = [128]string{
	0: "sgp0", 1: "sgp1", 2: "stid", 3: "elr", 4: "badva0", 5: "badva1", 6: "ssr", 7: "ccr", 8: "htid", 9: "badva", 10: "imask",
	16: "evb", 17: "modectl", 18: "syscfg", 21: "vid", 27: "cfgbase", 28: "diag", 29: "rev", 30: "pcyclelo", 31: "pcyclehi",
	32: "isdbst", 33: "isdbcfg0", 34: "isdbcfg1", 36: "brkptpc0", 37: "brkptcfg0", 38: "brkptpc1", 39: "brkptcfg1", 40: "isdbmbxin",
	41: "isdbmbxout", 42: "isdben", 43: "isdbgpr", 48: "pmucnt0", 49: "pmucnt1", 50: "pmucnt2", 51: "pmucnt3", 52: "pmuevtcfg", 53: "pmucfg",
}

// guestNames are the guest registers that have a name.
var guestNames = [32]string{
	0: "gelr", 1: "gsr", 2: "gosp", 3: "gbadva", 16: "gpmucnt4", 17: "gpmucnt5", 18: "gpmucnt6", 19: "gpmucnt7",
	24: "gpcyclelo", 25: "gpcyclehi", 26: "gpmucnt0", 27: "gpmucnt1", 28: "gpmucnt2", 29: "gpmucnt3",
}

const lastSystem = 80

// ControlName is the name of control register c, empty for reserved ones.
func ControlName(c uint8) string { return controlName(c) }

func controlName(c uint8) string {
	if int(c) >= len(controlNames) {
		return ""
	}
	return controlNames[c]
}

// registerName names a control, system or guest register.
func registerName(k Kind, r uint8) string {
	var name string
	letter := "c"
	switch k {
	case KindC:
		name = controlName(r)
	case KindS:
		name, letter = systemNames[r&127], "s"
	case KindG:
		name, letter = guestNames[r&31], "g"
	}
	if name == "" {
		name = letter + strconv.Itoa(int(r))
	}
	return name
}

// registerExists reports whether a register (the even one of a pair) of the kind is not reserved.
func registerExists(k Kind, r uint8) bool {
	switch k {
	case KindC:
		return controlName(r) != ""
	case KindCC:
		return controlName(r) != "" && controlName(r+1) != ""
	case KindS:
		return r <= lastSystem
	case KindSS:
		return r < lastSystem
	}
	return true
}

// kindNames are the kinds that have reserved numbers, for messages.
var kindNames = [...]string{KindC: "control register", KindCC: "control register pair", KindS: "system register", KindSS: "system register pair"}

// pairLetter is the letter before the numbers of a register pair.
var pairLetter = [...]byte{KindRR: 'r', KindVV: 'v', KindCC: 'c', KindSS: 's', KindGG: 'g'}

func (k Kind) isPair() bool { return int(k) < len(pairLetter) && pairLetter[k] != 0 }
