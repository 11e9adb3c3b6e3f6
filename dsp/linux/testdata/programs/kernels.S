// Kernels by hand: software-pipelined loops, .cur and .tmp loads, dual issue, circular filters, requantization, prefetch.
// r16 walks over the results; each kernel leaves its own there.
	.equ ROWS, 6
	.equ WIDTH, 384
	.set TAPS, 9
#define in r20
#define out r21
#define STRIDE r22
	.globl _start
	.text
	.p2align 5
_start:
	{ r16 = ##results ; r28 = ##image }
	{ in = r28 ; STRIDE = #WIDTH ; call .Lfill }
	{ call dotproducts ; r0 = in ; r1 = ##weights }
	{ call window ; r0 = in ; r1 = ##taps }
	{ call largest ; r0 = in ; r1 = #ROWS }
	{ call requant ; r0 = ##results }
	{ call streams ; r0 = in ; r1 = ##ring }
	{ call table ; r0 = in }
	{ r1 = ##results ; r6 = #64 }
	{ r0 = #1 ; r2 = sub(r16,r1) }
	trap0(#1)
	{ r0 = #7 ; r6 = #94 }
	trap0(#1)

// bytes from a linear congruence
	.falign
.Lfill:
	{ r2 = ##1103515245 ; r3 = #12345 }
	{ r4 = ##ROWS*WIDTH+512 }
	{ loop0(.Lbyte,r4) ; r4 = #77 ; r5 = in }
.Lbyte:
	{ r4 = mpyi(r4,r2) ; r6 = lsr(r4,#17) }
	{ r4 = add(r4,r3) ; memb(r5++#1) = r6 }:endloop0
	{ r0 = ##weights ; loop0(.Lword,#512) }
.Lword:
	{ r4 = mpyi(r4,r2) ; r5 = r4 }
	{ r4 = add(r4,r3) ; memw(r0++#4) = r5 }:endloop0
	{ jumpr lr ; r7 = #0 }

// sums of products of four bytes: two accumulators, the loads of the next step beside the products of this one
	.falign
dotproducts:
	{ allocframe(#16) ; r2 = #WIDTH/32-2 ; v16 = #0 }
	{ memd(sp+#0) = r17:16 ; v17 = v16 }
	{ r5:4 = memd(r1++#8) ; p3 = sp1loop0(.Ldot,r2) ; v18 = v16 }
	{ v0 = vmem(r0++#1) ; v19 = v16 }
.Ldot:
	{ v16.w += vrmpy(v0.ub,r4.b) ; v17.w += vrmpy(v0.ub,r5.b) ; r5:4 = memd(r1++#8) ; v0.cur = vmem(r0++#1) }
	{ v18.uw += vrmpy(v0.ub,r4.ub) ; if (p3) r7 = add(r7,#1) ; v19.w += vrmpy(v0.ub,r5.b) }:endloop0
	{ v16.w = vadd(v16.w,v17.w) ; v18.w = vadd(v18.w,v19.w) }
	{ r17:16 = memd(sp+#0) }
	{ vmem(r16++#1) = v16 }
	{ vmem(r16++#1) = v18 ; r7 = add(r7,#1) }
	{ deallocframe ; r3 = #3 }
	{ jumpr r31 }

// three by three window over bytes, aligned from neighbours, weights from a circular buffer
	.falign
window:
	{ m0 = r22 ; r10 = #16 ; r2 = #0x40 }
	{ m1 = r10 ; r14 = #WIDTH/128 }
	{ cs1 = r1 ; r3 = r0 }
	{ loop1(.Lcolumn,#WIDTH/128-1) }
.Lcolumn:
	{ r4 = r3 ; r3 = add(r3,#128) ; v31:30 = vcombine(v16,v16) }
	{ v31:30.w = vsub(v31:30.w,v31:30.w) ; v29:28 = vcombine(v16,v16) }
	{ v29:28 = vcombine(v30,v30) ; loop0(.Lrow,#3) }
.Lrow:
	{ r6 = memw(r1++#4:circ(m1)) ; v1 = vmem(r4+#1) ; r5 = add(r4,#0) }
	{ v0.cur = vmem(r4++m0) ; v2 = valign(v1,v0,#1) ; v31:30.h += vmpy(v0.ub,r6.b) }
	{ r7 = memw(r1++#-8:circ(m1)) ; v3 = valign(v1,v0,#2) ; v31:30.h += vmpy(v2.ub,r6.b) }
	{ r8 = combine(r7.l,r6.h) ; v29:28.h += vmpy(v3.ub,r7.b) ; r1 = add(r1,#0) }:endloop0
	{ v4.ub = vasr(v31.h,v30.h,r2):rnd:sat ; r9 = #5 }
	{ v5.b = vpack(v29.h,v28.h):sat ; v6.ub = vsat(v31.h,v30.h) }
	{ vmem(r16++#1) = v4 ; r2 = #3 }
	{ v7 = vxor(v5,v6) ; vmem(r16++#1) = v7.new }:endloop1
	{ jumpr r31 }

// maximum of rows into one, with the last vector under a mask
	.falign
largest:
	{ loop1(.Lstrip,#3) ; r2 = ##0x01010101 ; r3 = #77 }
	{ q0 = vsetq(r3) ; r5 = r0 ; m0 = r22 }
.Lstrip:
	{ v0 = vmem(r0+#0) ; r4 = r0 ; r0 = add(r0,#128) }
	{ loop0(.Lbelow,r1) ; v1 = v0 }
.Lbelow:
	{ v2.tmp = vmem(r4++m0) ; v0.ub = vmax(v0.ub,v2.ub) }
	{ v3.tmp = vmem(r4+#0) ; v1.ub = vmin(v1.ub,v3.ub) ; nop }:endloop0
	{ v4.ub = vabsdiff(v0.ub,v1.ub) ; p0 = cmp.eq(r0,r5) ; r6 = #0 }
	{ v5 = vand(q0,r2) ; q1 = vcmp.gt(v4.ub,v1.ub) ; r6 = add(r6,#1) }
	{ if (q0) vmem(r16+#0) = v4 }
	{ if (!q0) vmem(r16+#0) = v0 }
	{ v6.b = vshuff(v5.b) ; q2 = and(q1,!q0) ; r16 = add(r16,#128) }
	{ v7 = vmux(q2,v6,v4) ; vmem(r16++#1) = v7.new }:endloop1
	{ if (!p0) jumpr:nt r31 ; r7 = add(r7,#2) }
	{ jumpr r31 }

// 32-bit sums to bytes: doubling high half of a product with rounding, shift, saturation
	.falign
requant:
	{ r1 = ##0x5a827999 ; r2 = #5 ; r3 = #0 }
	{ v10 = vsplat(r1) ; loop0(.Lscale,#1) }
	{ v11 = vsplat(r2) }
.Lscale:
	{ v0 = vmem(r0+#0) }
	{ v1 = vmem(r0+#1) ; v3:2.w = vmpy(v0.h,v10.h) }
	{ v4.w = vmpye(v0.w,v10.uh) ; r4 = lsr(r1,#3) }
	{ v4.w += vmpyo(v0.w,v10.h):<<1:rnd:sat:shift }
	{ v5.w = vmpye(v1.w,v10.uh) ; v6.w = vasr(v4.w,r2) }
	{ v5.w += vmpyo(v1.w,v10.h):<<1:rnd:sat:shift ; v7.h = vpack(v6.w,v4.w):sat }
	{ v8.w = vasr(v5.w,v11.w) }
	{ v9.h = vasr(v5.w,v4.w,r2):rnd:sat }
	{ v7.ub = vpack(v9.h,v7.h):sat ; vmem(r16++#1) = v7.new }
	{ vmem(r16++#1) = v8 ; r3 = add(r3,#1) }:endloop0
	{ jumpr r31 ; r2 = memw(r0+#0) }

// doubles through a ring while lines are cleared and fetched ahead; memory operations in place; predicated pairs
	.falign
streams:
	{ r2 = ##32|1<<31>>31 ; r3 = #WIDTH ; r6 = r1 }
	{ r2 = #64 ; cs0 = r1 ; dcfetch(r0+#192) }
	{ m0 = r2 ; r4 = ##64<<16|64<<8|3 ; dczeroa(r16) }
	{ l2fetch(r0,r4) ; r5 = #0 ; r15:14 = combine(#-1,##0x1234) }
	{ loop0(.Lring,#33) ; r9:8 = combine(r5,r5) ; p3 = r5 }
	.p2align 4
.Lring:
	{ r11:10 = memd(r0++#8) ; r13:12 = memd(r1+#0) ; r5 = add(r5,#3) ; p0 = tstbit(r5,#2) }
	{ r13:12 = add(r13:12,r11:10) ; memd(r1++#8:circ(m0)) = r11:10 ; p1 = !cmp.gtu(r5,#40) }
	{ if (p0) r9:8 = combine(r10,r13) ; if (!p0) r14 = add(r14,r12) ; memw(r6+#8) += r5 ; p2 = and(p0,!p1) }
	{ memh(r6+#12) |= r5 ; if (p1.new) r15 = sub(r15,r10) ; p1 = cmp.gt(r10,r15) }
	{ if (p2) memb(r6+#14) = #9 }
	{ memb(r6+#0) = r5 ; r15 ^= asl(r14,#3) ; r9 += mpyi(r5,#7) }:endloop0
	{ memd(r16+#0) = r9:8 ; memd(r16+#8) = r15:14 }
	{ r3:2 = memd(r6+#8) ; r4 = sub(r1,r6) }
	{ memw(r16+#16) = r4 ; memw(r16+#20) = r3 }
	{ memd(r16+#24) = r3:2 ; r16 = add(r16,#128) ; jumpr r31 }

// bytes through a jump table and a tail call
	.falign
table:
	{ allocframe(#8) ; r1 = #40 ; r2 = #1 }
	{ memd(r29+#0) = r19:18 ; r18 = r0 }
.Lnext:
	{ r3 = memub(r18++#3) ; r19 = ##.Ljumps }
	{ r3 = and(r3,#3) ; r1 = add(r1,#-1) }
	{ r3 = memw(r19+r3<<#2) }
	{ jumpr r3 }
.Ladd: { r2 = add(r2,##65537) ; jump .Ljoin }
.Lxor: { r2 = xor(r2,r1) ; jump .Ljoin }
.Lmul: { r2 = mpyi(r2,#13) }
	{ p0 = bitsset(r2,r1) ; if (p0.new) jump:nt .Ljoin }
.Lrol: { r2 = rol(r2,#5) ; r4 = ct0(r2) }
	{ if (cmp.gtu(r4.new,#3)) jump:nt .Ljoin ; r4 = add(r2,#1) }
	{ r2 = r4 ; p0 = r1 }
	{ if (p0) r2 = #-1 ; if (!p0) r2 = add(r2,#3) }
.Ljoin:
	{ p0 = cmp.eq(r1,#0) ; if (!p0.new) jump:t .Lnext }
	{ memw(r16++#4) = r2 ; r19:18 = memd(r29+#0) }
	{ deallocframe ; r0 = r2 }
	jump .Ltail
.Ltail:
	{ r1 = clb(r0) ; r2 = brev(r0) }
	{ memw(r16+#0) = r1 ; memw(r16+#4) = r2 }
	{ r16 = add(r16,#8) ; jumpr r31 }

	.section .rodata
	.p2align 3
.Ljumps: .word .Ladd, .Lxor, .Lmul, .Lrol
	.data
	.p2align 7
taps:	.byte 1, 2, -3, 4, 5, -6, 7, 8
	.half 0x0102, -2, 3
	.word 0x01020304
	.space 48
	.p2align 7
ring:	.fill 16, 4, 0x01010101
	.space 64
	.bss
	.p2align 7
image:	.space ROWS*WIDTH+1024
	.p2align 7
weights:.space 4096
	.p2align 7
results:.space 8192
