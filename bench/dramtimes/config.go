package dramtimes

import (
	_ "embed"

	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/soc"
)

//go:embed lpddr4x-4266.toml
var golden []byte

// GoldenConfig is the DRAM of the golden rows.
func GoldenConfig() (*soc.DRAM, error) { return soc.ParseDRAM("lpddr4x-4266.toml", golden) }

// Controller builds the DRAM that a row runs on: that of a configuration, with the
// row's map if it names one.
func (p *Pattern) Controller(c *soc.DRAM) (*dram.DRAM, error) {
	cfg := c.Config()
	switch p.Map {
	case "X":
		cfg.Order, cfg.InterleaveBytes, cfg.XORBanks = "", 256, true
	case "L":
		cfg.Order, cfg.InterleaveBytes, cfg.XORBanks = "", 64, false
	}
	return dram.New(cfg)
}
