package mem

import (
	"github.com/nnsoc/nnsoc/sim"
)

// RefreshKind is how a DRAM is refreshed.
type RefreshKind uint8

// Refresh kinds.
const (
	RefreshNone     RefreshKind = iota
	RefreshAllBanks             // every TREFI the whole channel stops for TRPab + TRFCab
	RefreshPerBank              // every TREFI/Banks one bank stops for TRPpb + TRFCpb
)

// DRAMConfig describes a DRAM behind its controller. Counts and sizes are
// powers of two; spans are absolute, as datasheets give them in ns.
type DRAMConfig struct {
	Name            string
	Channels        int   // independent channels
	Banks           int   // per channel
	RowBytes        int   // page of one bank of one channel
	BusBits         int   // data pins per channel
	BurstLength     int   // transfers per column command
	TransfersPerSec int64 // per pin
	InterleaveBytes int   // consecutive bytes on one channel; at most RowBytes
	XORBanks        bool  // bank index is XORed with the low row bits, which spreads power-of-two strides

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

	RequestLatency  sim.Time // controller and PHY, request to first command
	ResponseLatency sim.Time // last data to requester; reads only
	// WriteQueue is the number of posted writes (of up to InterleaveBytes) per
	// channel. They are drained together when the queue is full, so that the bus
	// turns around once per batch. 0 writes at once.
	WriteQueue int

	Energy DRAMEnergy
}

// Validate reports every value that is out of range.
func (c *DRAMConfig) Validate() error {
	k := checks{what: "dram " + c.Name}
	k.pow2("Channels", c.Channels, 1, 64)
	k.pow2("Banks", c.Banks, 1, 64)
	k.pow2("RowBytes", c.RowBytes, 64, 1<<16)
	k.pow2("BusBits", c.BusBits, 8, 1024)
	k.pow2("BurstLength", c.BurstLength, 2, 64)
	k.in("TransfersPerSec", c.TransfersPerSec, 1e6, 1e11)
	k.pow2("InterleaveBytes", c.InterleaveBytes, 32, 1<<16)
	k.in("WriteQueue", int64(c.WriteQueue), 0, maxEntries)
	if c.InterleaveBytes > c.RowBytes {
		k.fail("InterleaveBytes = %d exceeds RowBytes = %d", c.InterleaveBytes, c.RowBytes)
	}
	if b := c.BusBits / 8 * c.BurstLength; b > c.InterleaveBytes {
		k.fail("a burst of %d bytes exceeds InterleaveBytes = %d", b, c.InterleaveBytes)
	}
	for _, s := range []struct {
		name string
		v    sim.Time
	}{
		{"ReadLatency", c.ReadLatency}, {"WriteLatency", c.WriteLatency}, {"TRCD", c.TRCD},
		{"TRPpb", c.TRPpb}, {"TRPab", c.TRPab}, {"TRAS", c.TRAS}, {"TRC", c.TRC}, {"TRRD", c.TRRD},
		{"TFAW", c.TFAW}, {"TWR", c.TWR}, {"TWTR", c.TWTR}, {"TRTP", c.TRTP}, {"TRTW", c.TRTW},
		{"TRFCab", c.TRFCab}, {"TRFCpb", c.TRFCpb}, {"TREFI", c.TREFI},
		{"RequestLatency", c.RequestLatency}, {"ResponseLatency", c.ResponseLatency},
	} {
		k.span(s.name, s.v)
	}
	switch c.Refresh {
	case RefreshNone:
	case RefreshAllBanks:
		if c.TREFI < 2*(c.TRFCab+c.TRPab) || c.TREFI == 0 {
			k.fail("TREFI = %d fs leaves no time beside TRPab + TRFCab", int64(c.TREFI))
		}
	case RefreshPerBank:
		if c.Banks > 0 && (c.TREFI/sim.Time(c.Banks) < 2*(c.TRFCpb+c.TRPpb) || c.TREFI == 0) {
			k.fail("TREFI / Banks leaves no time beside TRPpb + TRFCpb")
		}
	default:
		k.fail("unknown refresh kind %d", c.Refresh)
	}
	return k.err()
}

// BurstTime is the time one burst occupies the data bus.
func (c *DRAMConfig) BurstTime() sim.Time { return period(c.BurstLength, c.TransfersPerSec) }

