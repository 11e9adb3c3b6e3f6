package soc

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
)

// DRAM is the memory all devices share, and its controller; spans in ns.
type DRAM struct {
	Type            string  `toml:"type"` // a name for people
	Channels        int     `toml:"channels" range:"1..64"`
	BanksPerChannel int     `toml:"banks_per_channel" range:"1..64"`
	RowBytes        int     `toml:"row_bytes" range:"64..65536"`
	BusBits         int     `toml:"bus_bits" range:"8..1024"` // per channel
	BurstLength     int     `toml:"burst_length" range:"2..64"`
	MTPerS          float64 `toml:"mt_per_s" range:"100..20000"`
	// TransfersPerClock is per pin and clock of the command bus: 2 (LPDDR4) by default.
	TransfersPerClock int `toml:"transfers_per_clock" range:"1..16" soc:"optional"`

	// Mapping is the order of an address from its high bits on, of row, bank, column and channel; the bits below
	// address interleave_bytes of one row. The default is "row-bank-column-channel".
	Mapping         string `toml:"mapping" soc:"optional"`
	InterleaveBytes int    `toml:"interleave_bytes" range:"32..65536"`
	XORBanks        bool   `toml:"xor_banks"`

	RLNs    float64 `toml:"rl_ns" range:"0..1000"`
	WLNs    float64 `toml:"wl_ns" range:"0..1000"`
	TRCDNs  float64 `toml:"trcd_ns" range:"0..1000"`
	TRPpbNs float64 `toml:"trp_pb_ns" range:"0..1000"`
	TRPabNs float64 `toml:"trp_ab_ns" range:"0..1000" soc:"optional"`
	TRASNs  float64 `toml:"tras_ns" range:"0..1000"`
	TRCNs   float64 `toml:"trc_ns" range:"0..1000"`
	TRRDNs  float64 `toml:"trrd_ns" range:"0..1000"`
	TFAWNs  float64 `toml:"tfaw_ns" range:"0..1000"`
	TWRNs   float64 `toml:"twr_ns" range:"0..1000"`
	TWTRNs  float64 `toml:"twtr_ns" range:"0..1000"`
	TRTPNs  float64 `toml:"trtp_ns" range:"0..1000"`
	TRTWNs  float64 `toml:"trtw_ns" range:"0..1000"`
	Refresh string  `toml:"refresh"` // "all_banks", "per_bank", "none"
	// Keys of the refresh that is named are required, others are errors.
	TRFCabNs float64 `toml:"trfc_ab_ns" range:"0..10000" soc:"optional"`
	TRFCpbNs float64 `toml:"trfc_pb_ns" range:"0..10000" soc:"optional"`
	TREFINs  float64 `toml:"trefi_ns" range:"0..1000000" soc:"optional"`
	// SelfRefreshAfterUs is how long a channel idles before it refreshes itself; without
	// it, it never does. TXSRNs is the way out.
	SelfRefreshAfterUs float64 `toml:"self_refresh_after_us" range:"0.1..1000000" soc:"optional"`
	TXSRNs             float64 `toml:"txsr_ns" range:"0..10000" soc:"optional"`

	RequestNs  float64 `toml:"request_ns" range:"0..10000"` // fabric and PHY to the controller
	ResponseNs float64 `toml:"response_ns" range:"0..10000"`

	// Scheduler is "fr-fcfs" (the default) or "fcfs".
	Scheduler  string  `toml:"scheduler" soc:"optional"`
	RowHitCap  int     `toml:"row_hit_cap" range:"1..1024" soc:"optional"`     // bursts that pass an older request; default: no limit
	AgeLimitNs float64 `toml:"age_limit_ns" range:"1..1000000" soc:"optional"` // for which a request is passed; default: no limit
	// RowPolicy is "open" (the default), "closed" or "timeout".
	RowPolicy    string  `toml:"row_policy" soc:"optional"`
	RowTimeoutNs float64 `toml:"row_timeout_ns" range:"1..1000000" soc:"optional"`
	QueueDepth   int     `toml:"queue_depth" range:"1..256" soc:"optional"` // bursts a channel chooses among; default 32
	WriteQueue   int     `toml:"write_queue" range:"1..256"`                // posted bursts per channel, written when they fill it
	WriteIdle    int     `toml:"write_idle" range:"1..255" soc:"optional"`  // or when more than these wait and nothing else; default 0

	// Clock allows further clocks of the memory than that of mt_per_s.
	Clock *DRAMClock `toml:"clock" soc:"optional"`

	Energy DRAMEnergy `toml:"energy"`

	// Policies written in Go replace those that the file names.
	Policies Policies `toml:"-"`
}

// Policies are a DRAM controller's decisions; nil ones are those of the file.
type Policies struct {
	Scheduler dram.Scheduler
	RowPolicy dram.RowPolicy
	Mapping   dram.Mapping
}

