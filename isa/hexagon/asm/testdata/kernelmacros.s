.set N,1
// kernel style
.macro LOADROW ptr, v, off=0
   \v\().cur = vmem(\ptr + #\off)
.endm
.macro DOT acc, a, b
   \acc\().w += vrmpy(\a\().ub,\b\().b)
.endm
.macro BEGIN
{
.endm
.macro END l
}:\l
.endm
 .text
 .global k
 .type k,@function
 .p2align 5
k:
 { allocframe(#32) ; r7 = #4 }
 loop0(.L1,r7)
.L1:
 BEGIN
   LOADROW r0, v3, 1
   DOT v4, v3, r5
   DOT v5, v3, r6
 END endloop0
.rept 2
 {
   LOADROW r0, v3
   r0 = add(r0,#128)
 .if N
   r8 = add(r8,#1)
 .else
   r9 = add(r9,#1)
 .endif
 }
.endr
 dealloc_return
.set N,1
.Lend:
 .size k, .Lend-k
