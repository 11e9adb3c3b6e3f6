package launch

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestAbsentBuffers: a kernel that writes to the buffer of printf, of calls of the host or of the heap fails with its
// name; one that only has such an argument runs.
func TestAbsentBuffers(t *testing.T) {
	const text = `
	.globl k
	.p2align 8
	.type k,@function
k:	s_load_dwordx2 s[2:3], s[0:1], 0x8
	v_mov_b32 v0, 0
	s_waitcnt lgkmcnt(0)
	USE
	s_endpgm
	.rodata
	.p2align 6
	.amdhsa_kernel k
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 8
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .args:
      - {.offset: 8, .size: 8, .value_kind: hidden_KIND}
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 8
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
...
	.end_amdgpu_metadata
`
	for _, kind := range []string{"printf_buffer", "hostcall_buffer", "heap_v1"} {
		for _, use := range []string{"", "global_store_dword v0, v0, s[2:3] offset:4", "global_load_dword v0, v0, s[2:3]", "s_load_dword s4, s[2:3], 0x0"} {
			f := assemble(t, strings.NewReplacer("KIND", kind, "USE", use).Replace(text))
			l := Launch{File: f, Kernel: "k", Groups: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, Functional: true}
			_, err := l.run(newCore(t))
			if use == "" {
				require.NoError(t, err, kind)
				continue
			}
			require.ErrorContains(t, err, "the buffer of hidden_"+kind, use)
		}
	}
}