// DRAMEnergy is pJ per event of the memory, which has its own supply, and its static power. The table has exactly the
// names of dramEvents.
type DRAMEnergy struct {
	StaticMW      float64            `toml:"static_mw" range:"0..100000"`
	SelfRefreshMW float64            `toml:"self_refresh_mw" range:"0..100000" soc:"optional"` // of all channels, in place of static and refresh power
	PJ            map[string]float64 `toml:"pj"`
}

// ParseDRAM reads a file that has only a section [dram]; file is used in errors.
func ParseDRAM(file string, data []byte) (*DRAM, error) {
	var c struct {
		DRAM DRAM `toml:"dram"`
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("soc: %s: larger than %d bytes", file, maxFile)
	}
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&c); err != nil {
		return nil, decodeError(file, err)
	}
	pos, err := positions(data)
	if err != nil {
		return nil, fmt.Errorf("soc: %s: %w", file, err)
	}
	k := checker{file: file, pos: pos}
	k.walk("", reflect.ValueOf(&c).Elem())
	if len(k.errs) == 0 {
		k.dram(&c.DRAM)
	}
	return &c.DRAM, k.err()
}

// Config is the configuration of the controller.
func (d *DRAM) Config() dram.Config {
	c := dram.Config{
		Name: d.Type, Channels: d.Channels, Banks: d.BanksPerChannel, RowBytes: d.RowBytes,
		BusBits: d.BusBits, BurstLength: d.BurstLength, TransfersPerSec: sim.Hertz(d.MTPerS), TransfersPerClock: d.TransfersPerClock,
		Order: d.Mapping, InterleaveBytes: d.InterleaveBytes, XORBanks: d.XORBanks,
		ReadLatency: sim.Nanoseconds(d.RLNs), WriteLatency: sim.Nanoseconds(d.WLNs), TRCD: sim.Nanoseconds(d.TRCDNs),
		TRPpb: sim.Nanoseconds(d.TRPpbNs), TRPab: sim.Nanoseconds(d.TRPabNs), TRAS: sim.Nanoseconds(d.TRASNs), TRC: sim.Nanoseconds(d.TRCNs),
		TRRD: sim.Nanoseconds(d.TRRDNs), TFAW: sim.Nanoseconds(d.TFAWNs), TWR: sim.Nanoseconds(d.TWRNs), TWTR: sim.Nanoseconds(d.TWTRNs),
		TRTP: sim.Nanoseconds(d.TRTPNs), TRTW: sim.Nanoseconds(d.TRTWNs),
		TRFCab: sim.Nanoseconds(d.TRFCabNs), TRFCpb: sim.Nanoseconds(d.TRFCpbNs), TREFI: sim.Nanoseconds(d.TREFINs),
		SelfRefreshAfter: sim.Microseconds(d.SelfRefreshAfterUs), TXSR: sim.Nanoseconds(d.TXSRNs),
		RequestLatency: sim.Nanoseconds(d.RequestNs), ResponseLatency: sim.Nanoseconds(d.ResponseNs),
		QueueDepth: d.QueueDepth, WriteQueue: d.WriteQueue, WriteIdle: d.WriteIdle,
		Scheduler: d.Policies.Scheduler, RowPolicy: d.Policies.RowPolicy, Mapping: d.Policies.Mapping,
		Energy: dram.Energy{
			ActivatePJ: d.Energy.PJ["dram_activate"], ReadBurstPJ: d.Energy.PJ["dram_read_burst"], WriteBurstPJ: d.Energy.PJ["dram_write_burst"],
			BackgroundMW: d.BackgroundMW(), SelfRefreshMW: d.Energy.SelfRefreshMW,
		},
	}
	if d.Clock != nil {
		c.SwitchTime = sim.Microseconds(d.Clock.SwitchUs)
	}
	clocks := func(ns float64) int64 { return int64(ns * 1e-9 * float64(c.ClockHz())) }
	c.TransfersPerClock = cmp.Or(c.TransfersPerClock, 2)
	if c.Scheduler == nil {
		if d.Scheduler == "fcfs" {
			c.Scheduler = dram.FCFS{}
		} else {
			c.Scheduler = dram.FRFCFS{RowHitCap: d.RowHitCap, AgeLimit: clocks(d.AgeLimitNs)}
		}
	}
	if c.RowPolicy == nil {
		switch d.RowPolicy {
		case "closed":
			c.RowPolicy = dram.ClosedRows{}
		case "timeout":
			c.RowPolicy = dram.TimeoutRows{Clocks: clocks(d.RowTimeoutNs)}
		}
	}
	switch d.Refresh {
	case "all_banks":
		c.Refresh = dram.RefreshAllBanks
	case "per_bank":
		c.Refresh = dram.RefreshPerBank
	}
	return c
}

