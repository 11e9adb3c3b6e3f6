package ethosu

import (
	"errors"
	"fmt"
	"strings"
)

// accelerators are the configurations that Arm offers.
var accelerators = []Config{
	{MACsLog2: 5, ShramKiB: 16, Product: U55}, {MACsLog2: 6, ShramKiB: 16, Product: U55},
	{MACsLog2: 7, ShramKiB: 24, Product: U55}, {MACsLog2: 8, ShramKiB: 48, Product: U55},
	{MACsLog2: 8, ShramKiB: 48, Product: U65}, {MACsLog2: 9, ShramKiB: 96, Product: U65},
}

// productU85 is the product number that streams for Ethos-U85 carry.
const productU85 = 2

var errU85 = errors.New("compiled for Ethos-U85, which is not simulated")

// String is the name of the accelerator, as in Vela's --accelerator-config: ethos-u55-128, ethos-u65-512.
func (c Config) String() string {
	return fmt.Sprintf("ethos-%s-%d", strings.ToLower(c.Product.String()), 1<<c.MACsLog2)
}

// Accelerators lists the names of Arm's configurations.
func Accelerators() []string {
	var l []string
	for _, c := range accelerators {
		l = append(l, c.String())
	}
	return l
}

// ParseConfig is the configuration of a name.
func ParseConfig(name string) (Config, error) {
	for _, c := range accelerators {
		if c.String() == name {
			return c, nil
		}
	}
	if strings.HasPrefix(name, "ethos-u85") {
		return Config{}, fmt.Errorf("ethosu: accelerator %q: Ethos-U85 is not simulated; there are %s", name, strings.Join(Accelerators(), ", "))
	}
	return Config{}, fmt.Errorf("ethosu: no accelerator %q; there are %s", name, strings.Join(Accelerators(), ", "))
}
