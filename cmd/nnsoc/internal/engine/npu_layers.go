package engine

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"

	"github.com/nnsoc/nnsoc/bench/inference"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
)

// pmu is the counts of Arm's performance monitor, by the names of its events.
func pmu(r *inference.Result) map[string]int64 {
	if r.Stalls.Total() == 0 {
		return nil // nothing was timed
	}
	m := map[string]int64{"CYCLE": r.Cycles, "NPU_ACTIVE": r.ActiveCycles, "NPU_IDLE": r.Cycles - r.ActiveCycles}
	for _, c := range r.Counters {
		switch c.Name {
		case "mac_active_cycles":
			m["MAC_ACTIVE"] = c.Value
		case "output_active_cycles":
			m["AO_ACTIVE"] = c.Value
		}
	}
	m["MAC_STALLED_BY_WD"] = r.Stalls[sim.StallWeightDecode]
	for i, p := range r.Ports {
		m[fmt.Sprintf("AXI%d_RD_DATA_BEAT_RECEIVED", i)] = p.ReadBeats
		m[fmt.Sprintf("AXI%d_WR_DATA_BEAT_WRITTEN", i)] = p.WriteBeats
	}
	return m
}

// perLayerColumns heads the columns as Vela's per-layer table does.
var perLayerColumns = []string{
	"TFLite_operator", "NNG Operator", "SRAM Usage", "Peak%", "Op Cycles", "Network%", "NPU", "SRAM AC", "DRAM AC", "OnFlash AC", "OffFlash AC",
	"MAC Count", "Network%", "Util%", "Name",
}

// layerNames are Vela's names of the operator of a file and of a command's operation.
var layerNames = map[ethosu.Code][2]string{
	ethosu.OpConv: {"CONV_2D", "Conv2DBias"}, ethosu.OpDepthwise: {"DEPTHWISE_CONV_2D", "DepthwiseConv2DBias"},
}

// perLayer is the operations of the NPU as Vela's per-layer table has them: a row for each kernel,
// to which the copies in front of it count. SRAM Usage is the elements of its maps; the access
// cycles of a memory are its bytes at its bandwidth; flash is OffFlash.
func perLayer(n *vela.Network, r *inference.Result, s *npu.Spec) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := w.Write(perLayerColumns); err != nil {
		return nil, err
	}
	row := layerRow{spec: s, peak: 1}
	for i := range r.Operations {
		if o := &r.Operations[i]; !o.CPU {
			row.cycles, row.macs = row.cycles+o.Cycles, row.macs+o.NPU.MACs
		}
	}
	for i := range n.Steps {
		o := n.Steps[i].NPU
		switch {
		case o == nil:
		case s.OnChipRegion() == 1:
			row.peak = max(row.peak, o.ArenaBytes)
		default:
			row.peak = max(row.peak, o.FastBytes)
		}
	}
	for i := range r.Operations {
		o := &r.Operations[i]
		if o.CPU {
			continue
		}
		row.add(o)
		if o.NPU.OFM == [3]int{} {
			continue // a copy: it belongs to the kernel after it
		}
		if err := w.Write(row.fields(i, o)); err != nil {
			return nil, err
		}
		row.own, row.ports = 0, nil
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// layerRow gathers a kernel and the copies in front of it.
type layerRow struct {
	spec         *npu.Spec
	cycles, macs int64 // of the network
	peak         int   // bytes on chip

	own   int64 // cycles
	ports []inference.Traffic
}

func (l *layerRow) add(o *inference.Operation) {
	l.own += o.Cycles
	for i, p := range o.Work.Ports {
		if i == len(l.ports) {
			l.ports = append(l.ports, inference.Traffic{})
		}
		l.ports[i].Read, l.ports[i].Written = l.ports[i].Read+p.Read, l.ports[i].Written+p.Written
	}
}

// fields are a row's columns.
func (l *layerRow) fields(index int, o *inference.Operation) []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	share := func(part, whole int64) string { return number(100 * float64(part) / float64(max(whole, 1))) }
	var sram, dram, flash float64
	for i, p := range l.ports {
		m := &l.spec.Memories[i]
		to := &dram
		switch {
		case !m.OffChip:
			to = &sram
		case m.Name == "flash":
			to = &flash
		}
		*to += float64(p.Read+p.Written) / m.BytesPerCycle
	}
	used := int64(0)
	for _, f := range [][3]int{o.NPU.IFM, o.NPU.IFM2, o.NPU.OFM} {
		used += int64(f[0]) * int64(f[1]) * int64(f[2])
	}
	names, ok := layerNames[o.NPU.Code]
	if !ok {
		names = [2]string{o.NPU.Name, o.NPU.Name}
	}
	macs := o.NPU.MACs
	return []string{
		names[0], names[1], strconv.FormatInt(used, 10), share(used, int64(l.peak)), strconv.FormatInt(l.own, 10), share(l.own, l.cycles),
		strconv.FormatInt(o.Cycles, 10), number(sram), number(dram), "0", number(flash),
		strconv.FormatInt(macs, 10), share(macs, l.macs), share(macs, l.own*int64(l.spec.MACsPerCycle())), fmt.Sprintf("operation %d", index),
	}
}