// BurstBytes is the size of one burst.
func (c *DRAMConfig) BurstBytes() int { return c.BusBits / 8 * c.BurstLength }

// PeakBytesPerSecond is the pin bandwidth of all channels together.
func (c *DRAMConfig) PeakBytesPerSecond() float64 {
	return float64(c.Channels) * float64(c.BusBits) / 8 * float64(c.TransfersPerSec)
}

// Events a DRAM counts, in the order of Counters.
const (
	DRAMActivate = iota // rows opened
	DRAMReadBurst
	DRAMWriteBurst
	DRAMRefresh // refresh commands: one bank or all of a channel
	DRAMRowHit  // chunks of an access that found their row open
	DRAMRowMiss // bank was closed
	DRAMRowConflict
	DRAMTurnaround
	numDRAMEvents
)

var dramEvents = [numDRAMEvents]string{
	"dram_activate", "dram_read_burst", "dram_write_burst", "dram_refresh",
	"dram_row_hit", "dram_row_miss", "dram_row_conflict", "dram_turnaround",
}

type dramBank struct {
	row      int64 // open row, -1 when closed
	colReady sim.Time
	actReady sim.Time // a closed bank may be activated from here
	preReady sim.Time // an open bank may be precharged from here
	actAt    sim.Time
}

type dramChannel struct {
	busFree  sim.Time // data bus
	colFree  sim.Time // next column command, same direction
	writeEnd sim.Time // end of the last write data, for tWTR
	actReady sim.Time // no bank may be activated sooner
	lastAct  sim.Time
	acts     [4]sim.Time // ring of the last activates, for tFAW
	actPos   uint        // of the oldest of them, modulo their number
	wrote    bool        // direction of the last transfer
	nextRef  sim.Time
	refBank  int
	wqLen    int
	wqPos    int // next slot; slots are freed in order

	banks []dramBank
	queue []dramWrite // WriteQueue slots
}

type dramWrite struct {
	addr  uint64
	bytes int
	free  sim.Time // when the slot is empty again
}

// DRAM is an open-page DRAM with one in-order queue per channel: requests are
// served in the order of the calls, activates overlap with the data of earlier
// requests. It implements Level.
type DRAM struct {
	cfg    DRAMConfig
	ch     []dramChannel
	banks  []dramBank
	wq     []dramWrite // Channels x WriteQueue
	count  [numDRAMEvents]int64
	burst  sim.Time
	refGap sim.Time

	// An address is, from its low bits on: a byte of a chunk of InterleaveBytes, the
	// channel, the column, the bank and the row; interleaving takes whole channels
	// out of it.
	burstShift, ileShift, pageShift, bankShift uint
	ileMask, channelMask, bankMask, spread     uint64 // spread: bits of the row that are XORed into the bank
}

// farPast makes "time since" constraints hold at time 0.
const farPast = -sim.Second

// NewDRAM builds a DRAM; the error names each value out of range.
func NewDRAM(cfg DRAMConfig) (*DRAM, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	d := &DRAM{
		cfg:        cfg,
		ch:         make([]dramChannel, cfg.Channels),
		banks:      make([]dramBank, cfg.Channels*cfg.Banks),
		wq:         make([]dramWrite, cfg.Channels*cfg.WriteQueue),
		burst:      cfg.BurstTime(),
		burstShift: log2(cfg.BurstBytes()),
		ileShift:   log2(cfg.InterleaveBytes),
		pageShift:  log2(cfg.RowBytes) + log2(cfg.Channels),
		bankShift:  log2(cfg.Banks),

		ileMask:     uint64(cfg.InterleaveBytes - 1),
		channelMask: uint64(cfg.Channels - 1),
		bankMask:    uint64(cfg.Banks - 1),
	}
	if cfg.XORBanks {
		d.spread = d.bankMask
	}
	switch cfg.Refresh {
	case RefreshAllBanks:
		d.refGap = cfg.TREFI
	case RefreshPerBank:
		d.refGap = cfg.TREFI / sim.Time(cfg.Banks)
	}
	d.Reset()
	return d, nil
}

// Config is the configuration the DRAM was built with.
func (d *DRAM) Config() DRAMConfig { return d.cfg }

