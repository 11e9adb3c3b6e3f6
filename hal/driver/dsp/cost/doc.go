// Package cost estimates what kernels of the DSP take, before they are generated: in
// packets that a hardware thread issues. One estimator serves the choice among
// kernels, the size of register tiles, how much jobs prefetch for later ones, and
// what a listing says of a job.
//
// An estimate counts what fills packets and cannot be otherwise: multiplications, of
// which a packet holds two, requantization, and the loop around both. The constants are
// packets of inner loops as isa/codegen schedules them; a test of the driver compares
// the estimates of networks' operations with simulated runs.
package cost
