// Control flow and addressing in hand-made packets: order of memory accesses,
// loops of few iterations, circular and bit-reversed buffers, calls, frames,
// packets across a page. r16 walks over the results, which are written out.
#define PUT(r) { memw(r16++#4) = r }
	.globl _start
	.text
_start:
	{ r16 = ##results ; r17 = ##data }
	// memory accesses of one packet
	{ r0 = #7 ; r1 = #9 }
	{ memw(r17+#0) = r0 ; r2 = memw(r17+#0) }:mem_noshuf
	{ r3 = memw(r17+#0) ; memw(r17+#0) = r1 }
	{ memb(r17+#1) = r0 ; r5:4 = memd(r17+#0) }:mem_noshuf
	{ memw(r17+#0) = r1 ; memw(r17+#0) = r0 }
	{ r6 = memw(r17+#0) ; r17 = add(r17,#8) }
	PUT(r2)
	PUT(r3)
	PUT(r4)
	PUT(r5)
	PUT(r6)
	// values made in the packet
	{ r2 = add(r0,r1) ; memw(r16++#4) = r2.new }
	{ p0 = cmp.gt(r0,r1) ; if (p0.new) r2 = #1 ; if (!p0.new) r3 = #2 }
	{ p1 = cmp.eq(r2,r3) ; r2 = r3 ; r3 = r2 ; if (!p1.new) memw(r16++#4) = r0 }
	{ r4 = memw(r17+#0) ; if (p0) memw(r17+#4) = r4.new }
	PUT(r2)
	PUT(r3)
	{ r2 = #5 ; if (cmp.gt(r2.new,#4)) jump:t taken }
	{ r2 = #99 }
taken:
	PUT(r2)
	// loops of 0, 1 and 2 iterations: 0 runs the body once and counts as it is
	{ r4 = #0 ; r5 = #0 }
counts:
	{ r3 = r5 ; r2 = #0 }
	{ loop0(body0,r3) }
body0:
	{ r2 = add(r2,#1) ; nop }:endloop0
	{ r6 = lc0 ; r8 = ##body0 }
	{ r7 = sa0 }
	{ r7 = sub(r7,r8) }
	PUT(r2)
	PUT(r6)
	PUT(r7)
	{ r5 = add(r5,#1) ; p0 = cmp.gt(r5,#2) ; if (!p0.new) jump:nt counts }
	// nested loops that end in one packet
	{ loop1(outer,#3) ; r2 = #0 }
	{ r3 = #0 }
outer:
	{ loop0(inner,#4) ; r3 = add(r3,#100) }
inner:
	{ r2 = add(r2,r3) ; nop ; nop }:endloop0:endloop1
	PUT(r2)
	PUT(r3)
	{ loop0(single,#5) ; r2 = #1 }
single:
	{ r2 = asl(r2,#1) ; nop }:endloop0
	PUT(r2)
	// a pipelined loop: p3 turns true in its second and third iteration
	{ r2 = #0 ; r3 = #0 ; p3 = sp2loop0(piped,#6) }
piped:
	{ r2 = add(r2,#1) ; if (p3) r3 = add(r3,#1) }:endloop0
	{ r4 = p3 ; r5 = usr }
	{ r5 = extractu(r5,#2,#8) }
	PUT(r2)
	PUT(r3)
	PUT(r4)
	PUT(r5)
	// circular buffer of 24 bytes, forwards by words and backwards by halves
	{ r0 = ##24 ; r1 = ##ring }
	{ m0 = r0 ; r2 = #0 }
	{ cs0 = r1 }
	{ r3 = add(r1,#16) ; loop0(ringed,#9) }
ringed:
	{ r2 = add(r2,#1) ; memw(r3++#4:circ(m0)) = r2.new }:endloop0
	{ r4 = sub(r3,r1) ; loop0(back,#7) }
	PUT(r4)
	{ r6 = #0 }
back:
	{ r5 = memuh(r3++#-6:circ(m0)) }
	{ r6 = add(r5,mpyi(r6,#31)) ; nop }:endloop0
	{ r4 = sub(r3,r1) }
	PUT(r4)
	PUT(r6)
	// by a register: m1 holds the increment in words
	{ r0 = ##0x01000020 ; r7 = ##(24|(2<<17)) }
	{ m1 = r7 ; r3 = r1 }
	{ cs1 = r1 }
	{ loop0(byreg,#5) ; r6 = #0 }
byreg:
	{ r5 = memw(r3++I:circ(m1)) }
	{ r6 = add(r5,mpyi(r6,#31)) ; nop }:endloop0
	{ r4 = sub(r3,r1) }
	PUT(r4)
	PUT(r6)
	// bit-reversed: 8 words, addressed by the low 16 bits turned round
	{ r0 = ##0x800 ; r3 = ##reversed }
	{ m0 = r0 ; r6 = #0 }
	{ loop0(brev,#8) }
brev:
	{ r6 = add(r6,#1) ; r4 = zxth(r3) }
	{ memw(r16++#4) = r4 ; r5 = memw(r3++m0:brev) }:endloop0
	// calls, frames and returns
	{ r29 = ##stacktop ; r0 = #10 }
	{ call fib }
	PUT(r0)
	{ r1 = ##leaf ; r0 = #3 }
	{ callr r1 }
	PUT(r0)
	{ p0 = cmp.eq(r0,#0) ; if (p0.new) jump:nt skipped }
	{ if (!p0) call leaf }
skipped:
	PUT(r0)
	{ r1 = #(leaf-_start) ; r2 = ##_start }
	{ r1 = add(r1,r2) ; r31 = ##returned }
	{ jumpr r1 }
returned:
	PUT(r0)
	// caches are only told: results stay
	{ r0 = ##data ; r3 = ##0x00400040 }
	{ r2 = #2 }
	{ r2 = combine(r3.h,r2.l) ; dcfetch(r0+#8) }
	l2fetch(r0,r2)
	{ r5:4 = combine(#64,#4) }
	{ r4 = combine(r5.l,r4.l) }
	l2fetch(r0,r5:4)
	// a packet across a page
	{ jump near_page }
	.p2align 12
	.rept 1022
	nop
	.endr
near_page:
	{ r2 = #1 }
	{ r2 = add(r2,##0x12345678) ; r3 = add(r2,#1) ; memw(r16+#0) = r2 }
	{ r16 = add(r16,#4) }
	PUT(r2)
	PUT(r3)
	// vectors: .cur, .tmp, a new value of half a pair, predicated and unaligned stores
	{ r0 = ##vectors ; r1 = ##0x03020104 }
	{ v0.cur = vmem(r0+#0) ; v1.w = vadd(v0.w,v0.w) }
	{ v2.tmp = vmem(r0+#1) ; v3.ub = vmax(v2.ub,v0.ub) ; vmem(r0+#2) = v3.new }
	{ v5:4.h = vmpy(v3.ub,r1.b) ; vmem(r0+#3) = v5.new }
	{ q0 = vcmp.gt(v1.w,v4.w) ; r2 = #12 }
	{ if (q0) vmem(r0+#4) = v5 }
	{ if (!q0) vmem(r0+#5) = v4 }
	{ vmemu(r0+#6) = v3 ; r0 = add(r0,#77) }
	{ vmemu(r0+#6) = v1 }
	{ v7:6 = vshuff(v5,v4,r2) }
	{ v8 = vror(v3,r2) }
	{ vmemu(r0++#1) = v6 }
	{ vshuff(v7,v8,r2) ; vmem(r0+#7) = v8.new }
	// write everything and leave
	{ r0 = #1 ; r1 = ##results ; r6 = #64 }
	{ r2 = ##(end-results) }
	{ trap0(#1) }
	{ r0 = #42 ; r6 = #94 }
	{ trap0(#1) }

fib:
	{ p0 = cmp.gt(r0,#1) ; if (!p0.new) jumpr:nt r31 }
	{ allocframe(#16) }
	{ memd(r29+#0) = r17:16 ; r16 = r0 ; r0 = add(r0,#-1) ; call fib }
	{ r17 = r0 ; r0 = add(r16,#-2) }
	{ call fib }
	{ r0 = add(r0,r17) ; r17:16 = memd(r29+#0) }
	{ dealloc_return }
leaf:
	{ r0 = mpyi(r0,#7) ; jumpr r31 }

	.data
	.p2align 16
reversed:
	.word 1, 2, 3, 4, 5, 6, 7, 8
	.p2align 7
results:
	.skip 512
data:
	.word 0x11223344, 0x55667788, 0x99aabbcc, 0xddeeff00
	.p2align 7
ring:
	.skip 24
	.p2align 7
vectors:
	.set i, 0
	.rept 512
	.word (i * 0x01234567 ^ i << 20) & 0xffffffff
	.set i, i + 1
	.endr
end:
	.skip 1024
stack:
	.skip 1024
	.p2align 3
stacktop:
	.skip 64