// Voted is the SoC with its DRAM and system-level cache at the clocks that an engine votes
// for at the point of a preference, the DRAM not above mt_per_s. Spans in ns stay, in fewer clocks.
func (c *Config) Voted(clock *Clock, p sim.Preference) *Config { return c.VotedMHz(clock.vote(p)) }

// VotedMHz is the SoC with its DRAM at a clock, 0 for its highest, and its system-level cache
// at the point that carries it.
func (c *Config) VotedMHz(mhz float64) *Config {
	if mhz == 0 {
		return c
	}
	v := *c
	v.DRAM.MTPerS = min(mhz*c.DRAM.transfersPerClock(), c.DRAM.MTPerS)
	if s := c.SystemCache; s != nil && s.Clock != nil {
		at := *s
		at.MHz = s.Clock.OPPs[c.SystemPoint(mhz)].MHz
		v.SystemCache = &at
	}
	return &v
}

// transfersPerClock is the key, or its default.
func (d *DRAM) transfersPerClock() float64 {
	if d.TransfersPerClock == 0 {
		return 2
	}
	return float64(d.TransfersPerClock)
}

// vote is ddr_mhz of the point of a preference, 0 for none.
func (c *Clock) vote(p sim.Preference) float64 {
	mhz := [sim.NumPreferences]float64{c.LowPowerMHz, c.FastMHz, c.SustainedMHz}[p]
	for _, o := range c.OPPs {
		if o.MHz == mhz {
			return o.DDRMHz
		}
	}
	return 0
}

// StreamPJPerByte is the energy of streaming one byte, read and written: a
// burst's, and its share of a row activation.
func (d *DRAM) StreamPJPerByte() (read, write float64) {
	burst := float64(d.BusBits / 8 * d.BurstLength)
	activate := d.Energy.PJ["dram_activate"] / float64(d.RowBytes)
	return d.Energy.PJ["dram_read_burst"]/burst + activate, d.Energy.PJ["dram_write_burst"]/burst + activate
}

// BackgroundMW is the power of the DRAM independent of its activity, awake: static power and the refresh of every
// channel.
func (d *DRAM) BackgroundMW() float64 {
	return d.Energy.StaticMW + d.RefreshMW()
}

// RefreshMW is the power of refresh, of every channel.
func (d *DRAM) RefreshMW() float64 {
	if d.Refresh == "none" || d.TREFINs <= 0 {
		return 0
	}
	return float64(d.Channels) * d.Energy.PJ["dram_refresh"] / d.TREFINs // pJ per ns = mW
}

// oneOf reports a word that a key does not accept; empty is the default.
func (k *checker) oneOf(path, v string, words ...string) bool {
	if v == "" || slices.Contains(words, v) {
		return true
	}
	last := len(words) - 1
	k.fail(path, "%q, want %s or %s", v, strings.Join(words[:last], ", "), words[last])
	return false
}

// oneLine is an error of package mem in a line.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "mem: "), "\n", "; ")
}

func (k *checker) dram(d *DRAM) {
	k.energy("dram.energy", d.Energy.PJ, dramEvents)
	ok := k.oneOf("dram.scheduler", d.Scheduler, "fr-fcfs", "fcfs")
	ok = k.oneOf("dram.row_policy", d.RowPolicy, "open", "closed", "timeout") && ok
	ok = k.oneOf("dram.mapping", d.Mapping, dram.MappingOrders()...) && ok
	if d.Refresh == "" {
		k.fail("dram.refresh", `"", want all_banks, per_bank or none`)
		return
	}
	if !k.oneOf("dram.refresh", d.Refresh, "all_banks", "per_bank", "none") || !ok {
		return
	}
	// The hardware model knows the rest: powers of two, refresh against TREFI.
	if _, err := dram.New(d.Config()); err != nil {
		k.fail("dram", "%s", oneLine(err.Error()))
	}
	k.dramClock(d)
	k.only("dram.trfc_ab_ns", d.Refresh == "all_banks", `refresh = "all_banks"`)
	k.only("dram.trp_ab_ns", d.Refresh == "all_banks", `refresh = "all_banks"`)
	k.only("dram.trfc_pb_ns", d.Refresh == "per_bank", `refresh = "per_bank"`)
	k.only("dram.trefi_ns", d.Refresh != "none", "a refresh")
	asleep := d.SelfRefreshAfterUs > 0
	k.only("dram.txsr_ns", asleep, "self_refresh_after_us")
	k.only("dram.energy.self_refresh_mw", asleep, "self_refresh_after_us")
	if d.Policies.RowPolicy == nil {
		k.only("dram.row_timeout_ns", d.RowPolicy == "timeout", `row_policy = "timeout"`)
	}
	for _, key := range []string{"dram.row_hit_cap", "dram.age_limit_ns"} {
		if _, written := k.pos[key]; written && d.Scheduler == "fcfs" {
			k.fail(key, `takes no effect: it needs scheduler = "fr-fcfs"`)
		}
	}
}
