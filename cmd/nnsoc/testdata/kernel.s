// Sums of four byte products, for 32 words at a time: 16 KiB of bytes times one word of weights.
	.globl _start
_start:
	{ r0 = ##bytes ; r1 = ##0x01020304 }
	{ r4 = ##128<<16|128 ; r5 = #128 }	// 128 rows of 128 bytes, 128 apart
	{ l2fetch(r0,r5:4) ; r3 = ##sums }
	{ v2 = vxor(v2,v2) ; v3 = vxor(v3,v3) }
	{ loop0(1f,#64) }
1:	{ v0 = vmem(r0++#1) }
	{ v2.w += vrmpy(v0.ub,r1.b) ; v1 = vmem(r0++#1) }
	{ v3.w += vrmpy(v1.ub,r1.b) }:endloop0
	{ v2.w = vadd(v2.w,v3.w) }
	{ vmem(r3+#0) = v2 }
	{ r6 = #93 ; r0 = #0 }	// exit
	{ trap0(#1) }

	.data
	.p2align 7
bytes:	.space 16384, 1
sums:	.space 128
