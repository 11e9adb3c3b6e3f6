package dsp

// EnergyTable is picojoules per event at ReferenceV, and static power.
type EnergyTable struct {
	ReferenceV  float64
	PacketPJ    float64 // fetch, decode, issue of one packet
	ScalarPJ    float64 // one scalar instruction
	VectorALUPJ float64 // one 128-byte vector operation, by unit
	VectorMulPJ float64
	PermutePJ   float64
	LoadPJ      float64 // vector register file side of one vector load or store
	StorePJ     float64
	L1PJ        float64 // one scalar access
	L2PJ        float64 // one line
	VTCMPJ      float64 // one vector
	DRAMPJByte  float64
	StaticW     float64
}
