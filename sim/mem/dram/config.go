package dram

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/internal/model"
)

// RefreshKind is how a DRAM is refreshed.
type RefreshKind uint8

// Refresh kinds.
const (
	RefreshNone     RefreshKind = iota
	RefreshAllBanks             // every TREFI the whole channel stops for TRPab + TRFCab
	RefreshPerBank              // every TREFI/Banks one bank stops for TRPpb + TRFCpb
)

// Config describes a DRAM and its controller. Counts and sizes are powers of two unless stated otherwise; spans are
// absolute, in ns as in datasheets, and a controller rounds them up to whole clocks.
type Config struct {
	Name            string
	Channels        int   // independent channels
	Banks           int   // per channel
	RowBytes        int   // page of one bank of one channel
	BusBits         int   // data pins per channel
	BurstLength     int   // transfers per column command
	TransfersPerSec int64 // per pin
	// TransfersPerClock is the transfers per pin and clock of the command bus: 2 of LPDDR4, 8 of LPDDR5. 0 means 2.
	TransfersPerClock int

	Order           string // of an address, one of MappingOrders; the first when empty
	InterleaveBytes int    // consecutive bytes on one channel; at most RowBytes
	XORBanks        bool   // bank index is XORed with the low row bits, which spreads power-of-two strides

	ReadLatency  sim.Time // RL: column command to first data
	WriteLatency sim.Time // WL
	TRCD         sim.Time // activate to column command
	TRPpb, TRPab sim.Time // precharge, one bank or all
	TRAS         sim.Time // activate to precharge
	TRC          sim.Time // activate to activate, same bank
	TRRD         sim.Time // activate to activate, other bank
	TFAW         sim.Time // window of at most four activates
	TWR          sim.Time // end of write data to precharge
	TWTR         sim.Time // end of write data to read command
	TRTP         sim.Time // read command to precharge
	TRTW         sim.Time // bus gap between read data and write data

	Refresh        RefreshKind
	TRFCab, TRFCpb sim.Time
	TREFI          sim.Time // for all banks; a bank is due every TREFI in both kinds
	// SelfRefreshAfter is the idle time after which a channel enters self-refresh, TXSR the time to leave it. 0: it
	// never does.
	SelfRefreshAfter, TXSR sim.Time
	// SwitchTime is how long nothing is served when the clock changes.
	SwitchTime sim.Time

	RequestLatency  sim.Time // fabric and PHY, request to the controller
	ResponseLatency sim.Time // last data to requester; reads only

	// QueueDepth is the number of bursts, of any kind, among which the scheduler of a channel chooses, and of the reads
	// that wait to enter there. 0 means 32.
	QueueDepth int
	// WriteQueue is the number of posted bursts per channel, which delay no requester until they fill it. A batch of
	// them is written when they do, or when more than WriteIdle wait and the scheduler has nothing else. 0 means 32.
	WriteQueue int
	WriteIdle  int // any number below WriteQueue

	Scheduler Scheduler // nil: FRFCFS{}
	RowPolicy RowPolicy // nil: OpenRows{}
	Mapping   Mapping   // nil: interleaved

	Energy Energy
}

// Most clocks of a span, and bursts of a queue.
const (
	maxClocks = 1 << 20
	maxQueue  = 256
)

// withDefaults replaces zeros by their defaults.
func (c Config) withDefaults() Config {
	c.TransfersPerClock = cmp.Or(c.TransfersPerClock, 2)
	c.QueueDepth = cmp.Or(c.QueueDepth, 32)
	c.WriteQueue = cmp.Or(c.WriteQueue, 32)
	if c.Scheduler == nil {
		c.Scheduler = FRFCFS{}
	}
	if c.RowPolicy == nil {
		c.RowPolicy = OpenRows{}
	}
	return c
}

