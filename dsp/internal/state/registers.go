package state

// Registers are the architectural state of one hardware thread.
type Registers struct {
	R   [32]uint32
	P   [4]byte // 0 or 0xff by compares; any value by transfer
	V   [32][128]byte
	Q   [4][128]byte // 0 or 1 per byte lane
	Z   [ZBytes]byte
	SA  [2]uint32
	LC  [2]uint32
	M   [2]uint32
	CS  [2]uint32
	USR uint32
	GP  uint32
	UGP uint32
	PC  uint32
}

// Load sets the registers of the thread to st.
func (t *Thread) Load(st *Registers) {
	copy(t.GR[:NumR], st.R[:])
	copy(t.V[:NumV], st.V[:])
	copy(t.Z[:ZBytes], st.Z[:])
	copy(t.Z[ZBytes:], st.Z[:])
	for i := range st.Q {
		for j, b := range st.Q[i] {
			t.Q[i][j] = -(b & 1)
		}
	}
	for i := range 2 {
		t.C[SA0+2*i], t.C[LC0+2*i] = st.SA[i], st.LC[i]
		t.C[M0+i], t.C[CS0+i] = st.M[i], st.CS[i]
	}
	t.C[P30] = uint32(st.P[0]) | uint32(st.P[1])<<8 | uint32(st.P[2])<<16 | uint32(st.P[3])<<24
	t.C[USR], t.C[GP], t.C[UGP] = st.USR, st.GP, st.UGP
	t.Next = st.PC
}

// Store leaves the registers of the thread in st.
func (t *Thread) Store(st *Registers) {
	copy(st.R[:], t.GR[:NumR])
	copy(st.V[:], t.V[:NumV])
	copy(st.Z[:], t.Z[:ZBytes])
	for i := range st.Q {
		for j := range st.Q[i] {
			st.Q[i][j] = t.Q[i][j] & 1
		}
	}
	for i := range 2 {
		st.SA[i], st.LC[i] = t.C[SA0+2*i], t.C[LC0+2*i]
		st.M[i], st.CS[i] = t.C[M0+i], t.C[CS0+i]
		st.P[i], st.P[2+i] = byte(t.C[P30]>>(8*i)), byte(t.C[P30]>>(16+8*i))
	}
	st.USR, st.GP, st.UGP = t.C[USR], t.C[GP], t.C[UGP]
	st.PC = t.Next
}