// Reset closes every row, empties the queues and clears the counters.
func (d *DRAM) Reset() {
	for i := range d.banks {
		d.banks[i] = dramBank{row: -1, colReady: farPast, actReady: farPast, preReady: farPast, actAt: farPast}
	}
	for i := range d.ch {
		c := &d.ch[i]
		*c = dramChannel{busFree: farPast, colFree: farPast, writeEnd: farPast, actReady: farPast, lastAct: farPast, nextRef: sim.Never,
			banks: d.banks[i*d.cfg.Banks:][:d.cfg.Banks], queue: d.wq[i*d.cfg.WriteQueue:][:d.cfg.WriteQueue]}
		for j := range c.acts {
			c.acts[j] = farPast
		}
		if d.cfg.Refresh != RefreshNone {
			c.nextRef = d.refGap
		}
	}
	clear(d.wq)
	d.count = [numDRAMEvents]int64{}
}

// Counters are the events since Reset; see the DRAM constants.
func (d *DRAM) Counters() []sim.Counter { return counters(dramEvents[:], d.count[:]) }

// Access implements Level. The reason is always StallDRAM.
func (d *DRAM) Access(t sim.Time, addr uint64, bytes int, k Kind) (sim.Time, sim.Reason) {
	done := t
	for bytes > 0 {
		n := min(bytes, d.cfg.InterleaveBytes-int(addr&d.ileMask))
		if k == Write {
			done = max(done, d.write(t, addr, n))
		} else {
			done = max(done, d.read(t, addr, n))
		}
		addr += uint64(n)
		bytes -= n
	}
	return done, sim.StallDRAM
}

// isChunk reports an access that one channel serves.
func (d *DRAM) isChunk(addr uint64, bytes int) bool {
	return uint64(bytes-1) <= d.ileMask-addr&d.ileMask
}

func (d *DRAM) channel(addr uint64) *dramChannel { return &d.ch[addr>>(d.ileShift&63)&d.channelMask] }

// read is Access for a chunk.
func (d *DRAM) read(t sim.Time, addr uint64, n int) sim.Time {
	t += d.cfg.RequestLatency
	c := d.channel(addr)
	b, row := d.bank(c, addr)
	col := d.column(t, c, b, row)
	if c.wrote {
		c.wrote = false
		d.count[DRAMTurnaround]++
		col = max(col, c.writeEnd+d.cfg.TWTR)
	}
	bursts := d.bursts(addr, n)
	d.count[DRAMReadBurst] += bursts
	c.colFree = col + sim.Time(bursts)*d.burst
	c.busFree = c.colFree + d.cfg.ReadLatency
	b.preReady = max(b.preReady, c.colFree-d.burst+d.cfg.TRTP)
	return c.busFree + d.cfg.ResponseLatency
}

// write is Access for a chunk. It is queued where the channel has a queue, which
// is drained when that fills it; the write is done when the queue has taken it.
func (d *DRAM) write(t sim.Time, addr uint64, n int) sim.Time {
	t += d.cfg.RequestLatency
	c := d.channel(addr)
	if len(c.queue) == 0 {
		return d.transfer(t, c, addr, n)
	}
	w := &c.queue[c.wqPos]
	t = max(t, w.free)
	w.addr, w.bytes = addr, n
	if c.wqPos++; c.wqPos == len(c.queue) {
		c.wqPos = 0
	}
	if c.wqLen++; c.wqLen == len(c.queue) {
		d.drain(t, c)
	}
	return t
}

// drain writes every queued entry of a channel, oldest first.
func (d *DRAM) drain(t sim.Time, c *dramChannel) {
	i := c.wqPos - c.wqLen
	if i < 0 {
		i += len(c.queue)
	}
	for ; c.wqLen > 0; c.wqLen-- {
		w := &c.queue[i]
		w.free = d.transfer(t, c, w.addr, w.bytes)
		if i++; i == len(c.queue) {
			i = 0
		}
	}
}

// Flush drains the write queues and answers when the last write is in its row.
func (d *DRAM) Flush(t sim.Time) sim.Time {
	done := t
	for ch := range d.ch {
		if c := &d.ch[ch]; c.wqLen > 0 {
			d.drain(t, c)
			done = max(done, c.busFree)
		}
	}
	return done
}