// Validate reports every value that is out of range.
func (c Config) Validate() error {
	c = c.withDefaults()
	k := model.Checks{What: "dram " + c.Name}
	k.Pow2("Channels", c.Channels, 1, 64)
	k.Pow2("Banks", c.Banks, 1, 64)
	k.Pow2("RowBytes", c.RowBytes, 64, 1<<16)
	k.Pow2("BusBits", c.BusBits, 8, 1024)
	k.Pow2("BurstLength", c.BurstLength, 2, 64)
	k.Pow2("TransfersPerClock", c.TransfersPerClock, 1, 16)
	k.In("TransfersPerSec", c.TransfersPerSec, 1e6, 1e11)
	k.In("the clock of the command bus in Hz", c.ClockHz(), 1e6, 1e10)
	k.Pow2("InterleaveBytes", c.InterleaveBytes, 32, 1<<16)
	k.In("QueueDepth", int64(c.QueueDepth), 1, maxQueue)
	k.In("WriteQueue", int64(c.WriteQueue), 1, maxQueue)
	k.In("WriteIdle", int64(c.WriteIdle), 0, int64(c.WriteQueue)-1)
	if c.Order != "" && !slices.Contains(MappingOrders(), c.Order) {
		k.Fail("Order = %q, want one of %s", c.Order, strings.Join(MappingOrders(), ", "))
	}
	if c.InterleaveBytes > c.RowBytes {
		k.Fail("InterleaveBytes = %d exceeds RowBytes = %d", c.InterleaveBytes, c.RowBytes)
	}
	if b := c.BurstBytes(); b > c.InterleaveBytes {
		k.Fail("a burst of %d bytes exceeds InterleaveBytes = %d", b, c.InterleaveBytes)
	}
	if c.BurstLength < c.TransfersPerClock {
		k.Fail("BurstLength = %d is less than the %d transfers of a clock", c.BurstLength, c.TransfersPerClock)
	}
	longest := sim.Time(0)
	for _, s := range []struct {
		name string
		v    sim.Time
	}{
		{"ReadLatency", c.ReadLatency}, {"WriteLatency", c.WriteLatency}, {"TRCD", c.TRCD},
		{"TRPpb", c.TRPpb}, {"TRPab", c.TRPab}, {"TRAS", c.TRAS}, {"TRC", c.TRC}, {"TRRD", c.TRRD},
		{"TFAW", c.TFAW}, {"TWR", c.TWR}, {"TWTR", c.TWTR}, {"TRTP", c.TRTP}, {"TRTW", c.TRTW},
		{"TRFCab", c.TRFCab}, {"TRFCpb", c.TRFCpb}, {"TREFI", c.TREFI}, {"TXSR", c.TXSR},
		{"RequestLatency", c.RequestLatency}, {"ResponseLatency", c.ResponseLatency},
	} {
		k.Span(s.name, s.v)
		longest = max(longest, s.v)
	}
	k.Span("SelfRefreshAfter", c.SelfRefreshAfter)
	k.Span("SwitchTime", c.SwitchTime)
	if hz := c.ClockHz(); hz > 0 && k.OK() && longest.Seconds()*float64(hz) > maxClocks {
		k.Fail("a span of %d fs is more than %d clocks", int64(longest), maxClocks)
	}
	switch c.Refresh {
	case RefreshNone:
	case RefreshAllBanks:
		if c.TREFI < 2*(c.TRFCab+c.TRPab) || c.TREFI == 0 {
			k.Fail("TREFI = %d fs leaves no time beside TRPab + TRFCab", int64(c.TREFI))
		}
	case RefreshPerBank:
		if c.Banks > 0 && (c.TREFI/sim.Time(c.Banks) < 2*(c.TRFCpb+c.TRPpb) || c.TREFI == 0) {
			k.Fail("TREFI / Banks leaves no time beside TRPpb + TRFCpb")
		}
	default:
		k.Fail("unknown refresh kind %d", c.Refresh)
	}
	if m := c.Mapping; m != nil {
		k.Pow2("Mapping.ChunkBytes", m.ChunkBytes(), max(c.BurstBytes(), 1), 1<<16)
	}
	return k.Err()
}

// ClockHz is the frequency of the command bus.
func (c *Config) ClockHz() int64 {
	if c.TransfersPerClock == 0 {
		return c.TransfersPerSec / 2
	}
	return c.TransfersPerSec / int64(c.TransfersPerClock)
}

// BurstTime is the time one burst occupies the data bus.
func (c *Config) BurstTime() sim.Time { return model.Period(c.BurstLength, c.TransfersPerSec) }

// BurstBytes is the size of one burst.
func (c *Config) BurstBytes() int { return c.BusBits / 8 * c.BurstLength }

// PeakBytesPerSecond is the pin bandwidth of all channels together.
func (c *Config) PeakBytesPerSecond() float64 {
	return float64(c.Channels) * float64(c.BusBits) / 8 * float64(c.TransfersPerSec)
}