// bursts is the number of bursts that n bytes in one row take.
func (d *DRAM) bursts(addr uint64, n int) int64 {
	return int64((addr+uint64(n)-1)>>(d.burstShift&63) - addr>>(d.burstShift&63) + 1)
}

// transfer writes n bytes that lie in one row of a channel and answers when their
// last has left the bus.
func (d *DRAM) transfer(t sim.Time, c *dramChannel, addr uint64, n int) sim.Time {
	b, row := d.bank(c, addr)
	col := d.column(t, c, b, row)
	if !c.wrote {
		c.wrote = true
		d.count[DRAMTurnaround]++
		col = max(col, c.busFree+d.cfg.TRTW-d.cfg.WriteLatency)
	}
	bursts := d.bursts(addr, n)
	d.count[DRAMWriteBurst] += bursts
	c.colFree = col + sim.Time(bursts)*d.burst
	c.busFree = c.colFree + d.cfg.WriteLatency
	c.writeEnd = c.busFree
	b.preReady = max(b.preReady, c.busFree+d.cfg.TWR)
	return c.busFree
}

// column is when a row, opened where it is not, takes a column command of either
// direction.
func (d *DRAM) column(t sim.Time, c *dramChannel, b *dramBank, row int64) sim.Time {
	col := max(t, c.colFree)
	if b.row == row && col < c.nextRef {
		d.count[DRAMRowHit]++
	} else {
		d.open(t, c, b, row)
	}
	return max(col, b.colReady)
}

// bank is the bank of an address and the row.
func (d *DRAM) bank(c *dramChannel, addr uint64) (b *dramBank, row int64) {
	page := addr >> (d.pageShift & 63)
	r := page >> (d.bankShift & 63)
	return &c.banks[(page^r&d.spread)&d.bankMask], int64(r)
}

// open gets a bank ready for a request to a row.
func (d *DRAM) open(t sim.Time, c *dramChannel, b *dramBank, row int64) {
	// A refresh that is due when this request could use the bus goes first.
	if now := max(t, c.colFree); now >= c.nextRef {
		d.refresh(c, now)
	}
	if b.row == row {
		d.count[DRAMRowHit]++
		return
	}
	cfg := &d.cfg
	act := max(t, b.actReady, c.actReady)
	if b.row >= 0 {
		act = max(max(t, b.preReady)+cfg.TRPpb, b.actAt+cfg.TRC)
		d.count[DRAMRowConflict]++
	} else {
		d.count[DRAMRowMiss]++
	}
	act = max(act, c.lastAct+cfg.TRRD, c.acts[c.actPos&3]+cfg.TFAW)
	c.lastAct = act
	c.acts[c.actPos&3] = act
	c.actPos++
	b.row, b.actAt, b.colReady, b.preReady = row, act, act+cfg.TRCD, act+cfg.TRAS
	d.count[DRAMActivate]++
}

// refresh does every refresh of a channel that is due at now.
func (d *DRAM) refresh(c *dramChannel, now sim.Time) {
	banks := c.banks
	due := int64((now-c.nextRef)/d.refGap) + 1
	d.count[DRAMRefresh] += due
	if d.cfg.Refresh == RefreshAllBanks {
		// Rows are closed by the first; only the last can still be running.
		start, trp := c.nextRef, sim.Time(0)
		for i := range banks {
			if b := &banks[i]; b.row >= 0 {
				start, trp = max(start, b.preReady), d.cfg.TRPab
				b.row = -1
			}
		}
		c.actReady = max(start+trp, c.nextRef+sim.Time(due-1)*d.refGap) + d.cfg.TRFCab
		c.nextRef += sim.Time(due) * d.refGap
		return
	}
	if skip := due - int64(len(banks)); skip > 0 {
		// Whole rounds of an idle channel: only the last round is walked.
		c.nextRef += sim.Time(skip) * d.refGap
		c.refBank = int((int64(c.refBank) + skip) % int64(len(banks)))
		due -= skip
	}
	for ; due > 0; due-- {
		b := &banks[c.refBank]
		start := max(c.nextRef, b.actReady)
		if b.row >= 0 {
			start = max(c.nextRef, b.preReady) + d.cfg.TRPpb
		}
		b.row = -1
		b.actReady = start + d.cfg.TRFCpb
		c.refBank = (c.refBank + 1) & (len(banks) - 1)
		c.nextRef += d.refGap
	}
}
